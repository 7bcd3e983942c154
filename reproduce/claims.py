"""Claims as data: whose, what became of each, on how many trials, with which interval, by settings fixed before or not.

A page says a claim as `**claim: held** (figures)`, and the verdict is one of three. `Ledger.say` writes such a
sentence; `Ledger.write` reads every one off the page and leaves results/NAME.md and results/NAME.claims.json, from
which the summary is made. What looks like a verdict and is none of those sentences is an error, so that none is lost.
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
_SENTENCE = re.compile(rf"\*\*([^*]+?): ({'|'.join(VERDICTS)})\.?\*\*")
_VERDICT_LIKE = re.compile(r"\*\*[^*]*\b(?:held|hold|told)\b[^*]*\*\*|did not hold|cannot be told|: held\b")
_LONGEST = 300


@dataclass(frozen=True)
class Claim:
    """What was claimed and what came out.

    Attributes
    ----------
    whose : "paper", or "ours"
    where : table, figure or section of the paper, or the part of the page
    text : the claim
    verdict : one of VERDICTS
    trials : how many draws the figures rest on
    interval : what the figures' ± is, or why there is none
    fixed : whether the settings were fixed before these draws; False where that was not written down
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
        if type(self.fixed) is not bool:
            raise ValueError(f"{self.text}: expected whether settings were fixed before, True or False")
        if type(self.trials) is not int or self.trials < 1 or not self.interval:
            raise ValueError(f"{self.text}: expected a number of trials and an interval, or why there is none")


@dataclass
class Ledger:
    """The claims of a page, and what most of them share.

    Attributes
    ----------
    trials, interval, fixed, whose : as in `Claim`, where a claim says nothing else
    others : by the beginning of a claim's text or of its section, what differs there
    """

    trials: int
    interval: str
    fixed: bool
    whose: str = "paper"
    others: dict[str, dict[str, Any]] = field(default_factory=dict)

    def say(self, where: str, text: str, verdict: Verdict, figures: str = "", **other: Any) -> str:
        """Return the sentence of a claim; `other` stands for what differs from most claims of the page."""
        self.others[text] = {"where": where, **other}
        return f"**{text}: {in_words(verdict)}**" + (f" ({figures})." if figures else ".")

    def write(self, name: str, page: str, results: Path = RESULTS) -> list[Claim]:
        """Write the page and its claims."""
        claims = [self._claim(*found) for found in sentences(name, page)]
        (results / f"{name}.md").write_text(page.rstrip("\n") + "\n", encoding="utf-8")
        text = ",\n".join(json.dumps(asdict(claim), ensure_ascii=False) for claim in claims)
        (results / f"{name}.claims.json").write_text(f"[\n{text}\n]\n", encoding="utf-8")
        return claims

    def _claim(self, where: str, text: str, verdict: str, figures: str) -> Claim:
        about = {"trials": self.trials, "interval": self.interval, "fixed": self.fixed, "whose": self.whose}
        for start, other in self.others.items():
            if text == start or where.startswith(start) or (text.startswith(start) and "where" not in other):
                about |= other
        return Claim(text=text, verdict=verdict, figures=figures, **({"where": where} | about))


def read_claims(name: str, results: Path = RESULTS) -> list[Claim]:
    """Read the claims of a page; a page that says others than its claims is an error."""
    path = results / f"{name}.claims.json"
    if not path.exists():
        raise ValueError(f"{name}.md: {path.name} is missing; its script writes it (`Ledger.write`)")
    claims = [Claim(**row) for row in json.loads(path.read_text(encoding="utf-8"))]
    said = [(text, verdict) for _, text, verdict, _ in sentences(name, (results / f"{name}.md").read_text("utf-8"))]
    if said != [(claim.text, claim.verdict) for claim in claims]:
        raise ValueError(f"{name}.md: the page and {path.name} do not say the same; run its script with --page")
    return claims


def sentences(name: str, page: str) -> list[tuple[str, str, str, str]]:
    """Section, claim, verdict and figures of every claim of a page; a verdict that does not fit is an error."""
    found, where = [], ""
    for block in (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=- )", page)):
        where = block.removeprefix("## ") if block.startswith("## ") else where
        matches = list(_SENTENCE.finditer(block))
        ends = [*(match.start() for match in matches[1:]), len(block)]
        for match, end in zip(matches, ends, strict=False):
            found.append((where, match[1], match[2], _short(block[match.end() : end])))
        if stray := _VERDICT_LIKE.search(_SENTENCE.sub("", block)):
            raise ValueError(
                f"{name}.md: {stray[0]!r} looks like a verdict; say `**claim: held** (figures)`: {block[:200]}"
            )
    if not found:
        raise ValueError(f"{name}.md: no claim; a page says `**claim: held** (figures)`")
    return found


def _short(figures: str) -> str:
    """What stands after a verdict; long text is cut, the page has the rest."""
    text = figures.replace("*", "").strip(" .,:;")
    text = text[1:-1] if text.startswith("(") and text.endswith(")") and "(" not in text[1:] else text
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"


def in_words(verdict: Verdict) -> str:
    """True, False or None as one of VERDICTS."""
    return "cannot be told" if verdict is None else "held" if verdict else "did not hold"


def together(verdicts: list[Verdict]) -> Verdict:
    """A claim about all of several things: False if it fails for one, None if it cannot be told for one."""
    return False if any(v is False for v in verdicts) else None if any(v is None for v in verdicts) else True


def mostly(verdicts: list[Verdict]) -> Verdict:
    """A claim about most of several things: None where too few of them can be told."""
    held, failed = (sum(verdict is value for verdict in verdicts) for value in (True, False))
    return True if 2 * held > len(verdicts) else False if 2 * failed >= len(verdicts) else None


def below(mean: float, error: float, limit: float = 0.0) -> Verdict:
    """Whether a mean lies below a limit: None where its interval holds the limit."""
    return True if mean + error < limit else False if mean - error > limit else None


def above(mean: float, error: float, limit: float = 0.0) -> Verdict:
    """Whether a mean lies above a limit: None where its interval holds the limit."""
    return below(-mean, error, -limit)


def alike(mean: float, error: float, limit: float) -> Verdict:
    """Whether a mean lies within ± a limit: None where its interval holds either."""
    return below(abs(mean), error, limit)
