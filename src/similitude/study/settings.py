"""`study.toml`: what the researcher decided, checked key by key.

Every key has a default but the title, so that four lines make a study. What is wrong is said with the file, the key,
what was found and what was expected.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

FILE = "study.toml"
FORM_NAMES = (
    "triplet", "odd_one_out", "choice", "quadruplet", "similarity_rating", "same_different", "labelling",
)  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class StudyError(ValueError):
    """A study that cannot be served as it is written; the message says what to change."""


class Section(BaseModel):
    """A table of `study.toml`: a key that is not known is an error, since it would be silently without effect."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(Section):
    """What is asked, and how often."""

    form: Literal[
        "triplet", "odd_one_out", "choice", "quadruplet", "similarity_rating", "same_different", "labelling"
    ] = "triplet"
    text: str | None = None
    number: Positive = 60
    grid_size: Annotated[int, Field(ge=2, le=60)] = 8
    pick: Positive = 2
    scale: Annotated[int, Field(ge=2, le=100)] = 7
    low: str | None = None
    high: str | None = None
    classes: tuple[str, ...] = ()
    skip: bool = True
    cant_tell: bool = True

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.form == "choice" and self.pick >= self.grid_size:
            raise ValueError(f"pick: expected fewer than the {self.grid_size} items of the grid, found {self.pick}")
        if self.form == "labelling" and (len(self.classes) < 2 or len(set(self.classes)) < len(self.classes)):
            raise ValueError(f"classes: a labelling needs at least 2 different classes, found {list(self.classes)}")
        return self


class Items(Section):
    """Where the items come from: a folder of files, or a table with a column `name`."""

    folder: str = "items"
    table: str | None = None


class Choose(Section):
    """How questions are chosen, and by which model."""

    strategy: Literal["information_gain", "uncertainty", "random"] = "information_gain"
    random_share: Share = 0.2
    repeat_share: Share = 0.05
    dimensions: Positive = 2
    lease_minutes: Annotated[float, Field(gt=0)] = 15.0
    pool: Positive = 200
    refit_every: Positive = 200


class Raters(Section):
    """Who may take part."""

    limit: Positive | None = None
    parameter: tuple[str, ...] = ("rater", "PROLIFIC_PID", "workerId")
    must_be_named: bool = False


class Known(Section):
    """A question whose answer is known: for practice, or to catch raters who do not look."""

    shown: tuple[str, ...]
    correct: tuple[float, ...]


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
    feedback: bool = True


class SurveyField(Section):
    """One field of the survey."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    label: str
    kind: Literal["text", "number", "choice", "long_text"] = "text"
    choices: tuple[str, ...] = ()
    required: bool = False


class Survey(Section):
    """Fields that are asked at the end."""

    fields: tuple[SurveyField, ...] = ()


class Completion(Section):
    """How a rater leaves: with a code to copy, or sent on to an address."""

    code: str | None = None
    redirect: Annotated[str, Field(pattern=r"^https?://")] | None = None


class Pages(Section):
    """Text files (Markdown, HTML is not let through) beside `study.toml`; a page left out is not shown."""

    consent: str | None = "consent.md"
    instructions: str | None = "instructions.md"
    done: str | None = None


class Study(Section):
    """A whole study as written, with the folder that it came from."""

    name: str
    folder: Path
    title: str
    language: str = "en"
    question: Question = Question()
    items: Items = Items()
    choose: Choose = Choose()
    raters: Raters = Raters()
    catch: Catch = Catch()
    practice: Practice = Practice()
    break_every: Count = 0
    survey: Survey = Survey()
    completion: Completion = Completion()
    pages: Pages = Pages()
    texts: dict[str, str] = {}

    @property
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

    def page(self, name: str) -> str | None:
        """The text of a page; None where the study has no such page."""
        file = getattr(self.pages, name)
        if file is None:
            return None
        try:
            return (self.folder / file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"{self.folder.name}/{FILE}: pages.{name}: cannot read {file!r} ({error})") from None


def read_study(folder: Path) -> Study:
    """Read and check the study in a folder."""
    path = folder / FILE
    name = folder.resolve().name.lower()
    if not _NAME.fullmatch(name):
        raise StudyError(
            f"{folder}: the folder's name is part of the address of the study; expected letters, digits, - and _, "
            f"found {folder.resolve().name!r}"
        )
    try:
        with path.open("rb") as file:
            written: dict[str, Any] = tomllib.load(file)
    except FileNotFoundError:
        raise StudyError(f"{folder}: no {FILE} in it; `similitude study new {folder}` makes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not valid TOML ({error})") from None
    try:
        study = Study(**{**written, "name": name, "folder": folder.resolve()})
    except ValidationError as error:
        raise StudyError(_sentences(path, error)) from None
    for page in ("consent", "instructions", "done"):
        study.page(page)
    return study


def read_studies(root: Path) -> list[Study]:
    """The studies of a server: the folder itself where it holds a `study.toml`, else every folder in it that does."""
    if (root / FILE).is_file():
        return [read_study(root)]
    folders = sorted(path.parent for path in root.glob(f"*/{FILE}"))
    if not folders:
        raise StudyError(f"{root}: no {FILE} in it nor one folder below; `similitude study new {root}` makes one")
    return [read_study(folder) for folder in folders]


def _sentences(path: Path, error: ValidationError) -> str:
    """What is wrong, one line per key."""
    lines = []
    for fault in error.errors(include_url=False):
        key = ".".join(str(part) for part in fault["loc"])
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            said = "unknown key; see the reference of study.toml for those there are"
        found = "" if fault["type"] in ("missing", "value_error", "extra_forbidden") else f", found {fault['input']!r}"
        lines.append(f"{path}: {key}: {said}{found}" if key else f"{path}: {said}")
    return "\n".join(lines)
