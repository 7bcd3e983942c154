"""Every word that a rater reads on the pages, by name, in English; `[texts]` in `study.toml` says them in another way.

Other languages are in `translations` (`languages.py`): who adds a text here adds it there.

Words in braces are filled in where they are shown, such as `{number}`. A text may leave one out, but name no other.
What is asked stands with each form of question; `question.text` of a study goes before it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from similitude.feedback.forms import PAGES

DEFAULTS: dict[str, str] = {
    # answers
    "scale_low": "not alike at all",
    "scale_high": "very alike",
    "same": "Same",
    "different": "Different",
    "confidence": "How sure are you?",
    "confidence_low": "a guess",
    "confidence_high": "certain",
    "confirm": "Confirm",
    "picked": "{picked} of {pick} picked",
    "most": "most alike",
    "least": "least alike",
    "first_most": "First the one that is most like it",
    "then_least": "Now the one that is least like it",
    "in_place": "{picked} of {pick} in place",
    "both_named": "The most and the least alike are marked",
    "skip": "Skip",
    "cant_tell": "I can't tell",
    # buttons of the pages
    "agree": "I agree and want to take part",
    "decline": "I do not want to take part",
    "start": "Start",
    "go_on": "Continue",
    "send": "Send",
    "copy": "Copy",
    "copied": "Copied",
    "leave": "Finish and go back",
    # headings and sentences
    "progress": "Question {number} of {total}",
    "practice": "Practice {number} of {total}",
    "progress_bar": "Progress",
    "practice_over": "That was the practice. Now the study begins; your answers are kept from here on.",
    "right": "Yes, that is the answer we had in mind.",
    "wrong": "We had another answer in mind: it is marked.",
    "break_title": "Time for a break",
    "break": "You have answered {number} of {total} questions. Rest your eyes, and go on when you like.",
    "part_title": "Part {number} of {total}",
    "part": "From here on you are asked something else:",
    "survey_first_title": "A few questions first",
    "survey_title": "A few last questions",
    "required": "must be filled in",
    "choose_one": "please choose",
    "done_title": "Done. Thank you!",
    "done": "Your answers have arrived. You can close this page.",
    "code": "Your completion code",
    "terms_title": "Before you start",
    "terms_time": "To count as complete, take your time: at least {seconds} seconds for all questions together.",
    "terms_skips": "To count as complete, answer at least {answered} of the {total} questions. Skipping a question, or "
    "saying that you can't tell, does not count.",
    "terms_practice": "Practice questions count, too.",
    "no_code_time": "There is no completion code: the questions were answered in less time than was asked for at the "
    "start. If this is a mistake, please write to the people who invited you.",
    "no_code_skips": "There is no completion code: fewer questions were answered than was asked for at the start. If "
    "this is a mistake, please write to the people who invited you.",
    "no_code_not_shown": "There is no completion code, since too much could not be shown to you. That is not your "
    "fault: please write to the people who invited you, so that they can make it good.",
    "no_code_rehearsal": "This was a rehearsal: its answers are left out of the study, and there is no code.",
    "redirecting": "You are taken back in a moment.",
    "declined_title": "Thank you for your time",
    "declined": "Nothing of this visit was kept. If you took part before, your answers of then are still there; the "
    "people who invited you can remove them. You can close this page.",
    "full_title": "This study is complete",
    "full": "It has all the people it needs. Thank you for coming.",
    "not_open_title": "This study is not open yet",
    "not_open": "Please come back later, by the same link. Nothing about you was kept.",
    "paused_title": "This study is paused",
    "paused": "Your answers so far are kept. Leave this page open, or come back later: it goes on where you stopped.",
    "paused_before": "Leave this page open, or come back later: the questions begin as soon as it goes on.",
    "not_named_title": "This study is by invitation",
    "not_named": "Please use the very link that you were sent.",
    "crowded_title": "Please come back later",
    "crowded": "Too many people came from your network within an hour. Nothing about you was kept.",
    "erased_title": "Your answers were removed",
    "erased": "They were removed from this study, as you asked, and no more are taken through this link. You can close "
    "this page.",
    "withdrawn_title": "Your invitation was withdrawn",
    "withdrawn": "The people who invited you have taken it back. The answers that you gave before are kept; no more "
    "are taken, and there is no completion code. If this is a mistake, please write to them.",
    "displaced_title": "Your place was given to somebody else",
    "displaced": "A place in this study waits only for a while, and somebody else has yours now. The answers that you "
    "gave before are kept; no more are taken, and there is no completion code. If this is a mistake, please write to "
    "the people who invited you.",
    "fault_title": "Something went wrong",
    "fault": "Please load this page again. What you have answered is kept.",
    "no_script": "This study needs JavaScript. Please allow it for this page and load it again.",
    # notices
    "loading": "Loading …",
    "offline": "No connection. Your answers are kept on this device and sent as soon as it is back.",
    "unavailable": "The server cannot store answers just now. Nothing is lost: yours are kept here and sent again.",
    "back_online": "The connection is back; everything was sent.",
    "other_tab": "This question was answered in another tab; here is where you are now.",
    "not_loaded": "This could not be loaded.",
    "not_shown": "I cannot see it: go on without an answer",
    "not_played": "I cannot play it: go on without an answer",
    "play_first": "Please play every sound or film before you answer.",
    "all_played": "Now you can answer.",
    # times
    "timing_exposure": "Each question is to be seen for {seconds} s. Then its items are hidden, and you answer from "
    "memory.",
    "timing_least": "Take a good look: an answer is taken from {seconds} s on.",
    "timing_limit": "You have {seconds} s for each question. A bar shows how much is left; after that the question is "
    "over, and counts as not answered.",
    "timing_to_the_end": "Sounds and films have to be played to their end before you can answer.",
    "recorded": "With each answer this page keeps the kind of your device, the size of its window, and for how long "
    "you left the page.",
    "play_to_end": "Please play every sound or film to its end before you answer.",
    "look_first": "You can answer in a moment.",
    "hidden_item": "hidden",
    "time_left": "{seconds} s left",
    "time_over_title": "The time is over",
    "time_over": "This question counts as not answered. Go on when you are ready.",
    # for the keyboard; `key_skip` and `key_cant_tell` are the keys themselves
    "key_skip": "s",
    "key_cant_tell": "c",
    "shortcuts": "Single keys answer",
    "keys_two": "← → or 1 2 answer",
    "keys_several": "1 to {last} answer · ← → and Enter",
    "keys_pick": "1 to {last} pick · ← → and Enter · Enter confirms",
    "keys_slider": "← → move · Enter confirms",
    "keys_labelling": "1 to {last} class, then 1 to 5 how sure · Esc goes back",
    "keys_piles": "1 to 9 put it into a pile · ← → take another",
    "keys_table": "1 to 9 take one · ← → ↑ ↓ move it, with Shift a little · Enter puts it down",
    "keys_page": "Enter goes on",
    # for screen readers
    "head_item": "The one to compare with",
    "answers": "Answers",
    "pair": "Pair {number}: {first}, and {second}",
    "in_order": "number {number} in the order",
    "not_sorted": "not sorted yet",
    "pile": "Pile {number}",
    "table": "Table",
    "not_placed": "not on the table yet",
    "placed": "{right} to the right, {up} up",
    "placed_near": "{right} to the right, {up} up, nearest to {nearest}",
    "colour": "Colour {content}",
    "choose": "Choose",
    "enlarge": "Enlarge {content}",
    "close": "Close",
}

_PLACE = re.compile(r"{(\w+)}")


def places(text: str) -> set[str]:
    """The names in braces of a text."""
    return set(_PLACE.findall(text))


def fill(text: str, values: Mapping[str, str]) -> str:
    """A text with those of its places filled in that are known."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), text)


def default_texts() -> dict[str, str]:
    """What is asked, by form, and all other words."""
    return {name: text for form in PAGES.values() for name, text in form.asks.items()} | DEFAULTS


def all_texts(own: Mapping[str, str]) -> dict[str, str]:
    """The words of a study: its own before the defaults; ValueError where a name or a place is not known."""
    defaults = default_texts()
    for name, text in own.items():
        if name not in defaults:
            near = difflib.get_close_matches(name, defaults, 1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"texts.{name}: there is no text of this name{hint}")
        strange = places(text) - places(defaults[name])
        if strange:
            raise ValueError(f"texts.{name}: nothing can be filled in for {{{min(strange)}}}; found {text!r}")
        if name.startswith("key_") and len(text) != 1:
            raise ValueError(f"texts.{name}: expected one key, found {text!r}")
    return {**defaults, **own}
