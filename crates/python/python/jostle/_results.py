"""What comes back: tuples of arrays, and the dtypes of structured ones."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._native import Filter, Mesh

NO_ID = np.uint64(2**64 - 1)
"""The id of no box."""

_contact = [
    ("distance", "f8"),
    ("depth", "f8"),
    ("normal", "f8", (3,)),
    ("point_a", "f8", (3,)),
    ("point_b", "f8", (3,)),
    ("bound", "f8"),
    ("status", "i8"),
    ("ending", "i8"),
]

CONTACT: np.dtype[np.void] = np.dtype(_contact)
"""A contact of two shapes."""

TOUCH: np.dtype[np.void] = np.dtype(
    [("a", "u8"), ("b", "u8"), ("time", "f8"), *_contact, ("first_point", "i8"), ("points", "i8")]
)
"""Two bodies of a world that touch, and which rows of the points are theirs."""

POINT: np.dtype[np.void] = np.dtype(
    [
        ("point_a", "f8", (3,)),
        ("point_b", "f8", (3,)),
        ("normal", "f8", (3,)),
        ("separation", "f8"),
        ("id", "u8"),
    ]
)
"""A point of a contact manifold."""

IMPACT: np.dtype[np.void] = np.dtype(
    [("time", "f8"), ("status", "i8"), ("steps", "i8"), ("contact", CONTACT)]
)
"""The first touch of two shapes that move."""


MESH_HIT: np.dtype[np.void] = np.dtype(
    [
        ("time", "f8"),
        ("point", "f8", (3,)),
        ("normal", "f8", (3,)),
        ("weights", "f8", (3,)),
        ("triangle", "i8"),
        ("front", "i8"),
    ]
)
"""Where a ray hits a mesh; triangle -1 where it does not."""

MESH_POINT: np.dtype[np.void] = np.dtype(
    [("distance", "f8"), ("point", "f8", (3,)), ("weights", "f8", (3,)), ("triangle", "i8")]
)
"""The point of a mesh that is nearest to another."""

MESH_CLOSEST: np.dtype[np.void] = np.dtype(
    [
        ("distance", "f8"),
        ("bound", "f8"),
        ("point_a", "f8", (3,)),
        ("point_b", "f8", (3,)),
        ("triangle_a", "i8"),
        ("triangle_b", "i8"),
    ]
)
"""The nearest points of two meshes, and how much too large the distance can be."""


class Events(NamedTuple):
    """What began and what ended in a step: (m, 2) arrays of slots, sorted."""

    began: npt.NDArray[np.uint32]
    ended: npt.NDArray[np.uint32]


class Stats(NamedTuple):
    """What an algorithm counted in a step. Counts are exact, times are not."""

    tests: int
    swaps: int
    bytes: int
    counts: dict[str, float]
    stages: dict[str, float]


class Step(NamedTuple):
    """The outcome of a step of a world."""

    touches: npt.NDArray[np.void]
    began: npt.NDArray[np.uint64]
    ended: npt.NDArray[np.uint64]
    points: npt.NDArray[np.void]


class Found:
    """What a batch of queries found: query k at ``offsets[k]`` to ``offsets[k + 1]``.

    ``values`` are distances or times, None where the question has none. ``found[k]`` is the ids
    of one query, or (ids, values); iteration goes through all of them.

    >>> import jostle
    >>> detector = jostle.Detector()
    >>> ids = detector.insert([[0, 0, 0, 1, 1, 1], [5, 0, 0, 6, 1, 1]])
    >>> found = detector.queries.points([[0.5, 0.5, 0.5], [9, 9, 9]])
    >>> found
    <Found: 1 box by 2 queries>
    >>> [ids.tolist() for ids in found]
    [[0], []]
    """

    __slots__ = ("offsets", "ids", "values")

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        ids: npt.NDArray[np.uint64],
        values: npt.NDArray[np.float64] | None,
    ) -> None:
        self.offsets = offsets
        self.ids = ids
        self.values = values

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(
        self, query: int
    ) -> npt.NDArray[np.uint64] | tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]:
        count = len(self)
        if not -count <= query < count:
            raise IndexError(f"query {query} of {count}")
        query %= count
        own = slice(int(self.offsets[query]), int(self.offsets[query + 1]))
        if self.values is None:
            return self.ids[own]
        return self.ids[own], self.values[own]

    def __iter__(
        self,
    ) -> Iterator[
        npt.NDArray[np.uint64] | tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]]
    ]:
        return (self[query] for query in range(len(self)))

    def __repr__(self) -> str:
        boxes = f"{len(self.ids)} box{'' if len(self.ids) == 1 else 'es'}"
        return f"<Found: {boxes} by {len(self)} quer{'y' if len(self) == 1 else 'ies'}>"


def make_filter(membership: int, mask: int, owner: int | None, still: bool) -> Filter:
    """A filter from what pickle kept of one."""
    return Filter(membership=membership, mask=mask, owner=owner, still=still)


def make_mesh(
    vertices: npt.NDArray[np.float64], triangles: npt.NDArray[np.uint32], solid: bool
) -> Mesh:
    """A mesh from what pickle kept of one."""
    return Mesh(vertices, triangles, solid=solid)
