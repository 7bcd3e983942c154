"""Trials of browser experiments: rows of a log, of which only some are questions about items."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from similitude.feedback.files.cells import listed

_SOURCE = re.compile(r"""<(?:img|video|audio|source)[^>]*?\ssrc\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
_MARKUP = re.compile(r"<[^>]+>")
_PICTURE = re.compile(r"[^\s]+\.(png|jpe?g|gif|svg|webp|bmp|mp3|wav|ogg|mp4|webm|html?)", re.IGNORECASE)


ODD = re.compile(r"odd|not belong|n.t belong|intruder", re.IGNORECASE)
CENTRAL = re.compile(r"central|typical", re.IGNORECASE)


def form_in(words: str) -> str | None:
    """The form of question with three alternatives that somebody's words name, or None."""
    return "odd_one_out" if ODD.search(words) else "most_central" if CENTRAL.search(words) else None


def item(cell: Any) -> str:
    """What an item is called: a file by its name without folder and ending, markup by its picture or its words."""
    text = str(cell).strip()
    if found := _SOURCE.search(text):
        text = found[1]
    elif "<" in text:
        text = " ".join(html.unescape(_MARKUP.sub(" ", text)).split())
    return PurePosixPath(text).stem if _PICTURE.fullmatch(text) else text


def spread(row: Mapping[str, Any], choices: str, response: str) -> dict[str, Any]:
    """A trial whose alternatives stand in one list, as columns `a, b, c` (or `b, c` beside a head) and what was picked.

    The response is the number of the alternative, from 0, or the alternative itself.
    """
    alternatives = [item(one) for one in listed(row[choices]) or ()]
    picked: Any = row.get(response)
    try:
        name: Any = alternatives[int(picked)]
    except (TypeError, ValueError, IndexError):
        name = None if picked is None else item(picked)
    letters = "bc" if len(alternatives) == 2 else "abc"
    rest = {key: value for key, value in row.items() if key not in (choices, response)}
    return rest | dict(zip(letters, alternatives, strict=True)) | {"picked": name}
