"""One-shot calls: forms of input, zero copy, outward rounding, refusals, published pairs."""

import hashlib
import json
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import oracle
import pytest
from conftest import random_boxes
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import jostle
from jostle._native import borrowed_address

BOXES = random_boxes(300, 1)
EXPECTED = oracle.overlaps(BOXES)


def pairs(found: npt.NDArray[np.uint32]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in found.tolist()]


def test_the_answer_is_that_of_the_definition() -> None:
    found = jostle.overlaps(BOXES)
    assert found.dtype == np.uint32 and found.shape[1] == 2
    assert 100 < len(found) and pairs(found) == EXPECTED
    for threads in (0, 2, 3):
        assert np.array_equal(jostle.overlaps(BOXES, threads=threads), found)


class OnlyArray:
    """Something that NumPy reads by ``__array__``."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return self.array


class OnlyDlpack:
    """Something that NumPy reads by DLPack alone, as tensors of other libraries."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def forms() -> dict[str, Any]:
    """One set of boxes in every form; the numbers are float32 ones in all of them."""
    backwards = np.ascontiguousarray(BOXES[::-1])[::-1]
    wide = np.zeros((len(BOXES), 9), np.float32)
    wide[:, 2:8] = BOXES
    read_only = BOXES.copy()
    read_only.flags.writeable = False
    shifted = np.zeros(BOXES.nbytes + 1, np.uint8)[1:]
    shifted[:] = np.frombuffer(BOXES.tobytes(), np.uint8)
    return {
        "(n, 2, 3)": BOXES.reshape(-1, 2, 3),
        "float64": BOXES.astype(np.float64),
        "Fortran": np.asfortranarray(BOXES),
        "Fortran (n, 2, 3)": np.asfortranarray(BOXES.reshape(-1, 2, 3)),
        "big-endian": BOXES.astype(">f4"),
        "reversed": backwards,
        "columns of a wider array": wide[:, 2:8],
        "read-only": read_only,
        "unaligned": shifted.view(np.float32).reshape(BOXES.shape),
        "mins and maxs": (BOXES[:, :3], BOXES[:, 3:]),
        "lists": BOXES.tolist(),
        "buffer": BOXES.data,
        "__array__": OnlyArray(BOXES),
        "DLPack": OnlyDlpack(BOXES),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_gives_the_same_pairs(form: str) -> None:
    assert pairs(jostle.overlaps(forms()[form])) == EXPECTED


def test_float32_in_c_order_is_read_where_it_is() -> None:
    for same in (BOXES, BOXES.reshape(-1, 2, 3), BOXES[10:20], forms()["read-only"]):
        assert borrowed_address(same) == same.ctypes.data
    buffer = BOXES.data
    assert borrowed_address(buffer) == BOXES.ctypes.data
    assert borrowed_address(OnlyDlpack(BOXES)) == BOXES.ctypes.data
    for name in ("float64", "Fortran", "big-endian", "reversed", "unaligned", "mins and maxs"):
        assert borrowed_address(forms()[name]) is None, name


def test_flat_boxes_are_four_numbers() -> None:
    flat = BOXES[:, [0, 1, 3, 4]]
    lifted = np.zeros_like(BOXES)
    lifted[:, [0, 1, 3, 4]] = flat
    expected = oracle.overlaps(lifted)
    for form in (flat, flat.reshape(-1, 2, 2), (flat[:, :2], flat[:, 2:])):
        assert pairs(jostle.overlaps(form)) == expected


@pytest.mark.parametrize("empty", [[], np.zeros((0, 6)), np.zeros((0, 2, 3), np.float32)])
def test_no_boxes_have_no_pairs(empty: Any) -> None:
    assert jostle.overlaps(empty).shape == (0, 2)
    assert jostle.overlaps_between(empty, BOXES).shape == (0, 2)


def test_between_two_lists() -> None:
    a, b = BOXES[:100], BOXES[100:]
    expected = [(i, j - 100) for i, j in EXPECTED if i < 100 <= j]
    assert pairs(jostle.overlaps_between(a, b)) == expected
    with pytest.raises(jostle.BoxError, match="^b: box 1: min y is NaN"):
        jostle.overlaps_between(a, np.array([[0, 0, 0, 1, 1, 1], [0, np.nan, 0, 1, 1, 1]]))


@given(
    hnp.arrays(np.float64, (6, 6), elements=st.floats(-1e6, 1e6)),
    st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "u8"]),
)
def test_whatever_is_no_float32_is_rounded_outward(numbers: Any, dtype: str) -> None:
    if dtype == "u8":
        numbers = np.abs(numbers)
    if dtype in ("f2", "i2"):
        numbers = numbers / 100
    rows = np.sort(numbers.reshape(6, 2, 3), axis=1).astype(dtype)
    if dtype in ("i8", "u8"):
        rows = rows * 2**40 + 1
    low, high = rows[:, 0], rows[:, 1]
    # A stored lower bound that is not below, or an upper one that is not above, loses pairs.
    detector = jostle.Detector()
    detector.insert(rows)
    stored = detector.boxes
    exact = np.vectorize(lambda x: int(x) if dtype in ("i8", "u8") else float(x), otypes=[object])
    for k in range(3):
        assert all(int(s) <= e if isinstance(e, int) else s <= e
                   for s, e in zip(stored[:, k], exact(low[:, k]), strict=True))
        assert all(int(s) >= e if isinstance(e, int) else s >= e
                   for s, e in zip(stored[:, k + 3], exact(high[:, k]), strict=True))
    nearest = rows.astype(np.float32).reshape(6, 6)
    assert (np.abs(stored - nearest) <= np.spacing(np.abs(nearest))).all()


REFUSED: list[tuple[Any, type[Exception], str]] = [
    ([[0, 0, 0, 1, 1, 1], [0, 0, 5, 1, 1, 1]], jostle.BoxError, "box 1: min z = 5 is above"),
    (np.full((2, 6), np.nan, np.float32), jostle.BoxError, "box 0: min x is NaN"),
    (np.zeros((3, 5)), ValueError, r"shape \(3, 5\) is no list of boxes"),
    (np.zeros(6), ValueError, r"shape \(6,\) is no list"),
    (np.zeros((2, 3, 2)), ValueError, "no list of boxes"),
    (np.zeros((2, 6), complex), TypeError, "dtype complex128 is not supported"),
    (np.zeros((2, 6), bool), TypeError, "dtype bool is not supported"),
    (np.zeros((2, 6), np.longdouble), TypeError, "not supported"),
    (np.array([["a"] * 6]), TypeError, "not supported"),
    ([[1, 2], [3]], ValueError, "cannot be read as an array"),
    ("boxes", ValueError, r"shape \(\) is no list of boxes"),
    (None, ValueError, "no list of boxes"),
    ((np.zeros((2, 3)), np.zeros((3, 3))), ValueError, "give one for each"),
]


@pytest.mark.parametrize("boxes,error,message", REFUSED)
def test_bad_input_is_refused_by_name(boxes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        jostle.overlaps(boxes)


def test_legal_extremes() -> None:
    infinite = [-np.inf] * 3 + [np.inf] * 3
    assert len(jostle.overlaps([infinite, infinite, [0.0] * 6])) == 3
    largest = float(np.finfo(np.float64).max)
    assert len(jostle.overlaps([[largest] * 6, [largest / 2] * 6])) == 1  # both become infinite


def test_numbers_that_overflow_are_refused() -> None:
    with pytest.raises(OverflowError):
        jostle.overlaps(BOXES, threads=-1)
    with pytest.raises(OverflowError):
        jostle.overlaps(BOXES, pair_limit=2**70)
    with pytest.raises(jostle.Error, match="thread"):
        jostle.overlaps(BOXES, threads=10**6)


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(jostle.PairLimitError, match="4950 pairs overlap, more than the limit"):
        jostle.overlaps(np.zeros((100, 6), np.float32), pair_limit=10)


def test_an_array_that_changes_during_the_call_is_harmless() -> None:
    boxes = random_boxes(4000, 5, 0.3)
    good, bad = boxes.copy(), np.full_like(boxes, np.nan)
    over = threading.Event()

    def change() -> None:
        while not over.is_set():
            boxes[:] = bad
            time.sleep(0.001)
            boxes[:] = good
            time.sleep(0.001)

    thread = threading.Thread(target=change)
    thread.start()
    outcomes: set[str] = set()
    detector = jostle.Detector()
    detector.insert(good)
    try:
        # On a busy machine the other thread may sleep through many calls.
        rounds, deadline = 0, time.monotonic() + 60
        both = {"done", "BoxError"}
        while rounds < 150 or (not outcomes >= both and time.monotonic() < deadline):
            rounds += 1
            for call in (jostle.overlaps, detector.set_all, detector.insert):
                try:
                    call(boxes)
                    outcomes.add("done")
                except (jostle.BoxError, jostle.ArrayChangedError) as error:
                    outcomes.add(type(error).__name__)
            detector.remove(detector.ids[4000:])
            detector.step()
            assert not np.isnan(detector.boxes).any()
    finally:
        over.set()
        thread.join()
    assert outcomes >= both


SETS = ["city_denhaag", "cloth_swept", "md_m2_water", "cloth_faces", "md_rhodopsin"]


@pytest.mark.parametrize("name", SETS)
def test_published_pairs(name: str, data: Path) -> None:
    frames = np.load(data / f"{name}.npy", mmap_mode="r")
    if frames.ndim == 2:
        frames = frames[None]
    published = json.loads((data / "expected.json").read_text())
    expected = published["sets"][f"{name}.npy"]["frames"]
    for frame, boxes in list(enumerate(frames))[:3]:
        found = jostle.overlaps(np.array(boxes))
        assert len(found) == expected[frame]["pairs"]
        digest = hashlib.sha256(found.astype("<u4").tobytes()).hexdigest()
        assert digest == expected[frame]["sha256"]
