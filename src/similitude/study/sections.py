"""What the tables of `study.toml` are made of: kinds of values, and those that several of them hold."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from similitude.feedback.forms import PAGES
from similitude.study import patterns

# strict: a number in quotes, or true, is a slip of the pen and no number
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True)]
Count = Annotated[Whole, Field(ge=0)]
Positive = Annotated[Whole, Field(ge=1)]
Share = Annotated[Number, Field(ge=0, le=1)]
Origin = Annotated[str, Field(pattern=patterns.ORIGIN)]


class Section(BaseModel):
    """A table of `study.toml`: a key that is not known is an error, since it would be silently without effect."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Question(Section):
    """What is asked, and how often."""

    form: Annotated[str, WithJsonSchema({"type": "string", "enum": [*PAGES]})] = "triplet"
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


class Known(Section):
    """A question whose answer is known: for practice, or to catch raters who do not look."""

    shown: tuple[str, ...]
    correct: tuple[Number, ...]
