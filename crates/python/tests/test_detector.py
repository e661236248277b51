"""Detectors: histories against a model, ids, queries, threads, pickle, refusals."""

import copy
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import oracle
import pytest
from conftest import random_boxes
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import jostle

coordinate = st.integers(-2, 2)
box = st.tuples(*[coordinate] * 3, *[st.integers(0, 4)] * 3).map(
    lambda t: (*t[:3], *(t[k] + t[k + 3] for k in range(3)))
)
filters = st.tuples(
    st.sampled_from([0xFFFFFFFF, 1, 2]),
    st.sampled_from([0xFFFFFFFF, 1, 3]),
    st.sampled_from([None, None, 7, 8]),
    st.booleans(),
)


def make_filter(filter: tuple[int, int, int | None, bool]) -> jostle.Filter:
    membership, mask, owner, still = filter
    return jostle.Filter(membership=membership, mask=mask, owner=owner, still=still)


class History(RuleBasedStateMachine):
    """Any history of changes gives the events of the model, whatever runs underneath."""

    detector: jostle.Detector
    steps = 0
    events = 0

    @initialize(
        algorithm=st.sampled_from(jostle.ALGORITHMS),
        threads=st.sampled_from([1, 2]),
        boxes=st.lists(box, min_size=4, max_size=6),
    )
    def begin(self, algorithm: str, threads: int, boxes: list[tuple[float, ...]]) -> None:
        self.model = oracle.Model()
        self.detector = jostle.Detector(algorithm, threads=threads)
        # Some that may all pair: rules that are left out of an example can leave out all others.
        self.insert(boxes, (0xFFFFFFFF, 0xFFFFFFFF, None, False))

    @rule(boxes=st.lists(box, max_size=6), filter=filters)
    def insert(self, boxes: list[tuple[float, ...]], filter: Any) -> None:
        ids = self.detector.insert(boxes or np.zeros((0, 6)), make_filter(filter))
        for id, bounds in zip(ids.tolist(), boxes, strict=True):
            assert id not in self.model.boxes
            self.model.boxes[id] = bounds
            self.model.filters[id] = filter

    @precondition(lambda self: self.model.boxes)
    @rule(data=st.data(), dtype=st.sampled_from(["f4", "f8", "i8"]))
    def move(self, data: st.DataObject, dtype: str) -> None:
        known = sorted(self.model.boxes)
        ids = data.draw(st.lists(st.sampled_from(known), unique=True))
        boxes = data.draw(st.lists(box, min_size=len(ids), max_size=len(ids)))
        self.detector.set(np.array(ids, np.uint64), np.array(boxes, dtype).reshape(-1, 6))
        self.model.boxes.update(zip(ids, boxes, strict=True))

    @precondition(lambda self: self.model.boxes)
    @rule(data=st.data())
    def move_all(self, data: st.DataObject) -> None:
        ids = self.detector.ids.tolist()
        boxes = data.draw(st.lists(box, min_size=len(ids), max_size=len(ids)))
        self.detector.set_all(np.array(boxes, np.float32))
        self.model.boxes.update(zip(ids, boxes, strict=True))

    @precondition(lambda self: self.model.boxes)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        ids = data.draw(st.lists(st.sampled_from(sorted(self.model.boxes)), unique=True))
        self.detector.remove(ids)
        for id in ids:
            del self.model.boxes[id], self.model.filters[id]
            self.model.excluded = {pair for pair in self.model.excluded if id not in pair}
            with pytest.raises(jostle.IdError):
                self.detector.get([id])

    @precondition(lambda self: self.model.boxes)
    @rule(data=st.data(), filter=filters)
    def refilter(self, data: st.DataObject, filter: Any) -> None:
        id = data.draw(st.sampled_from(sorted(self.model.boxes)))
        self.detector.set_filter([id], make_filter(filter))
        assert self.detector.filter(id) == make_filter(filter)
        self.model.filters[id] = filter

    @precondition(lambda self: len(self.model.boxes) > 1)
    @rule(data=st.data(), exclude=st.booleans())
    def exclude(self, data: st.DataObject, exclude: bool) -> None:
        known = st.sampled_from(sorted(self.model.boxes))
        one, other = data.draw(st.lists(known, min_size=2, max_size=2, unique=True))
        pair = min(one, other), max(one, other)
        if exclude:
            self.detector.exclude([one], [other])
            self.model.excluded.add(pair)
        else:
            self.detector.include([one], [other])
            self.model.excluded.discard(pair)

    @rule(name=st.sampled_from(jostle.ALGORITHMS))
    def switch(self, name: str) -> None:
        self.detector.algorithm = name

    @rule(how=st.sampled_from(["pickle", "copy", "deepcopy"]))
    def restore(self, how: str) -> None:
        if how == "pickle":
            self.detector = pickle.loads(pickle.dumps(self.detector))
        else:
            self.detector = getattr(copy, how)(self.detector)

    @rule()
    def refused_changes(self) -> None:
        before = self.detector.boxes
        with pytest.raises(jostle.BoxError):
            self.detector.insert([[0, 0, 0, 1, 1, 1], [2, 0, 0, 1, 1, 1]])
        with pytest.raises(ValueError):
            self.detector.set_all(np.zeros((len(before) + 1, 6)))
        assert np.array_equal(self.detector.boxes, before)

    @rule()
    def step(self) -> None:
        began, ended = self.model.step()
        events = self.detector.step()
        assert [tuple(pair) for pair in events.began.tolist()] == began
        assert [tuple(pair) for pair in events.ended.tolist()] == ended
        assert [tuple(pair) for pair in self.detector.pairs.tolist()] == sorted(self.model.pairs)
        assert dict(
            zip(self.detector.ids.tolist(), map(tuple, self.detector.boxes.tolist()), strict=True)
        ) == {id: tuple(map(float, bounds)) for id, bounds in self.model.boxes.items()}
        History.steps += 1
        History.events += len(began) + len(ended)


History.TestCase.settings = settings(max_examples=200, stateful_step_count=30, deadline=None)
TestHistory = History.TestCase


def test_the_histories_had_events() -> None:
    assert History.steps > 100 and History.events > History.steps // 4


def test_a_detector_behaves_like_a_collection() -> None:
    detector = jostle.Detector("bvh")
    ids = detector.insert(random_boxes(5, 2))
    assert len(detector) == 5 and list(detector) == ids.tolist() and bool(jostle.Detector())
    assert ids[3] in detector and 99 not in detector and "x" not in detector
    assert detector[int(ids[2])].tolist() == detector.boxes[2].tolist()
    assert repr(detector) == "<Detector: 5 boxes, 0 pairs, bvh>"
    detector.remove(ids[:1])
    detector.step()
    assert detector.insert([[0] * 6]).tolist() == [1 << 32]  # slot 0, its second box
    assert detector.ids_at([0]).tolist() == [1 << 32]
    detector.set_user_data([1], [2**64 - 1])
    assert detector.user_data([1, 2]).tolist() == [2**64 - 1, 0]


def test_stats_and_reason() -> None:
    detector = jostle.Detector(threads=2, pair_limit=10**6)
    detector.insert(random_boxes(500, 3))
    events = detector.step()
    assert len(events.began) > 0 and np.array_equal(detector.events.began, events.began)
    stats = detector.stats
    assert stats.tests >= len(events.began) and stats.bytes > 0
    assert all(seconds >= 0 for seconds in stats.stages.values())
    assert detector.reason and detector.threads == 2 and detector.pair_limit == 10**6
    detector.pair_limit = 1
    with pytest.raises(jostle.PairLimitError):
        detector.step()
    detector.pair_limit = 10**6
    assert len(detector.step().began) == 0


REFUSED: list[tuple[str, tuple[Any, ...], type[Exception], str]] = [
    ("set", ([7], [[0] * 6]), jostle.IdError, "box 7 does not exist"),
    ("set", ([0, 1], [[0] * 6]), ValueError, "1 boxes for 2 ids"),
    ("set", ([-1], [[0] * 6]), ValueError, "ids: number 0 is -1, below 0"),
    ("set", ([0.5], [[0] * 6]), TypeError, "dtype float64 is no integer type"),
    ("set", ([[0]], [[0] * 6]), ValueError, "no list"),
    ("set", ([2**64], [[0] * 6]), TypeError, "no integer type"),
    ("remove", ([1, 1],), jostle.BoxError, "box 1 is named twice"),
    ("remove", ([2**32],), jostle.IdError, "box 0#1 does not exist"),
    ("exclude", ([1], [1]), jostle.BoxError, "cannot pair with itself"),
    ("exclude", ([1], [1, 2]), ValueError, "give one for each"),
    ("set_all", ([[0] * 6],), ValueError, "1 boxes given for a set of 3"),
    ("insert", ([[0] * 6], 3), TypeError, "filter: give a Filter"),
    ("insert", ([[0] * 6], [jostle.Filter()] * 2), ValueError, "2 filters for 1 boxes"),
    ("user_data", (["x"],), TypeError, "no integer type"),
    ("ids_at", ([9],), jostle.IdError, "no box in slot 9"),
]


@pytest.mark.parametrize("method,arguments,error,message", REFUSED)
def test_refusals_change_nothing(
    method: str, arguments: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    detector = jostle.Detector()
    detector.insert(random_boxes(3, 4))
    before = detector.boxes
    with pytest.raises(error, match=message):
        getattr(detector, method)(*arguments)
    assert np.array_equal(detector.boxes, before) and len(detector) == 3


def test_unknown_names_get_the_list() -> None:
    with pytest.raises(ValueError, match="grid-sweep"):
        jostle.Detector("grid-swep")
    with pytest.raises(TypeError):
        jostle.Filter(membership="x")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        jostle.Filter(membership=2**32)


def test_a_closed_detector_says_so() -> None:
    with jostle.Detector(threads=2) as detector:
        queries = detector.queries
        detector.insert([[0] * 6])
    for call in (detector.step, lambda: len(detector), lambda: queries.nearest([[0, 0, 0]])):
        with pytest.raises(jostle.ClosedError, match="this detector is closed"):
            call()
    assert repr(detector) == "<Detector: closed>"
    detector.close()


def test_damaged_pickles_are_refused() -> None:
    detector = jostle.Detector()
    detector.insert(random_boxes(20, 1))
    detector.step()
    reduced: Any = detector.__reduce__()
    _, (data, *settings) = reduced
    from jostle._native import restore_detector

    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        broken = bytearray(data)
        for place in rng.integers(0, len(broken), 3):
            broken[place] ^= int(rng.integers(1, 256))
        try:
            restore_detector(bytes(broken), *settings).step()
        except jostle.Error:
            refused += 1
    assert refused > 100
    with pytest.raises(jostle.SnapshotError):
        restore_detector(data[:-5], *settings)


def brute(boxes: npt.NDArray[np.float32], low: Any, high: Any) -> list[int]:
    meets = (boxes[:, :3] <= np.float32(high)) & (np.float32(low) <= boxes[:, 3:])
    return np.nonzero(meets.all(axis=1))[0].tolist()


def gaps(boxes: npt.NDArray[np.float32], point: Any) -> npt.NDArray[np.float64]:
    wide, at = boxes.astype(np.float64), np.asarray(point, np.float32).astype(np.float64)
    gap = np.maximum(np.maximum(wide[:, :3] - at, at - wide[:, 3:]), 0)
    return np.asarray(np.sqrt((gap**2).sum(axis=1)))


@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_queries_answer_as_loops_do(stepped: bool, threads: int) -> None:
    boxes = random_boxes(400, 6)
    detector = jostle.Detector("bvh", threads=threads)
    detector.insert(boxes)
    if stepped:
        detector.step()
    queries = detector.queries
    rng = np.random.default_rng(7)
    points = rng.uniform(0, 10, (200, 3)).astype(np.float32)
    asked = random_boxes(200, 8, 2.0)
    found = queries.boxes(asked)
    assert len(found) == 200 and found.offsets.dtype == np.int64
    for box, ids in zip(asked, found, strict=True):
        assert np.asarray(ids).tolist() == brute(boxes, box[:3], box[3:])
    for point, ids in zip(points, queries.points(points), strict=True):
        assert np.asarray(ids).tolist() == brute(boxes, point, point)
    for point, (ids, near) in zip(points, queries.radius(points, 0.7), strict=True):
        distance = gaps(boxes, point)
        assert sorted(ids.tolist()) == np.nonzero(distance <= np.float32(0.7))[0].tolist()
        assert np.allclose(near, np.sort(distance[ids.astype(int)]), rtol=1e-15)
    for point, (ids, near) in zip(points, queries.nearest(points, 5), strict=True):
        order = np.lexsort((np.arange(400), gaps(boxes, point)))[:5]
        assert ids.tolist() == order.tolist() and len(near) == 5
    slots, near = queries.nearest_pairs(7)
    assert slots.shape == (7, 2) and near.tolist() == sorted(near.tolist())


def test_rays_enter_where_they_say() -> None:
    boxes = random_boxes(300, 9)
    detector = jostle.Detector()
    detector.insert(boxes)
    rng = np.random.default_rng(10)
    origins = rng.uniform(-1, 11, (150, 3)).astype(np.float32)
    directions = rng.normal(size=(150, 3)).astype(np.float32)
    found = detector.queries.rays(origins, directions, 4.0)
    ids, times = detector.queries.first_hits(origins, directions, 4.0)
    total = 0
    for k in range(150):
        hit, enter = found[k]
        with np.errstate(divide="ignore"):
            to_low = (boxes[:, :3].astype(float) - origins[k]) / directions[k].astype(float)
            to_high = (boxes[:, 3:].astype(float) - origins[k]) / directions[k].astype(float)
        first = np.maximum(np.minimum(to_low, to_high).max(axis=1), 0)
        last = np.minimum(np.maximum(to_low, to_high).min(axis=1), 4.0)
        assert sorted(hit.tolist()) == np.nonzero(first <= last)[0].tolist()
        assert np.allclose(enter, np.sort(first[hit.astype(int)]), rtol=1e-14)
        total += len(hit)
        if len(hit):
            assert (ids[k], times[k]) == (hit[0], enter[0])
        else:
            assert ids[k] == jostle.NO_ID and times[k] == np.inf
    assert 100 < total
    swept = detector.queries.sweeps([[20, 5, 5, 21, 6, 6]], [[-30, 0, 0]])
    assert len(swept.ids) > 0 and (np.asarray(swept.values) <= 1).all()
    still = jostle.Filter(still=True)
    detector.set_filter(detector.ids, still)
    assert len(detector.queries.rays(origins, directions, filter=still).ids) == 0
    calls: list[Callable[[], object]] = [
        lambda: detector.queries.rays(origins, directions[:-1]),
        lambda: detector.queries.rays(origins, directions, [1.0, 2.0]),
        lambda: detector.queries.points(np.zeros((2, 4))),
        lambda: detector.queries.radius([[0, 0, 0]], [[1]]),
    ]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_many_threads_query_at_once() -> None:
    """All of them are in the engine at the same time, and the interpreter is free meanwhile."""
    boxes = random_boxes(20_000, 11, 0.2)
    detector = jostle.Detector()
    detector.insert(boxes)
    points = boxes[:, :3].copy()
    queries = detector.queries
    expected = queries.radius(points, 0.3).ids
    intervals: list[tuple[float, float]] = []

    def ask() -> None:
        begin = time.perf_counter()
        found = queries.radius(points, 0.3)
        intervals.append((begin, time.perf_counter()))
        assert np.array_equal(found.ids, expected)

    ticks = 0
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks += 1  # this thread runs Python while the others are in the engine
    for thread in threads:
        thread.join()
    # All four were under way before the first was done, and the interpreter was free meanwhile.
    assert max(begin for begin, _ in intervals) < min(end for _, end in intervals)
    assert ticks > 100


def test_threads_may_mix_steps_and_queries() -> None:
    detector = jostle.Detector()
    boxes = random_boxes(2000, 12)
    detector.insert(boxes)
    faults: list[BaseException] = []

    def use(seed: int) -> None:
        try:
            for k in range(20):
                if seed % 2:
                    detector.set_all(boxes + np.float32(k % 3))
                    detector.step()
                else:
                    assert len(detector.queries.nearest(boxes[:50, :3], 3).ids) == 150
        except BaseException as fault:  # noqa: BLE001
            faults.append(fault)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    detector.set_all(boxes)
    detector.step()
    assert np.array_equal(detector.pairs, jostle.overlaps(boxes))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_works_alone() -> None:
    """The child has the detector but none of its threads: it steps and ends all the same."""
    boxes = random_boxes(20_000, 8, size=0.1)
    moved = boxes + np.float32(0.01)
    with jostle.Detector(threads=1) as alone:
        ids = alone.insert(boxes)
        alone.step()
        alone.set(ids, moved)
        expected = alone.step().began
    with jostle.Detector(threads=3) as detector:
        ids = detector.insert(boxes)
        detector.step()
        # Threads without work fall asleep soon; one that sleeps holds nothing that the child needs.
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                detector.set(ids, moved)
                code = 0 if np.array_equal(detector.step().began, expected) else 2
                detector.close()
            finally:
                os._exit(code)
        deadline = time.monotonic() + 60
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                pytest.fail("the child hangs")
            time.sleep(0.01)
        assert os.waitstatus_to_exitcode(ended[1]) == 0
