"""The notebooks in `examples` run from their first cell to their last in a kernel of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALLER = {"tasks=60, agents=40": "tasks=6, agents=3"}
"""What a quick test makes smaller: the same cells, less work."""
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient

notebook = nbformat.reads(sys.stdin.read(), as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=1200, kernel_name="python3").execute()
print(nbformat.writes(notebook))
"""

nbformat: Any = pytest.importorskip("nbformat", reason="notebooks need the packages nbclient and ipykernel")
pytest.importorskip("nbclient", reason="notebooks need the packages nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="notebooks need the packages nbclient and ipykernel")


def executed(text: str, space: Path) -> Any:
    """Execute a notebook in a folder and return it with its outputs."""
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE],
        input=text,
        capture_output=True,
        text=True,
        cwd=space,
        env={**os.environ, "TMPDIR": str(space), "JUPYTER_PLATFORM_DIRS": "1", "HOME": str(space)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return nbformat.reads(done.stdout, as_version=4)


def texts(notebook: Any) -> str:
    """Return what a notebook shows, as text."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return "\n".join(output.get("text") or output["data"]["text/plain"] for output in outputs)


def notebook_text(name: str, changes: dict[str, str]) -> str:
    text = (EXAMPLES / f"{name}.ipynb").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return text


def test_a_fleet_job_runs_in_a_notebook_and_is_looked_at(tmp_path: Path) -> None:
    shown = texts(executed(notebook_text("run_a_fleet_job", {}), tmp_path))
    assert "sorted-index" in shown
    assert "landed_per_second" in shown
    assert "Qodebase-Intent: " in shown
    assert not list(tmp_path.glob("qodebase-example-*"))


@pytest.mark.full
def test_a_small_dial_runs_in_a_notebook_and_is_compared(tmp_path: Path) -> None:
    shown = texts(executed(notebook_text("dial_a_benchmark", SMALLER), tmp_path))
    assert "classic" in shown
    assert "one run a setting" in shown
    assert not list(tmp_path.glob("qodebase-example-*"))


@pytest.mark.full
def test_the_dial_runs_in_a_notebook_as_it_is_shipped(tmp_path: Path) -> None:
    assert "redone_by_rule" in texts(executed(notebook_text("dial_a_benchmark", {}), tmp_path))


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebooks_are_kept_without_outputs(file: Path) -> None:
    notebook = nbformat.reads(file.read_text(), as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


def test_both_notebooks_are_there() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.ipynb")} == {"run_a_fleet_job", "dial_a_benchmark"}
