"""Answers by definition: too simple to be wrong, and no line shared with the library."""

import numpy as np
import numpy.typing as npt


def overlaps(boxes: npt.NDArray[np.float32]) -> list[tuple[int, int]]:
    """Every pair of rows that overlap, by comparing each with each."""
    low, high = boxes[:, None, :3], boxes[:, None, 3:]
    meets = ((low <= boxes[None, :, 3:]) & (boxes[None, :, :3] <= high)).all(axis=2)
    first, second = np.nonzero(np.triu(meets, 1))
    return list(zip(first.tolist(), second.tolist(), strict=True))


class Model:
    """A detector as a dictionary of boxes and a set of pairs."""

    def __init__(self) -> None:
        self.boxes: dict[int, tuple[float, ...]] = {}
        self.filters: dict[int, tuple[int, int, int | None, bool]] = {}
        self.excluded: set[tuple[int, int]] = set()
        self.pairs: set[tuple[int, int]] = set()

    def may_pair(self, one: int, other: int) -> bool:
        a, b = self.filters[one], self.filters[other]
        groups = a[0] & b[1] and b[0] & a[1]
        owners = a[2] is None or a[2] != b[2]
        excluded = (min(one, other), max(one, other)) in self.excluded
        return bool(groups) and owners and not (a[3] and b[3]) and not excluded

    def step(self) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Began and ended by slot, sorted."""
        now = set()
        for one, a in self.boxes.items():
            for other, b in self.boxes.items():
                slots = one & 0xFFFFFFFF, other & 0xFFFFFFFF
                if slots[0] >= slots[1] or not self.may_pair(one, other):
                    continue
                if all(a[k] <= b[k + 3] and b[k] <= a[k + 3] for k in range(3)):
                    now.add(slots)
        began, ended = sorted(now - self.pairs), sorted(self.pairs - now)
        self.pairs = now
        return began, ended
