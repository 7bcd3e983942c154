"""Claims as data: whose, what became of each, on how many trials, with which interval, by settings fixed before or not.

A script judges its claims while it writes its page: `ledger.say("Table 1", "J is the best", True, "2.9 against 1.4")`
keeps the claim and returns its sentence. `ledger.write` leaves results/NAME.md and results/NAME.claims.json; the
summary reads the second, and refuses pages with a verdict that is no claim.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from reproduce.trials import RESULTS

VERDICTS = ("held", "did not hold", "cannot be told")
WHOSE = ("paper", "ours")
Verdict = bool | None  # True, False, or None where it cannot be told
_BOLD = re.compile(r"\*\*([^*]+)\*\*")


@dataclass(frozen=True)
class Claim:
    """What was claimed and what came out.

    Attributes
    ----------
    whose : "paper", or "ours"
    where : table, figure or section of the paper, or the question of ours
    text : the claim
    verdict : one of VERDICTS
    trials : how many draws the figures rest on
    interval : what the figures' ± is, or why there is none
    fixed : whether the settings were fixed before these draws
    figures : by how much, the paper's beside ours
    """

    whose: str
    where: str
    text: str
    verdict: str
    trials: int
    interval: str
    fixed: bool
    figures: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise ValueError(f"{self.text}: expected one of {VERDICTS}, found {self.verdict!r}")
        if self.whose not in WHOSE:
            raise ValueError(f"{self.text}: expected one of {WHOSE}, found {self.whose!r}")
        if type(self.trials) is not int or self.trials < 1 or not self.interval or type(self.fixed) is not bool:
            raise ValueError(f"{self.text}: a claim says its trials, its interval and whether settings were fixed")

    def sentence(self) -> str:
        """The claim as a page says it."""
        return f"**{self.text}: {self.verdict}**" + (f" ({self.figures})." if self.figures else ".")


@dataclass
class Ledger:
    """The claims of a page as they are judged, and what most of them share."""

    trials: int
    interval: str
    fixed: bool
    whose: str = "paper"
    claims: list[Claim] = field(default_factory=list)

    def say(self, where: str, text: str, verdict: Verdict, figures: str = "", **other: Any) -> str:
        """Keep a claim; return its sentence. `other` stands for what differs from most claims of the page."""
        shared = {"whose": self.whose, "trials": self.trials, "interval": self.interval, "fixed": self.fixed}
        claim = Claim(where=where, text=text, verdict=in_words(verdict), figures=figures, **(shared | other))
        self.claims.append(claim)
        return claim.sentence()

    def write(self, name: str, page: str, results: Path = RESULTS) -> None:
        """Write the page and its claims."""
        check(name, page, self.claims)
        (results / f"{name}.md").write_text(page.rstrip("\n") + "\n", encoding="utf-8")
        text = ",\n".join(json.dumps(asdict(claim), ensure_ascii=False) for claim in self.claims)
        (results / f"{name}.claims.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")


def read_claims(name: str, results: Path = RESULTS) -> list[Claim]:
    """Read the claims of a page; a page that says a verdict in bold which is none of them is an error."""
    path = results / f"{name}.claims.json"
    if not path.exists():
        raise ValueError(f"{name}.md: {path.name} is missing; its script writes it (`Ledger.write`)")
    claims = [Claim(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    check(name, (results / f"{name}.md").read_text(encoding="utf-8"), claims)
    return claims


def check(name: str, page: str, claims: list[Claim]) -> None:
    """Refuse a page without claims, with a verdict in bold that is no claim, or without the sentence of a claim."""
    if not claims:
        raise ValueError(f"{name}.md: no claim; expected one at least")
    bold = [found for found in _BOLD.findall(page) if any(verdict in found for verdict in VERDICTS)]
    known = [f"{claim.text}: {claim.verdict}" for claim in claims]
    for found in bold:
        if found not in known:
            raise ValueError(f"{name}.md: **{found}** is none of its claims")
    for sentence in known:
        if sentence not in bold:
            raise ValueError(f"{name}.md: the page does not say **{sentence}**")


def in_words(verdict: Verdict) -> str:
    """True, False or None as one of VERDICTS."""
    return "cannot be told" if verdict is None else "held" if verdict else "did not hold"


def below(mean: float, error: float, limit: float = 0.0) -> Verdict:
    """Whether a mean lies below a limit: None where its interval holds the limit."""
    return True if mean + error < limit else False if mean - error > limit else None


def above(mean: float, error: float, limit: float = 0.0) -> Verdict:
    """Whether a mean lies above a limit: None where its interval holds the limit."""
    return below(-mean, error, -limit)
