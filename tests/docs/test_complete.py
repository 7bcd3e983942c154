"""Every public name, command, form and setting is documented."""

import re

import pytest

import similitude as sm
from similitude.cli import app
from similitude.feedback.files.layouts import layouts
from similitude.feedback.forms import FORMS, PAGES, PIECES
from tests.docs.pages import DOCS, blocks

REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").glob("*.md")))
QUESTIONS = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "questions").glob("*.md")))
METHODS = ("STE", "TSTE", "CKL", "SOE", "GNMDS")


@pytest.mark.parametrize("name", sorted({*sm.__all__} - {"datasets", "export", "plot"}))
def test_public_name_is_in_the_reference(name):
    assert re.search(rf"^ +similitude\.{name}$", REFERENCE, re.MULTILINE)


@pytest.mark.parametrize(
    "name", [f"{room.__name__}.{name}" for room in (sm.datasets, sm.export, sm.plot) for name in room.__all__]
)
def test_name_in_a_room_is_in_the_reference(name):
    assert re.search(rf"^ +{re.escape(name)}$", REFERENCE, re.MULTILINE)


def test_the_reference_names_nothing_that_is_gone():
    listed = re.findall(r"^ +similitude\.([\w.]+)$", REFERENCE, re.MULTILINE)
    rooms = {"datasets": sm.datasets, "export": sm.export, "plot": sm.plot}
    known = {*sm.__all__, *(f"{called}.{name}" for called, room in rooms.items() for name in room.__all__)}
    assert sorted(set(listed) - known) == []
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("command", [command.name or command.callback.__name__ for command in app.registered_commands])
def test_command_is_documented_and_shown_in_use(command):
    assert f"`similitude {command} " in REFERENCE
    shown = [text for page in DOCS.rglob("*.md") for language, text in blocks(page) if language == "bash"]
    assert any(f"similitude {command}" in text for text in shown)


STUDY = next(group.typer_instance for group in app.registered_groups if group.name == "study")


@pytest.mark.parametrize("command", [one.name or one.callback.__name__ for one in STUDY.registered_commands])
def test_command_of_a_study_is_documented_and_shown_in_use(command):
    assert f"`similitude study {command} " in REFERENCE
    shown = [text for page in DOCS.rglob("*.md") for language, text in blocks(page) if language in ("bash", "text")]
    assert any(f"similitude study {command}" in text for text in shown)


@pytest.mark.parametrize("form", [*FORMS.values(), *PIECES.values()], ids=lambda form: form.name)
def test_form_is_documented_as_it_says_itself(form):
    assert f"| `{form.name}` | {form.shows} | {form.says} |" in REFERENCE
    if form.name in FORMS:
        assert f"`{form.name}`" in QUESTIONS


@pytest.mark.parametrize("page", PAGES)
def test_form_that_a_study_asks_is_documented(page):
    assert f"| {page} |" in REFERENCE
    for name, text in PAGES[page].asks.items():
        assert f"| `{name}` | {text} |" in REFERENCE
    for key in PAGES[page].settings:
        assert f"| `question.{key}` |" in REFERENCE


@pytest.mark.parametrize("layout", layouts(), ids=str)
def test_layout_is_documented(layout):
    files = (DOCS / "how-to" / "files.md").read_text(encoding="utf-8").lower()
    assert ", ".join(names[0] for names in layout.columns) in files


@pytest.mark.parametrize("method", METHODS)
def test_method_has_a_page_that_says_what_it_must(method):
    text = (DOCS / "methods" / f"{method.lower()}.md").read_text(encoding="utf-8")
    for heading in ("## Formula", "## What differs from print", "## Cost", "## When"):
        assert heading in text
    assert f'pictures.method("{method}")' in text
