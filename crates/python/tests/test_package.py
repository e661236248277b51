"""The package itself: docstrings that run, stubs that are true, the command."""

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import jostle

EXAMPLES = sorted((ROOT / "crates/python/examples").glob("*.py"))


def test_every_docstring_runs() -> None:
    named = {name: getattr(jostle, name) for name in jostle.__all__}
    documented = {"jostle": jostle, **{k: v for k, v in named.items() if callable(v)}}
    parser, runner, tried = doctest.DocTestParser(), doctest.DocTestRunner(), 0
    for name, thing in documented.items():
        text = inspect.getdoc(thing)
        assert text, f"{name} has no docstring"
        test = parser.get_doctest(text, {}, name, None, None)
        tried += runner.run(test).attempted
    assert runner.summarize(verbose=False).failed == 0
    assert tried > 40


def test_every_method_has_a_docstring() -> None:
    boxes, shapes = (jostle.Detector, jostle.Queries, jostle.Filter), (jostle.Shape, jostle.Mesh)
    for kind in (*boxes, *shapes, jostle.World):
        for name, member in inspect.getmembers(kind):
            if not name.startswith("_"):
                assert inspect.getdoc(member), f"{kind.__name__}.{name}"


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, **options)  # type: ignore


def test_the_command_is_the_same(tmp_path: Path) -> None:
    boxes = np.array([[0, 0, 0, 2, 2, 2], [1, 1, 1, 3, 3, 3]], np.float32)
    np.save(tmp_path / "x.npy", boxes)
    done = run("-m", "jostle", "pairs", "x.npy", "--json", cwd=tmp_path)
    assert done.returncode == 0 and '"pairs":1' in done.stdout.replace(" ", "")
    done = run("-m", "jostle", "pairs", "missing.npy", cwd=tmp_path)
    assert done.returncode == 2 and "missing.npy" in done.stderr
    done = run("-m", "jostle", "--help")
    assert done.returncode == 0 and "Usage: python -m jostle" in done.stdout
    done = run("-m", "jostle", "nonsense")
    assert done.returncode == 2 and "nonsense" in done.stderr
    version = run("-m", "jostle", "--version").stdout
    assert version.split()[-1] == jostle.__version__


def test_one_line_of_python(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((2, 6), np.float32))
    code = "import jostle, numpy as np; print(jostle.overlaps(np.load('x.npy')))"
    assert run("-c", code, cwd=tmp_path).stdout == "[[0 1]]\n"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example: Path, tmp_path: Path) -> None:
    done = run(str(example), cwd=tmp_path, timeout=120)
    if done.returncode == 77:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout


def test_the_stubs_are_true() -> None:
    """mypy --strict on the package, its tests and examples; and stubs against what is there."""
    package = Path(inspect.getfile(jostle)).parent
    folder = ROOT / "crates/python"
    files = [str(folder / "tests"), *map(str, EXAMPLES)]
    done = run("-m", "mypy", "--strict", "-p", "jostle", cwd=str(ROOT.parent))
    assert done.returncode == 0, done.stdout
    done = run("-m", "mypy", "--strict", *files, cwd=str(folder))
    assert done.returncode == 0, done.stdout
    done = run("-m", "mypy.stubtest", "jostle", cwd=str(ROOT.parent))
    assert done.returncode == 0, f"{package}\n{done.stdout}{done.stderr}"
