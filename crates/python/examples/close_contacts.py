"""Close contacts of a frame of molecular dynamics, against SciPy's k-d tree.

Two atoms are in contact if they are no farther apart than a cutoff. Boxes of half the cutoff around
each atom overlap whenever that is so; the few pairs in the corners are then left out by distance.
"""

import numpy as np
from scipy.spatial import cKDTree

import jostle

CUTOFF = 3.5

rng = np.random.default_rng(2)
# A droplet of water-like density: about 0.1 atoms in a cubic angstrom.
atoms = rng.uniform(0, 60, (20_000, 3))
atoms = atoms[np.linalg.norm(atoms - 30, axis=1) < 30]

half = CUTOFF / 2
pairs = jostle.overlaps((atoms - half, atoms + half))
apart = np.linalg.norm(atoms[pairs[:, 0]] - atoms[pairs[:, 1]], axis=1)
contacts = pairs[apart <= CUTOFF]

expected = cKDTree(atoms).query_pairs(CUTOFF, output_type="ndarray")
expected = expected[np.lexsort((expected[:, 1], expected[:, 0]))]
assert np.array_equal(contacts, expected), "the same contacts"
print(f"{len(atoms)} atoms, {len(contacts)} contacts within {CUTOFF}, as SciPy finds them")
