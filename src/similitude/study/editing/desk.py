"""A study on the desk of who edits it: its files are read here, and everything that is changed goes through a revision.

Texts are given to `revisions.py`, which checks, records and serves them. Files of items and pictures are put into the
folder under the lock of the site, and taken back where the study could not be served with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from similitude.study import revisions
from similitude.study.asking import encode, meaning
from similitude.study.audit import note
from similitude.study.editing.document import changed, values_of
from similitude.study.editing.gallery import Gallery, fault_of_file_name
from similitude.study.editing.incoming import Incoming
from similitude.study.editing.looking import Looked, fault_in, look
from similitude.study.editing.taking import Taken, Taking
from similitude.study.editing.to_do import to_do
from similitude.study.fault import StudyError, WrongKeys
from similitude.study.files import Files, Texts
from similitude.study.following import follow, moving, settle
from similitude.study.items import KINDS
from similitude.study.opening import fault_of
from similitude.study.refusal import Refused
from similitude.study.settings import FILE, Study, read_study
from similitude.study.site import Kept, Site
from similitude.study.states import standing
from similitude.study.store import schema
from similitude.study.web.limits import LIMITS, Limits
from similitude.study.written import FOLDER

_PICTURES = tuple(suffix for suffix, kind in KINDS.items() if kind == "image")


class OutOfDate(StudyError):
    """Somebody else has changed the study since the page was read."""


class NotSure(StudyError):
    """Something that should be done only by who has read the sentence."""


@dataclass(frozen=True)
class Desk:
    """One study of a site, served or still a draft."""

    site: Site
    name: str
    kept: Kept
    limits: Limits = LIMITS

    @classmethod
    def of(cls, site: Site, name: str, limits: Limits = LIMITS) -> Desk | None:
        """The desk of a study; None where there is no such study."""
        return cls(site, name, site.kept[name], limits) if name in site.kept else None

    # --- what it is ---

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return self.kept.folder

    @property
    def incoming(self) -> Incoming:
        """What is on its way to it."""
        return Incoming(self.folder, self.limits)

    def basis(self) -> int:
        """The revision that is looked at; what was edited by hand in the meantime is one, too."""
        follow(self.site, self.kept, settled=True)
        return self.kept.number

    def text(self) -> str:
        """`study.toml`."""
        return Files(self.folder).text(FILE)

    def study(self) -> Study:
        """Its settings; StudyError where they do not fit."""
        return read_study(self.folder)

    def titled(self) -> dict[str, str]:
        """Its name and title."""
        try:
            title = values_of(self.text()).get("title")
        except (StudyError, OSError):
            title = None
        return {"name": self.name, "title": title if isinstance(title, str) and title else self.name}

    def look(self, given: Texts | None = None) -> Looked:
        """What it says, with some texts in place of its own."""
        return look(self.folder, given, self.site.contents_of(self.name))

    def locked(self) -> dict[str, str]:
        """Keys that can no longer be changed, with why."""
        service = self.site.studies.get(self.name)
        if service is None:
            return {}
        keys = [] if service.study.block else list(meaning(service.study.question))
        with self.site.database.read() as connection:
            if not standing(connection, self.kept.study_id).asked:
                return {}
        why = "People were asked with this already; their answers would not mean the same. Make a new study instead."
        return {f"question.{key}": why for key in keys}

    def to_do(self, looked: Looked) -> list[dict[str, str]]:
        """What is to be seen to before people are let in, a sentence each, with the key or the page that mends it."""
        try:
            has_items = bool(self.gallery().listed())
        except StudyError:
            has_items = True  # in a table that cannot be read, which is what is said then
        return [one._asdict() for one in to_do(looked, has_items)]

    # --- texts ---

    def save(self, given: Texts, basis: Any, by: str) -> Looked:
        """Write texts as a revision; StudyError where they do not fit, OutOfDate where somebody was quicker."""
        if not isinstance(basis, int):
            raise StudyError("basis: expected the revision that was changed")
        looked = self.look(given)
        if looked.is_wrong:
            raise _wrong(looked)
        try:
            self._revise(given, by, basis)
        except StudyError as error:
            if looked.faults and not isinstance(error, OutOfDate):
                raise _wrong(looked) from None
            raise
        return self.look()

    def _revise(self, given: Texts, by: str, basis: int | None = None) -> None:
        try:
            revisions.revise(self.site, self.name, given, by, basis)
        except Refused as refusal:
            if refusal.code == "changed":
                raise OutOfDate(str(refusal)) from None
            lines, text = str(refusal).splitlines(), given.get(FILE) or self.text()
            raise WrongKeys(Path(FILE), [fault_in(self.folder, line, text) for line in lines]) from None

    def page_in(self, file: str, language: str | None) -> str:
        """The name of a page's file in a language."""
        return file if language is None else Path(file).with_suffix(f".{language}{Path(file).suffix}").as_posix()

    # --- items ---

    def gallery(self) -> Gallery:
        """Its items as files."""
        return Gallery(self.folder, values_of(self.text()))

    def file_of_item(self, name: str) -> Path | None:
        """The file of an item; None where there is none."""
        return self.gallery().path_of(name)

    def take_in(self, files: list[tuple[str, str]], replace: bool, by: str) -> Taken:
        """Take in what was uploaded, as far as it can be."""
        came = self.incoming.came(files)
        try:
            with moving(self.site, self.kept) as moves:
                taking = Taking(self.gallery(), moves, replace, self.asked_about, self.limits.table_rows)
                taken = taking.take(came, self.text())
                if taken.added or taken.replaced:
                    self._revise_files(taken.texts, by)
            return taken
        finally:
            self.incoming.clear([uid for uid, _ in files])

    def remove_item(self, name: str, sure: bool, by: str) -> None:
        """Take an item out; who removes one that was asked about must be sure."""
        self._ask(name, sure, "they stay in downloads, and the model forgets them")
        with moving(self.site, self.kept) as moves:
            self._revise_files(self.gallery().remove(name, moves), by)

    def rename_item(self, name: str, other: str, sure: bool, by: str) -> None:
        """Call an item otherwise; who renames one that was asked about must be sure."""
        self._ask(name, sure, "they keep the old name, and the model takes it for another item")
        with moving(self.site, self.kept) as moves:
            self._revise_files(self.gallery().rename(name, other, moves), by)

    def asked_about(self, name: str) -> int:
        """How many answers are about an item."""
        answer = schema.answer
        about = answer.c.study_id == self.kept.study_id, answer.c.shown.contains(encode(name), autoescape=True)
        with self.site.database.read() as connection:
            return connection.scalar(sa.select(sa.func.count()).where(*about)) or 0

    def _ask(self, name: str, sure: bool, what: str) -> None:
        if not sure and (number := self.asked_about(name)):
            raise NotSure(f"{number:,} answers are about {name!r}: {what}.")

    def _revise_files(self, texts: Texts, by: str) -> None:
        settle(self.site, self.kept)
        self._revise(texts, by)

    # --- pictures of pages ---

    def pictures(self) -> list[str]:
        """Names of the pictures that pages may show."""
        folder = self.folder / FOLDER
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if path.suffix.lower() in _PICTURES)

    def take_pictures(self, files: list[tuple[str, str]], by: str) -> Taken:
        """Take in pictures for pages, which are no items; one of the same name is replaced."""
        taken = Taken()
        try:
            with self.site.lock:
                for came in self.incoming.came(files):
                    why = came.why_not or self._no_picture(came.path, came.name)
                    if why or came.path is None:
                        taken.refused.append((came.name, why or ""))
                        continue
                    target = self.folder / FOLDER / came.name
                    target.parent.mkdir(exist_ok=True)
                    came.path.replace(target)
                    taken.added.append(came.name)
                settle(self.site, self.kept)
            if taken.added:
                with self.site.database.write() as connection:
                    now = self.site.database.clock.now()
                    note(connection, now, by, "uploaded pictures for", self.kept.study_id, ", ".join(taken.added)[:500])
        finally:
            self.incoming.clear([uid for uid, _ in files])
        return taken

    def _no_picture(self, path: Path | None, name: str) -> str | None:
        if Path(name).suffix.lower() not in _PICTURES:
            return f"expected a picture: {', '.join(_PICTURES)}"
        if why := fault_of_file_name(Path(name).stem):
            return why
        assert path is not None
        beside = path.rename(path.with_name(f"{path.name}{Path(name).suffix.lower()}"))
        try:
            return fault_of(beside)
        finally:
            beside.rename(path)


def _wrong(looked: Looked) -> StudyError:
    return WrongKeys(Path(FILE), looked.faults)


def make_study(site: Site, name: str, title: str, form: str, by: str) -> Desk:
    """Make a study, a draft, whose questions have a form; StudyError where that cannot be."""
    try:
        kept = revisions.add_study(site, name, title, by)
    except Refused as refusal:
        raise StudyError(str(refusal)) from None
    desk = Desk(site, kept.folder.name, kept)
    wanted: Mapping[str, Any] = {"question.form": form, **_FIRST.get(form, {})}
    if form and values_of(desk.text()).get("question.form") != form:
        desk.save({FILE: changed(desk.text(), wanted)}, desk.basis(), by)
    return desk


# what a form cannot be without, to begin with: words to write over
_FIRST: dict[str, Mapping[str, Any]] = {
    "labelling": {"question.classes": ["one kind", "another kind"]},
    "attribute": {"question.low": "the smallest", "question.high": "the largest", "question.grid_size": 4},
}
