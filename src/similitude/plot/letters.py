"""Letters that the usual font lacks: another font of this machine lends them; what none has is a box, which is told."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from weakref import WeakSet

from similitude.display.words import listed, shortened

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # kinds of letters that need no glyph
_OF_EACH = r"Glyph \d+|Matplotlib currently does not support"  # so begins what matplotlib says of every letter it lacks
_BOXES = re.compile(r"last\s*resort", re.IGNORECASE)  # fonts that have a box for every letter
_EAST = re.compile("CJK|HIRAGANA|KATAKANA|HANGUL|BOPOMOFO")
_EASTERN = "Noto Sans CJK (apt-get install fonts-noto-cjk)"
_OTHER = "those of Noto (apt-get install fonts-noto)"
_NORMAL = 400  # weight of letters

_lenders: dict[str, str | None] = {}
"""The family that lends a letter, None where no font has it, of all that were looked for."""
_told: WeakSet[Any] = WeakSet()
_gathered: ContextVar[set[str] | None] = ContextVar("_gathered", default=None)

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")


def lettered(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Wrap a function that returns axes with names of people's own on them: they get the letters that they need."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Drawn:
        axes = draw(*args, **kwargs)
        lend_letters(axes)
        return axes

    return drawn


def lend_letters(artist: Any) -> bool:
    """Give texts of a figure, or of axes, fonts with their letters; return whether some stay boxes, which is told."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    for axis in artist.findobj(Axis):
        if axis.axes.axison:
            axis.get_ticklabels()  # writes them, which else waits for a drawing
    boxes = set()
    for text in artist.findobj(Text):
        words = text.get_text()
        if words.isascii():
            continue
        families, lacking = families_of(words, text.get_fontproperties())
        if families != text.get_fontfamily():
            text.set_fontfamily(families)
        if lacking:
            boxes.add(text)
    _tell({text.get_text() for text in boxes.difference(_told)})
    _told.update(boxes)
    return bool(boxes)


def families_of(words: str, font: Any) -> tuple[list[str], set[str]]:
    """Return the families that write words, those of their font first, then the lenders; and letters that none has."""
    own = list(font.get_family())
    lacking = {letter for letter in words if not letter.isascii() and _is_seen(letter)}
    for one in _fonts_of(font) if lacking else ():
        lacking -= _had(one, lacking)
    _look_for(lacking - _lenders.keys())
    found = {letter: lender for letter in sorted(lacking) if (lender := _lenders[letter])}
    return list(dict.fromkeys([*own, *found.values()])), lacking - found.keys()


@contextmanager
def quietly() -> Iterator[None]:
    """Keep matplotlib from telling of each letter that a font lacks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _OF_EACH, UserWarning)
        yield


@contextmanager
def boxes_told_once() -> Iterator[None]:
    """Tell of names that are drawn as boxes once, at the end, however many figures they are on."""
    if _gathered.get() is not None:
        yield
        return
    names = set[str]()
    token = _gathered.set(names)
    try:
        yield
    finally:
        _gathered.reset(token)
    _tell(names)


def _tell(names: set[str]) -> None:
    """Say which names no font of this machine can write, now or once all figures are drawn."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered |= names
    elif names:
        first = map(shortened, sorted(names, key=lambda name: (len(name), name)))
        eastern = any(_EAST.search(unicodedata.name(letter, "")) for name in names for letter in name)
        warnings.warn(
            f"no font of this machine has all letters of {listed(first, len(names), 3)}: pictures (.png, .pdf) have "
            "boxes in their place, the page of a report shows them all the same. Install a font that has them, such as "
            f"{_EASTERN if eastern else _OTHER}",
            stacklevel=4,
        )


def _is_seen(letter: str) -> bool:
    """Whether a letter is drawn by itself, and neither directs nor varies another one."""
    return unicodedata.category(letter) not in _UNSEEN and not "\ufe00" <= letter <= "\ufe0f"


def _fonts_of(font: Any) -> Iterator[FT2Font]:
    """The font of each family that is installed."""
    from matplotlib.font_manager import fontManager, get_font

    for family in font.get_family():
        one = font.copy()
        one.set_family(family)
        try:
            yield get_font(fontManager.findfont(one, fallback_to_default=False))
        except ValueError:
            continue


def _had(font: FT2Font, letters: Collection[str]) -> set[str]:
    """Which letters a font has that can be drawn at any size."""
    return {letter for letter in letters if font.get_char_index(ord(letter))} if font.scalable else set()


def _had_by(file: str, letters: Collection[str]) -> set[str]:
    """The same of a file; none where it is damaged, or of a kind that matplotlib does not read."""
    from matplotlib.ft2font import FT2Font

    try:
        return _had(FT2Font(file), letters)
    except (OSError, RuntimeError):
        return set()


def _look_for(letters: set[str]) -> None:
    """Look for fonts that have letters, among those that matplotlib knows, then those that were installed since."""
    if letters:
        _lenders.update(dict.fromkeys(letters) | _lent(letters))
        left = {letter for letter in letters if not _lenders[letter]}
        if left and _add_new(left):
            _lenders.update(_lent(left))


def _lent(letters: set[str]) -> dict[str, str]:
    """The family that lends each letter, where one has it: as few families as will do."""
    had = {family: letters_had for family, file in _known().items() if (letters_had := _had_by(file, letters))}
    found = dict[str, str]()
    while left := set().union(*had.values()) - found.keys():
        family = min(had, key=lambda one: (-len(had[one] & left), one))
        found |= dict.fromkeys(had[family] & left, family)
    return found


def _known() -> dict[str, str]:
    """Every family that matplotlib knows, with its most usual file."""
    from matplotlib.font_manager import fontManager, weight_dict

    def unusual(font: Any) -> tuple[bool, int]:
        weight = font.weight if isinstance(font.weight, int) else weight_dict.get(font.weight, _NORMAL)
        return font.style != "normal", abs(weight - _NORMAL)

    found: dict[str, str] = {}
    for font in sorted(fontManager.ttflist, key=unusual):
        if not _BOXES.search(font.name):
            found.setdefault(font.name, font.fname)
    return found


def _add_new(letters: set[str]) -> bool:
    """Add fonts that have some of these letters to those that matplotlib knows: its list is as old as its cache."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    before = {font.fname for font in fontManager.ttflist}
    found = [file for file in sorted(set(findSystemFonts()) - before) if _had_by(file, letters)]
    for file in found:
        with suppress(Exception):  # matplotlib, too, passes over whatever it cannot describe
            fontManager.addfont(file)
    return bool(found)
