"""The words of the pages in a language, as they are edited: what is said by default, and what the study says itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from similitude.study.editing.document import changed, values_of
from similitude.study.fault import StudyError
from similitude.study.files import Files
from similitude.study.languages import OWN, Text, categories, own_file, translation
from similitude.study.settings import FILE, Study
from similitude.study.texts import default_texts

CHECKED = "checked"


def words_in(study: Study, language: str) -> list[dict[str, Any]]:
    """Every text by name: the default in this language, the study's own, and the plural forms where it has them."""
    own: Mapping[str, Any] = {**study.spoken.get(language, {}), **(study.texts if _is_first(study, language) else {})}
    defaults: dict[str, Text] = {**default_texts(), **translation(language)}
    if not _is_first(study, language):
        said = {"title": study.title, "question": study.question.text or "", "low": study.question.low or ""}
        defaults = {**said, "high": study.question.high or "", **_said_by_parts(study), **defaults}
    return [
        {
            "name": name, "default": text, "own": own.get(name),
            "forms": list(categories(language)) if isinstance(own.get(name, text), dict) else None,
        }
        for name, text in defaults.items()
    ]  # fmt: skip


def is_checked(folder: Path, language: str) -> bool:
    """Whether the study says that somebody who speaks the language has read the pages."""
    name = own_file(folder, language).name
    files = Files(folder)
    return files.is_file(name) and values_of(files.text(name)).get(CHECKED) is True


def said_in(study: Study, language: str, changes: Mapping[str, Text | bool | None]) -> dict[str, str]:
    """Files with other words, by name: `[texts]` holds those of the first language, a file of its own each other."""
    files, found = Files(study.folder), {}
    if strange := sorted(set(changes) - {*default_texts(), *OWN, *_said_by_parts(study), CHECKED}):
        raise StudyError(f"{strange[0]}: there is no text of this name")
    own = dict(changes)
    if _is_first(study, language):
        own = {CHECKED: own[CHECKED]} if CHECKED in own else {}
        first = {f"texts.{name}": text for name, text in changes.items() if name != CHECKED}
        found = {FILE: changed(files.text(FILE), first)} if first else {}
    if own:
        name = own_file(study.folder, language).name
        found[name] = _with_words(files.text(name) if files.is_file(name) else "", own)
    return found


def _with_words(text: str, changes: Mapping[str, Text | bool | None]) -> str:
    """The text of a language's file with other words; plural forms are a table of their own, which goes as a whole."""
    flat: dict[str, Any] = {key: None for key in values_of(text) if key.partition(".")[0] in changes and "." in key}
    for key, value in changes.items():
        flat |= {f"{key}.{form}": said for form, said in value.items()} if isinstance(value, dict) else {key: value}
    text = changed(text, flat)
    left = {key.partition(".")[0] for key in values_of(text)}
    for name in changes.keys() - left:
        text = re.sub(rf"^\[{name}\][^\n]*\n?", "", text, flags=re.MULTILINE)
    return text


def _said_by_parts(study: Study) -> dict[str, Text]:
    """What blocks and conditions ask, in the first language, by the names that it has in the others."""
    said: dict[str, Text] = {}
    for block in study.block:
        own = block.question
        said |= {f"question_{block.name}": own.text or "", f"low_{block.name}": own.low or ""}
        said[f"high_{block.name}"] = own.high or ""
    return said | {f"question_{one.name}": one.text or "" for one in study.condition}


def _is_first(study: Study, language: str) -> bool:
    return language == study.languages[0]
