"""What Python adds: the package's calls against the same work in Rust, in one process.

Calls alternate; the least and the median of each are shown. The first row is one call of `overlaps`
on float32 boxes, the second one step of a detector whose boxes have all moved.
"""

import statistics
import sys
import time

import numpy as np

import jostle
from jostle._native import time_overlaps, time_step


def scene(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    at = np.random.default_rng(1).uniform(0, (2 * count) ** (1 / 3), (count, 3))
    return np.hstack([at - 0.5, at + 0.5]).astype(np.float32)


count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
boxes = scene(count)
ours, theirs = [], []
for _ in range(7):
    begin = time.perf_counter()
    pairs = jostle.overlaps(boxes)
    ours.append(time.perf_counter() - begin)
    del pairs
    theirs.append(time_overlaps(boxes))
print("| call | Python least ms | median | Rust least ms | median |")
print("|---|---:|---:|---:|---:|")


def shown(name: str) -> None:
    p, r = ours, theirs
    print(
        f"| {name} | {1000 * min(p):.3f} | {1000 * statistics.median(p):.3f} "
        f"| {1000 * min(r):.3f} | {1000 * statistics.median(r):.3f} |"
    )


shown(f"overlaps of {count} boxes")
frames = [scene(10_000)]
rng = np.random.default_rng(2)
for _ in range(3):
    frames.append(frames[-1] + rng.normal(0, 0.02, (1, 6)).astype(np.float32)[:, [0, 1, 2] * 2])
detector = jostle.Detector()
detector.insert(frames[0])
detector.step()
ours, theirs = [], []
for k in range(400):
    detector.set_all(frames[k % 4])
    if k % 8 < 4:
        begin = time.perf_counter()
        events = detector.step()
        ours.append(time.perf_counter() - begin)
    else:
        theirs.append(time_step(detector))
shown("step of 10000 boxes")
