"""The settings of a study as fields of a form, made from their own schema.

What a key takes (its kind, limits, choices, default) is read from the JSON schema of `Study`; what it means from
`explained.toml`, which the reference shows as well. So a key that is added to the settings is on the page by itself. A
shape that no control is known for is edited as a value of TOML.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from similitude.study.patterns import COLOUR
from similitude.study.settings import OURS, Study

Kind = Literal[
    "text", "colour", "whole", "number", "switch", "choice", "texts", "numbers", "rows", "table", "words", "toml"
]  # fmt: skip
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True)
class Field:
    """One key.

    Attributes
    ----------
    key : with its section, as `question.form`
    kind : what it holds; "texts" and "numbers" are lists, "rows" a list of tables, "table" one, "words" one of texts
    default : what holds where it is not given; None where nothing does
    required : whether a study, or a row, must give it
    single : whether a list of one is written as that one
    words : what it means
    choices : what it may be, where that is a list
    least, most : limits of a number; `beyond` is a limit that it must exceed
    pattern : of a text
    fields : keys of a row or a table
    """

    key: str
    kind: Kind
    default: Any = None
    required: bool = False
    single: bool = False
    words: str = ""
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    beyond: float | None = None
    pattern: str | None = None
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True)
class TableOfKeys:
    """A table of `study.toml`; the name is "" for what stands before the first."""

    name: str
    words: str
    fields: tuple[Field, ...]


@cache
def sentences() -> dict[str, str]:
    """What each key means, in Markdown."""
    return tomllib.loads((Path(__file__).parent / "explained.toml").read_text(encoding="utf-8"))


@cache
def parts() -> tuple[TableOfKeys, ...]:
    """All that a study may say, table by table, in the order of the settings."""
    schema = Study.model_json_schema()
    defined = schema.get("$defs", {})
    alone, tables = [], []
    for name, found in schema["properties"].items():
        if name in OURS:
            continue
        table = _table(found, defined)
        if table is None:
            alone.append(_field(name, found, name in schema.get("required", ()), defined))
        else:
            tables.append(TableOfKeys(name, _said(table.get("description", "")), tuple(_fields(name, table, defined))))
    return (TableOfKeys("", "The study as a whole.", tuple(alone)), *tables)


@cache
def fields() -> dict[str, Field]:
    """All keys that stand by themselves, in order."""
    return {field.key: field for part in parts() for field in part.fields}


def _fields(section: str, table: Mapping[str, Any], defined: Mapping[str, Any]) -> Iterator[Field]:
    for name, found in table["properties"].items():
        yield _field(f"{section}.{name}", found, name in table.get("required", ()), defined)


def _table(found: Mapping[str, Any], defined: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema of a table that a key names; None of any other."""
    named = found.get("$ref") or next((one["$ref"] for one in found.get("allOf", ()) if "$ref" in one), None)
    table = defined.get(str(named).rpartition("/")[2], {})
    return table if "properties" in table else None


def _field(key: str, found: Mapping[str, Any], required: bool, defined: Mapping[str, Any]) -> Field:
    given: dict[str, Any] = {
        "default": found.get("default"),
        "required": required,
        "words": _said(sentences().get(key, "")),
    }
    ways = [one for one in found.get("anyOf", (found,)) if one.get("type") != "null"]
    kinds = {one.get("type") for one in ways}
    if kinds == {"string", "array"}:  # one text, or a list of them
        return Field(key, "texts", single=True, **given)
    if len(ways) != 1:
        return Field(key, "toml", **given)
    way = ways[0]
    if (table := _table(way, defined)) is not None:
        return Field(key, "table", fields=tuple(_overriding(key, table, defined)), **{**given, "default": None})
    limits: dict[str, Any] = {
        "least": way.get("minimum"),
        "most": way.get("maximum"),
        "beyond": way.get("exclusiveMinimum"),
    }
    match way.get("type"):
        case "boolean":
            return Field(key, "switch", **given)
        case "integer":
            return Field(key, "whole", **limits, **given)
        case "number":
            return Field(key, "number", **limits, **given)
        case "string" if "enum" in way:
            return Field(key, "choice", choices=tuple(way["enum"]), **given)
        case "string":
            pattern = way.get("pattern")
            return Field(key, "colour" if pattern == COLOUR else "text", pattern=pattern, **given)
        case "array":
            return _list(key, way.get("items", {}), defined, given)
        case "object" if way.get("additionalProperties", {}) == {"type": "string"}:
            return Field(key, "words", **given)
    return Field(key, "toml", **given)


def _list(key: str, of: Mapping[str, Any], defined: Mapping[str, Any], given: Mapping[str, Any]) -> Field:
    table = _table(of, defined)
    if table is not None:
        return Field(key, "rows", fields=tuple(_fields(key, table, defined)), **given)
    kinds: dict[str, Kind] = {"string": "texts", "number": "numbers", "integer": "numbers"}
    return Field(key, kinds.get(of.get("type", ""), "toml"), **given)


def _overriding(key: str, table: Mapping[str, Any], defined: Mapping[str, Any]) -> Iterator[Field]:
    """Keys of a table within a row, as `question` in a block: what it does not say, the study's table says."""
    _, _, name = key.rpartition(".")
    for field in _fields(name, table, defined):
        yield replace(field, key=f"{key}.{field.key.rpartition('.')[2]}", default=None, required=False)


def _said(markdown: str) -> str:
    """A sentence without its links, as the page shows it; what stands in backticks is set as code there."""
    return " ".join(_LINK.sub(r"\1", markdown).replace("**", "").split())
