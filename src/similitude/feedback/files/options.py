"""What the caller of `read_comparisons` asked for, and what was decided on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from similitude.feedback.files.cells import ItemRule
from similitude.types import Seed


@dataclass(frozen=True)
class Options:
    """What the caller of `read_comparisons` asked for; `notes` takes sentences about what was decided."""

    form: str | None = None
    items: ItemRule = field(default_factory=ItemRule)
    larger: Literal["similar", "different"] | None = None
    missing: float | None = None
    max_per_rater: int | None = None
    random_state: Seed = None
    drop_degenerate: bool = False
    keep_catch: bool = False
    columns: Mapping[str, str] | None = None
    notes: list[str] = field(default_factory=list, compare=False)

    def note(self, sentence: str) -> None:
        """Keep a sentence about what was decided, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)
