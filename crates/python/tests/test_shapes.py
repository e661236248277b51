"""Shapes, narrow questions and worlds."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

import jostle
from jostle import Shape

BALL = Shape.sphere(radius=1)
CUBE = Shape.cuboid(half_extents=[1, 1, 1])


def shape_of(value: dict[str, Any]) -> Shape:
    (kind, fields), *_ = value.items()
    shape: Shape = getattr(Shape, "cuboid" if kind == "box" else kind)(**fields)
    return shape


def test_the_published_answers(data: Path) -> None:
    lines = (data / "contacts_sample.jsonl").read_text().splitlines()
    queries = [json.loads(line) for line in lines]
    queries = [q for q in queries if all("mesh" not in q[side]["shape"] for side in "ab")]
    expected = {
        answer["id"]: answer
        for answer in map(
            json.loads, (data / "contacts_sample_expected.jsonl").read_text().splitlines()
        )
    }
    a, b = ([shape_of(query[side]["shape"]) for query in queries] for side in "ab")

    def poses(side: str) -> tuple[Any, Any]:
        return (
            [query[side].get("translation", [0, 0, 0]) for query in queries],
            [query[side].get("rotation", [0, 0, 0, 1]) for query in queries],
        )

    found = jostle.contact(a, b, poses("a"), poses("b"), threads=2)
    distance = jostle.distance(a, b, poses("a"), poses("b"))
    hit = jostle.intersects(a, b, poses("a"), poses("b"))
    assert len(found) > 90 and found.dtype == jostle.CONTACT
    assert np.array_equal(found["distance"], distance)
    for query, contact, touches in zip(queries, found, hit, strict=True):
        answer = expected[query["id"]]
        polyhedral = all(
            next(iter(query[side]["shape"])) in ("box", "triangle", "hull") for side in "ab"
        )
        most = (1e-9 if polyhedral else 1e-6) * answer["size"] + answer["err"]
        assert abs(contact["distance"] - answer["distance"]) <= most, query["id"]
        assert abs(contact["depth"] - answer["depth"]) <= most, query["id"]
        if not answer["touching"]:
            assert touches == (answer["depth"] > 0), query["id"]


def test_poses_in_every_form_are_the_same() -> None:
    rng = np.random.default_rng(1)
    at, turn = rng.uniform(-3, 3, (50, 3)), Rotation.random(50, random_state=2)
    matrices = np.tile(np.eye(4), (50, 1, 1))
    matrices[:, :3, :3], matrices[:, :3, 3] = turn.as_matrix(), at
    rows = np.hstack([at, turn.as_quat()])
    answers = [
        jostle.distance(CUBE, CUBE, None, poses)
        for poses in ((at, turn.as_quat()), rows, matrices, np.asfortranarray(matrices))
    ]
    for answer in answers[1:]:
        assert np.allclose(answer, answers[0], atol=1e-12)
    one_by_one = [jostle.distance(CUBE, CUBE, None, row) for row in rows]
    assert np.array_equal(one_by_one, answers[0])
    assert 0.2 < (answers[0] > 0).mean() < 0.8
    swapped = jostle.distance(CUBE, CUBE, matrices)
    assert np.allclose(swapped, answers[0], atol=1e-12)


def test_closed_forms() -> None:
    rng = np.random.default_rng(3)
    at = rng.uniform(-2, 2, (2000, 3))
    radii = rng.uniform(0.1, 2, 40)
    balls = [Shape.sphere(radius=radius) for radius in radii]
    many = [balls[k % 40] for k in range(2000)]
    gap = np.linalg.norm(at, axis=1) - 1 - radii[np.arange(2000) % 40]
    found = jostle.contact(many, BALL, at, threads=3)
    assert np.allclose(found["distance"] - found["depth"], gap, atol=1e-12)
    assert np.array_equal(found["status"] == 2, gap < 0)
    assert np.array_equal(jostle.intersects(many, BALL, at), gap <= 0)
    assert 0.2 < (gap < 0).mean() < 0.8
    fast = jostle.time_of_impact(BALL, BALL, [[-9, 0, 0]] * 3, None, ([[14, 0, 0], [1, 0, 0],
                                 [0, 0, 0]], [0, 0, 1]))
    assert fast["status"].tolist() == [1, 2, 2] and abs(fast["time"][0] - 0.5) < 1e-6
    assert len(jostle.manifold(CUBE, CUBE, None, [0, 1.9, 0])) == 4
    assert len(jostle.manifold(CUBE, CUBE, None, [0, 3, 0])) == 0


def test_shapes_show_and_keep_what_they_are() -> None:
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    shapes = [
        BALL, CUBE, Shape.capsule(radius=1, half_height=2), Shape.cone(radius=1, half_height=2),
        Shape.cylinder(radius=1, half_height=2), Shape.ellipsoid(radii=[1, 2, 3]),
        Shape.triangle(points=points[:3]), Shape.hull(points=points),
        Shape.half_space(normal=[0, 2, 0], offset=4),
        Shape.compound([BALL, CUBE], [[0, 0, 0], [3, 0, 0]]),
    ]
    for shape in shapes:
        again = pickle.loads(pickle.dumps(shape))
        assert repr(again) == repr(shape) and repr(shape).startswith(f"Shape.{shape.kind}(")
        assert np.array_equal(again.bounds(), shape.bounds())
    assert repr(shapes[8]) == "Shape.half_space(normal=[0.0, 1.0, 0.0], offset=2.0)"
    hull = shapes[7]
    assert hull.vertices.shape == (8, 3) and hull.triangles.shape == (12, 3)
    assert shapes[9].bounds([1, 0, 0]).tolist() == [0, -1, -1, 5, 1, 1]
    with pytest.raises(TypeError, match="a sphere has no list"):
        BALL.vertices


NONSENSE: Any = "x"

REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: Shape.sphere(radius=-1), jostle.ShapeError, "radius"),
    (lambda: Shape.sphere(radius=float("nan")), jostle.ShapeError, "radius"),
    (lambda: Shape.cuboid(half_extents=[1, 1]), ValueError, r"half_extents: shape \(2,\)"),
    (lambda: Shape.hull(points=np.zeros((0, 3))), jostle.ShapeError, "point"),
    (lambda: Shape.hull(points=[[0, 0, np.inf]]), jostle.ShapeError, "point"),
    (lambda: Shape.half_space(normal=[0, 0, 0]), jostle.ShapeError, "normal"),
    (lambda: Shape.triangle(points=np.zeros((4, 3))), ValueError, "4 given"),
    (lambda: Shape.compound([]), jostle.ShapeError, "piece"),
    (lambda: jostle.distance(BALL, 3), TypeError, "b: give a Shape"),  # type: ignore[arg-type]
    (lambda: jostle.distance(BALL, BALL, np.eye(4) * 2), jostle.PoseError, "pose 0: the last row"),
    (lambda: jostle.distance(BALL, BALL, np.diag([2, 2, 2, 1])), jostle.PoseError, "scales"),
    (lambda: jostle.distance(BALL, BALL, np.diag([-1, 1, 1, 1])), jostle.PoseError, "mirrors"),
    (lambda: jostle.distance(BALL, BALL, np.full((4, 4), np.nan)), jostle.PoseError, "finite"),
    (lambda: jostle.distance(BALL, BALL, np.diag([0, np.nan, 0])), jostle.PoseError, "pose 1"),
    (lambda: jostle.distance(BALL, BALL, ([0, 0, 0], [0, 0, 0, 2])), jostle.PoseError, "pose 0"),
    (lambda: jostle.distance(BALL, BALL, np.zeros((2, 5))), ValueError, "no list of poses"),
    (lambda: jostle.distance(BALL, BALL, np.zeros((2, 3)), np.zeros((3, 3))), ValueError,
     "poses_a has length 2 and poses_b 3"),
    (lambda: jostle.distance(BALL, BALL, method=NONSENSE), ValueError, "there are auto"),
    (lambda: jostle.distance(BALL, BALL, margin=-1), ValueError, "margin"),
    (lambda: jostle.time_of_impact(BALL, BALL, duration=-1), ValueError, "duration"),
    (lambda: jostle.time_of_impact(BALL, Shape.half_space([0, 1, 0]), None, None, None,
                                   ([0, 0, 0], [0, 0, 1])), jostle.PoseError, "not turn"),
    (lambda: jostle.manifold([BALL] * 2, BALL), ValueError, "give one"),
    (lambda: jostle.World(detail="all"), ValueError, "detail"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("call,error,message", REFUSED)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def scene(count: int, seed: int) -> tuple[list[Shape], npt.NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    kinds = [BALL, CUBE, Shape.capsule(radius=0.5, half_height=1)]
    poses = np.hstack(
        [rng.uniform(0, 12, (count, 3)), Rotation.random(count, random_state=seed).as_quat()]
    )
    return [kinds[k % 3] for k in range(count)], poses


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("detail", ["contact", "manifold"])
def test_a_world_finds_what_each_pair_says(threads: int, detail: Any) -> None:
    world = jostle.World(threads=threads, detail=detail)
    shapes, poses = scene(120, 4)
    ids = world.insert(shapes, poses, user_data=range(120))
    first, second = np.triu_indices(120, 1)
    before: set[tuple[int, int]] = set()
    for move in range(4):
        moved = poses + np.r_[[0.3 * move, 0, 0], [0] * 4] * (np.arange(120) % 2)[:, None]
        world.set_poses(ids, moved)
        step = world.step()
        hit = jostle.intersects(
            [shapes[k] for k in first], [shapes[k] for k in second], moved[first], moved[second]
        )
        expected = set(zip(first[hit].tolist(), second[hit].tolist(), strict=True))
        touches = step.touches
        assert set(zip(touches["a"].tolist(), touches["b"].tolist(), strict=True)) == expected
        assert set(map(tuple, step.began.tolist())) == expected - before
        assert set(map(tuple, step.ended.tolist())) == before - expected
        a, b = touches["a"].astype(int), touches["b"].astype(int)
        alone = jostle.contact([shapes[k] for k in a], [shapes[k] for k in b], moved[a], moved[b])
        assert np.allclose(touches["depth"], alone["depth"], atol=1e-8)
        assert touches["points"].sum() == len(step.points)
        if detail == "manifold":
            assert (touches["points"] >= 1).all() and len(step.points) > len(touches)
        before = expected
    assert 20 < len(before) < 2000 and world.last_step.touches.tobytes() == touches.tobytes()
    assert world.user_data([3, 5]).tolist() == [3, 5]
    at, turn = world.poses(ids)
    assert np.allclose(at, moved[:, :3]) and np.allclose(np.abs(turn), np.abs(moved[:, 3:]))


def test_worlds_are_kept_and_closed() -> None:
    world = jostle.World()
    shapes, poses = scene(60, 5)
    ids = world.insert(shapes, poses)
    world.step()
    assert len(world) == 60 and list(world) == ids.tolist() and ids[0] in world
    again = pickle.loads(pickle.dumps(world))
    world.remove(ids[:20])
    again.remove(ids[:20])
    one, other = world.step(), again.step()
    assert one.touches.tobytes() == other.touches.tobytes() and len(one.ended) > 0
    assert np.array_equal(one.ended, other.ended)
    assert repr(world).startswith("<World: 40 bodies, ") and world.shape(int(ids[21])).kind
    found = world.queries.nearest(poses[30:31, :3], 1)
    assert len(found.ids) == 1
    with pytest.raises(jostle.IdError, match="was removed"):
        world.set_poses(ids[:1], [0, 0, 0])
    with pytest.raises(ValueError, match="2 poses for 3 ids"):
        world.set_poses(ids[30:33], np.zeros((2, 3)))
    with world:
        pass
    with pytest.raises(jostle.ClosedError, match="this world is closed"):
        world.step()


def test_filters_exclusions_and_continuous_worlds() -> None:
    world = jostle.World(continuous=True)
    wall = world.insert(Shape.cuboid(half_extents=[0.01, 5, 5]), None, jostle.Filter(still=True))
    bullet = world.insert(Shape.sphere(radius=0.05), [-10, 0, 0])
    assert len(world.step().touches) == 0
    world.set_poses(bullet, [10, 0, 0])
    step = world.step()
    assert step.began.tolist() == [[0, 1]] and abs(step.touches["time"][0] - 0.497) < 1e-3
    world.exclude(wall, bullet)
    world.set_poses(bullet, [-10, 0, 0])
    assert len(world.step().touches) == 0
    world.include(wall, bullet)
    world.teleport(bullet, [10, 0, 0])
    assert len(world.step().touches) == 0
    world.teleport(bullet, [0, 0, 0])
    assert len(world.step().touches) == 1
    world.set_filter(bullet, jostle.Filter(membership=0))
    assert len(world.step().touches) == 0
