"""What differs between two versions of a study, key by key, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from similitude.display.words import counted, listed, shortened
from similitude.study.items import Item
from similitude.study.settings import Study

_LONGEST = 60
_READ = {"name", "folder", "words", "spoken", "wording"}  # what `study.toml` does not say itself
Items = Mapping[str, Item]


@dataclass(frozen=True)
class Change:
    """One difference.

    Attributes
    ----------
    key : as `study.toml` calls it; `pages.consent` for the text of a page, `items` for what is compared
    words : what changes, in a sentence
    before, after : the values; None where there is none
    forbidden : why it cannot be, in a sentence; None where it can
    warning : what to mind, in a sentence
    """

    key: str
    words: str
    before: Any = None
    after: Any = None
    forbidden: str | None = None
    warning: str | None = None

    def but(self, **values: str | None) -> Change:
        """The same with a reason why not, or a warning."""
        return replace(self, **values)  # type: ignore[arg-type]


def changes(before: Study, after: Study, items_before: Items, items_after: Items) -> list[Change]:
    """All differences between two versions, in the order of `study.toml`."""
    found = [*_keys(before, after), *_pages(before, after), *_words(before, after), *_items(items_before, items_after)]
    if not found and before.wording != after.wording:
        found.append(Change("texts", "the words that come with similitude are those of another version of it"))
    return found


def _keys(before: Study, after: Study) -> Iterator[Change]:
    old, new = (dict(_flat(study.model_dump(mode="json", exclude=_READ))) for study in (before, after))
    for key in {**old, **new}:
        then, now = old.get(key), new.get(key)
        if then != now:
            yield Change(key, f"{key}: {_said(then)} becomes {_said(now)}", then, now)


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, one in value.items():
        if isinstance(one, Mapping):
            yield from _flat(one, f"{above}{name}.")
        else:
            yield f"{above}{name}", one


def _said(value: Any) -> str:
    """A value as people read it; a long list by its length."""
    if value is None or value == []:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and (len(value) > 5 or any(isinstance(one, dict) for one in value)):
        return counted(len(value), "entry", "entries")
    if isinstance(value, list):
        return ", ".join(str(one) for one in value)
    return f"“{shortened(value, _LONGEST)}”" if isinstance(value, str) else str(value)


def _pages(before: Study, after: Study) -> Iterator[Change]:
    for name in {**before.words, **after.words}:
        then, now = before.words.get(name), after.words.get(name)
        if then != now:
            what = "is new" if then is None else "is gone" if now is None else "has another text"
            page, _, language = name.partition(".")
            spoken = f" in {language}" if language else ""
            yield Change(f"pages.{name}", f"the page {page}{spoken} {what}", then, now)


def _words(before: Study, after: Study) -> Iterator[Change]:
    for language in {**before.spoken, **after.spoken}:
        then, now = before.spoken.get(language, {}), after.spoken.get(language, {})
        other = [name for name in {**then, **now} if then.get(name) != now.get(name)]
        if other:
            words = f"other words in {language}: {listed(other, len(other))}"
            yield Change(f"texts.{language}", words, then or None, now or None)


def _items(before: Items, after: Items) -> Iterator[Change]:
    gone, new = [name for name in before if name not in after], [name for name in after if name not in before]
    other = [name for name in after if name in before and _shown(before[name]) != _shown(after[name])]
    for key, names, what in (
        ("added", new, "new"),
        ("removed", gone, "taken out"),
        ("changed", other, "shown otherwise"),
    ):
        if names:
            number = f"{counted(len(names), 'item')} {'is' if len(names) == 1 else 'are'} {what}"
            yield Change(f"items.{key}", f"{number}: {listed(names, len(names))}", after=names)


def _shown(item: Item) -> tuple[str, str, str]:
    return item.kind, item.content, "" if item.path is None else item.path.name
