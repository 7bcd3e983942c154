"""A study follows its latest revision: at a start, when another process has changed it, after an edit by hand."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa

from similitude.study import journal, shelf, states
from similitude.study.asking import check_same_question, means_otherwise
from similitude.study.audit import note
from similitude.study.changes import changes
from similitude.study.contents import Contents, read_contents
from similitude.study.editing.gallery import Moves
from similitude.study.files import Files, Texts
from similitude.study.keeping import ItemFiles, changes_of_files, files_of, fingerprint
from similitude.study.proposals import Proposal, asked_before, proposed, settings_of
from similitude.study.refusal import Refused
from similitude.study.settings import StudyError, check_name, folders_in
from similitude.study.site import Kept, Site
from similitude.study.store import revisions as rows
from similitude.study.store.database import StoreError
from similitude.study.store.revisions import Revision
from similitude.study.store.rows import number_of, register

_log = logging.getLogger("similitude.study")
BY_HAND = "by hand, in the folder"
EVERY = 2.0  # seconds between two looks
_SAME_MEANING = ["written otherwise, with the same meaning"]


def open_study(site: Site, name: str, folder: Path, who: str = BY_HAND) -> None:
    """Take up a study from its folder, at a start or when the folder appears; StudyError where it cannot be served.

    What was edited while nobody served it counts. Where the folder is behind, since another server changed the study or
    the one before was killed, it is brought up to date. A draft need not be fit to be served.
    """
    with site.database.read() as connection:
        study_id = number_of(connection, name)
    if not _mend(site, folder, study_id, journal.PATIENCE):
        raise StudyError(f"{name}: {journal.being_moved()}")
    with site.database.read() as connection:
        last = None if study_id is None else rows.last_revision(connection, study_id)
    if study_id is None:
        contents = read_contents(folder)  # before there is a trace of it
        with site.database.write() as connection:
            study_id = register(connection, contents.study, contents.version, contents.names, site.database.clock.now())
    kept = Kept(name, folder, study_id)
    with site.lock:
        behind = None if last is None else _is_behind(site, kept, last)
        if last is not None and behind is not None:
            kept.files = behind
            _adopt(site, kept, last)
        else:
            kept.number, kept.files = (0, {}) if last is None else (last.number, dict(last.files))
            _take_as_it_lies(site, kept, last, who)
        if name not in site.studies and not is_draft(site, kept):
            raise StudyError(kept.problem or f"{name}: cannot be served")
        site.kept[name] = kept


def _is_behind(site: Site, kept: Kept, last: Revision) -> dict[str, str] | None:
    """The texts that a folder holds where these are an earlier revision, or some of them are; None where it is not."""
    mark = shelf.mark_of(kept.folder)
    if mark is None or mark.number > last.number:
        return None
    with site.database.read() as connection:
        then = rows.revision_at(connection, kept.study_id, mark.number if mark.whole else mark.number - 1)
    texts = {} if then is None else dict(then.files)
    if not mark.whole:
        return texts
    return texts if mark.number < last.number and texts and shelf.holds(kept.folder, texts) else None


def _take_as_it_lies(site: Site, kept: Kept, last: Revision | None, who: str) -> None:
    """Serve what lies in a folder, recorded where it is new; what is wrong is raised, but of a draft remembered."""
    contents = None
    try:
        contents = read_contents(kept.folder)
        files: Mapping[str, str] = contents.files
    except StudyError as error:
        if not is_draft(site, kept):
            raise
        kept.problem, files = str(error), settings_of(Files(kept.folder))[1]
    items = item_files(kept.folder, contents, files)
    said = ["begun"] if last is None else _since(last, kept.folder, files, contents)
    said = said or ([] if last is None else changes_of_files(last.items, items))
    if last is not None and last.items is None and not said:  # of before these were kept
        with site.database.write() as connection:
            rows.remember_items(connection, kept.study_id, last.number, items)
    if said:
        with site.database.write() as connection:
            if contents is not None:
                check_same_question(contents.study, asked_before(connection, kept, contents.study))
            number = rows.last_number(connection, kept.study_id)
            if number == kept.number:  # else another server has just started in the same folder
                number = _record(connection, site, kept, contents, files, said, who, items)
        kept.number = number
    kept.files = dict(files)
    if contents is not None:
        site.serve(contents)
    shelf.set_mark(kept.folder, shelf.HeldRevision(kept.number))
    settle(site, kept)


def _since(last: Revision, folder: Path, files: Mapping[str, str], contents: Contents | None) -> list[str]:
    """What differs from a revision, in words; none where nothing does."""
    version = None if contents is None else contents.version
    if last.version == version and dict(last.files) == dict(files):
        return []
    try:
        before = read_contents(folder, last.files, contents, alone=True)
    except StudyError:
        return ["changed while nobody served it"]
    if contents is None:
        return ["cannot be served any more"]
    found = changes(before.study, contents.study, before.items, contents.items)
    return [change.words for change in found] or _SAME_MEANING


def follow(site: Site, kept: Kept, settled: bool = False) -> None:
    """Serve what others made of a study, and what was edited by hand in its folder.

    An edit counts when the folder has not changed since the last look, so that nothing half written is read; at once
    where it is `settled`. While another process moves files nothing is looked at, and who wants to change the study
    waits, in the end in vain.
    """
    with site.lock:
        if not kept.moving and not _mend(site, kept.folder, kept.study_id, journal.PATIENCE if settled else 0.0):
            if settled:
                raise journal.being_moved()
            return
        with site.database.read() as connection:
            number = rows.last_number(connection, kept.study_id)
        if number > kept.number:
            _adopt(site, kept, latest(site, kept))
            return
        now = shelf.stamp_of(kept.folder, site.contents_of(kept.name), kept.files)
        before, kept.seen = kept.seen, now
        if now != kept.stamp and (settled or now == before):
            _look_at_folder(site, kept)


def _mend(site: Site, folder: Path, study_id: int | None, patience: float) -> bool:
    """Let files of items agree with the revisions where somebody was killed; False where somebody moves them now."""

    def was_recorded(base: int, places: Iterable[Path]) -> bool:
        with site.database.read() as connection:
            since = [] if study_id is None else rows.history(connection, study_id)
        since = [one for one in since if one.number > base and one.items is not None]
        return any(journal.has(folder, one.items or {}, places, fingerprint) for one in since)

    return journal.mend(folder, was_recorded, patience)


@contextmanager
def moving(site: Site, kept: Kept) -> Iterator[Moves]:
    """Files are moved while nobody else changes a study, and moved back where it then cannot be served."""
    with site.lock:
        follow(site, kept, settled=True)
        held = journal.Journal(kept.folder, kept.number)
        moves, kept.moving = Moves(held), True
        try:
            try:
                yield moves
            except BaseException:
                moves.take_back()
                raise
            held.end()
        finally:
            held.leave()
            kept.moving = False
            settle(site, kept)


def _look_at_folder(site: Site, kept: Kept) -> None:
    """Make what was edited by hand the latest revision; what cannot be served is said where admins see it."""
    there = Files(kept.folder)
    proposal = proposed(site, kept, {one: shelf.on_disk(there, one) for one in kept.files}, by_hand=True)
    wrong = "; ".join([*proposal.problems, *proposal.forbidden])
    if wrong and (proposal.study is None or proposal.forbidden or not is_draft(site, kept)):
        kept.problem = f"What was edited in the folder is not served: {wrong}"
        _log.warning("%s: %s", kept.name, kept.problem)
        settle(site, kept)
        return
    try:
        apply_proposal(site, kept, proposal, BY_HAND)
    except Refused as refusal:  # somebody else was quicker: the next look finds out
        _log.warning("%s: %s", kept.name, refusal)


def _adopt(site: Site, kept: Kept, revision: Revision) -> None:
    """Serve a revision that somebody else made, and let the folder follow."""
    given: dict[str, str | None] = {**dict.fromkeys(kept.files), **revision.files}
    kept.number, kept.files, kept.problem = revision.number, dict(revision.files), None
    try:
        site.serve(read_contents(kept.folder, revision.files, site.contents_of(kept.name), alone=True))
    except StudyError as error:
        kept.problem = str(error)
        if revision.version is not None:
            _log.warning("%s: revision %s cannot be served here: %s", kept.name, revision.number, error)
    _put(kept, given)
    settle(site, kept)


def apply_proposal(site: Site, kept: Kept, proposal: Proposal, who: str, what: str = "changed") -> None:
    """Make a proposal the latest revision where it is another: in the database, here, and in the folder."""
    contents, service = proposal.contents, site.studies.get(kept.name)
    served = None if service is None else service.version
    kept.problem = "\n".join(proposal.problems) or None
    is_new = contents is not None and contents.version != served
    items = item_files(kept.folder, contents, proposal.files)  # read before the lock of writers is taken
    other = changes_of_files(latest(site, kept).items, items)
    if proposal.changes or dict(proposal.files) != kept.files or is_new or other:
        with site.database.write() as connection:
            _check_meanwhile(connection, kept, contents)
            said = [*proposal.words, *other] or _SAME_MEANING
            number = _record(connection, site, kept, contents, proposal.files, said, who, items)
            note(connection, site.database.clock.now(), who, what, kept.study_id, f"revision {number}")
        given: dict[str, str | None] = {**dict.fromkeys(kept.files), **proposal.files}
        kept.number, kept.files = number, dict(proposal.files)
        if contents is not None:
            site.serve(contents)
        _put(kept, given)
    settle(site, kept)


def _check_meanwhile(connection: sa.Connection, kept: Kept, contents: Contents | None) -> None:
    """Refuse what somebody else, or somebody who was asked, has made impossible since it was looked at."""
    last = rows.last_revision(connection, kept.study_id)
    if last is not None and last.number != kept.number:
        raise too_late(last)
    if contents is not None:
        asked = asked_before(connection, kept, contents.study)
        for key, why in means_otherwise(contents.study, asked).items():
            raise Refused(422, "forbidden", f"{key}: {why}.")


def too_late(last: Revision) -> Refused:
    """Who changes what somebody else has changed meanwhile."""
    return Refused(
        409, "changed",
        f"The study was changed since you looked at it (revision {last.number}, {last.who}: "
        f"{'; '.join(last.changes[:3])}). Nothing of yours was saved: look at what it is now, and change that.",
    )  # fmt: skip


def _record(
    connection: sa.Connection,
    site: Site,
    kept: Kept,
    contents: Contents | None,
    files: Mapping[str, str],
    said: Sequence[str],
    who: str,
    items: ItemFiles,
) -> int:
    """Add a revision, and the version that answers will carry; returns its number."""
    now = site.database.clock.now()
    if contents is not None:
        register(connection, contents.study, contents.version, contents.names, now)
    version = None if contents is None else contents.version
    return rows.record(connection, kept.study_id, version, files, said, who, now, items)


def item_files(folder: Path, contents: Contents | None, files: Mapping[str, str]) -> ItemFiles:
    """The files of the items of a study whose texts are given; none where its settings cannot be read."""
    study = settings_of(Files(folder, files, alone=True))[0] if contents is None else contents.study
    return {} if study is None else files_of(study, files)


def _put(kept: Kept, given: Texts) -> None:
    try:
        shelf.put(kept.folder, kept.number, given)
    except OSError as error:  # the database has it all; the next start writes what is missing
        _log.warning("%s: cannot be written to (%s); what is served is in the database", kept.folder, error)


def settle(site: Site, kept: Kept) -> None:
    """Take note of the folder as it is, so that what we put there does not pass for an edit by hand."""
    kept.stamp = kept.seen = shelf.stamp_of(kept.folder, site.contents_of(kept.name), kept.files)


def latest(site: Site, kept: Kept) -> Revision:
    """The latest revision of a study."""
    with site.database.read() as connection:
        last = rows.last_revision(connection, kept.study_id)
    assert last is not None
    return last


def is_draft(site: Site, kept: Kept) -> bool:
    """Whether nobody is let into a study, so that it need not be fit to be served."""
    with site.database.read() as connection:
        return states.at_the_moment(connection, kept.study_id).phase == states.DRAFT


def look(site: Site) -> None:
    """Look once at all studies of a site, and take up those whose folders are new; a fault of one is its own."""
    with site.lock:
        for kept in list(site.kept.values()):
            try:
                follow(site, kept)
            except StudyError as error:
                kept.problem = str(error)
                _log.warning("%s: %s", kept.name, error)
        for folder in () if site.is_one_study else folders_in(site.root):
            if folder.name.lower() not in site.kept:
                _take_up(site, folder.name.lower(), folder)


def _take_up(site: Site, name: str, folder: Path) -> None:
    """Serve a folder that is new as soon as it can be; what is wrong is said once for as long as nothing changes."""
    now = shelf.stamp_of(folder, None, [path.name for path in folder.iterdir()])
    before, problem = site.arriving.get(name, ((), None))
    if before != now:  # whoever copies it may not be done
        site.arriving[name] = now, None
    elif problem is None:
        try:
            open_study(site, check_name(folder), folder)
            del site.arriving[name]
        except StudyError as error:
            site.arriving[name] = now, str(error)
            _log.warning("%s: is not served: %s", name, error)


@contextmanager
def following(site: Site, every: float = EVERY) -> Iterator[None]:
    """Look at the studies of a site again and again, for as long as it is served."""
    stop = threading.Event()
    thread = threading.Thread(target=_look_often, args=(site, every, stop), name="follower", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _look_often(site: Site, every: float, stop: threading.Event) -> None:
    while not stop.wait(every):
        try:
            look(site)
        except (StoreError, StudyError, OSError) as fault:
            _log.warning("%s", fault)
