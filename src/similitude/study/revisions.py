"""Changing a study while it is served: looked at first, then made, remembered, taken back.

The database says what a study is: its latest revision, with all texts. Who changes it writes the revision in one
transaction, then the files in the folder (`shelf.py`), then serves it; every other process finds the revision there
within seconds (`following.py`). A file that was edited by hand goes the same way. Raters lose nothing: a question
keeps the version under which it was handed out (`versions.py`).

`propose(site, "faces", {"study.toml": text})` says what would change, `revise(..., who="ada", base=7)` does it if
nobody else has since revision 7, `restore(..., number=3)` makes an earlier one the latest, `add_study` a new study.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping

import sqlalchemy as sa

from similitude.display.words import counted, listed
from similitude.study import states
from similitude.study.audit import note
from similitude.study.create import new_study
from similitude.study.editing.gallery import REMOVED, Moves
from similitude.study.files import Files, Texts
from similitude.study.following import (
    apply_proposal,
    follow,
    is_draft,
    item_files,
    latest,
    moving,
    open_study,
    settle,
    too_late,
)
from similitude.study.keeping import WayBack, shown_by
from similitude.study.proposals import Proposal, proposed, settings_of
from similitude.study.refusal import Refused
from similitude.study.settings import StudyError, check_name
from similitude.study.site import Kept, Site
from similitude.study.store import revisions as rows
from similitude.study.store import schema
from similitude.study.store.revisions import Revision
from similitude.study.store.rows import draft_anew

__all__ = [
    "Proposal", "Revision", "add_study", "answered_otherwise", "history", "kept_in", "may_become", "propose", "restore",
    "revise", "set_state", "shown_otherwise", "title_of", "way_back",
]  # fmt: skip


def propose(site: Site, name: str, given: Texts) -> Proposal:
    """What would change in a study if these texts took the place of its own; None takes a file away."""
    with site.lock:
        return proposed(site, kept_in(site, name), given)


def revise(site: Site, name: str, given: Texts, who: str, base: int | None = None, what: str = "changed") -> Revision:
    """Change a study: its latest revision is then this, here at once and everywhere within seconds.

    Refused where the texts cannot be served (a draft may be saved that is still unfinished, if its settings are
    right), where something is forbidden, and where somebody else was quicker. Where nothing changes, nothing is done.

    Parameters
    ----------
    site, name : the study
    given : texts by name, as `study.toml` says them; those that are not given stay, None takes one away
    who : who does it, for the history
    base : the revision that the change was made from; None is the latest, whatever it is
    what : the word for it in the list of who did what
    """
    with site.lock:
        kept = kept_in(site, name)
        follow(site, kept, settled=True)
        if base is not None and base != kept.number:
            raise too_late(latest(site, kept))
        proposal = proposed(site, kept, given)
        _refuse(site, kept, proposal)
        if not os.access(kept.folder, os.W_OK):
            raise Refused(409, "folder", "The server may not write to the study's folder; nothing was changed.")
        apply_proposal(site, kept, proposal, who, what)
        return latest(site, kept)


def _refuse(site: Site, kept: Kept, proposal: Proposal) -> None:
    if proposal.forbidden:
        raise Refused(422, "forbidden", "; ".join(proposal.forbidden) + ".")
    unfinished = is_draft(site, kept) and proposal.study is not None and proposal.contents is None
    if proposal.problems and not unfinished:
        raise Refused(422, "problems", "\n".join(proposal.problems))


def restore(
    site: Site, name: str, number: int, who: str, base: int | None = None, texts_alone: bool = False, sure: bool = False
) -> Revision:
    """Let a study say and show again what it did in an earlier revision, as a new one.

    Files of items that were taken out or replaced since come back, those that came since are put away. Refused, before
    anything is changed, where a file is gone, and where an item that answers are about would show another file unless
    one is `sure`; `texts_alone` leaves the files as they are.
    """
    kept = kept_in(site, name)
    with moving(site, kept) as moves:
        then = _revision(site, kept, number)
        given: dict[str, str | None] = {**dict.fromkeys(kept.files), **then.files}
        if not texts_alone:
            if not sure and (found := answered_otherwise(site, name, number)):
                raise Refused(409, "sure", f"Nothing was changed: {shown_otherwise(found)} Say that you are sure.")
            _bring_back(site, kept, then, moves)
        return revise(site, name, given, who, base, f"restored revision {number} of")


def way_back(site: Site, name: str, number: int) -> WayBack | None:
    """What happens to the files of items where an earlier revision is restored; None where that was not kept."""
    kept = kept_in(site, name)
    then = _revision(site, kept, number)
    study = settings_of(Files(kept.folder, then.files, alone=True))[0]
    if then.items is None or study is None:
        return None
    return WayBack.to(study, then.items, item_files(kept.folder, None, kept.files))


def answered_otherwise(site: Site, name: str, number: int) -> dict[str, int]:
    """The items that answers are about and that would show another file in an earlier revision: answers by name."""
    kept = kept_in(site, name)
    then = _revision(site, kept, number)
    before, now = (settings_of(Files(kept.folder, texts, alone=True))[0] for texts in (then.files, kept.files))
    if before is None or now is None or then.items is None:
        return {}
    shown = shown_by(now, kept.files, item_files(kept.folder, None, kept.files))
    back = shown_by(before, then.files, then.items)
    others = {one for one, found in back.items() if shown.get(one, found) != found}
    return _answers_about(site, kept, others) if others else {}


def _answers_about(site: Site, kept: Kept, names: set[str]) -> dict[str, int]:
    """How many answers are about each of some items; those without any are left out."""
    answer, found = schema.answer, Counter[str]()
    with site.database.read() as connection:
        for (shown,) in connection.execute(sa.select(answer.c.shown).where(answer.c.study_id == kept.study_id)):
            found.update(names.intersection(json.loads(shown)))
    return dict(sorted(found.items()))


def shown_otherwise(found: Mapping[str, int]) -> str:
    """In a sentence which items with answers would show another file."""
    named = [f"{name} ({counted(n, 'answer')})" for name, n in found.items()]
    what = counted(len(named), "item that people were asked about would show another file",
                   "items that people were asked about would show other files")  # fmt: skip
    return f"{what}, and their answers would pass for answers about these: {listed(named, len(named))}."


def _bring_back(site: Site, kept: Kept, then: Revision, moves: Moves) -> None:
    """Move the files of items to where they were; refused where some are gone."""
    way = way_back(site, kept.name, then.number)
    gone = _lost(site, kept, then) if way is None else list(way.gone)
    if gone:
        of = ("item is", "items are") if way is None else ("file of its items is", "files of its items are")
        what = counted(len(gone), *of)
        raise Refused(
            409, "gone",
            f"Revision {then.number} was not restored, nothing was changed: {what} gone ({listed(gone, len(gone))}). "
            f"Put them into the folder {REMOVED} of the study and try again, or restore its texts alone.",
        )  # fmt: skip
    if way is not None:
        way.go(moves)
        settle(site, kept)


def _lost(site: Site, kept: Kept, then: Revision) -> list[str]:
    """Items of a revision from before files were kept, by name, for which there is no file now."""
    with site.database.read() as connection:
        names = rows.names_in(connection, kept.study_id, then.version)
    contents = proposed(site, kept, {**dict.fromkeys(kept.files), **then.files}).contents
    return [] if contents is None else [one for one in names if one not in contents.items]


def _revision(site: Site, kept: Kept, number: int) -> Revision:
    with site.database.read() as connection:
        then = rows.revision_at(connection, kept.study_id, number)
    if then is None:
        raise Refused(404, "no_revision", f"There is no revision {number} of this study.")
    return then


def history(site: Site, name: str) -> list[Revision]:
    """All revisions of a study, the latest first."""
    with site.database.read() as connection:
        return rows.history(connection, kept_in(site, name).study_id)


def kept_in(site: Site, name: str) -> Kept:
    """A study of a site, served or not; refused where there is none of this name."""
    if name not in site.kept:
        raise Refused(404, "no_study", "There is no such study here.")
    return site.kept[name]


def title_of(site: Site, name: str) -> str:
    """What a study is called on its pages, served or not."""
    kept = kept_in(site, name)
    contents = site.contents_of(name)
    study = settings_of(Files(kept.folder, kept.files, alone=True))[0] if contents is None else contents.study
    return name if study is None else study.title


def set_state(site: Site, name: str, to: str, who: str) -> None:
    """Bring a study into a state; refused where it cannot follow, and to a draft that cannot be served yet."""
    kept = kept_in(site, name)
    if to in (states.PILOT, states.LIVE) and (why := why_not_open(site, kept)) is not None:
        raise Refused(409, "unfinished", why)
    states.set_state(site.database, kept.study_id, to, who)


def why_not_open(site: Site, kept: Kept) -> str | None:
    """Why nobody can be let into a draft yet; None where nothing is against it."""
    unfit = kept.problem is not None and is_draft(site, kept)
    return f"The draft cannot be served yet: {kept.problem}" if unfit else None


def may_become(site: Site, name: str) -> dict[str, str | None]:
    """The states that a study is not in, each with why it cannot follow; None where it can."""
    kept = kept_in(site, name)
    with site.database.read() as connection:
        now = states.standing(connection, kept.study_id)
    unfit = dict.fromkeys((states.PILOT, states.LIVE), why_not_open(site, kept))
    return {to: now.why_not(to) or unfit.get(to) for to in states.STATES if to != now.state}


def add_study(site: Site, name: str, title: str, who: str) -> Kept:
    """Make a study in a site's folder: a draft that begins with what `similitude study new` writes, without items."""
    folder = site.root / name
    if site.is_one_study:
        raise Refused(
            409, "one_study", "This server serves the folder of one study; serve the folder above it instead."
        )
    try:
        if check_name(folder) != name:
            raise StudyError(name)
    except StudyError:
        raise Refused(422, "name", "name: expected small letters, digits, - and _, such as faces-2.") from None
    with site.lock:
        if name in site.kept or folder.exists():
            raise Refused(409, "name", f"There is a study, or a folder, called {name} already.")
        with site.database.write() as connection:
            now = site.database.clock.now()
            note(connection, now, who, "made", draft_anew(connection, name, now))
        new_study(folder, title)
        open_study(site, name, folder, who)
        return site.kept[name]
