"""Which buildings does a cable cross? Flat boxes of a table, with pandas if it is there.

Geographic tables (GeoPandas' `frame.bounds`) hold minx, miny, maxx, maxy: flat boxes as they are.
"""

import numpy as np

import jostle

rng = np.random.default_rng(4)
corner = rng.uniform(0, 5000, (5000, 2))
bounds = np.hstack([corner, corner + rng.uniform(5, 40, (5000, 2))])
try:
    import pandas as pd

    table = pd.DataFrame(bounds, columns=["minx", "miny", "maxx", "maxy"])
    buildings = table[["minx", "miny", "maxx", "maxy"]].to_numpy()
except ImportError:
    buildings = bounds

detector = jostle.Detector()
detector.insert(buildings, jostle.Filter(still=True))
start, end = np.array([[0.0, 100.0]]), np.array([[5000.0, 4700.0]])
crossed = detector.queries.rays(start, end - start, 1.0)
way = np.asarray(crossed.values) * np.linalg.norm(end - start)
print(f"the cable crosses {len(crossed.ids)} buildings, the first after {way[0]:.0f} m")

ours, inside = detector.boxes.astype(float), 0
for k in crossed.ids.tolist():
    place = start + (end - start) * np.linspace(0, 1, 200_001)[:, None]
    low, high = ours[k, :2], ours[k, 3:5]
    inside += bool(((place >= low - 0.05) & (place <= high + 0.05)).all(axis=1).any())
assert inside == len(crossed.ids) > 5 and (np.diff(way) >= 0).all()
overlapping = jostle.overlaps(buildings)
print(f"{len(overlapping)} pairs of buildings overlap on the map")
