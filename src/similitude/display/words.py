"""Numbers and lists of names as people write them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

LONGEST = 24
"""Letters of the longest name that is written whole."""
_WORD = 160
_LONG_WORD = re.compile(rf"\S{{{_WORD + 1},}}")


def counted(number: int, what: str, many: str = "") -> str:
    """Return a number of things: "1 item", "1,200 items"; `many` for a plural without an s."""
    return f"{number:,} {what if number == 1 else many or f'{what}s'}"


def shortened(name: str, longest: int = LONGEST) -> str:
    """Return a name, cut where it is longer than so many letters."""
    return name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"


def in_short(message: str, longest: int = 1200) -> str:
    """Return a message without the middle of what it quotes, where that is long: a cell may hold a million signs.

    >>> len(in_short("row 1: found " + "[" * 1_000_000))
    176
    """
    return _ends(_LONG_WORD.sub(lambda word: _ends(word[0], _WORD), message), longest)


def _ends(text: str, longest: int) -> str:
    """The beginning and the end of a long text."""
    tail = longest // 4
    return text if len(text) <= longest else f"{text[: longest - tail]} … {text[-tail:]}"


def listed(names: Iterable[str], total: int, most: int = 5) -> str:
    """Return the first few of `total` names, and how many more there are."""
    first = list(itertools.islice(names, most))
    more = [f"and {total - len(first):,} more"] if total > len(first) else []
    return " ".join([", ".join(first), *more])


def written_p(value: float) -> str:
    """Return a p-value as it stands after its letter: "= 0.012", or "< 0.001"."""
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def number(value: float) -> str:
    """Return a number as it is printed: a count whole, a share with two digits. The last bits of a sum do not show."""
    if isinstance(value, int) or (abs(value) > 1 and abs(value - round(value)) < 1e-9 * abs(value)):
        return f"{value:,.0f}"
    return f"{value:,.2f}"
