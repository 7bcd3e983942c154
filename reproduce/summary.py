"""`reproduce/README.md`, claim by claim, from what the results pages say; nothing is judged here a second time.

A page says its claims in bold: `**claim: held** (figures)`, or `claim: **held** (figures)`, or, several in a line,
`- setting: claim **held** (figures); claim **held** (figures)`. The verdict begins with "held", "did not hold" or "not
testable". Figures, the paper's and ours, are what stands after it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
VERDICTS = ("held", "did not hold", "not testable")
_ANY = "|".join(VERDICTS)
_BOLD = re.compile(rf"\*\*([^*]+?: (?:{_ANY})[^*]*)\*\*")
_AFTER = re.compile(rf"^(?:- )?([^*|]+?): \*\*((?:{_ANY})[^*]*)\*\*(.*)")
_BARE = re.compile(rf"([^;*]*?) \*\*({_ANY})\*\*((?: \([^)]*\))?)")
_NEXT = re.compile(rf"[.;] (?=[^:]*: (?:{_ANY}))")  # several claims may share one bold sentence
_LONGEST = 260

NOT_TESTABLE = (
    ("McFee & Lanckriet 2011", "section 5.2: artists", "their audio and text features are not public"),
    ("Kleindessner & von Luxburg 2017", "nature images, USPS and MNIST", "not at hand; smaller digits stand in"),
    ("Yeung, Chang & Dai 2008", "Isolet, MNIST, Protein, small Soybean", "not at hand; digits and vowels stand in"),
    ("Heim 2015", "Fig. 20: outdoor scenes", "the answers are not at hand"),
    ("Heim 2015", "chapter 6: clinical rows", "private; public tables and a simulated expert stand in"),
    ("Ouyang & Gray 2008", "UMist faces", "the data is not at hand"),
)  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A claim of a paper (or of ours), what became of it, and by how much; `where` is the section of its page."""

    where: str
    text: str
    verdict: str
    figures: str


@dataclass(frozen=True)
class Page:
    """A results page: what it is about, and its claims."""

    name: str
    title: str
    claims: tuple[Claim, ...]


def read_page(path: Path) -> Page:
    """The claims of a results page, in their order."""
    text = path.read_text(encoding="utf-8")
    title, where, claims = text.splitlines()[0].removeprefix("# "), "", []
    for block in (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=- )", text)):
        if block.startswith("## "):
            where = block.removeprefix("## ")
        claims += [Claim(where, *found) for found in _claims(block)]
    return Page(path.stem, title, tuple(claims))


def _claims(block: str) -> list[tuple[str, str, str]]:
    """The claims of a paragraph with verdict and figures: each bold verdict, and the text up to the next one."""
    if found := _AFTER.match(block):
        return [(found[1], found[2].rstrip("."), _short(found[3]))]
    if block.startswith("- ") and not _BOLD.search(block):
        setting, _, rest = block.removeprefix("- ").partition(": ")
        return [
            (f"{setting}: {text.strip(' ,;.')}", verdict, _short(more)) for text, verdict, more in _BARE.findall(rest)
        ]
    bold = list(_BOLD.finditer(block))
    claims = []
    for match, end in zip(bold, [*(later.start() for later in bold[1:]), len(block)], strict=False):
        parts = [part.rpartition(": ") for part in _NEXT.split(match[1])]
        figures = _short(block[match.end() : end])
        claims += [(text, verdict.rstrip("."), figures) for text, _, verdict in parts]
    return claims


def _short(figures: str) -> str:
    """What stands after a verdict, without its bold words; long text is cut, the page has the rest."""
    text = figures.replace("*", "").strip(" .,:;")
    return text if len(text) <= _LONGEST else text[:_LONGEST].rsplit(" ", 1)[0] + " …"


def write_summary(results: Path = RESULTS, target: Path = HERE / "README.md") -> list[Page]:
    """Write the table of all claims; return the pages it was made from."""
    pages = [read_page(path) for path in sorted(results.glob("*.md"))]
    silent = [page.name for page in pages if not page.claims]
    if silent:
        raise ValueError(f"{silent[0]}.md: no claim found; a page says `**claim: held** (figures)`")
    target.write_text(_text(pages), encoding="utf-8")
    return pages


def _text(pages: list[Page]) -> str:
    count = Counter(next(v for v in VERDICTS if c.verdict.startswith(v)) for page in pages for c in page.claims)
    lines = [
        "# What the papers claim, and what came out here",
        "",
        "Made by `python -m reproduce --summary` from the results pages, which have the tables and pictures, what",
        "differs from the papers' set-ups, and how settings were chosen. `make reproduce` runs it all again (hours).",
        f"{count['held']} claims held, {count['did not hold']} did not; claims marked *(ours)* are similitude's own.",
    ]
    for page in pages:
        lines += ["", f"## [{page.title}](results/{page.name}.md)", "", f"`python -m reproduce.{page.name}`", ""]
        lines += ["| where | claim | outcome | figures |", "|---|---|---|---|"]
        lines += [f"| {c.where} | {_cell(c.text)} | **{_cell(c.verdict)}** | {_cell(c.figures)} |" for c in page.claims]
    lines += ["", "## Not testable here", "", "| paper | what | because |", "|---|---|---|"]
    lines += [f"| {paper} | {what} | {why} |" for paper, what, why in NOT_TESTABLE]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
