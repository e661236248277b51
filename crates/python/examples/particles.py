"""Particles in a box: which meet, and a picture of it.

A detector follows the boxes around 2000 discs. Discs that touch and approach each other exchange
their velocities along the line between them, as elastic ones of equal mass do. At the end a picture
shows where they are; those that touch another are red.
"""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection

import jostle

COUNT, SIDE, RADIUS, STEPS = 2000, 100.0, 0.5, 120

rng = np.random.default_rng(1)
at = rng.uniform(RADIUS, SIDE - RADIUS, (COUNT, 2))
speed = rng.normal(0, 0.4, (COUNT, 2))
energy = (speed**2).sum()

detector = jostle.Detector()
detector.insert((at - RADIUS, at + RADIUS))
met = []
for _ in range(STEPS):
    at += speed
    outside = (at < RADIUS) | (at > SIDE - RADIUS)
    speed[outside] *= -1
    np.clip(at, RADIUS, SIDE - RADIUS, out=at)
    detector.set_all((at - RADIUS, at + RADIUS))
    detector.step()
    a, b = detector.pairs.T
    line = at[b] - at[a]
    apart = np.linalg.norm(line, axis=1)
    approaching = ((speed[b] - speed[a]) * line).sum(axis=1) < 0
    close = (apart <= 2 * RADIUS) & (apart > 0) & approaching
    for i, j, n in zip(a[close], b[close], line[close] / apart[close, None], strict=True):
        change = (speed[i] - speed[j]) @ n * n
        speed[i] -= change
        speed[j] += change
    met.append(int(close.sum()))

assert np.isclose((speed**2).sum(), energy), "collisions keep the energy"
first, second = detector.pairs.T
touching = np.linalg.norm(at[first] - at[second], axis=1) <= 2 * RADIUS
red = np.zeros(COUNT, bool)
red[first[touching]] = red[second[touching]] = True

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
sizes = np.full(COUNT, 2 * RADIUS)
colors = ["#d83a2b" if touches else "#7f9fc6" for touches in red]
discs = EllipseCollection(
    sizes, sizes, np.zeros(COUNT), units="x", offsets=at, transOffset=left.transData,
    facecolors=colors,
)
left.add_collection(discs)
left.set(xlim=(0, SIDE), ylim=(0, SIDE), aspect="equal", xlabel="x", ylabel="y")
left.set_title(f"{red.sum()} of {COUNT} discs touch another")
right.plot(np.arange(1, STEPS + 1), met)
right.set(xlabel="step", ylabel="collisions in the step", ylim=(0, None))
right.set_title("collisions")
figure.tight_layout()
figure.savefig("particles.png", dpi=90)
print(f"{sum(met)} collisions in {STEPS} steps; see particles.png")
