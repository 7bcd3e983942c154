"""New studies: a folder with all that a study may say, ready to be edited; and one of colours, ready to click."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template

from similitude.display.words import counted, listed
from similitude.feedback.files.whole import write_whole
from similitude.feedback.forms import PAGES
from similitude.study.fault import Fault
from similitude.study.languages import ENGLISH, base, own_file, translation, unchecked
from similitude.study.settings import FILE, Study, StudyError, check_name
from similitude.study.texts import DEFAULTS


def new_study(folder: Path, title: str = "") -> list[Path]:
    """Write `study.toml`, its pages and an empty folder of items; returns what was written. Nothing is overwritten.

    The title is that of the folder unless given.
    """
    title = title or check_name(folder).replace("-", " ").replace("_", " ").capitalize()
    files = _started("new", "consent.md", "instructions.md", "items/README.txt", FILE)
    return _write(
        folder, files | {FILE: Template(files[FILE]).substitute(title=json.dumps(title, ensure_ascii=False)[1:-1])}
    )


def colour_study(folder: Path, colours: Mapping[str, str]) -> list[Path]:
    """Write a study of colours, given as #rrggbb by name."""
    check_name(folder)
    table = io.StringIO()
    csv.writer(table).writerows([("name", "colour"), *colours.items()])
    return _write(
        folder, {"colours.csv": table.getvalue()} | _started("colours", "consent.md", "instructions.md", FILE)
    )


def unfinished(study: Study) -> list[str]:
    """What is to be seen to before the link is sent, a sentence each; none of it keeps a study from being served."""
    return [
        sentence
        for sentence in (
            still_an_example(study), still_in_english(study), made_by_machine(study), catches_in_vain(study)
        )
        if sentence is not None
    ]  # fmt: skip


def catches_in_vain(study: Study) -> str | None:
    """A sentence where catch questions are given and none is ever asked."""
    found = [f"{fault.key}: {fault.sentence}" for fault in never_asked(study)]
    return f"{study.folder.name}/{FILE}: {'; '.join(found)}" if found else None


def never_asked(study: Study) -> list[Fault]:
    """The keys that say how often a catch question comes where some are given and none ever does."""
    found = []
    for k, part in enumerate(study.parts):
        if part.catch and not part.n_catches:
            key = f"block.{k}.catch_every" if study.block else "catch.every"
            what = counted(len(part.catch), "catch question is never asked", "catch questions are never asked")
            why = f"one comes after every {part.catch_every:,} questions, and there are {part.question.number:,}"
            sentence = f"{what}: {why if part.catch_every else 'this is 0'}"
            found.append(Fault(key, f"{sentence}; say after how many questions one comes, or take them out"))
    return found


def left_in_english(study: Study) -> tuple[str, list[str]] | None:
    """The first language whose texts neither we nor the study say, with the names of these texts."""
    used = [*dict.fromkeys(name for part in study.parts for name in PAGES[part.question.form].asks), *DEFAULTS]
    for language in study.languages:
        if base(language) == ENGLISH:
            continue
        said = {*translation(language), *(name for own in study.texts_in(language) for name in own)}
        left = [name for name in used if name not in said and not name.startswith("key_")]
        if left:
            return language, left
    return None


def still_in_english(study: Study) -> str | None:
    """A sentence where texts of a language that a study offers are said neither by us nor by the study."""
    found = left_in_english(study)
    if found is None:
        return None
    language, left = found
    return (
        f"{study.folder.name}/{FILE}: language is {language!r}, but {counted(len(left), 'text')} of the pages "
        f"would be in English: {listed(left, len(left))}; say them in {own_file(study.folder, language).name}, "
        "all names are in the reference of study.toml"
    )


def read_by_nobody(study: Study) -> list[str]:
    """The languages whose words nobody who speaks them has checked."""
    return [language for language in study.languages if unchecked(study.folder, language)]


def made_by_machine(study: Study) -> str | None:
    """A sentence where raters would read words that nobody who speaks their language has checked."""
    found = read_by_nobody(study)
    if not found:
        return None
    file = own_file(study.folder, found[0]).name
    return (
        f"{study.folder.name}/{FILE}: the pages' words in {listed(found, len(found))} were made by a machine; let "
        f"somebody who speaks the language read the pages, say what is better in {file}, and checked = true in it"
    )


def still_an_example(study: Study) -> str | None:
    """A sentence where raters would be shown the consent page, or the heart of it, as `new_study` wrote it."""
    example = _started("new", "consent.md")["consent.md"].split("\n\n")[1]
    if " ".join(example.split()) not in " ".join((study.page("consent") or "").split()):
        return None
    file = f"{study.folder.name}/{study.pages.consent}"
    return f"{file} is still the example: write what people agree to before you send the link"


def _started(kind: str, *names: str) -> dict[str, str]:
    """The texts of files that a study of this kind starts with."""
    source = resources.files("similitude.study") / "started" / kind
    return {name: source.joinpath(name).read_text(encoding="utf-8") for name in names}


def _write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write those that are not there; `study.toml` comes last, so that a folder that has one is whole."""
    if (folder / FILE).exists():
        raise StudyError(f"{folder}: there is a {FILE} already; it was left as it is")
    targets = {folder / name: text for name, text in files.items()}
    for path, text in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, text.encode())
    return list(targets)
