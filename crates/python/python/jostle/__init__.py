"""Jostle tells which of a million moving things touch: exactly, and the same bytes every time.

Boxes that do not move take one call:

>>> import numpy as np, jostle
>>> boxes = np.array([[0, 0, 0, 2, 2, 2], [1, 1, 1, 3, 3, 3], [9, 9, 9, 10, 10, 10]], np.float32)
>>> jostle.overlaps(boxes)
array([[0, 1]], dtype=uint32)

``Detector`` follows boxes that move, ``World`` shapes that move; ``distance``, ``contact`` and
their like answer questions about pairs of shapes, ``Mesh`` about triangle meshes.
``python -m jostle`` is the command.
"""

from ._errors import (
    ArrayChangedError,
    BoxError,
    ClosedError,
    Error,
    IdError,
    PairLimitError,
    PoseError,
    ShapeError,
    SnapshotError,
)
from ._native import (
    ALGORITHMS,
    Detector,
    Filter,
    Mesh,
    Queries,
    Shape,
    World,
    __version__,
    contact,
    distance,
    intersects,
    manifold,
    overlaps,
    overlaps_between,
    time_of_impact,
)
from ._results import (
    CONTACT,
    IMPACT,
    MESH_CLOSEST,
    MESH_HIT,
    MESH_POINT,
    NO_ID,
    POINT,
    TOUCH,
    Events,
    Found,
    Stats,
    Step,
)

__all__ = [
    "ALGORITHMS",
    "CONTACT",
    "IMPACT",
    "MESH_CLOSEST",
    "MESH_HIT",
    "MESH_POINT",
    "NO_ID",
    "POINT",
    "TOUCH",
    "ArrayChangedError",
    "BoxError",
    "ClosedError",
    "Detector",
    "Error",
    "Events",
    "Filter",
    "Found",
    "IdError",
    "Mesh",
    "PairLimitError",
    "PoseError",
    "Queries",
    "Shape",
    "ShapeError",
    "SnapshotError",
    "Stats",
    "Step",
    "World",
    "__version__",
    "contact",
    "distance",
    "intersects",
    "manifold",
    "overlaps",
    "overlaps_between",
    "time_of_impact",
]
