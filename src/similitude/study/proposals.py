"""What would become of a study if some of its texts were others: what changes, what is wrong, what is forbidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa

from similitude.display.words import counted
from similitude.study import shelf
from similitude.study.asking import encode, means, means_otherwise
from similitude.study.changes import Change, changes
from similitude.study.contents import Contents, read_contents
from similitude.study.files import Files, Texts
from similitude.study.settings import FILE, Study, StudyError, read_study
from similitude.study.store import schema
from similitude.study.store.rows import Row, questions_before

if TYPE_CHECKING:
    from similitude.study.site import Kept, Site

_COUNTED = 20  # items taken out of which the answers are counted
_TEXTS = (".toml", ".md", ".txt", ".csv")  # what a page of ours may write


@dataclass(frozen=True)
class Proposal:
    """What would be.

    Attributes
    ----------
    changes : key by key; some may be forbidden, some have a warning
    problems : what is wrong with the texts, so that they cannot be served
    files : all texts as they would be, by name
    study, contents : what they say; None where they say nothing that can be understood, or served
    """

    changes: tuple[Change, ...]
    problems: tuple[str, ...]
    files: Mapping[str, str]
    study: Study | None = None
    contents: Contents | None = None

    @property
    def forbidden(self) -> list[str]:
        """What cannot be changed any more, with why."""
        return [f"{change.key}: {change.forbidden}" for change in self.changes if change.forbidden]

    @property
    def warnings(self) -> list[str]:
        """What to mind."""
        return [change.warning for change in self.changes if change.warning]

    @property
    def words(self) -> list[str]:
        """What changes, a sentence each."""
        return [change.words for change in self.changes]


def proposed(site: Site, kept: Kept, given: Texts, by_hand: bool = False) -> Proposal:
    """What a study would be with these texts in the place of its own; None takes a file away.

    What is edited by hand may name places outside the study's folder: who does that can read them anyway.
    """
    service = site.studies.get(kept.name)
    texts: dict[str, str | None] = {**kept.files, **given}
    contents, problems = None, list[str]()
    study: Study | None
    try:
        contents = read_contents(kept.folder, texts, site.contents_of(kept.name))
        study, read = contents.study, dict(contents.files)
    except StudyError as error:
        problems += str(error).splitlines()
        study, read = settings_of(Files(kept.folder, texts))
    is_latest = service is not None and dict(service.contents.files) == kept.files
    before = service.study if service and is_latest else settings_of(Files(kept.folder, kept.files, alone=True))[0]
    if not by_hand and study is not None:
        other = [name for name, text in given.items() if text is not None and text != kept.files.get(name)]
        problems += _misplaced(kept.folder, other, read, study, before)
    found = _changes(site, kept, before, study, contents)
    return Proposal(tuple(found), tuple(problems), read, study, contents)


def settings_of(files: Files) -> tuple[Study | None, dict[str, str]]:
    """What a study decides, as far as that can be read, and the texts that it was read from."""
    try:
        study = read_study(files.folder, files)
    except StudyError:
        return None, files.read
    if study.items.table:
        shelf.on_disk(files, study.items.table)  # remembered with the others
    return study, files.read


def _misplaced(
    folder: Path, given: Sequence[str], read: Mapping[str, str], study: Study, before: Study | None
) -> Iterator[str]:
    """Texts that no study reads, and places outside its folder, which nobody may name by a page of ours."""
    known = {} if before is None else _places(before)
    for name in given:
        if name not in read:
            yield f"{name}: {FILE} names no such page or table"
        elif not shelf.is_inside(folder, name) or not name.endswith(_TEXTS):
            yield f"{name}: expected a file in the study's folder that ends in {', '.join(_TEXTS)}"
    for key, place in _places(study).items():
        if place != known.get(key) and not shelf.is_inside(folder, place):
            yield f"{key}: {place!r} lies outside the study's folder"


def _places(study: Study) -> dict[str, str]:
    named = {f"pages.{page}": file for page, file in study.pages.model_dump().items()}
    named |= {"items.folder": study.items.folder, "items.table": study.items.table}
    return {key: place for key, place in named.items() if place}


def _changes(
    site: Site, kept: Kept, before: Study | None, study: Study | None, contents: Contents | None
) -> list[Change]:
    """All changes, with what forbids them and what to mind."""
    if study is None:
        return []
    if before is None:
        return [Change("title", f"begun as “{study.title}”", after=study.title)]
    service = site.studies.get(kept.name)
    items = {} if service is None else service.contents.items
    found = changes(before, study, items, items if contents is None else contents.items)
    with site.database.read() as connection:
        forbidden = means_otherwise(study, asked_before(connection, kept, study))
        return [_judged(connection, kept, change, forbidden) for change in found]


def asked_before(connection: sa.Connection, kept: Kept, study: Study) -> list[tuple[str, Row]]:
    """Questions that people were asked and whose answers do not mean what they would mean in a study."""
    return questions_before(connection, kept.study_id, means(study))


def _judged(connection: sa.Connection, kept: Kept, change: Change, forbidden: Mapping[str, str]) -> Change:
    if change.key.startswith("question."):
        return change.but(forbidden=forbidden.get(change.key))
    if change.key == "block":
        return change.but(forbidden="; ".join(f"{key}: {why}" for key, why in forbidden.items()) or None)
    if change.key != "items.removed":
        return change
    answer = schema.answer
    about = sa.or_(*(answer.c.shown.contains(encode(name), autoescape=True) for name in change.after[:_COUNTED]))
    n = connection.scalar(sa.select(sa.func.count()).where(answer.c.study_id == kept.study_id, about)) or 0
    least = "at least " if len(change.after) > _COUNTED else ""
    about_it = counted(n, "answer is", "answers are")
    words = f"{least}{about_it} about what is taken out; downloads keep what was said, the model forgets it"
    return change.but(warning=words) if n else change
