"""`study.toml` as text: keys are changed in it, and everything else stays as the researcher wrote it.

A key that is there is replaced where it stands. A new one takes the place of the line that shows it switched off
(`# number = 60`), or comes last in its table. One that is taken away is switched off, so that what was said beside it
stays. What the text then means is compared with what was asked for: where the two differ, nothing is given back.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Table

from similitude.study.fault import StudyError

_HEADER = re.compile(r"^\s*\[+\s*([A-Za-z0-9_.\"'-]+)\s*\]+\s*(#.*)?$")


def values_of(text: str) -> dict[str, Any]:
    """What a text says, by key with its section; StudyError where it is not TOML."""
    return _by_key(_read(text))


def changed(text: str, changes: Mapping[str, Any]) -> str:
    """The text with some keys changed; None takes a key away, and what is the same already is left as it is."""
    text = text.removeprefix("\ufeff")  # which some editors write
    now = values_of(text)
    for key, value in changes.items():
        if value is None:
            text = _without(text, key) if key in now else text
        elif key not in now:
            text = _with_new(text, key, value)
        elif now[key] != value or type(now[key]) is not type(value):
            text = _with_other(text, key, value)
    wanted = {key: value for key, value in {**now, **changes}.items() if value is not None}
    if values_of(text) != wanted:
        raise StudyError("study.toml is written in a way that cannot be changed key by key; change it as text")
    return text


def written(value: Any) -> str:
    """A value as TOML writes it: one line, but a list of tables one to a line."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_name(key)} = {written(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        if value and all(isinstance(one, Mapping) for one in value):
            return "[\n" + "".join(f"  {written(one)},\n" for one in value) + "]"
        return f"[{', '.join(map(written, value))}]"
    if value is None:
        raise StudyError("expected a value in every row, found none")
    if isinstance(value, str):
        return tomlkit.string(value).as_string()
    return str(tomlkit.item(value).as_string())


def value_of(text: str) -> Any:
    """A value of TOML, as somebody typed it; StudyError where it is none."""
    return _read(f"value = {text}\n")["value"]


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise StudyError(f"not valid TOML ({error})") from None


def _by_key(document: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of the first level of tables with a dot."""
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": one for key, one in value.items()}
        else:
            found[name] = value
    return found


def _name(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else tomlkit.string(key).as_string()


def _place(document: tomlkit.TOMLDocument, key: str) -> tuple[Any, str]:
    section, _, name = key.rpartition(".")
    return (document[section] if section else document), name


def _item(table: Any, name: str) -> Any:
    """What stands behind a key, with all that is written around it; a look-up gives plain values of some kinds."""
    container = table if isinstance(table, Container) else getattr(table, "value", None)
    return container.item(name) if isinstance(container, Container) else table[name]


def _with_other(text: str, key: str, value: Any) -> str:
    """A key with another value, where it stands."""
    document = tomlkit.parse(text)
    table, name = _place(document, key)
    if isinstance(_item(table, name), (AoT, Table)):  # written under headers of its own
        return _in_rows(text, key, value) or _with_new(_without(text, key), key, value)
    table[name] = tomlkit.parse(f"value = {written(value)}\n")["value"]
    return tomlkit.dumps(document)


def _in_rows(text: str, key: str, value: Any) -> str | None:
    """Tables under headers of their own, each changed where it stands; None where their number is another."""
    document = tomlkit.parse(text)
    table, name = _place(document, key)
    rows = _item(table, name)
    if not isinstance(rows, AoT) or not isinstance(value, list) or len(rows) != len(value):
        return None
    for row, wanted in zip(rows, value, strict=True):
        now = row.unwrap()
        for one in now.keys() - wanted.keys():
            row.remove(one)
        for one, said in wanted.items():
            if now.get(one) != said:
                row[one] = tomlkit.parse(f"value = {written(said)}\n")["value"]
    new = tomlkit.dumps(document)
    try:
        return new if values_of(new).get(key) == value else None
    except StudyError:
        return None


def _without(text: str, key: str) -> str:
    """A key switched off; what was said beside it stays."""
    document = tomlkit.parse(text)
    table, name = _place(document, key)
    item = _item(table, name)
    comment = "" if isinstance(item, (AoT, Table)) else item.trivia.comment
    if comment and not isinstance(table, InlineTable) and "\n" not in item.as_string():
        return _line_replaced(text, key, f"# {name} = {item.as_string()}{item.trivia.comment_ws}{comment}")
    table.remove(name)
    return tomlkit.dumps(document)


def _line_replaced(text: str, key: str, line: str) -> str:
    """The text with the one line of a key replaced; by removal where the line cannot be found by its look."""
    lines = text.split("\n")
    begin, end = _lines_of(lines, key.rpartition(".")[0])
    own = re.compile(rf"^\s*{re.escape(key.rpartition('.')[2])}\s*=")
    at = [k for k in range(begin, end) if own.match(lines[k])]
    if len(at) == 1:
        new = "\n".join([*lines[: at[0]], line, *lines[at[0] + 1 :]])
        if key not in values_of(new):
            return new
    document = tomlkit.parse(text)
    table, name = _place(document, key)
    table.remove(name)
    return tomlkit.dumps(document)


def _with_new(text: str, key: str, value: Any) -> str:
    """A key that was not there, in its place by the look of the text; by the library where that would be misread."""
    wanted = {**values_of(text), key: value}
    section, _, name = key.rpartition(".")
    for put in (_in_lines, _by_library, _at_an_end):
        try:
            new = put(text, section, name, value)
            if new is not None and values_of(new) == wanted:
                return new
        except (StudyError, TOMLKitError):
            continue
    raise StudyError(f"{key}: study.toml has no place for it that can be found; write it there as text")


def _in_lines(text: str, section: str, name: str, value: Any) -> str | None:
    lines = text.split("\n")
    begin, end = _lines_of(lines, section)
    if begin == end and section:
        if section in tomllib.loads(text):
            return None  # written in one line, or with dots
        return _at_an_end(text, section, name, value)
    off = re.compile(rf"^#\s*({re.escape(name)}\s*=.*)$")
    for k in range(begin, end):
        if found := off.match(lines[k]):
            line = f"{name} = {written(value)}{_said_beside(found[1])}"
            return "\n".join([*lines[:k], line, *lines[k + 1 :]])
    last = max((k for k in range(begin, end) if lines[k].strip()), default=begin - 1)
    return "\n".join([*lines[: last + 1], f"{name} = {written(value)}", *lines[last + 1 :]])


def _at_an_end(text: str, section: str, name: str, value: Any) -> str:
    """As a table of its own behind everything; what belongs to none, before everything."""
    line = f"{name} = {written(value)}\n"
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}[{section}]\n{line}" if section else f"{line}{text}"


def _said_beside(line: str) -> str:
    """The comment behind a key, with the room before it."""
    try:
        document = tomlkit.parse(line)
        item = _item(document, next(iter(document)))
    except (TOMLKitError, StopIteration):
        return ""
    return f"{item.trivia.comment_ws}{item.trivia.comment}" if item.trivia.comment else ""


def _by_library(text: str, section: str, name: str, value: Any) -> str | None:
    document = tomlkit.parse(text)
    table: Any = document.get(section) if section else document
    if not isinstance(table, (Container, Table, InlineTable)):
        return None
    table[name] = tomlkit.parse(f"value = {written(value)}\n")["value"]
    return tomlkit.dumps(document)


def _lines_of(lines: list[str], section: str) -> tuple[int, int]:
    """Where the lines of a table begin and end; both the same where it has no header."""
    begin = 0 if not section else None
    for k, line in enumerate(lines):
        if found := _HEADER.match(line):
            if begin is not None:
                return begin, k
            if found[1] == section and not line.strip().startswith("[["):
                begin = k + 1
    return (0, 0) if begin is None else (begin, len(lines))
