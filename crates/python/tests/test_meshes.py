"""Triangle meshes."""

import hashlib
import json
import pickle
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import jostle
from jostle import Mesh

TETRAHEDRON = (
    np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float),
    np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]),
)


def read_ply(path: Path) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """The shared meshes: binary, float32 vertices, then triangles with a count of one byte."""
    header, _, body = path.read_bytes().partition(b"end_header\n")
    counts = [int(line.split()[2]) for line in header.splitlines() if line.startswith(b"element")]
    vertices = np.frombuffer(body, "<f4", 3 * counts[0]).reshape(-1, 3)
    kind = "<i4" if b"int " in header or b"int32" in header else "<u4"
    rows = np.frombuffer(body[12 * counts[0] :], [("n", "u1"), ("t", kind, (3,))], counts[1])
    assert (rows["n"] == 3).all()
    return vertices, rows["t"].astype(np.uint32)


def sphere(rows: int = 12) -> Mesh:
    """A ball of radius 1 with points on it."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(40 * rows, 3))
    hull = jostle.Shape.hull(points / np.linalg.norm(points, axis=1, keepdims=True))
    return Mesh(hull.vertices, hull.triangles, solid=True)


def test_the_published_pairs_and_distances(data: Path) -> None:
    cases = json.loads((data / "mesh_cases.json").read_text())["cases"]
    meshes = {path.name: read_ply(path) for path in (data / "meshes").glob("*.ply")}
    assert len(cases) == 16
    for case in cases:
        (a, faces_a), (b, faces_b) = meshes[case["a"]], meshes[case["b"]]
        moved = (b @ np.array(case["P"], np.float32).T) + np.array(case["t"], np.float32)
        one, other = Mesh(a, faces_a), Mesh(moved.astype(np.float32), faces_b)
        pairs = one.triangle_pairs(other)
        assert len(pairs) == case["triangle_pairs"], case["id"]
        assert hashlib.sha256(pairs.astype("<u4").tobytes()).hexdigest() == case["sha256"]
        assert one.intersects(other) == case["intersects"]
        if not case["intersects"]:
            found = one.closest(other)
            assert abs(found["distance"] - case["distance_fcl"]) < 1e-9
            apart = np.linalg.norm(found["point_a"] - found["point_b"])
            assert abs(apart - found["distance"]) < 1e-12


def test_rays_points_and_insides_of_a_ball() -> None:
    ball, rng = sphere(), np.random.default_rng(5)
    directions = rng.normal(size=(500, 3))
    hits = ball.rays(np.zeros((500, 3)), directions, threads=2)
    assert hits.dtype == jostle.MESH_HIT
    distance = np.linalg.norm(hits["point"], axis=1)
    assert ((0.8 < distance) & (distance <= 1)).all() and (hits["front"] == 0).all()
    corners = ball.vertices[ball.triangles[hits["triangle"]]]
    weighed = (corners * hits["weights"][:, :, None]).sum(axis=1)
    assert np.allclose(weighed, hits["point"], atol=1e-12)
    missed = ball.rays([[3.0, 0, 0]], [[1.0, 0, 0]])
    assert missed["triangle"][0] == -1 and np.isinf(missed["time"][0])
    assert ball.rays([[3.0, 0, 0]], [[-1.0, 0, 0]], limit=1.0)["triangle"][0] == -1

    points = rng.uniform(-1.5, 1.5, (500, 3))
    length = np.linalg.norm(points, axis=1)
    sure = (length < 0.8) | (length > 1)
    inside = ball.contains(points)
    assert np.array_equal(inside[sure], length[sure] < 0.8) and 0.1 < inside.mean() < 0.5
    assert np.allclose(ball.winding_numbers(points)[sure], inside[sure], atol=1e-6)
    near = ball.project(points)
    assert near.dtype == jostle.MESH_POINT
    assert np.allclose(np.linalg.norm(near["point"] - points, axis=1), abs(near["distance"]))
    assert np.array_equal(near["distance"] < 0, inside)
    assert (near["distance"][~inside] >= length[~inside] - 1 - 1e-12).all()


def test_poses_surfaces_and_solids() -> None:
    small = Mesh(0.1 * TETRAHEDRON[0] + 0.1, TETRAHEDRON[1])
    surface, solid = Mesh(*TETRAHEDRON), Mesh(*TETRAHEDRON, solid=True)
    assert surface.report()["closed"] and surface.report()["oriented"]
    assert abs(surface.report()["volume"] - 1 / 6) < 1e-15
    assert not surface.intersects(small) and solid.intersects(small)
    places = np.array([[0, 0, 0], [0.25, 0, 0], [5, 0, 0]], float)
    assert solid.intersects(small, None, places).tolist() == [True, True, False]
    closest = surface.closest(small, None, places)
    assert closest.dtype == jostle.MESH_CLOSEST and closest.shape == (3,)
    mirrored = small.closest(surface, places)
    assert np.allclose(closest["distance"], mirrored["distance"], atol=1e-15)
    assert surface.self_pairs().shape == (0, 2)


def test_deforming_and_copies() -> None:
    ball = sphere()
    still = pickle.loads(pickle.dumps(ball))
    assert np.array_equal(still.vertices, ball.vertices) and len(still) == len(ball)
    assert not ball.set_vertices(ball.vertices * [1, 1, 1.2])
    assert np.array_equal(ball.bounds, still.bounds * [1, 1, 1.2])
    top = ball.rays([[0.01, 0.02, 9]], [[0, 0, -1]])["point"][0, 2]
    assert abs(top - 1.2 * still.rays([[0.01, 0.02, 9]], [[0, 0, -1]])["point"][0, 2]) < 1e-12
    solid = pickle.loads(pickle.dumps(Mesh(*TETRAHEDRON, solid=True)))
    assert solid.solid and repr(solid) == "<Mesh: 4 triangles, solid>"


def test_questions_while_the_mesh_changes() -> None:
    ball = sphere()
    places, found = ball.vertices, []

    def ask() -> None:
        for _ in range(50):
            found.append(ball.rays([[9.0, 0.01, 0.02]], [[-1.0, 0, 0]])["time"][0])

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for step in range(50):
        ball.set_vertices(places * (1 + step % 2))
    for thread in threads:
        thread.join()
    assert len(found) == 100 and all(abs(t - 8) < 0.2 or abs(t - 7) < 0.4 for t in found)


def test_bad_meshes_are_refused() -> None:
    corners, triangles = TETRAHEDRON
    with pytest.raises(jostle.ShapeError, match="triangle 0 names vertex 9"):
        Mesh(corners, [[0, 1, 9]])
    with pytest.raises(ValueError, match="below 0"):
        Mesh(corners, [[0, 1, -1]])
    with pytest.raises(ValueError, match="row 0 names vertex"):
        Mesh(corners, np.array([[0, 1, 2**40]]))
    with pytest.raises(jostle.ShapeError, match="vertex 1: y"):
        Mesh(np.array([[0, 0, 0], [0, np.nan, 0], [1, 0, 0]]), [[0, 1, 2]])
    with pytest.raises(jostle.ShapeError, match="no triangles"):
        Mesh(corners, np.zeros((0, 3), int))
    with pytest.raises(ValueError, match="give \\(m, 3\\)"):
        Mesh(corners, [[0, 1, 2, 3]])
    with pytest.raises(TypeError, match="integer"):
        Mesh(corners, [[0.5, 1, 2]])
    mesh = Mesh(corners, triangles)
    with pytest.raises(jostle.ShapeError, match="3 vertices given for a mesh of 4"):
        mesh.set_vertices(corners[:3])
    assert np.array_equal(mesh.vertices, corners)
    with pytest.raises(ValueError, match="directions"):
        mesh.rays(corners, corners[:2])
    with pytest.raises(ValueError, match="row 0"):
        mesh.project([[np.nan, 0, 0]])
    with pytest.raises(jostle.PairLimitError):
        mesh.triangle_pairs(mesh, limit=1)
