"""The learned map from vectors to positions as ONNX, for runtimes of any language."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

import similitude
from similitude.extras import need
from similitude.feedback.files.whole import write_whole
from similitude.methods.similarity import Similarity
from similitude.types import Floats

INPUT, OUTPUT = "vectors", "positions"
_OPSET, _IR_VERSION = 13, 8  # what runtimes of 2021 and later read


def write_onnx(similarity: Similarity, path: str | os.PathLike[str]) -> None:
    """Write the linear map of a model: `positions = vectors @ A - b` in 32-bit numbers, any number of rows.

    Parameters
    ----------
    similarity : a model that learned a linear map from features (`FeatureEmbedding`, `LPOE`, ...)
    path : `.onnx`; its input is called `vectors`, its output `positions`, and Euclidean distances between positions are
        the learned ones. Unlike `transform`, it knows no vectors with missing numbers.

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 100, random_state=0)
    >>> sm.export.write_onnx(sm.STE(2, random_state=0).fit(c).similarity_, "map.onnx")
    Traceback (most recent call last):
        ...
    ValueError: similarity: expected a model with a linear map from vectors, found STE, which learned from answers alone
    """
    matrix, offset = _affine(similarity)
    need("onnx", "an ONNX file")
    target = Path(path)
    if target.suffix.lower() != ".onnx":
        raise ValueError(f"path: expected a file name that ends in .onnx, found {target.name!r}")
    write_whole(target, _model(similarity, matrix, offset).SerializeToString())


def _affine(similarity: Similarity) -> tuple[Floats, Floats]:
    """A and b of a linear map; another model is refused with the reason."""
    method = similarity.about.get("method", "a model")
    if similarity.kind != "distance":
        raise ValueError(
            f"similarity: expected a model of distances, found {method} of kind {similarity.kind!r}; serve it with "
            "`similitude serve`"
        )
    if similarity.feature_map is None:
        raise ValueError(
            f"similarity: expected a model with a linear map from vectors, found {method}, which learned from answers "
            "alone"
        )
    if similarity.feature_map.affine is None:
        raise ValueError(
            f"similarity: expected a model with a linear map from vectors, found {method} with a kernel, with waves or "
            "with several modalities; serve it with `similitude serve`, or fit it on one table of vectors"
        )
    return similarity.feature_map.affine


def _model(similarity: Similarity, matrix: Floats, offset: Floats) -> Any:
    from onnx import TensorProto, checker, helper, numpy_helper

    constants = [
        numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name)
        for name, array in (("A", matrix), ("b", offset))
    ]
    nodes = [
        helper.make_node("MatMul", [INPUT, "A"], ["product"]),
        helper.make_node("Sub", ["product", "b"], [OUTPUT]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", width])
        for name, width in ((INPUT, matrix.shape[0]), (OUTPUT, matrix.shape[1]))
    ]
    graph = helper.make_graph(nodes, "similitude", ends[:1], ends[1:], constants)
    model = helper.make_model(
        graph,
        producer_name="similitude",
        producer_version=similitude.__version__,
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    helper.set_model_props(model, {"about": json.dumps(similarity.about, default=str)})
    checker.check_model(model)
    return model
