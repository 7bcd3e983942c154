"""A study as texts would make it: whether it could be served, and what is wrong with which key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from similitude.study.contents import Contents, read_contents
from similitude.study.editing.document import values_of
from similitude.study.editing.fields import fields
from similitude.study.editing.gallery import Gallery
from similitude.study.fault import Fault, StudyError, WrongKeys
from similitude.study.files import Files, Texts
from similitude.study.items import Item
from similitude.study.settings import FILE, Study, read_study

_OF_DESIGN = re.compile(
    r"(?:condition (?P<condition>\S+): )?(?:block (?P<block>\S+): )?"
    r"(?:(?P<key>(?:question\.)?[a-z_]+)(?=: | shows | is ))?"
)


@dataclass(frozen=True)
class Looked:
    """What was found.

    Attributes
    ----------
    text : of `study.toml`
    study : its settings, None where they do not fit
    items : by name; those that can be shown
    faults : what keeps it from being served, by key; "" where it belongs to none
    is_wrong : whether a key is wrong, so that the text makes no study; what only lacks may come later
    """

    text: str
    study: Study | None = None
    items: Mapping[str, Item] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    is_wrong: bool = False


def look(folder: Path, given: Texts | None = None, before: Contents | None = None) -> Looked:
    """Look at a folder, with some texts in place of those that lie there; `before` knows the files of its items."""
    files = Files(folder, given)
    text = files.text(FILE)
    try:
        contents = read_contents(folder, given, before)
        return Looked(text, contents.study, contents.items)
    except WrongKeys as wrong:
        return Looked(text, faults=wrong.faults, is_wrong=True)
    except StudyError as error:
        fault = fault_in(folder, str(error), text)
    try:
        study = read_study(folder, files)
    except StudyError:
        return Looked(text, faults=(fault,), is_wrong=not fault.key.startswith("pages."))
    return Looked(text, study, _shown(folder, text), (fault,))


def _shown(folder: Path, text: str) -> dict[str, Item]:
    try:
        listed = Gallery(folder, values_of(text)).listed()
    except StudyError:
        return {}
    return {one.item.name: one.item for one in listed if one.fault is None}


def fault_in(folder: Path, sentence: str, text: str = "") -> Fault:
    """A sentence with the key that it speaks of, where it names one; without the path of the file.

    Blocks and conditions are called by their names there, and have the numbers that `study.toml` (`text`) gives them.
    """
    plain = sentence.replace(f"{folder / FILE}: ", "").replace(f"{folder.resolve() / FILE}: ", "")
    plain = plain.removeprefix(f"{folder.name}: ")
    if (key := _in_design(plain, text)) is not None:
        return Fault(key, plain)
    named = re.findall(r"[a-z_]+\.[a-z_]+", plain)
    key = next((name for name in named if name in fields()), "items.folder" if plain.startswith("items:") else "")
    return Fault(key, plain.removeprefix(f"{key}: ").removeprefix("items: "))


def _in_design(plain: str, text: str) -> str | None:
    """The key of a sentence that begins with the name of a block or a condition."""
    said = _OF_DESIGN.match(plain)
    kind = "block" if said and said["block"] else "condition"
    if said is None or said[kind] is None:
        return None
    try:
        listed = values_of(text).get(kind, [])
    except StudyError:
        return None
    place = next((k for k, one in enumerate(listed) if one.get("name") == said[kind]), None)
    return None if place is None else ".".join([kind, str(place), *([said["key"]] if said["key"] else [])])
