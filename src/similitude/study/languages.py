"""The words of the raters' pages in the languages that a study offers.

English stands in `texts.py` and in the forms; every other language is a file in `translations`, which a translator can
edit. A study says more, or says it better, in a file `texts.LANGUAGE.toml` beside its `study.toml`. A text may have
plural forms by the categories of CLDR: all numbers that decide them are known from the study's settings.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from similitude.study.fault import StudyError
from similitude.study.files import Files
from similitude.study.texts import all_texts, default_texts, places

FOLDER = Path(__file__).parent / "translations"
ENGLISH = "en"
OWN = ("title", "question", "low", "high")  # what study.toml says itself, in another language
_FROM_THE_RIGHT = {"ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"}
_DECIDES = ("seconds", "total", "pick")  # of the places of a text: the number that its plural form goes by
_LONGEST_HEADER = 500

Text = str | dict[str, str]
CATEGORIES: dict[str, tuple[str, ...]] = {
    "ar": ("zero", "one", "two", "few", "many", "other"),
    "he": ("one", "two", "other"),
    "pl": ("one", "few", "many"),
    **dict.fromkeys(("ja", "ko", "zh"), ("other",)),
}
_TWO = ("one", "other")


def categories(language: str) -> tuple[str, ...]:
    """The plural forms of a language, for whole numbers."""
    return CATEGORIES.get(base(language), _TWO)


def category(language: str, number: int) -> str:
    """Which plural form a whole number takes (CLDR)."""
    family = base(language)
    if family in ("ja", "ko", "zh"):
        return "other"
    if family in ("fr", "hi", "pt"):
        return "one" if number < 2 else "other"
    if family == "pl":
        few = number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14)
        return "one" if number == 1 else "few" if few else "many"
    if family == "ar":
        last = number % 100
        named = {0: "zero", 1: "one", 2: "two"}.get(number)
        return named or ("few" if 3 <= last <= 10 else "many" if last >= 11 else "other")
    if family == "he" and number == 2:
        return "two"
    return "one" if number == 1 else "other"


def base(language: str) -> str:
    """A language without its country: `pt` of `pt-BR`."""
    return language.partition("-")[0].lower()


def direction(language: str) -> str:
    """From where it is read."""
    return "rtl" if base(language) in _FROM_THE_RIGHT else "ltr"


def shipped() -> tuple[str, ...]:
    """The languages that need no words of the researcher's own."""
    return (ENGLISH, *sorted(path.stem for path in FOLDER.glob("*.toml")))


@lru_cache
def _file(path: Path) -> tuple[dict[str, Text], bool]:
    """The texts of a file, and whether somebody has checked them."""
    return _parsed(Files(path.parent), path.name)


def _parsed(files: Files, name: str) -> tuple[dict[str, Text], bool]:
    try:
        written: dict[str, Any] = tomllib.loads(files.text(name))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{files.folder / name}: not valid TOML ({error})") from None
    checked = written.pop("checked", False)
    return written, checked is True


def translation(language: str) -> dict[str, Text]:
    """What is shipped of a language; nothing of English, which is what all others stand on."""
    path = FOLDER / f"{base(language)}.toml"
    known = default_texts()
    return {name: text for name, text in _file(path)[0].items() if name in known} if path.is_file() else {}


def unchecked(folder: Path, language: str) -> bool:
    """Whether the shipped words of a language were made by a machine, and nobody has said that they are right."""
    path, own = FOLDER / f"{base(language)}.toml", own_file(folder, language)
    return path.is_file() and not _file(path)[1] and not (own.is_file() and _file(own)[1])


def own_file(folder: Path, language: str) -> Path:
    """Where a study says words of its own in a language."""
    return folder / f"texts.{language}.toml"


def read_own(files: Files, language: str, more: Sequence[str] = ()) -> dict[str, Text]:
    """The words that a study says in a language, checked; StudyError where a name or a place is not known.

    `more` are names beside those of all studies: what blocks and conditions ask.
    """
    path = own_file(files.folder, language)
    if not files.is_file(path.name):
        return {}
    _file.cache_clear()  # it may have been edited since
    texts = _parsed(files, path.name)[0]
    for name, text in texts.items():
        forms = {"": text} if isinstance(text, str) else text
        if not isinstance(forms, dict) or not all(isinstance(form, str) for form in forms.values()):
            raise StudyError(f"{path}: {name}: expected a text, or a table of plural forms, found {text!r}")
        if "" not in forms and set(forms) != set(categories(language)):
            raise StudyError(f"{path}: {name}: expected the plural forms {', '.join(categories(language))}")
        if name in OWN or name in more:
            continue
        for form in forms.values():
            try:
                all_texts({name: form})
            except ValueError as error:
                raise StudyError(f"{path}: {str(error).removeprefix('texts.')}") from None
    return dict(texts)


def in_language(
    language: str, own: Iterable[Mapping[str, Text]], numbers: Mapping[str, Mapping[str, int]] | None = None
) -> dict[str, str]:
    """All words in a language: English, then what is shipped, then the study's own, later ones before earlier.

    `numbers` are those that plural forms go by, by place, under the name of a text or under "" for all others.
    """
    texts: dict[str, Text] = {**default_texts(), **translation(language)}
    for mapping in own:
        texts |= mapping
    return {name: _form(language, name, text, numbers or {}) for name, text in texts.items()}


def _form(language: str, name: str, text: Text, numbers: Mapping[str, Mapping[str, int]]) -> str:
    if isinstance(text, str):
        return text
    given = numbers.get(name) or numbers.get("", {})
    used = {place for form in text.values() for place in places(form)}
    deciding = next((place for place in _DECIDES if place in used and given.get(place) is not None), None)
    fallback = categories(language)[-1]
    return text[fallback if deciding is None else category(language, given[deciding])]


def wording(languages: Sequence[str], own: Mapping[str, Mapping[str, Text]]) -> str:
    """A digest of all words in which raters are asked."""
    said = {one: {**default_texts(), **translation(one), **own.get(one, {})} for one in languages}
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:12]


def chosen(header: str, offered: Sequence[str]) -> str:
    """The language that a browser asks for, among those of a study; its first where none fits.

    A language fits exactly, or with another country; of several the one of the highest weight, then the first.
    """
    wanted: list[tuple[float, str]] = []
    for part in header[:_LONGEST_HEADER].split(","):
        tag, _, weight = part.strip().partition(";")
        number = weight.strip().removeprefix("q=") or "1"
        try:
            wanted.append((float(number), tag.strip().lower()))
        except ValueError:
            continue
    for _, tag in sorted(wanted, key=lambda one: -one[0]):
        exact = next((one for one in offered if one.lower() == tag), None)
        if found := exact or next((one for one in offered if base(one) == base(tag)), None):
            return found
    return offered[0]
