"""What several tests use."""

import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parents[3]


def random_boxes(count: int, seed: int, size: float = 2.0) -> npt.NDArray[np.float32]:
    """Boxes in a cube of ten, of which several overlap each other."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 10, (count, 3))
    return np.hstack([low, low + rng.uniform(0, size, (count, 3))]).astype(np.float32)


@pytest.fixture(scope="session")
def data() -> Path:
    """The shared data sets; their tests are skipped if they are not there."""
    folder = Path(os.environ.get("JOSTLE_DATA", ROOT.parent / "shared" / "data"))
    if not (folder / "expected.json").exists():
        pytest.skip(f"no data sets in {folder}; set JOSTLE_DATA")
    return folder
