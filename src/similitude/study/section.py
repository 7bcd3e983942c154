"""What the tables of `study.toml` are made of: one that knows its keys, and the kinds of values in it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# strict: a number in quotes, or true, is a slip of the pen and no number
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Switch = Annotated[bool, Field(strict=True)]
Count = Annotated[Whole, Field(ge=0)]
Positive = Annotated[Whole, Field(ge=1)]
Share = Annotated[Number, Field(ge=0, le=1)]


class Section(BaseModel):
    """A table of `study.toml`: a key that is not known is an error, since it would be silently without effect."""

    model_config = ConfigDict(extra="forbid", frozen=True)
