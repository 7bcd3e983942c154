"""The form is made from the settings' own schema: every key is on it, is explained, and comes back as it was."""

import runpy
import tomllib
from pathlib import Path

import pytest

import similitude.study
from similitude.feedback.forms import PAGES
from similitude.study.editing.document import changed, values_of, written
from similitude.study.editing.fields import fields, parts, sentences
from similitude.study.fault import StudyError
from similitude.study.settings import Study
from tests.study.test_settings import keys

STARTED = (Path(similitude.study.__file__).parent / "started" / "new" / "study.toml").read_text(encoding="utf-8")
TEMPLATE = STARTED.replace("$title", "Faces")
DOCS = Path(__file__).parents[3] / "docs"


def samples(field):
    """Values that a key of this kind may have, as the page sends them."""
    whole = int(field.least or 0) + 1
    return {
        "text": ["a \"b\" 'c' \\ # = [x]\n", "ü <b>"], "colour": ["#8a8a8a"], "whole": [whole], "switch": [True, False],
        "number": [whole / 2, whole], "choice": list(field.choices), "numbers": [[1, 2.5]],
        "texts": [["a", "b # c"], *(["de"] if field.single else [])], "toml": [[{"a": 1}]], "words": [{"a b": "c"}],
        "rows": [[{one.key.rpartition(".")[2]: samples(one)[-1] for one in field.fields}] * 2],
        "table": [{one.key.rpartition(".")[2]: samples(one)[-1] for one in field.fields}],
    }[field.kind]  # fmt: skip


def known():
    """All keys, those of rows among them."""
    return {key for field in fields().values() for key in (field.key, *(one.key for one in field.fields))}


def test_every_key_of_the_settings_is_a_field_in_its_part():
    assert set(keys()) <= known()
    assert {key for key in fields() if key not in set(keys()) and not fields()[key].fields} == set()
    assert [part.name for part in parts()] == ["", *dict.fromkeys(key.split(".")[0] for key in fields() if "." in key)]
    assert fields()["question.form"].choices == tuple(PAGES)
    assert (fields()["choose.lease_minutes"].beyond, fields()["question.grid_size"].most) == (0, 60)


@pytest.mark.parametrize("field", fields().values(), ids=list(fields()))
def test_every_key_is_explained_and_shows_its_default(field):
    assert field.words
    assert all(one.words for one in field.fields)
    study = Study(name="x", folder=Path(), title="T").model_dump(mode="json")
    section, _, name = field.key.rpartition(".")
    if not field.required:
        assert (field.default or None) == ((study[section] if section else study)[name] or None)


def test_nothing_is_explained_that_is_no_key():
    assert set(sentences()) <= known()


def test_the_reference_says_the_same():
    page = (DOCS / "reference" / "study.md").read_text(encoding="utf-8")
    assert runpy.run_path(str(DOCS / "keys.py"))["page_with"](page) == page, "run `python docs/keys.py`"
    assert [key for key in sentences() if f"| `{key}` |" not in page] == []


@pytest.mark.parametrize("text", ["", 'title = "T"\n', TEMPLATE], ids=["empty", "short", "template"])
@pytest.mark.parametrize("field", [one for one in fields().values() if one.kind != "words"], ids=lambda one: one.key)
def test_what_the_form_says_is_what_the_file_says_and_comes_back(field, text):
    for value in samples(field):
        there = changed(text, {field.key: value})
        assert values_of(there) == {**values_of(text), field.key: value}
        assert changed(there, {field.key: value}) == there, "what is the same is not written"
        assert values_of(changed(there, {field.key: None})) == {
            k: v for k, v in values_of(text).items() if k != field.key
        }


def test_all_keys_at_once_come_back():
    every = {key: samples(field)[0] for key, field in fields().items() if field.kind != "words"}
    there = changed(TEMPLATE, every)
    assert values_of(there) == every
    assert values_of(changed(there, dict.fromkeys(every))) == {}


def comments(text):
    return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]


def test_what_the_researcher_wrote_beside_the_keys_stays_and_so_does_the_order():
    said = "# mine\ntitle = 'Old' # why so\n\n# about the question\n[question]  # a table\nnumber = 60# tight\n"
    said += "form='triplet'\n"
    after = changed(said, {"title": "New", "question.number": 80, "question.pick": 3})
    assert after == said.replace("'Old'", '"New"').replace("60#", "80#") + "pick = 3\n"
    assert comments(changed(after, {"question.number": None})) == [
        "mine", "why so", "about the question", "a table", "number = 80# tight",
    ]  # fmt: skip


def test_a_line_that_is_switched_off_is_switched_on_in_its_place():
    before, after = TEMPLATE.splitlines(), changed(TEMPLATE, {"raters.limit": 12}).splitlines()
    other = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert len(other) == 1
    assert other[0][0].startswith("# limit = 40 ")
    assert other[0][1].startswith("limit = 12 ")
    assert other[0][1].endswith("# how many people; no limit unless given")
    off = changed(changed(TEMPLATE, {"raters.limit": 12}), {"raters.limit": None})
    assert comments(off)[-1] == comments(TEMPLATE)[-1]
    assert "how many people" in off


@pytest.mark.parametrize(
    "text",
    [
        'title = "T"\npages = {consent = "", instructions = ""}\n',
        'title = "T"\npages.consent = ""\nquestion.form = "triplet"\n',
        'title = "T"\n[[survey.fields]]\nname = "a"\nlabel = "A"\n[question]\nform = "choice"\n',
        'title = """\n[question]\n# number = 3\n"""\n',
        '[question]\nform = "triplet"\n[items]\nfolder = "x"\n',
        '\ufefftitle = "T"\r\n[question]\r\nform = "triplet"\r\n',
    ],
)
def test_other_ways_to_write_a_study_can_be_changed_too(text):
    wanted = {
        "question.number": 5, "pages.done": "x.md", "break_every": 2,
        "survey.fields": [{"name": "b", "label": "B", "choices": ["x"]}],
    }  # fmt: skip
    assert values_of(changed(text, wanted)) == {**values_of(text), **wanted}


def test_tables_under_headers_of_their_own_keep_what_stands_beside_them():
    text = 'title = "T"\n# two of them\n[[block]]\nname = "a" # first\n\n[[block]]\n# second\nname = "b"\nmany = 1\n'
    after = changed(text, {"block": [{"name": "a", "page": "x.md"}, {"name": "c"}]})
    assert comments(after) == ["two of them", "first", "second"]
    assert tomllib.loads(after)["block"] == [{"name": "a", "page": "x.md"}, {"name": "c"}]
    assert tomllib.loads(changed(text, {"block": [{"name": "z"}]}))["block"] == [{"name": "z"}]


def test_what_is_no_toml_is_said():
    with pytest.raises(StudyError, match="not valid TOML"):
        changed("title = ", {"title": "x"})


@pytest.mark.parametrize(
    "value", [1, 1.5, True, "a\n\"'\\\u0007\u2028", ["a", 1], [], {}, [{"a": [{"b": 1}]}], {"a b": 1}]
)
def test_a_value_is_written_so_that_it_reads_the_same(value):
    assert tomllib.loads(f"x = {written(value)}\n")["x"] == value
