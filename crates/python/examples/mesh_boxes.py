"""Boxes around the triangles of a mesh: which triangles may touch?

Any array of corners will do; `mesh.triangles` of trimesh and `mesh.points[mesh.faces]` of pyvista
are such arrays. If trimesh is installed, the mesh is its own.
"""

import numpy as np

import jostle

try:
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=3)
    corners = np.asarray(ball.triangles)
except ImportError:
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 33), np.linspace(0, np.pi, 17))
    grid = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
    quads = [grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]]
    halves = [np.stack([quads[0], quads[k], quads[k + 1]], axis=2) for k in (1, 2)]
    corners = np.concatenate([half.reshape(-1, 3, 3) for half in halves])

other = corners + [0.9, 0.3, 0.1]
boxes = [(mesh.min(axis=1), mesh.max(axis=1)) for mesh in (corners, other)]
near = jostle.overlaps_between(boxes[0], boxes[1])
# Of these candidates, which triangles touch?
ours = [jostle.Shape.triangle(points) for points in corners]
theirs = [jostle.Shape.triangle(points) for points in other]
touch = jostle.intersects([ours[k] for k in near[:, 0]], [theirs[k] for k in near[:, 1]])
print(f"{len(corners)} triangles each: {len(near)} pairs of boxes, {touch.sum()} of triangles")
assert 0 < touch.sum() < len(near)
# Where two spheres meet there is a circle: all touching triangles are near its plane.
middle = corners[near[touch][:, 0]].mean(axis=1)
plane = (middle @ [0.9, 0.3, 0.1]) / np.linalg.norm([0.9, 0.3, 0.1])
assert np.ptp(plane) < 0.5
