"""Mapped weights are those that the format's own library reads; the network is that of the file's generator, and each text's
vector its own."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from memory_assets.adapters.local_embedder import DEFAULT_MODEL, model_folder
from memory_assets.adapters.minilm import MiniLM, map_weights


def test_a_cut_file_is_an_error(tmp_path: Path):
    path = tmp_path / "weights.safetensors"
    save_file({"a": np.ones(100, np.float32)}, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="buffer"):
        map_weights(path)


def test_texts_have_the_same_vectors_to_the_last_bit_whatever_is_read_beside_them(
    monkeypatch: pytest.MonkeyPatch,
):
    model = MiniLM(model_folder(DEFAULT_MODEL))
    texts = [
        "uv",
        "Dependencies are installed with uv, never with pip.",
        "Never force-push to main. " * 60,
        "日本語 🙂",
        "",
    ]
    alone = [model.read(text) for text in texts]
    for cores in ("1", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", cores)
        for one, beside in zip(alone, model.read_all(texts), strict=True):
            assert np.array_equal(one.vector, beside.vector)
            assert np.array_equal(one.states, beside.states)
            assert one.pieces == beside.pieces
