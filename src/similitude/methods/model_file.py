"""The file of a model: arrays and JSON in one zip (numpy's `.npz`), never pickle; written and read with numpy alone.

`header` is the JSON, with a format version; whatever is an array stands beside it under a name that says whose it is
(`embedding`, `map/0/0/weights`, `answering/sharpness`, `form/positions`). Formats are never reused: a file of format 1
(positions, loss, names, about) loads as ever. `kind` says what the numbers between two items are (`engine.measures`);
a kind, a part of a map or a way of answering that this version does not know is refused by name, so that models to come
(dot products, choices, dimensions that are never negative) cannot be misread by a version that came before them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from similitude.engine import terms
from similitude.engine.feature_maps import FeatureMap, ModalityMap
from similitude.engine.map_parts import PARTS, NotStorable
from similitude.engine.measures import SIGNED, Euclidean, Signed
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.methods.answering import ANSWERING, AnswerModel
from similitude.methods.model_checks import check_fields
from similitude.methods.stored_arrays import StoredArrays
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.methods.similarity import Similarity

FORMAT = 3
_WITHOUT_BOUNDS = 2  # what versions read that know no map whose values are never negative
_NAMED = (*terms.SCALES, *terms.SHAPES)
_LONGEST_REASON = 120
_PLAIN = "save: a file holds numbers and names, and"


def written(model: Similarity) -> bytes:
    """Return a model as the bytes of its file; what a file cannot hold is refused with the reason."""
    arrays: dict[str, Array] = {"embedding": model.embedding}
    header = {
        "format": FORMAT if model.feature_map is not None and model.feature_map.non_negative else _WITHOUT_BOUNDS,
        "kind": model.kind,
        "names": model.names,
        "scale": _named(model.loss.scale),
        "shape": _named(model.loss.shape),
        "map": None if model.feature_map is None else _write_map(model.feature_map, arrays),
        "answering": None if model.answering is None else _write_answering(model.answering, arrays),
        "thresholds": model.thresholds,
        "attributes": model.attributes,
        "about": model.about,
    }
    if model.form is not None:
        arrays |= {"form/positions": model.form.positions, "form/signs": model.form.signs}
    whole = io.BytesIO()
    np.savez(whole, header=np.frombuffer(_as_json(header), np.uint8), **_numbers(arrays))  # type: ignore[arg-type]
    return whole.getvalue()


def read(file: IO[bytes], called: str) -> dict[str, Any]:
    """Return the fields of the model in a file, which messages call so; a damaged file is refused in one sentence."""
    arrays, header = opened(file, called, ("format",), "a similarity file", "`save` and `similitude fit` write")
    check_format(header["format"], FORMAT, called)
    with told_as_damage(called):
        fields = {"embedding": arrays["embedding"]} | _fields(header, arrays)
        check_fields(fields)
    return fields


def opened(
    file: IO[bytes], called: str, entries: Sequence[str], what: str, made_by: str
) -> tuple[StoredArrays, dict[str, Any]]:
    """Return the arrays of a file and its header, which has some entries; anything else is no such file."""
    try:
        arrays = StoredArrays.of(file)
        header = json.loads(arrays["header"].tobytes().decode())
        if not isinstance(header, dict) or (lacking := [entry for entry in entries if entry not in header]):
            raise ValueError(f"its header has no {lacking[0] if isinstance(header, dict) else 'entries'}")
    except Exception as error:  # a damaged file makes zipfile, json and numpy raise nearly anything
        raise ValueError(
            f"{called} is not {what}, or it is damaged ({_reason(error)}); {made_by} such files: make it again, or "
            "take a backup"
        ) from None
    return arrays, header


def check_format(version: Any, newest: int, called: str) -> None:
    """Refuse a format that is none, or newer than those that this version reads."""
    if type(version) is not int or version < 1:
        raise ValueError(f"{called} is damaged (format {version!r}): make it again, or take a backup")
    if version > newest:
        raise ValueError(
            f"{called} has format {version}, but this version of similitude reads formats up to {newest}; "
            "upgrade similitude"
        )


@contextmanager
def told_as_damage(called: str) -> Iterator[None]:
    """Say of whatever goes wrong with what a file holds that the file is damaged, in one sentence."""
    try:
        yield
    except KeyError as error:
        raise ValueError(
            f"{called} lacks or does not know {error}; it is damaged, or of a newer version: make it again, take a "
            "backup, or upgrade similitude"
        ) from None
    except Exception as error:
        raise ValueError(f"{called} is damaged ({_reason(error)}): make it again, or take a backup") from None


def _reason(error: Exception) -> str:
    """What went wrong, in few words."""
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= _LONGEST_REASON else f"{said[:_LONGEST_REASON]} ..."


def _fields(header: Mapping[str, Any], arrays: StoredArrays) -> dict[str, Any]:
    """Return the fields beside the positions; a file of format 1 has but the first few."""
    scale, shape = _formula(terms.SCALES, header["scale"]), _formula(terms.SHAPES, header["shape"])
    kind, known, answering = header.get("kind", Euclidean.kind), header.get("map"), header.get("answering")
    return {
        "loss": ComparisonLoss(scale, shape),
        "names": None if header["names"] is None else _listed(header["names"]),
        "about": header["about"],
        "form": None if kind == Euclidean.kind else _read_form(kind, arrays),
        "feature_map": None if known is None else _read_map(known, arrays),
        "answering": None if answering is None else _read_answering(answering, arrays),
        "thresholds": header.get("thresholds", {}),
        "attributes": {name: _listed(values) for name, values in header.get("attributes", {}).items()},
    }


def _write_map(known: FeatureMap, arrays: dict[str, Array]) -> dict[str, Any]:
    arrays["map/origin"] = known.origin
    pieces = []
    for k, piece in enumerate(known.pieces):
        arrays[f"map/{k}/offset"] = piece.offset
        parts = []
        for j, part in enumerate(piece.parts):
            plain, own = part.stored()
            arrays |= {f"map/{k}/{j}/{name}": array for name, array in own.items()}
            parts.append({"kind": part.kind, "route": part.route, **plain})
        pieces.append(
            {
                "modality": piece.modality,
                "unshared_at_centre": piece.unshared_at_centre,
                "columns": piece.columns,
                "parts": parts,
            }
        )
    return {"pieces": pieces, "non_negative": known.non_negative}


def _read_map(header: Mapping[str, Any], arrays: StoredArrays) -> FeatureMap:
    pieces = []
    for k, piece in enumerate(header["pieces"]):
        parts = [
            PARTS[part["kind"]].read(part, arrays.under(f"map/{k}/{j}/"), _listed(part["route"]))
            for j, part in enumerate(piece["parts"])
        ]
        offset, unshared = arrays[f"map/{k}/offset"], bool(piece["unshared_at_centre"])
        columns = None if piece.get("columns") is None else _listed(piece["columns"])
        pieces.append(ModalityMap(piece["modality"], tuple(parts), offset, unshared, columns))
    return FeatureMap(tuple(pieces), arrays["map/origin"], bool(header.get("non_negative", False)))


def _write_answering(answering: AnswerModel, arrays: dict[str, Array]) -> dict[str, Any]:
    plain, own = answering.stored()
    arrays |= {f"answering/{name}": array for name, array in own.items()}
    return {"kind": answering.kind, "names": answering.names, **plain}


def _read_answering(header: Mapping[str, Any], arrays: StoredArrays) -> AnswerModel:
    return ANSWERING[header["kind"]].read(_listed(header["names"]), header, arrays.under("answering/"))


def _read_form(kind: str, arrays: Mapping[str, Array]) -> Signed:
    return SIGNED[kind](arrays["form/positions"], arrays["form/signs"])


def _listed(values: Any) -> tuple[Any, ...]:
    """Return a list of JSON; a text is none, though Python goes through its letters."""
    if not isinstance(values, list):
        raise ValueError(f"a list is expected where there is {values!r}")
    return tuple(values)


def _named(formula: Formula) -> list[Any]:
    if formula.expression not in _NAMED:
        raise NotStorable(
            f"{_PLAIN} {formula.name!r} is a formula of your own, which it cannot hold; keep the positions "
            "(numpy.save of `embedding`), and make Similarity(positions, loss, names) of them"
        )
    return [formula.name, formula.parameter]


def _formula(known: tuple[terms.Expression, ...], saved: list[Any]) -> Formula:
    return Formula(terms.named(known, saved[0]), float(saved[1]))


def _as_json(header: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(header, ensure_ascii=False).encode()
    except TypeError as error:
        raise NotStorable(
            f"{_PLAIN} something else was found in `about`, `attributes` or `thresholds` ({error}); give plain numbers "
            "and texts"
        ) from None


def _numbers(arrays: Mapping[str, Array]) -> Mapping[str, Array]:
    """Refuse an array of objects, which numpy would pickle."""
    odd = next((name for name, array in arrays.items() if array.dtype.hasobject), None)
    if odd is not None:
        raise NotStorable(f"{_PLAIN} {odd} is an array of objects; make it one of numbers")
    return arrays
