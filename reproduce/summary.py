"""`reproduce/README.md`: every claim with its verdict, the papers' apart from ours, and every table and figure.

It is made of results/NAME.claims.json, which each script writes beside its page (`claims`), and of `figures`; nothing
is judged here a second time, and what does not fit is an error.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from reproduce.claims import VERDICTS, Claim, read_claims
from reproduce.figures import SHOWN

HERE = Path(__file__).parent
RESULTS = HERE / "results"


@dataclass(frozen=True)
class Page:
    """A results page: what it is about, and its claims."""

    name: str
    title: str
    claims: tuple[Claim, ...]

    def by(self, whose: str) -> list[Claim]:
        """The claims of the papers, or ours."""
        return [claim for claim in self.claims if claim.whose == whose]


def read_page(path: Path) -> Page:
    """A results page and its claims."""
    title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return Page(path.stem, title, tuple(read_claims(path.stem, path.parent)))


def write_summary(results: Path = RESULTS, target: Path = HERE / "README.md") -> list[Page]:
    """Write the table of all claims; return the pages it was made from."""
    pages = [read_page(path) for path in sorted(results.glob("*.md"))]
    target.write_text(_text(pages), encoding="utf-8")
    return pages


def counts(pages: list[Page], whose: str) -> str:
    """How many claims held, did not hold, and cannot be told."""
    found = Counter(claim.verdict for page in pages for claim in page.by(whose))
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)


def _text(pages: list[Page]) -> str:
    lines = [
        "# What the papers claim, and what came out here",
        "",
        "Made by `python -m reproduce --summary` from what the experiments wrote down. The pages have the tables and",
        "pictures, what differs from the papers' set-ups, and how settings were chosen. `make reproduce` runs it all",
        "again (hours). A verdict is *held*, *did not hold*, or *cannot be told*: the difference lies within its",
        "interval, or depends on what the paper does not give. *Fixed*: settings were fixed before these draws were",
        "looked at; *no* also where that was not written down at the time.",
        "",
        f"- Claims of the papers: {counts(pages, 'paper')}.",
        f"- Claims of our own: {counts(pages, 'ours')}.",
        "",
        "# Every table and figure of the five papers",
        "",
        "| paper | number | state | page | note |",
        "|---|---|---|---|---|",
    ]
    for shown in SHOWN:
        page = f"[{shown.page}](results/{shown.page}.md)" if shown.page else ""
        lines.append(f"| {shown.paper} | {shown.number} | {shown.state} | {page} | {_cell(shown.note)} |")
    for whose, title in (("paper", "# Claims of the papers"), ("ours", "# Claims of our own")):
        lines += ["", title]
        for page in pages:
            if page.by(whose):
                lines += ["", f"## [{page.title}](results/{page.name}.md)", "", f"`python -m reproduce.{page.name}`"]
                lines += ["", "| where | claim | outcome | figures | trials | interval | fixed |", "|---" * 7 + "|"]
                lines += [_row(claim) for claim in page.by(whose)]
    return "\n".join(lines) + "\n"


def _row(claim: Claim) -> str:
    cells = (claim.where, claim.text, f"**{claim.verdict}**", claim.figures, str(claim.trials), claim.interval)
    return f"| {' | '.join(map(_cell, cells))} | {'yes' if claim.fixed else 'no'} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
