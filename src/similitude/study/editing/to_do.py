"""What is to be seen to before people are let into a study, in words for who edits it on the pages and has no shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from similitude.display.words import counted, listed
from similitude.study.create import left_in_english, never_asked, read_by_nobody, still_an_example
from similitude.study.editing.looking import Looked
from similitude.study.fault import Fault
from similitude.study.settings import Study

_ITEMS, _TEXTS = "items", "pages"  # the pages, by their address below that of the settings


class ToDo(NamedTuple):
    """One thing to see to.

    Attributes
    ----------
    key : of `study.toml`, which the page of settings edits; "" where another page does
    sentence : what it is
    page, words : the address of that other page below that of the settings, and what a link there is called
    """

    key: str
    sentence: str
    page: str = ""
    words: str = ""


def to_do(looked: Looked, has_items: bool) -> list[ToDo]:
    """All there is to see to: what keeps a study from being served, then what raters should not see."""
    found = [_of_fault(fault, has_items) for fault in looked.faults]
    return found if looked.study is None else [*found, *_unfinished(looked.study)]


def _of_fault(fault: Fault, has_items: bool) -> ToDo:
    """A fault with the page that mends it."""
    if fault.key.startswith("items."):
        none = "there are none yet; add the pictures, sounds, films or texts that people are asked about"
        return ToDo("", fault.sentence if has_items else none, _ITEMS, "Items")
    if fault.key.startswith("pages."):
        page = fault.key.partition(".")[2]
        return ToDo("", fault.sentence, f"{_TEXTS}#page={page}", f"Texts, {page}")
    return ToDo(*fault)


def _unfinished(study: Study) -> Iterator[ToDo]:
    if still_an_example(study) is not None:
        sentence = "this page is still the example; write what people agree to before you send the link"
        yield ToDo("", sentence, f"{_TEXTS}#page=consent", "Consent")
    if (left := left_in_english(study)) is not None:
        language, names = left
        what = counted(len(names), "text is", "texts are")
        sentence = f"{what} still in English where people read {language}; write them there under “Words”"
        yield ToDo("", sentence, f"{_TEXTS}#language={language}", f"Texts in {language}")
    if machine := read_by_nobody(study):
        sentence = (
            f"the words in {listed(machine, len(machine))} were made by a machine; let somebody who speaks the "
            "language read the pages, write what is better, and tick that they were read"
        )
        yield ToDo("", sentence, f"{_TEXTS}#language={machine[0]}", f"Texts in {machine[0]}")
    yield from (ToDo(*fault) for fault in never_asked(study))
