"""Cards: what a notebook shows of a result, made of a sentence, figures, a table, remarks, a map.

Parts are elements of a tree, not text: whatever is put into one is escaped when the card is written, so that an item
called `<script>` is shown and not run. Colours are those of the notebook (`currentColor`), light or dark. Styles stand
in the elements, since notebooks take style sheets out of what they do not trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

_FAINT, _SMALL = "opacity:0.7", "font-size:90%"
_LINE = "1px solid rgba(128,128,128,0.35)"
_CELL = "padding:2px 14px 2px 0;background:transparent;vertical-align:top"
_NO_TEXT = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # what no page may hold


def element(tag: str, *children: str | ET.Element, **attributes: object) -> ET.Element:
    """Return an element with texts and elements in it; `text_anchor` stands for the attribute `text-anchor`."""
    node = ET.Element(tag, {name.replace("_", "-"): _clean(str(value)) for name, value in attributes.items()})
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            node.append(child)
            last = child
        elif last is None:
            node.text = (node.text or "") + _clean(child)
        else:
            last.tail = (last.tail or "") + _clean(child)
    return node


def _clean(text: str) -> str:
    return _NO_TEXT.sub("�", text)


def written(node: ET.Element) -> str:
    """Return an element as HTML, which is XML at the same time."""
    return ET.tostring(node, encoding="unicode", short_empty_elements=False)


def card(title: str, *parts: ET.Element | None) -> str:
    """Return HTML of a title and, below it, the parts that hold something."""
    head = element("div", title, style="font-weight:600;margin-bottom:4px")
    below = [part for part in parts if part is not None and (part.text or len(part))]
    return written(element("div", head, *below, style="max-width:720px;line-height:1.4"))


def title_of(text: str) -> str:
    """Return what `repr` says as a title: without its brackets."""
    return text.removeprefix("<").removesuffix(">")


def sentence(text: str) -> ET.Element:
    """Return what a result says in words."""
    return element("div", text)


def note(text: str) -> ET.Element:
    """Return a remark in small letters."""
    return element("div", text, style=f"{_FAINT};{_SMALL};margin-top:4px")


def remarks(texts: Sequence[str]) -> ET.Element | None:
    """Return a list of remarks; nothing where there are none."""
    points = [element("li", text) for text in texts]
    return element("ul", *points, style="margin:2px 0 0 0;padding-left:1.4em") if points else None


def figures(rows: Iterable[Sequence[str]]) -> ET.Element | None:
    """Return a table of figures: in each row a name, a value, and perhaps a note."""
    kinds = (f"white-space:nowrap;{_FAINT}", "white-space:nowrap;font-weight:500", _FAINT)
    lines = [_row("td", row, [f"text-align:left;{kind}" for kind in kinds]) for row in rows]
    return _table(lines) if lines else None


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], words: Sequence[int] = (0,)) -> ET.Element | None:
    """Return a table with a header; the columns `words` hold words, the others numbers."""
    sides = [f"text-align:{'left' if k in words else 'right'}" for k in range(len(header))]
    lines = [_row("td", row, sides) for row in rows]
    if not lines:
        return None
    head = _row("th", header, [f"{side};font-weight:500;{_FAINT};border-bottom:{_LINE}" for side in sides])
    return _table(lines, element("thead", head))


def _row(tag: str, texts: Sequence[str], styles: Sequence[str]) -> ET.Element:
    cells = [element(tag, text, style=f"{_CELL};{style}") for text, style in zip(texts, styles, strict=False)]
    return element("tr", *cells, style="background:transparent")  # notebooks stripe the rows of tables


def _table(lines: Sequence[ET.Element], *head: ET.Element) -> ET.Element:
    style = f"{_SMALL};border-collapse:collapse;border:0;margin:6px 0 0 0;width:auto"
    table = element("table", *head, element("tbody", *lines), style=style)
    return element("div", table, style="overflow-x:auto")  # where a page is narrower than the table
