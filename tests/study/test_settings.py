"""study.toml: what is right is taken, what is wrong is said with its key; template and reference know every key."""

import math
import re
import tomllib
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

import similitude.study
from similitude.feedback.forms import PAGES
from similitude.study.create import colour_study, new_study
from similitude.study.designs import Condition, QuestionBlock
from similitude.study.fault import WrongKeys
from similitude.study.items import read_items
from similitude.study.settings import OURS, Study, StudyError, read_studies, read_study
from similitude.study.texts import all_texts, default_texts
from tests.study.making import SHORT, faces, write_study

STARTED = (Path(similitude.study.__file__).parent / "started" / "new" / "study.toml").read_text(encoding="utf-8")
REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "study.md").read_text(encoding="utf-8")

STUDY = Study.model_json_schema()


def keys(model=Study, prefix=""):
    """Every key that a study may have, sections written with a dot."""
    for name, field in model.model_fields.items():
        if model is Study and name in ("name", "folder", "words", "spoken", "wording", "seen_by"):
            continue
        several = {"block": QuestionBlock, "condition": Condition} if model is Study else {}
        kind = several.get(name, field.annotation)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from keys(kind, f"{name}.")
        else:
            yield f"{prefix}{name}"


def read(tmp_path, toml):
    return read_study(write_study(tmp_path, "faces", f'title = "T"\n{SHORT}{toml}'))


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("titel = 1", r"study\.toml: titel: unknown key"),
        ('name = "x"', r"study\.toml: name: unknown key"),
        ("words = {}", r"study\.toml: words: unknown key"),
        ('language = "<b>"', r"language: .*found '<b>'"),
        ("break_every = -1", r"break_every: expected at least 0, found -1"),
        ('[question]\nform = "quiz"', r"question\.form: .*'triplet'.*found 'quiz'"),
        ("[question]\nnumber = 0", r"question\.number: .*found 0"),
        ('[question]\nform = "choice"\ngrid_size = 3\npick = 3', "pick: expected fewer than the 3 items"),
        ('[question]\nform = "labelling"', "classes: a labelling needs at least 2"),
        ("[choose]\nrandom_share = 2", r"choose\.random_share: .*found 2"),
        ("[catch]\nevery = 5", "questions: catch trials are asked for"),
        ('[survey]\nfields = [{name = "a", label = "A", kind = "choice"}]', "choices: a field of kind choice needs"),
        ('[survey]\nfields = [{name = "A b", label = "A"}]', r"survey\.fields\.0\.name: .*found 'A b'"),
        ('[completion]\nredirect = "javascript:alert(1)"', r"completion\.redirect: .*found 'javascript"),
        ('[question]\nnumber = "7"', r"question\.number: expected a whole number, found '7'"),
        ("[question]\nnumber = true", r"question\.number: expected a whole number, found True"),
        ("[question]\nnumber = 7.0", r"question\.number: expected a whole number, found 7\.0"),
        ('[question]\nskip = "no"', r"question\.skip: expected true or false, found 'no'"),
        ("[question]\nskip = 1", r"question\.skip: expected true or false, found 1"),
        ('[choose]\nlease_minutes = "15"', r"choose\.lease_minutes: expected a number, found '15'"),
        ("[choose]\nrandom_share = true", r"choose\.random_share: expected a number, found True"),
        ("[choose]\nlease_minutes = inf", r"choose\.lease_minutes: expected a number that is not infinite, found inf"),
        ('[raters]\nlimit = "40"', r"raters\.limit: expected a whole number, found '40'"),
        ('break_every = "5"', r"break_every: expected a whole number, found '5'"),
        ('[practice]\nquestions = [{shown = ["a", "b", "c"], correct = ["1"]}]', r"correct\.0: .*found '1'"),
        ("[raters]\ninvited = true\nparameter = []", "parameter: people are let in by name"),
        ('[texts]\nskp = "x"', r"texts\.skp: there is no text of this name; did you mean 'skip'\?"),
        ('[texts]\nbreak = "after {count}"', r"texts\.break: nothing can be filled in for \{count\}"),
        ('[texts]\nkey_skip = "space"', r"texts\.key_skip: expected one key, found 'space'"),
        ("[question", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(tmp_path, toml, message):
    with pytest.raises(StudyError, match=message):
        read(tmp_path, toml)


def test_a_title_is_needed(tmp_path):
    with pytest.raises(StudyError, match="title: expected a value, found none"):
        read_study(write_study(tmp_path, "faces", SHORT))


def test_a_page_that_is_not_there_is_an_error_unless_it_is_not_wanted(tmp_path):
    folder = write_study(tmp_path, "faces", 'title = "T"\n')
    (folder / "consent.md").unlink()
    with pytest.raises(
        StudyError, match=r"pages\.consent: cannot read 'consent\.md' .*consent = \"\" for no such page"
    ):
        read_study(folder)
    (folder / "study.toml").write_text('title = "T"\npages = {consent = ""}\n', encoding="utf-8")
    study = read_study(folder)
    assert study.page("consent") is None
    assert study.page("instructions").startswith("# How it works")


def test_the_version_follows_every_word(tmp_path):
    folder = write_study(tmp_path, "faces", 'title = "T"\n')
    first = read_study(folder).version
    assert read_study(folder).version == first
    (folder / "consent.md").write_text("Other words.", encoding="utf-8")
    second = read_study(folder).version
    (folder / "study.toml").write_text('title = "T"\n[texts]\nskip = "Next"\n', encoding="utf-8")
    assert len({first, second, read_study(folder).version}) == 3


def test_a_folder_without_a_study_says_how_to_make_one(tmp_path):
    with pytest.raises(StudyError, match="similitude study new"):
        read_studies(tmp_path)
    with pytest.raises(StudyError, match="expected letters, digits, - and _"):
        read_study(write_study(tmp_path, "my faces!", 'title = "T"\n'))


def test_two_studies_have_two_addresses(tmp_path):
    for name in ("Faces", "faces"):
        write_study(tmp_path, name, 'title = "T"\n')
    with pytest.raises(StudyError, match="'Faces' and 'faces' would have the same address"):
        read_studies(tmp_path)


def test_a_text_must_be_text(tmp_path):
    study = read_study(write_study(tmp_path, "words", f'title = "T"\n{SHORT}', {"items/a.txt": b"\xff\xfe"}))
    with pytest.raises(StudyError, match=r"a\.txt is not text in UTF-8"):
        read_items(study)


def test_own_texts_go_before_the_defaults():
    assert all_texts({"skip": "Weiter"}) == default_texts() | {"skip": "Weiter"}


def test_a_new_study_is_served_once_it_has_items(tmp_path):
    folder = tmp_path / "my-faces"
    written = new_study(folder)
    assert all(path.is_file() for path in written)
    study = read_study(folder)
    assert study.title == "My faces"
    with pytest.raises(StudyError, match="'items' is empty"):
        read_items(study)
    write_study(tmp_path, "my-faces", (folder / "study.toml").read_text(encoding="utf-8"), faces(4))
    assert list(read_items(study)) == ["face00", "face01", "face02", "face03"]


def test_a_new_study_says_nothing_but_the_defaults(tmp_path):
    new_study(tmp_path / "faces")
    made = read_study(tmp_path / "faces")
    plain = Study(name="faces", folder=made.folder, title="Faces", words=made.words, wording=made.wording)
    assert made == plain


def test_nothing_is_overwritten(tmp_path):
    new_study(tmp_path / "faces")
    with pytest.raises(StudyError, match="there is a study"):
        new_study(tmp_path / "faces")
    other = tmp_path / "begun"
    other.mkdir()
    (other / "consent.md").write_text("Mine.", encoding="utf-8")
    new_study(other)
    assert (other / "consent.md").read_text(encoding="utf-8") == "Mine."


def test_the_colour_study_is_ready(tmp_path):
    colour_study(tmp_path / "colours", {f"c{k}": f"#0{k}0000" for k in range(9)})
    items = read_items(read_study(tmp_path / "colours"))
    assert {item.kind for item in items.values()} == {"colour"}
    assert items["c3"].content == "#030000"


@pytest.mark.parametrize("key", sorted(keys()))
def test_every_key_is_in_the_template_and_in_the_reference(key):
    section, _, name = key.rpartition(".")
    assert f"| `{key}` |" in REFERENCE
    uncommented = STARTED.replace("\n# ", "\n")
    starts = re.split(rf"\n\[+{section}\]+", uncommented) if section else ["", uncommented]
    part = starts[1].split("\n[")[0]
    assert re.search(rf"^{name} = |^\[{key}\]", f"{part}\n[{key}]" if key == "texts" else part, re.MULTILINE)


def test_the_template_names_every_form():
    assert f"# {', '.join(PAGES)}\n" in re.sub(r"\n +# ", " ", STARTED)


def test_the_template_holds_with_every_line_switched_on():
    text = STARTED.replace("$title", "T").split("\n\n", 1)[1].replace("\n# ", "\n")
    choose = {"form": "triplet", "number": 60}
    written = {**tomllib.loads(text), "name": "x", "folder": Path()}
    design = {name: written.pop(name) for name in ("block", "condition")}
    study = Study(**written)
    assert study.question.model_dump().items() >= choose.items()
    assert study.completion.code == "C1A2B3"
    del written["practice"], written["catch"]  # which blocks have in themselves
    assert [one.length for one in Study(**written, **design).seen] == [23, 23]


def test_every_text_is_in_the_reference():
    assert [name for name in default_texts() if f"| `{name}` |" not in REFERENCE] == []


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,../../secret.png,", "outside the study's folder"),
        ("a,none.png,", "which is not there"),
        ("a,,red", "expected #rrggbb"),
        ("..,,#ffffff", "not dots alone"),
    ],
)
def test_a_table_of_items_is_checked(tmp_path, row, message):
    toml = f'title = "T"\n{SHORT}[items]\ntable = "items.csv"\n'
    folder = write_study(tmp_path, "faces", toml, {"items.csv": f"name,file,colour\n{row}\n"})
    with pytest.raises(StudyError, match=message):
        read_items(read_study(folder))


WRONG = ("x y", "", -1, 1.5, math.inf, True, [], [7], [{"no": 1}], {}, {"no": 1}, None)


def wrong_studies(schema, defined, put):
    """Studies each of which has something else in the place of one key, at any depth."""
    for name, found in schema["properties"].items():
        if schema is STUDY and name in OURS:
            continue
        for value in WRONG:
            yield put({name: value})
        ways = found.get("anyOf", [found])
        for way in [*ways, *(found.get("allOf", []))]:
            of = way.get("items", way)
            inside = defined.get(of.get("$ref", "").rpartition("/")[2])
            if inside and "properties" in inside:
                within = (lambda one: [one]) if "items" in way else (lambda one: one)
                deeper = lambda one, name=name, within=within: put({name: within(one)})  # noqa: E731
                yield from wrong_studies(inside, defined, deeper)


def test_no_sentence_about_a_key_is_pydantics_own():
    said = set()
    for study in wrong_studies(STUDY, STUDY["$defs"], lambda one: {"title": "T", **one}):
        try:
            Study(**{**study, "name": "x", "folder": Path()})
        except ValidationError as error:
            said |= {fault.sentence for fault in WrongKeys.of(Path(), error.errors(include_url=False)).faults}
    assert len(said) > 60
    theirs = ("Input", "should", "Field required", "valid ", "Value error", "another value", "pattern")
    assert [one for one in said if any(word in one for word in theirs)] == []
    words = re.compile(r"expected|unknown key|but none is given|at least 2|there is no text")
    assert [one for one in said if not words.search(one)] == []
