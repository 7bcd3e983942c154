"""`study.toml`: what the researcher decided, checked key by key.

Every key has a default but the title, so that four lines make a study. What is wrong is said with the file, the key,
what was found and what was expected.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from similitude.study import patterns
from similitude.study.designs import (
    Assignment,
    Condition,
    Order,
    QuestionBlock,
    Strategy,
    StudyPart,
    check_design,
    pages_of,
    parts_of,
    variant,
    with_defaults,
)
from similitude.study.fault import UNKNOWN, Fault, KeyFault, WrongKeys
from similitude.study.fault import StudyError as StudyError
from similitude.study.files import Files
from similitude.study.languages import read_own, wording
from similitude.study.sections import Count, Known, Number, Origin, Positive, Share, Switch, Whole
from similitude.study.sections import Question as Question
from similitude.study.sections import Section as Section
from similitude.study.texts import all_texts
from similitude.study.timing import Timing

FILE = "study.toml"
OURS = (
    "name",
    "folder",
    "words",
    "spoken",
    "wording",
    "seen_by",
)  # of a `Study`: what is found out, and written by nobody
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_DESIGN = ("block", "block_order", "condition", "assignment")  # left out of the digest where a study has none


class Items(Section):
    """Where the items come from, a folder of files or a table with a column `name`, and how they are shown."""

    folder: str = "items"
    table: str | None = None
    background: Annotated[str, Field(pattern=patterns.COLOUR)] | None = None
    enlarge: Switch = True


class Choose(Section):
    """How questions are chosen, and by which model."""

    strategy: Strategy = "information_gain"
    random_share: Share = 0.2
    repeat_share: Share = 0.05
    ahead: Annotated[Whole, Field(ge=2, le=50)] = 5
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

    name: Annotated[str, Field(pattern=patterns.COLUMN)]
    label: str
    kind: Literal["text", "number", "choice", "long_text"] = "text"
    choices: tuple[str, ...] = ()
    required: Switch = False
    when: Literal["before", "after"] = "after"

    @model_validator(mode="after")
    def _has_choices(self) -> Self:
        if self.kind == "choice" and len(self.choices) < 2:
            raise ValueError(f"choices: a field of kind choice needs at least 2, found {list(self.choices)}")
        return self


class Survey(Section):
    """Fields that are asked beside the questions, before the first or after the last."""

    fields: tuple[SurveyField, ...] = ()

    @model_validator(mode="after")
    def _differ(self) -> Self:
        names = [field.name for field in self.fields]
        if len(set(names)) < len(names):
            raise ValueError(f"fields: every field has a name of its own, found {names}")
        return self


class Sharing(Section):
    """Who may show the page of a shared link within a page of theirs; nobody unless named."""

    frame_ancestors: tuple[Annotated[str, Field(pattern=patterns.ANCESTOR)], ...] = ()


class Completion(Section):
    """How a rater leaves: with a code to copy, or sent on to an address; and what must be done for it."""

    code: str | None = None
    redirect: Annotated[str, Field(pattern=patterns.ADDRESS)] | None = None
    seconds_per_question: Annotated[Number, Field(ge=0)] = 0.5
    largest_skip_share: Share = 0.5
    screened_out_code: str | None = None


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
    words: dict[str, str] = Field(default={})
    title: Annotated[str, Field(min_length=1)]
    spoken: dict[str, dict[str, str | dict[str, str]]] = Field(default={})
    wording: str = ""
    language: str | tuple[str, ...] = "en"
    question: Question = Question()
    items: Items = Items()
    choose: Choose = Choose()
    raters: Participation = Participation()
    catch: Catch = Catch()
    practice: Practice = Practice()
    block: tuple[QuestionBlock, ...] = ()
    block_order: Order = "fixed"
    condition: tuple[Condition, ...] = ()
    assignment: Assignment = Assignment()
    seen_by: Condition | None = Field(default=None, exclude=True)
    break_every: Count = 0
    timing: Timing = Timing()
    share: Sharing = Sharing()
    survey: Survey = Survey()
    completion: Completion = Completion()
    pages: Pages = Pages()
    texts: dict[str, str] = Field(default={})

    @model_validator(mode="before")
    @classmethod
    def _shared(cls, written: Any) -> Any:
        return with_defaults(written)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        check_design(self)
        for k, condition in enumerate(self.condition):
            try:
                all_texts(condition.texts)
            except ValueError as error:
                key, _, said = str(error).partition(": ")
                raise KeyFault(f"condition.{k}.{key}", said) from None
        return self

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
        unused = {name for name in _DESIGN if getattr(self, name) == type(self).model_fields[name].default}
        written = self.model_dump(mode="json", exclude={"folder", *unused})
        return json.dumps(written, ensure_ascii=False, sort_keys=True)

    @cached_property
    def parts(self) -> tuple[StudyPart, ...]:
        """What a rater is asked, block after block as they are written."""
        return parts_of(self)

    @cached_property
    def variants(self) -> dict[str, Study]:
        """The study as the raters of each condition see it, by condition."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return {one.name: Study.model_construct(**{**fields, **variant(self, one)}) for one in self.condition}

    def under(self, condition: str | None) -> Study:
        """The study as the raters of a condition see it; as it is where there is no such condition."""
        return self.variants.get(condition or "", self)

    @property
    def seen(self) -> tuple[Study, ...]:
        """The study as its raters see it, once for each condition; itself where there are none."""
        return tuple(self.variants.values()) or (self,)

    def part(self, block: str) -> StudyPart | None:
        """The part of a block; None where the study has none of this name."""
        return next((part for part in self.parts if part.block == block), None)

    @property
    def length(self) -> int:
        """Questions that one rater is asked: practice, the study's own, and the catch trials between them."""
        return sum(part.length for part in self.parts)

    @property
    def own_length(self) -> int:
        """The same without practice: the questions that raters see counted."""
        return self.length - sum(len(part.practice) for part in self.parts)

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


def read_study(folder: Path, files: Files | None = None) -> Study:
    """Read and check the study in a folder; `files` are its texts where they are not those that lie there."""
    path, files = folder / FILE, files or Files(folder)
    name = check_name(folder)
    try:
        written: dict[str, Any] = tomllib.loads(files.text(FILE))
    except FileNotFoundError:
        raise StudyError(f"{folder}: no {FILE} in it; `similitude study new {folder}` makes one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not valid TOML ({error})") from None
    if faults := [Fault(key, "expected text without NUL") for key in _with_nul(written)]:
        raise WrongKeys(path, faults)
    if ours := sorted({*OURS} & set(written)):
        raise StudyError(f"{path}: {ours[0]}: {UNKNOWN}")
    try:
        study = Study(**{**written, "name": name, "folder": folder.resolve()})
    except ValidationError as error:
        raise WrongKeys.of(path, error.errors(include_url=False)) from None
    spoken = {one: own for one in study.languages if (own := read_own(files, one, _spoken_names(study)))}
    study = study.model_copy(update={"words": _read_pages(path, files, study), "spoken": spoken})
    said = {one: {name: text for some in study.texts_in(one) for name, text in some.items()} for one in study.languages}
    return study.model_copy(update={"wording": wording(study.languages, said)})


def _with_nul(value: Any, key: str = "") -> Iterator[str]:
    """Keys whose text has a sign that no name of a file and no column of a database may have."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inside:
        yield from _with_nul(one, f"{key}.{name}" if key else str(name))
    if isinstance(value, str) and "\0" in value:
        yield key


def _spoken_names(study: Study) -> list[str]:
    """Words of blocks and conditions that a study may say in other languages, too."""
    blocks = [f"{said}_{block.name}" for block in study.block for said in ("question", "low", "high")]
    return [*blocks, *(f"question_{condition.name}" for condition in study.condition)]


def _read_pages(path: Path, files: Files, study: Study) -> dict[str, str]:
    """The texts of the pages that a study has, by page; `consent.de.md` beside `consent.md` is the same in German."""
    words = {}
    for page, file in {**study.pages.model_dump(), **pages_of(study)}.items():
        if file is None:
            continue
        beside = {one: Path(file).with_suffix(f".{one}{Path(file).suffix}").as_posix() for one in study.languages}
        try:
            words[page] = files.text(file)
            words |= {f"{page}.{one}": files.text(own) for one, own in beside.items() if files.is_file(own)}
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise StudyError(
                f'{path}: pages.{page}: cannot read {file!r} ({why}); write it, or say {page} = "" for no such page'
            ) from None
    return words


def read_studies(root: Path) -> list[Study]:
    """The studies of a server."""
    return [read_study(folder) for folder in study_folders(root).values()]


def study_folders(root: Path, may_be_empty: bool = False) -> dict[str, Path]:
    """The folders of a server's studies by name: the folder itself where it holds a `study.toml`, else those in it.

    StudyError where there is none, unless the folder may be empty and is: other things in it were hardly meant.
    """
    if (root / FILE).is_file():
        return {check_name(root): root}
    folders = folders_in(root)
    if not folders and not (may_be_empty and _is_empty(root)):
        raise StudyError(f"{root}: no {FILE} in it nor one folder below; `similitude study new {root}` makes one")
    for one, other in pairwise(folders):
        if check_name(one) == check_name(other):
            raise StudyError(f"{root}: {one.name!r} and {other.name!r} would have the same address")
    return {check_name(folder): folder for folder in folders}


def folders_in(root: Path) -> list[Path]:
    """The folders of studies in a folder."""
    found = (path.parent for path in root.glob(f"*/{FILE}"))
    return sorted(found, key=lambda folder: (folder.name.lower(), folder.name))


def _is_empty(root: Path) -> bool:
    """Whether a folder is there, and holds nothing but a database of ours."""
    return root.is_dir() and all(path.name.startswith((".", "answers.db")) for path in root.iterdir())
