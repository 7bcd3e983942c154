"""What every topic is told: how often, with how many threads, and where results go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
METHODS = ("SOE", "STE", "CKL", "TSTE", "GNMDS")


@dataclass(frozen=True)
class Settings:
    """Options of one run.

    Attributes
    ----------
    threads : threads for each side, set alike
    repeats : times are the best of so many
    seed : seed of the first repeat; the data has its own, see `problems`
    quick : small sizes, to see that everything runs; its figures mean nothing and are not stored
    methods : which methods to measure
    before : the folder of an earlier checkout, which topics that can measure in turn with this one
    device : where fits run, in topics that can
    final : whether a topic opens what was kept closed while its method was chosen
    """

    threads: int = 1
    repeats: int = 3
    seed: int = 1
    quick: bool = False
    methods: tuple[str, ...] = METHODS
    before: str | None = None
    device: str = "cpu"
    final: bool = False
