"""The notebooks run as they stand, on a small store."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from memory_assets_tests.conftest import REPOSITORY
from memory_assets_tests.small_store import FACT, index, small_store

NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_it_stands(path: Path):
    index(small_store())
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    outputs = [str(output) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert FACT in str(outputs)
    assert sum("<svg" in output for output in outputs) >= 8, "charts"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path):
    """Outputs could hold what somebody said."""
    cells = nbformat.read(path, as_version=4).cells
    assert [cell.outputs for cell in cells if cell.cell_type == "code" and cell.outputs] == []
