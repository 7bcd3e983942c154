"""`study.toml`: what the researcher decided, checked key by key.

Every key has a default but the title, so that four lines make a study. What is wrong is said with the file, the key,
what was found and what was expected.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from similitude.feedback.forms import PAGES
from similitude.study.fault import StudyError as StudyError
from similitude.study.languages import read_own, wording
from similitude.study.section import Count, Number, Positive, Section, Share, Switch, Whole
from similitude.study.texts import all_texts
from similitude.study.timing import Timing

FILE = "study.toml"
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

Origin = Annotated[str, Field(pattern=r"^(\*|https?://[a-z0-9.-]+(:[0-9]{1,5})?)$")]  # as browsers send it


class Question(Section):
    """What is asked, and how often."""

    form: str = "triplet"
    text: str | None = None
    number: Positive = 60
    grid_size: Annotated[Whole, Field(ge=2, le=60)] = 8
    pick: Positive = 2
    scale: Annotated[Whole, Field(ge=2, le=100)] = 7
    low: str | None = None
    high: str | None = None
    classes: tuple[str, ...] = ()
    skip: Switch = True
    cant_tell: Switch = True

    @field_validator("form", mode="after")
    @classmethod
    def _can_be_asked(cls, form: str) -> str:
        if form not in PAGES:
            raise ValueError(f"expected one of {', '.join(map(repr, PAGES))}, found {form!r}")
        return form

    @model_validator(mode="after")
    def _fits(self) -> Self:
        PAGES[self.form].check_setup(self)
        return self


class Items(Section):
    """Where the items come from, a folder of files or a table with a column `name`, and how they are shown."""

    folder: str = "items"
    table: str | None = None
    background: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")] | None = None
    enlarge: bool = True


class Choose(Section):
    """How questions are chosen, and by which model."""

    strategy: Literal["information_gain", "uncertainty", "random"] = "information_gain"
    random_share: Share = 0.2
    repeat_share: Share = 0.05
    ahead: Annotated[int, Field(ge=2, le=50)] = 5
    dimensions: Positive = 2
    lease_minutes: Annotated[Number, Field(gt=0)] = 15.0
    pool: Positive = 200
    refit_every: Positive = 200


class Participation(Section):
    """Who may take part."""

    limit: Positive | None = None
    parameter: tuple[str, ...] = ("rater", "PROLIFIC_PID", "workerId")
    must_be_named: Switch = False
    invited: Switch = False
    joins_per_address: Count = 100
    joins_in_all: Positive | None = None
    origins: tuple[Origin, ...] = ()

    @model_validator(mode="after")
    def _can_be_named(self) -> Self:
        if (self.invited or self.must_be_named) and not self.parameter:
            raise ValueError("parameter: people are let in by name, but no part of the link says it")
        return self


class Known(Section):
    """A question whose answer is known: for practice, or to catch raters who do not look."""

    shown: tuple[str, ...]
    correct: tuple[Number, ...]


class Catch(Section):
    """Questions with a known answer among the others."""

    every: Count = 0
    pass_share: Share = 0.7
    questions: tuple[Known, ...] = ()

    @model_validator(mode="after")
    def _has_questions(self) -> Self:
        if self.every and not self.questions:
            raise ValueError("questions: catch trials are asked for (every > 0), but none is given")
        return self


class Practice(Section):
    """Questions before the study, with feedback where the answer is known."""

    questions: tuple[Known, ...] = ()
    feedback: Switch = True


class SurveyField(Section):
    """One field of the survey."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    label: str
    kind: Literal["text", "number", "choice", "long_text"] = "text"
    choices: tuple[str, ...] = ()
    required: Switch = False

    @model_validator(mode="after")
    def _has_choices(self) -> Self:
        if self.kind == "choice" and len(self.choices) < 2:
            raise ValueError(f"choices: a field of kind choice needs at least 2, found {list(self.choices)}")
        return self


class Survey(Section):
    """Fields that are asked at the end."""

    fields: tuple[SurveyField, ...] = ()

    @model_validator(mode="after")
    def _differ(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) < len(names):
            raise ValueError(f"fields: every field has a name of its own, found {names}")
        return self


class Sharing(Section):
    """Who may show the page of a shared link within a page of theirs; nobody unless named."""

    frame_ancestors: tuple[Annotated[str, Field(pattern=r"^https?://(\*\.)?[a-z0-9.-]+(:[0-9]{1,5})?$")], ...] = ()


class Completion(Section):
    """How a rater leaves: with a code to copy, or sent on to an address; and what must be done for it."""

    code: str | None = None
    redirect: Annotated[str, Field(pattern=r"^https?://")] | None = None
    seconds_per_question: Annotated[Number, Field(ge=0)] = 0.5
    largest_skip_share: Share = 0.5


class Pages(Section):
    """Text files (Markdown, HTML is not let through) beside `study.toml`; an empty name is no page."""

    consent: str | None = "consent.md"
    instructions: str | None = "instructions.md"
    done: str | None = None

    @field_validator("*", mode="after")
    @classmethod
    def _none_if_empty(cls, name: str | None) -> str | None:
        return name or None


class Study(Section):
    """A whole study as written, with the folder that it came from and the texts of its pages as they were read."""

    name: str
    folder: Path
    words: dict[str, str] = Field(default_factory=dict)
    title: Annotated[str, Field(min_length=1)]
    spoken: dict[str, dict[str, str | dict[str, str]]] = Field(default_factory=dict)
    wording: str = ""
    language: str | tuple[str, ...] = "en"
    question: Question = Question()
    items: Items = Items()
    choose: Choose = Choose()
    raters: Participation = Participation()
    catch: Catch = Catch()
    practice: Practice = Practice()
    break_every: Count = 0
    timing: Timing = Timing()
    share: Sharing = Sharing()
    survey: Survey = Survey()
    completion: Completion = Completion()
    pages: Pages = Pages()
    texts: dict[str, str] = Field(default_factory=dict)

    @field_validator("language", mode="before")
    @classmethod
    def _tags(cls, given: Any) -> Any:
        tags = [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else []
        if not tags or not all(isinstance(tag, str) and _LANGUAGE.fullmatch(tag) for tag in tags):
            raise ValueError(f'expected "en", "pt-BR" or the like, or a list of them, found {given!r}')
        if len(set(tags)) < len(tags):
            raise ValueError(f"expected each only once, found {given!r}")
        return given if isinstance(given, str) else tuple(tags)

    @field_validator("texts", mode="after")
    @classmethod
    def _known(cls, texts: dict[str, str]) -> dict[str, str]:
        all_texts(texts)
        return texts

    @cached_property
    def version(self) -> str:
        """A digest of all that was decided: answers carry it, so that it is known under which words they were given."""
        return hashlib.sha256(self.as_json().encode()).hexdigest()[:12]

    def as_json(self) -> str:
        """Everything that was decided, as JSON; the folder is where it lies, not what was decided."""
        return json.dumps(self.model_dump(mode="json", exclude={"folder"}), ensure_ascii=False, sort_keys=True)

    @property
    def length(self) -> int:
        """Questions that one rater is asked: practice, the study's own, and the catch trials between them."""
        catches = self.question.number // self.catch.every if self.catch.every else 0
        return len(self.practice.questions) + self.question.number + catches

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which raters are asked; the first where a browser wants none of them."""
        return (self.language,) if isinstance(self.language, str) else self.language

    def page(self, name: str, language: str | None = None) -> str | None:
        """The text of a page, in a language where the study has it in that; None where it has no such page."""
        return self.words.get(f"{name}.{language}", self.words.get(name))

    def texts_in(self, language: str) -> list[dict[str, str | dict[str, str]]]:
        """The study's own words in a language; `[texts]` are in the first."""
        first: dict[str, str | dict[str, str]] = {**self.texts} if language == self.languages[0] else {}
        return [first, self.spoken.get(language, {})]


def check_name(folder: Path) -> str:
    """The name of the study in a folder, which is part of its address."""
    name = folder.resolve().name.lower()
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{folder}: the folder's name is part of the address of the study; expected letters, digits, - and _, "
            f"found {folder.resolve().name!r}"
        )
    return name


def read_study(folder: Path) -> Study:
    """Read and check the study in a folder."""
    path = folder / FILE
    name = check_name(folder)
    try:
        written: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # some editors write a mark
    except FileNotFoundError:
        raise StudyError(f"{folder}: no {FILE} in it; `similitude study new {folder}` makes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not valid TOML ({error})") from None
    if ours := sorted({"name", "folder", "words", "spoken", "wording"} & set(written)):
        raise StudyError(f"{path}: {ours[0]}: unknown key; see the reference of study.toml for those there are")
    try:
        study = Study(**{**written, "name": name, "folder": folder.resolve()})
    except ValidationError as error:
        raise StudyError(_sentences(path, error)) from None
    spoken = {one: own for one in study.languages if (own := read_own(folder, one))}
    study = study.model_copy(update={"words": _read_pages(path, study), "spoken": spoken})
    said = {one: {name: text for some in study.texts_in(one) for name, text in some.items()} for one in study.languages}
    return study.model_copy(update={"wording": wording(study.languages, said)})


def _read_pages(path: Path, study: Study) -> dict[str, str]:
    """The texts of the pages that a study has, by page; `consent.de.md` beside `consent.md` is the same in German."""
    words = {}
    for page, file in study.pages.model_dump().items():
        if file is None:
            continue
        beside = {one: (path.parent / file).with_suffix(f".{one}{Path(file).suffix}") for one in study.languages}
        try:
            words[page] = (path.parent / file).read_text(encoding="utf-8-sig")
            words |= {f"{page}.{one}": own.read_text("utf-8-sig") for one, own in beside.items() if own.is_file()}
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise StudyError(
                f'{path}: pages.{page}: cannot read {file!r} ({why}); write it, or say {page} = "" for no such page'
            ) from None
    return words


def read_studies(root: Path) -> list[Study]:
    """The studies of a server: the folder itself where it holds a `study.toml`, else every folder in it that does."""
    if (root / FILE).is_file():
        return [read_study(root)]
    folders = sorted(
        (path.parent for path in root.glob(f"*/{FILE}")), key=lambda folder: (folder.name.lower(), folder.name)
    )
    if not folders:
        raise StudyError(f"{root}: no {FILE} in it nor one folder below; `similitude study new {root}` makes one")
    studies = [read_study(folder) for folder in folders]
    for one, other in pairwise(studies):
        if one.name == other.name:
            raise StudyError(f"{root}: {one.folder.name!r} and {other.folder.name!r} would have the same address")
    return studies


def _sentences(path: Path, error: ValidationError) -> str:
    """What is wrong, one line per key."""
    lines = []
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            said = "unknown key; see the reference of study.toml for those there are"
        found = "" if fault["type"] in ("missing", "value_error", "extra_forbidden") else f", found {fault['input']!r}"
        named = key and not said.startswith(f"{key}.")
        lines.append(f"{path}: {key}: {said}{found}" if named else f"{path}: {said}")
    return "\n".join(lines)
