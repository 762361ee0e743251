"""Generates `memory_assets/adapters/minilm.onnx`: the layers of the built-in model, whose weights are read from its package."""

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from memory_assets.adapters.local_embedder import DEFAULT_MODEL, model_folder
from memory_assets.adapters.minilm import GRAPH, INPUT, OUTPUT

OPSET, FORMAT = 20, 10
"""The first set of operators with `Gelu`, and the file format that came with it."""


@dataclass
class Graph:
    """A network under construction; each method adds an operation and returns the name of its output."""

    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def add(self, operator: str, *inputs: str, to: str = "", **attributes: Any) -> str:
        """Adds an operation."""
        name = to or f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: np.ndarray) -> str:
        """Adds a constant that the file holds."""
        self.constants.append(numpy_helper.from_array(value, name))
        return name

    def weight(self, name: str, *shape: int) -> str:
        """Adds an array that is handed over when the network is loaded."""
        tensor = TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL
        )
        tensor.external_data.add(key="location", value="model.safetensors")
        self.constants.append(tensor)
        return name

    def linear(self, name: str, x: str, width: int, out: int) -> str:
        """Adds `x·Wᵀ + b`."""
        turned = self.add("Transpose", self.weight(f"{name}.weight", out, width), perm=[1, 0])
        return self.add("Add", self.add("MatMul", x, turned), self.weight(f"{name}.bias", out))

    def norm(self, name: str, x: str, width: int, epsilon: float, to: str = "") -> str:
        """Adds the normalisation of each state."""
        scale, shift = self.weight(f"{name}.weight", width), self.weight(f"{name}.bias", width)
        return self.add("LayerNormalization", x, scale, shift, to=to, axis=-1, epsilon=epsilon)


def make_graph() -> bytes:
    """Returns the content of the file."""
    config = json.loads((model_folder(DEFAULT_MODEL) / "config.json").read_text())
    width, wide, epsilon = (
        config["hidden_size"],
        config["intermediate_size"],
        config["layer_norm_eps"],
    )
    heads, layers = config["num_attention_heads"], config["num_hidden_layers"]
    graph = Graph()
    split = graph.constant("split", np.array([0, 0, heads, width // heads]))
    join = graph.constant("join", np.array([0, 0, width]))
    root = graph.constant("root", np.float32(np.sqrt(width // heads)))
    x = graph.norm("embeddings.LayerNorm", INPUT, width, epsilon)
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            graph.add(
                "Transpose",
                graph.add(
                    "Reshape",
                    graph.linear(f"{layer}.attention.self.{part}", x, width, width),
                    split,
                ),
                perm=order,
            )
            for part, order in (
                ("query", [0, 2, 1, 3]),
                ("key", [0, 2, 3, 1]),
                ("value", [0, 2, 1, 3]),
            )
        )
        scores = graph.add(
            "Softmax", graph.add("Div", graph.add("MatMul", query, key), root), axis=-1
        )
        mixed = graph.add("Transpose", graph.add("MatMul", scores, value), perm=[0, 2, 1, 3])
        read = graph.linear(
            f"{layer}.attention.output.dense", graph.add("Reshape", mixed, join), width, width
        )
        x = graph.norm(
            f"{layer}.attention.output.LayerNorm", graph.add("Add", read, x), width, epsilon
        )
        thought = graph.add("Gelu", graph.linear(f"{layer}.intermediate.dense", x, width, wide))
        said = graph.add("Add", graph.linear(f"{layer}.output.dense", thought, wide, width), x)
        x = graph.norm(
            f"{layer}.output.LayerNorm",
            said,
            width,
            epsilon,
            to=OUTPUT if number == layers - 1 else "",
        )
    ends = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "pieces", width])
        for name in (INPUT, OUTPUT)
    )
    network = helper.make_graph(graph.nodes, "minilm", [next(ends)], [next(ends)], graph.constants)
    return helper.make_model(
        network,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=FORMAT,
        producer_name="memory_assets",
    ).SerializeToString(deterministic=True)


if __name__ == "__main__":
    GRAPH.write_bytes(make_graph())
