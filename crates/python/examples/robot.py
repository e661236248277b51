"""Self-collision of a robot arm, against python-fcl.

The arm has seven links, capsules. Neighbours touch at their joints and are left out. For a thousand
configurations at once: how near does the arm come to itself?
"""

import sys

import numpy as np
from scipy.spatial.transform import Rotation

import jostle

LINKS, CONFIGURATIONS = 7, 1000
RADIUS, HALF = 0.1, 0.15

rng = np.random.default_rng(3)
angles = rng.uniform(-2.4, 2.4, (CONFIGURATIONS, LINKS))
axes = np.array([[0, 0, 1] if k % 2 == 0 else [1, 0, 0] for k in range(LINKS)])

at = np.zeros((CONFIGURATIONS, LINKS, 3))
turn = np.zeros((CONFIGURATIONS, LINKS, 4))
base, frame = np.zeros((CONFIGURATIONS, 3)), Rotation.identity(CONFIGURATIONS)
for k in range(LINKS):
    frame = frame * Rotation.from_rotvec(angles[:, k, None] * axes[k])
    along = frame.apply([0, 1, 0])
    at[:, k], turn[:, k] = base + HALF * along, frame.as_quat()
    base = base + 2 * HALF * along

link = jostle.Shape.capsule(radius=RADIUS, half_height=HALF)
a, b = np.triu_indices(LINKS, 2)  # not the neighbours
apart = jostle.distance(
    link, link,
    (at[:, a].reshape(-1, 3), turn[:, a].reshape(-1, 4)),
    (at[:, b].reshape(-1, 3), turn[:, b].reshape(-1, 4)),
).reshape(CONFIGURATIONS, -1)
hits = (apart == 0).any(axis=1)
print(f"{hits.sum()} of {CONFIGURATIONS} configurations hit themselves")
assert 0.05 < hits.mean() < 0.95

try:
    import fcl
except ImportError:
    print("python-fcl is missing")
    sys.exit(77)

# fcl's capsules stand along z, ours along y.
upright = Rotation.from_rotvec([-np.pi / 2, 0, 0])
capsule = fcl.Capsule(RADIUS, 2 * HALF)
for k in range(60):
    objects = []
    for part in range(LINKS):
        matrix = (Rotation.from_quat(turn[k, part]) * upright).as_matrix()
        objects.append(fcl.CollisionObject(capsule, fcl.Transform(matrix, at[k, part])))
    for i, j, ours in zip(a, b, apart[k], strict=True):
        theirs = fcl.distance(objects[i], objects[j], fcl.DistanceRequest(), fcl.DistanceResult())
        assert abs(max(theirs, 0) - ours) < 1e-3, (k, i, j, theirs, ours)
print("fcl finds the same distances")
