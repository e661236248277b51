"""Jostle against what Python users pick today: all pairs, same answers, one run.

    python compare.py [COUNT] [--repeats R]

Every library that is installed takes part; the others are listed. The task is to find all pairs of
boxes that overlap and hand them over as an array. For trees that means: build, ask for each box,
join. The runs of all libraries are interleaved; the table shows the least and the median of each.
SciPy's tree knows points and radii only, so it gets cubes of one size and the Chebyshev distance,
which is the same question. fcl and coal get one box shape for each box and their dynamic tree.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import jostle

Task = Callable[[], npt.NDArray[Any]]


def scene(count: int) -> npt.NDArray[np.float32]:
    """Cubes of one size, each of which overlaps about four others."""
    rng = np.random.default_rng(1)
    side = (count * 8 / 4) ** (1 / 3)
    at = rng.uniform(0, side, (count, 3)).astype(np.float32)
    # Sizes that are sums of powers of two, so that both ways to ask are exact in float32.
    return np.hstack([at - np.float32(0.5), at + np.float32(0.5)])


def with_jostle(boxes: npt.NDArray[np.float32], threads: int = 1) -> Task:
    return lambda: jostle.overlaps(boxes, threads=threads)


def with_scipy(boxes: npt.NDArray[np.float32]) -> Task:
    from scipy.spatial import cKDTree

    at = ((boxes[:, :3].astype(float) + boxes[:, 3:]) / 2).copy()
    return lambda: np.asarray(cKDTree(at).query_pairs(1.0, p=np.inf, output_type="ndarray"))


def with_rtree(boxes: npt.NDArray[np.float32]) -> Task:
    from rtree import index

    wide = boxes.astype(float)

    def run() -> npt.NDArray[Any]:
        tree = index.Index(
            (np.arange(len(wide)), wide[:, :3].copy(), wide[:, 3:].copy()),
            properties=index.Property(dimension=3),
        )
        found, counts = tree.intersection_v(wide[:, :3].copy(), wide[:, 3:].copy())
        pairs = np.stack([np.repeat(np.arange(len(wide)), counts.astype(int)), found], axis=1)
        return pairs[pairs[:, 0] < pairs[:, 1]]

    return run


def with_coal(boxes: npt.NDArray[np.float32]) -> Task:
    import coal

    at = ((boxes[:, :3].astype(float) + boxes[:, 3:]) / 2).copy()
    sizes = (boxes[:, 3:].astype(float) - boxes[:, :3]).copy()

    def run() -> npt.NDArray[Any]:
        manager = coal.DynamicAABBTreeCollisionManager()
        objects = []
        for place, size in zip(at, sizes, strict=True):
            one = coal.CollisionObject(coal.Box(*size), coal.Transform3s(np.eye(3), place))
            objects.append(one)
            manager.registerObject(one)
        manager.setup()
        callback = coal.CollisionCallBackCollect(16 * len(at))
        manager.collide(callback)
        return np.zeros((callback.numCollisionPairs(), 2), np.uint32)

    return run


def with_fcl(boxes: npt.NDArray[np.float32]) -> Task:
    import fcl

    at = ((boxes[:, :3].astype(float) + boxes[:, 3:]) / 2).copy()
    sizes = (boxes[:, 3:].astype(float) - boxes[:, :3]).copy()

    def run() -> npt.NDArray[Any]:
        objects = [
            fcl.CollisionObject(fcl.Box(*size), fcl.Transform(place))
            for place, size in zip(at, sizes, strict=True)
        ]
        manager = fcl.DynamicAABBTreeCollisionManager()
        manager.registerObjects(objects)
        manager.setup()
        pairs: list[tuple[Any, Any]] = []

        def meet(one: Any, other: Any, data: Any) -> bool:
            pairs.append((one, other))
            return False

        manager.collide(None, meet)
        return np.zeros((len(pairs), 2), np.uint32)

    return run


def flat_scene(count: int) -> npt.NDArray[np.float32]:
    """Squares, each of which overlaps about four others, as boxes at z = 0."""
    boxes = scene(count)
    rng = np.random.default_rng(2)
    side = (count * 4 / 4) ** 0.5
    at = rng.uniform(0, side, (count, 2)).astype(np.float32)
    boxes[:, [2, 5]] = 0
    boxes[:, :2], boxes[:, 3:5] = at - np.float32(0.5), at + np.float32(0.5)
    return boxes


def with_shapely(boxes: npt.NDArray[np.float32]) -> Task:
    import shapely

    wide = boxes.astype(float)

    def run() -> npt.NDArray[Any]:
        squares = shapely.box(wide[:, 0], wide[:, 1], wide[:, 3], wide[:, 4])
        pairs = shapely.STRtree(squares).query(squares).T
        return np.asarray(pairs[pairs[:, 0] < pairs[:, 1]])

    return run


SOLID = {
    "jostle": with_jostle,
    "scipy cKDTree": with_scipy,
    "rtree": with_rtree,
    "coal": with_coal,
    "python-fcl": with_fcl,
}
FLAT = {"jostle": with_jostle, "shapely STRtree": with_shapely}


def canonical(pairs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    ordered = np.sort(pairs.astype(np.int64), axis=1)
    return ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]


def contest(
    title: str, boxes: npt.NDArray[np.float32], makers: dict[str, Callable[..., Task]], repeats: int
) -> None:
    tasks: dict[str, Task] = {}
    for name, make in makers.items():
        try:
            tasks[name] = make(boxes)
        except ImportError as missing:
            print(f"({name} is not installed: {missing})")
    expected = canonical(tasks["jostle"]())
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            begin = time.perf_counter()
            found = task()
            times[name].append(1000 * (time.perf_counter() - begin))
            if len(times[name]) == 1:
                assert len(found) == len(expected), (name, len(found), len(expected))
                if name not in ("coal", "python-fcl"):  # they hand over objects: counted
                    assert np.array_equal(canonical(found), expected), name
    print(f"\n{title}: {len(boxes)} boxes, {len(expected)} pairs\n")
    print("| library | least ms | median ms | jostle is faster by |")
    print("|---|---:|---:|---:|")
    best = min(times["jostle"])
    for name, took in times.items():
        least, middle = min(took), statistics.median(took)
        print(f"| {name} | {least:.1f} | {middle:.1f} | {least / best:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("count", nargs="?", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", help="libraries that take part besides jostle")
    options = parser.parse_args()
    for title, boxes, makers in (
        ("cubes", scene(options.count), SOLID),
        ("squares", flat_scene(options.count), FLAT),
    ):
        if options.only is not None:
            makers = {k: v for k, v in makers.items() if k == "jostle" or k in options.only}
        contest(title, boxes, makers, options.repeats)
