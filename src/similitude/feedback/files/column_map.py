"""Which column is which: as the user says, as the file says by its names, or guessed where names make it plain.

A *role* is what a layout calls a column (`head`, `odd`, `rater`, ...). A guess is made by names that people give their
columns, never by numbers alone, and every guess has a reason that is said (`Mapped.reasons`).
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from similitude.feedback.files.tables import Table
from similitude.feedback.spelling import folded
from similitude.types import Array

ABOUT = {
    "rater": (
        "rater", "puid", "participant", "participant_id", "participantid", "worker", "worker_id", "workerid", "subject",
        "subject_id", "subjectid", "subj", "sub", "obs", "observer", "annotator", "respondent", "pid", "prolific_pid",
        "prolific_id", "person", "user", "user_id", "userid", "vp", "ppn", "participation", "responseid",
        "completed_by", "versuchsperson", "versuchspersonen", "vpn", "vpnr", "proband", "probandin", "probanden",
        "teilnehmer", "teilnehmerin", "teilnehmende", "sujet", "participante", "sujeto", "proefpersoon", "deelnemer",
        "soggetto", "partecipante",
    ),
    "time": (
        "time", "response_time", "response_time_s", "time_s", "time_ms", "rt", "rt_s", "rt_ms", "reaction_time",
        "responsetime", "reactiontime", "latency", "lead_time", "worktimeinseconds", "seconds", "reaktionszeit",
        "antwortzeit", "temps_de_reponse", "temps_de_reaction", "tiempo_de_respuesta", "tiempo_de_reaccion",
        "reactietijd", "responstijd", "tempo_di_risposta", "tempo_di_reazione",
    ),
    "strategy": ("strategy", "alg", "sampler", "alg_ident"),
    "answer": ("answer", "screen"),
    "side": ("side",),
    "weight": ("weight",),
    "trial": ("trial", "trial_id", "trial_index", "trial_number", "trialn", "question", "question_id"),
}  # fmt: skip
_ITEM_WORDS = (
    "", "item", "pic", "picture", "image", "img", "stim", "stimulus", "object", "obj", "option", "opt", "word", "name",
    "photo", "face", "sound", "colour", "color", "card", "alternative", "concept", "shape", "video", "file",
    "choice", "bild", "reiz", "objekt", "gegenstand", "wort", "foto", "gesicht", "farbe", "karte", "begriff", "mot",
    "objet", "visage", "couleur", "imagen", "palabra", "objeto", "cara", "estimulo", "elemento", "plaatje",
    "afbeelding", "woord", "voorwerp", "immagine", "parola", "oggetto", "stimolo",
)  # fmt: skip
_ODD = re.compile(
    r"odd|outlier|intruder|not_belong|different_one|least_similar|least_alike|passt_nicht|nicht_dazu|ausreisser|intrus|"
    r"hoort_niet|buitenbeentje|estraneo"
)
_CENTRAL = re.compile(r"central|zentral|most_typical|in_the_middle")
_HEAD = (
    "head", "anchor", "probe", "reference", "ref", "target", "standard", "sample", "query", "top", "cue",
    "referenz", "vorgabe", "referencia", "referentie", "riferimento",
)  # fmt: skip
_PICKED = (
    "chosen", "choice", "response", "answer", "selected", "selection", "pick", "picked", "resp", "clicked",
    "more_similar", "most_similar", "closer", "nearest", "most_alike", "winner", "label",
    "auswahl", "antwort", "wahl", "gewahlt", "reponse", "choix", "respuesta", "eleccion", "seleccion", "antwoord",
    "keuze", "risposta", "scelta",
)  # fmt: skip
_RATING = (
    "rating", "similarity", "dissimilarity", "distance", "difference", "score", "value", "sim", "dissim", "dist",
    "ahnlichkeit", "bewertung", "ressemblance", "similitud", "gelijkenis", "somiglianza",
)  # fmt: skip
_SIDES = (
    ("left", "right"), ("left", "middle", "right"), ("left", "center", "right"), ("left", "centre", "right"),
    ("links", "rechts"), ("links", "mitte", "rechts"), ("links", "midden", "rechts"), ("gauche", "droite"),
    ("gauche", "milieu", "droite"), ("izquierda", "derecha"), ("izquierda", "centro", "derecha"),
    ("sinistra", "destra"), ("sinistra", "centro", "destra"),
)  # fmt: skip
_NUMBERED = re.compile(
    r"^(id|nr|code|codice|codigo|numero)_|_?(id|nr|no|num|nummer|number|numero|code|name)$"
)  # beside who: of whom, which
_NOT_WHO = re.compile("trial|block|session|group|grupp|condition|bedingung|durchgang|essai|date|datum|form")
_FEWEST_EACH = 5


@dataclass(frozen=True, eq=False)
class Mapped:
    """A table whose columns are called by their roles.

    Attributes
    ----------
    table : the table; `called` has the names that the file gives
    roles : the column that has each role, as the file calls it, where that is not its plain name
    reasons : why each guess was made
    picked : a column that says what was picked, where it is not plain whether as the odd one or as the central one
    """

    table: Table
    roles: Mapping[str, str] = field(default_factory=dict)
    reasons: Sequence[str] = ()
    picked: str | None = None


def plain(name: str) -> str:
    """A column's name in small letters, without a unit and accents, words joined by _.

    >>> plain("RT (s)"), plain(" Odd one "), plain("Gewählt")
    ('rt', 'odd_one', 'gewahlt')
    """
    return _joined(re.sub(r"[\[(].*?[\])]|^(Input|Answer)\.", "", name)) or name.strip().lower()


def _joined(name: str) -> str:
    return re.sub(r"[^0-9a-z]+", "_", folded(name)).strip("_")


def say_roles(table: Table, given: Mapping[str, str] | None, roles: Iterable[str]) -> Mapped:
    """Call columns by the roles that the user gives them."""
    if not given:
        return Mapped(_called(table, {}))
    known = [*dict.fromkeys(roles)]
    present = {name.strip().lower(): name for name in table.columns}
    chosen: dict[str, str] = {}
    for role, column in given.items():
        if role not in known:
            raise ValueError(f"columns: {role!r} is no part of an answer; expected one of {', '.join(known)}")
        found = present.get(str(column).strip().lower())
        if found is None:
            raise ValueError(f"columns: there is no column {column!r}{_near(str(column), table.columns)}")
        other = next((one for one, column in chosen.items() if column == found), None)
        if other is not None:
            raise ValueError(f"columns: {found!r} is given as {other} and as {role}; give each a column of its own")
        chosen["time_ms" if role == "time" and _unit_in_name(found) == "time_ms" else role] = found
    return Mapped(_called(table, chosen), chosen)


def _near(name: str, columns: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(columns), 1)
    return f"; did you mean {close[0]!r}?" if close else f"; the columns are {', '.join(columns)}"


def _called(table: Table, roles: Mapping[str, str]) -> Table:
    """The table with columns by role; other columns by their names in small letters."""
    names = {column: role for role, column in roles.items()}
    taken = set(roles)
    for column in table.columns:
        small = column.strip().lower()
        names.setdefault(column, small if small not in taken else f"{small} ")
    called = {name: table.called.get(column, column) for column, name in names.items()}
    return Table({names[column]: cells for column, cells in table.columns.items()}, table.header, table.typed, called)


def guess_about(mapped: Mapped) -> Mapped:
    """Guess who answered and how long it took, where a name says so that no layout knows."""
    table = mapped.table
    found: dict[str, str] = {}
    reasons = []
    for role in ("rater", "time"):
        if role in table.columns or {role, f"{role}_ms"} & set(mapped.roles):
            continue
        names = _names(table)
        if role == "rater":
            names = {_NUMBERED.sub("", name): column for name, column in names.items() if name[:3] != "obs"} | names
        column = next((names[alias] for alias in ABOUT[role] if alias in names), None)
        if column is None:
            continue
        name, reason = _unit(table, column) if role == "time" else (role, None)
        found[name] = column
        if reason:
            reasons.append(reason)
    return _add(mapped, found, reasons)


def _names(table: Table) -> dict[str, str]:
    """The columns by their plain names: as the file calls them, and as a tool does; the first of equal names."""
    columns = list(reversed(list(table.columns)))
    return {plain(name): name for name in columns} | {plain(table.called.get(name, name)): name for name in columns}


def _unit(table: Table, column: str) -> tuple[str, str | None]:
    """Whether a column of times holds seconds or milliseconds: by its name, else by what is usual."""
    called = table.called.get(column, column)
    if column in ("rt_ms", "rt_s"):  # a tool knows
        return "time_ms" if column == "rt_ms" else "time", None
    if unit := _unit_in_name(called):
        return unit, None
    if column in ("time", "response_time"):
        return "time", None
    numbers = _numbers(table.columns[column])
    if not len(numbers) or np.median(numbers) < 100:
        return "time", f"{called!r} is taken for seconds"
    return "time_ms", f"{called!r} is taken for milliseconds, since half of them are {np.median(numbers):,.0f} or more"


def _unit_in_name(called: str) -> str | None:
    """What a column of times is by its name: one of milliseconds, of seconds, or None where it does not say."""
    if re.search(r"ms\b|msec|milli", called.lower()):
        return "time_ms"
    return "time" if re.search(r"\bs\b|_s\b|\(s\)|sec", called.lower()) else None


def _numbers(cells: Array) -> Array:
    found = []
    for cell in cells.tolist():
        try:
            found.append(float(cell))
        except (TypeError, ValueError):
            continue
    return np.array(found)


def guess_answers(mapped: Mapped, form: str | None = None) -> Mapped:
    """Guess which columns hold the items and the answers, where their names make it plain."""
    table = mapped.table
    names = _names(table)
    said = {role: role for role in ("head", "odd", "central", "chosen", "rating") if role in mapped.roles}
    head = said.get("head") or next((names[word] for word in _HEAD if word in names), None)
    family = _family(table, names, without=head)
    told = next((role for role in ("odd", "central", "chosen") if role in said), None)
    picked = told or _picked(table, names, family)
    if family is None or len(family) not in (2, 3):
        return mapped
    shown = ", ".join(repr(table.called.get(name, name)) for name in family)
    reasons = [f"{shown} are the items, by their names"]
    if len(family) == 2:
        rating = said.get("rating") or next(
            (names[word] for word in names if word in _RATING or word.endswith(_RATING)), None
        )
        if head is not None and picked is not None:
            roles = {"head": head, "b": family[0], "c": family[1], "chosen": picked}
            return _add(mapped, roles, [*reasons, _is(table, picked, "what was chosen"), _is(table, head, "the head")])
        if rating is not None and rating not in family:
            roles = {"i": family[0], "j": family[1], "rating": rating}
            return _add(mapped, roles, [*reasons, _is(table, rating, "the rating")])
        return mapped
    if picked is None:
        return mapped
    roles = dict(zip("abc", family, strict=True))
    role = told if told in ("odd", "central") else _role_of(picked, table, form)
    if role is None:
        return Mapped(mapped.table, mapped.roles, mapped.reasons, picked)
    words = "the odd one" if role == "odd" else "the most central one"
    return _add(mapped, roles | {role: picked}, [*reasons, *([] if told else [_is(table, picked, words)])])


def _is(table: Table, column: str, what: str) -> str:
    return f"{table.called.get(column, column)!r} is {what}"


def _role_of(picked: str, table: Table, form: str | None) -> str | None:
    name = _joined(table.called.get(picked, picked))
    if form in ("odd_one_out", "most_central"):
        return "odd" if form == "odd_one_out" else "central"
    return "odd" if _ODD.search(name) else "central" if _CENTRAL.search(name) else None


def _picked(table: Table, names: Mapping[str, str], family: Sequence[str] | None) -> str | None:
    """The column that says what was picked: one that says as what first."""
    free = {name: column for name, column in names.items() if column not in (family or ())}
    for telling in (_ODD, _CENTRAL):
        for column in free.values():
            if telling.search(_joined(table.called.get(column, column))):
                return column
    return next((free[word] for word in _PICKED if word in free), None)


def _family(table: Table, names: Mapping[str, str], without: str | None) -> list[str] | None:
    """Columns that are called alike but for a number or letter, or left and right, and hold the same items."""
    free = {name: column for name, column in names.items() if column != without}
    families = [[free[side] for side in sides] for sides in reversed(_SIDES) if set(sides) <= set(free)]
    plainly = [*families]
    numbered: dict[tuple[str, str], dict[int, str]] = {}
    for name, column in free.items():
        if parts := re.fullmatch(r"(.*?)_?([0-9]+|[a-d])((?:_(?:name|file|id|image))?)", name):
            index = int(parts[2]) if parts[2].isdigit() else ord(parts[2]) - ord("a") + 1
            numbered.setdefault((parts[1], parts[3]), {})[index] = column
    for (stem, _), members in sorted(numbered.items(), key=lambda one: one[0][1] != "_name"):
        if stem.strip("_") in _ITEM_WORDS and len(members) in (2, 3) and max(members) - min(members) < len(members):
            families.append([members[k] for k in sorted(members)])
            plainly += families[-1:] if stem.strip("_") else []
    families.sort(key=lambda family: -len(family))
    return next((family for family in families if _are_items(table, family, family in plainly)), None)


def looks_like_rater(table: Table, used: Iterable[str] = ()) -> str | None:
    """The first column, where it holds few words or numbers, each in many rows, as if it said who answered; else None.

    `used` are the columns, as the file calls them, of which it is known what they are.
    """
    column = next(iter(table.columns), "")
    called = table.called.get(column, column)
    if not column or called in used or _NOT_WHO.search(plain(called)):
        return None
    cells = table.columns[column].tolist()
    if not all(isinstance(cell, (str, int, float)) for cell in cells):
        return None
    rows = Counter(cells)
    return called if len(rows) > 2 and min(rows.values()) >= _FEWEST_EACH else None


def likely_answer(mapped: Mapped) -> str | None:
    """The column that most likely says what was picked, for a message: by its name, else the last that is free."""
    table, who = mapped.table, looks_like_rater(mapped.table)
    called = {name: table.called.get(name, name) for name in table.columns if name not in mapped.roles}
    free = [name for name in called if called[name] != who]
    column = _picked(table, {plain(called[name]): name for name in free}, None) or next(reversed(free), None)
    return None if column is None else called[column]


def _are_items(table: Table, family: Sequence[str], plainly: bool) -> bool:
    """Whether columns hold one set of items: words where the name says so, else some stand in two of the columns."""
    sets = [{str(cell) for cell in set(table.columns[column].tolist()) - {None}} for column in family]
    if plainly and not any(cell.replace(".", "").isdigit() for some in sets for cell in some):
        return True
    return any(sets[0] & other for other in sets[1:]) or any(len(some) < 2 for some in sets)


def _add(mapped: Mapped, roles: Mapping[str, str], reasons: Sequence[str]) -> Mapped:
    """Call more columns by their roles; columns are given by their present names."""
    if not roles:
        return mapped
    present = {name: name for name in mapped.roles}
    whole = _called(mapped.table, present | dict(roles))
    said = {role: whole.called[role] for role in roles}
    return Mapped(whole, {**mapped.roles, **said}, [*mapped.reasons, *reasons], mapped.picked)
