"""Mapped weights are those that the format's own library reads; the network is that of the file's generator, and each text's
vector its own."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from memory_assets.adapters.local_embedder import DEFAULT_MODEL, model_folder
from memory_assets.adapters.minilm import GRAPH, MiniLM, map_weights
from memory_assets_tests.adapters.make_minilm_graph import make_graph


def test_every_array_of_the_built_in_model_is_the_same():
    path = model_folder(DEFAULT_MODEL) / "model.safetensors"
    mapped, read = map_weights(path), load_file(path)
    assert mapped.keys() == read.keys()
    assert all(np.array_equal(mapped[name], read[name]) for name in read)


def test_kinds_shapes_and_empty_arrays_are_kept(tmp_path: Path):
    arrays = {
        "a": np.arange(6, dtype=np.int32).reshape(2, 3),
        "b": np.zeros((0, 4), np.float16),
        "c": np.ones(1, np.uint8),
    }
    save_file(arrays, tmp_path / "weights.safetensors", metadata={"format": "np"})
    mapped = map_weights(tmp_path / "weights.safetensors")
    assert {name: (one.dtype, one.tolist()) for name, one in mapped.items()} == {
        name: (one.dtype, one.tolist()) for name, one in arrays.items()
    }


def test_a_cut_file_is_an_error(tmp_path: Path):
    path = tmp_path / "weights.safetensors"
    save_file({"a": np.ones(100, np.float32)}, path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="buffer"):
        map_weights(path)


def test_the_network_is_what_its_generator_makes():
    assert GRAPH.read_bytes() == make_graph()


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
