"""The pages that edit a study, asked as a browser asks them: saved and told by key, two at once, drafts, a restart."""

import errno
import io
import itertools
import json
import re
import zipfile

import pytest

from similitude.study import revisions
from similitude.study.audit import deeds
from similitude.study.editing.document import values_of
from similitude.study.following import look
from similitude.study.refusal import Refused
from similitude.study.site import open_site
from similitude.study.web.app import create_app
from similitude.study.web.limits import LIMITS
from tests.study.making import faces, picture, words
from tests.study.test_login import PASSWORD, Browser

_NUMBERS = itertools.count(1)


class Designer(Browser):
    """Somebody who edits the studies of a site, in one tab or in several."""

    def told(self, study, page=""):
        text = self.get(f"/admin/{study}/design{page}").text
        return json.loads(re.search(r'id="told">(.*?)</script>', text, re.DOTALL)[1])

    def tell(self, study, where, told, **body):
        return self.raw(f"/admin/{study}/design{where}", json={"csrf": told["csrf"], **body})

    def raw(self, address, **sent):
        return self._run(self.client.post(address, **sent))

    def save(self, study, told, **changes):
        keys = {key.replace("__", "."): value for key, value in changes.items()}
        return self.tell(study, "", told, basis=told["basis"], changes=keys)

    def upload(self, study, files, told=None, page="/items", **body):
        told = told or self.told(study, page)
        sent = []
        for k, (name, data) in enumerate(files.items()):
            uid, content = f"upload-{k:04d}", data if isinstance(data, bytes) else data.encode()
            for at in range(0, len(content), told["piece"]):
                piece = content[at : at + told["piece"]]
                address = f"/admin/{study}/design/upload/{uid}?at={at}"
                assert self.raw(address, content=piece, headers={"X-CSRF": told["csrf"]}).status_code == 200
            sent.append({"uid": uid, "name": name})
        do = {"do": "add" if page == "/items" else "pictures"}
        return self.tell(study, page, told, files=sent, **{**do, **body})

    def preview(self, study, told, changes=None, **fields):
        sent = {"csrf": told["csrf"], "changes": json.dumps({"changes": changes or {}}), **fields}
        return self.raw(f"/admin/{study}/preview", data=sent)


def designer_of(site, limits=LIMITS):
    app = create_app(site, limits=limits)
    door = app.state.door
    if not door.has_admin():
        door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    designer = Designer(app)
    designer.log_in()
    return designer


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server whose studies are all made by the tests, each its own."""
    site = open_site(tmp_path_factory.mktemp("studies"))
    yield site
    site.close()


@pytest.fixture(scope="module")
def designer(site):
    return designer_of(site)


@pytest.fixture
def study(designer):
    """A study of ten words, which can be served."""
    name = f"words-{next(_NUMBERS)}"
    make(designer, name)
    assert designer.upload(name, zipped(words())).status_code == 200
    return name


@pytest.fixture(scope="module")
def untouched(designer):
    """One that no test changes."""
    make(designer, "untouched")
    assert designer.upload("untouched", zipped(words())).status_code == 200
    return "untouched"


def zipped(files):
    """Files as one archive: one request, not many."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return {"set.zip": out.getvalue()}


def make(designer, name, form="triplet", title="Some <b>words</b>"):
    return designer.send("/admin/-/new", "/admin/-/new", name=name, title=title, form=form)


def text_of(site, name):
    return (site.root / name / "study.toml").read_text(encoding="utf-8")


def test_a_study_is_made_from_an_empty_server(tmp_path):
    site = open_site(tmp_path)
    designer = designer_of(site)
    assert "There is no study here yet" in designer.get("/admin").text
    assert make(designer, "words").headers["location"] == "/admin/words/design"
    told = designer.told("words")
    assert told["values"]["title"] == "Some <b>words</b>"
    links = {one["words"]: one["page"] for one in told["to_do"]}
    assert links == {"Items": "items", "Consent": "pages#page=consent"}
    assert not re.search(r"folder|file|toml|\.md", " ".join(one["sentence"] for one in told["to_do"]))
    assert "Some &lt;b&gt;words&lt;/b&gt;" in designer.get("/admin/words/design").text
    assert designer.get("/s/words/").status_code == 404, "a draft without items is served to nobody"
    assert deeds(site.database)[0].what == "made"
    site.close()


@pytest.mark.parametrize("form", ["labelling", "attribute", "placement", "choice"])
def test_every_form_can_be_begun_with(site, designer, form):
    make(designer, form, form)
    assert values_of(text_of(site, form))["question.form"] == form
    assert designer.upload(form, zipped(faces(12))).status_code == 200
    designer.save(form, designer.told(form), question__number=5)
    assert designer.told(form)["faults"] == []


def test_a_name_that_cannot_be_an_address_is_refused(site, designer, study):
    before = set(site.root.iterdir())
    for name in ["", "../x", "Words", "a b", "-", study, "x" * 80, "<script>"]:
        answer = make(designer, name)
        assert answer.status_code == 422
        assert "<script>" not in answer.text
    assert set(site.root.iterdir()) == before
    assert not (site.root.parent / "x").exists()


def test_only_what_was_changed_is_written(site, designer, study):
    before = text_of(site, study)
    answer = designer.save(study, designer.told(study), question__number=9, break_every=4)
    assert answer.status_code == 200
    lines = [
        (one, two)
        for one, two in zip(before.splitlines(), text_of(site, study).splitlines(), strict=True)
        if one != two
    ]
    assert [two.split("#")[0].strip() for _, two in lines] == ["break_every = 4", "number = 9"]
    assert site.studies[study].study.question.number == 9, "it is served at once"
    assert answer.json()["values"]["question.number"] == 9
    assert designer.told(study)["basis"] == answer.json()["basis"]


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"question.number": "many"}, "question.number", "expected a whole number, found 'many'"),
        ({"question.number": 0}, "question.number", "expected at least 1, found 0"),
        ({"title": None}, "title", "expected a value, found none"),
        ({"question.form": "labelling"}, "question.classes", "at least 2"),
        ({"catch.every": 3}, "catch.questions", "none is given"),
        ({"completion.redirect": "javascript:alert(1)"}, "completion.redirect", "expected an address"),
        ({"survey.fields": [{"name": "a", "label": "A"}, {"name": "B", "label": "B"}]}, "survey.fields.1.name", "exp"),
        ({"language": "<b>"}, "language", "expected"),
        ({"condition": [{"name": "a"}, {"name": "B b"}]}, "condition.1.name", "expected a small letter, then up to 40"),
        ({"condition": [{"name": "a"}, {"name": "a"}]}, "condition.1.name", "found 'a' twice"),
        ({"condition": [{"name": "a"}, {"name": "b", "blocks": ["c"]}]}, "condition.1.blocks", "no blocks, found 'c'"),
        ({"condition": [{"name": "a"}]}, "condition", "found only 'a'"),
        ({"block": [{"name": "a", "question": {"number": 0}}]}, "block.0.question.number", "expected at least 1"),
        ({"block": [{"name": "a"}, {"name": "b", "catch_every": 2}]}, "block.1.catch_every", "expected 0, or"),
        ({"pages.consent": "none.md"}, "pages.consent", "cannot read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_of_its_key_and_nothing_is_written(site, designer, untouched, changes, key, said):
    before = text_of(site, untouched)
    answer = designer.tell(untouched, "", (told := designer.told(untouched)), basis=told["basis"], changes=changes)
    assert answer.status_code == 422
    faults = {fault["key"]: fault["sentence"] for fault in answer.json()["faults"]}
    assert said in faults[key]
    assert str(site.root) not in answer.text, "where the files lie is nobody's business"
    assert text_of(site, untouched) == before


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"block": [{"name": "a"}, {"name": "b", "items": ["x"]}]}, "block.1", "shows 3 items, but there are 0"),
        ({"block": [{"name": "a", "practice": [{"shown": ["x"], "correct": [1]}]}]}, "block.0.practice", "no item"),
        ({"block": [{"name": "a", "question": {"number": 9999}}]}, "block.0.question.number", "give only"),
        ({"condition": [{"name": "a"}, {"name": "b", "items": ["x"]}]}, "condition.1", "there are 0"),
    ],
)  # fmt: skip
def test_what_a_draft_still_lacks_is_said_of_the_row_that_lacks_it(designer, study, changes, key, said):
    answer = designer.save(study, designer.told(study), **changes)
    assert answer.status_code == 200, "the items may come later"
    assert said in {one["key"]: one["sentence"] for one in answer.json()["to_do"]}[key]


def test_what_is_to_be_seen_to_leads_to_the_page_that_mends_it(designer, study):
    known = [{"shown": ["a", "b", "c"], "correct": [1]}]
    answer = designer.save(study, designer.told(study), language=["de", "sw"], catch__questions=known)
    said = {one["words"] or one["key"]: one for one in answer.json()["to_do"]}
    assert said["Texts in de"]["page"] == "pages#language=de"
    assert "made by a machine" in said["Texts in de"]["sentence"]
    assert said["Texts in sw"]["page"] == "pages#language=sw"
    assert "1 catch question is never asked: this is 0" in said["catch.every"]["sentence"]
    assert not any("toml" in one["sentence"] for one in said.values())


def test_what_the_question_says_wrong_is_not_said_again_of_every_block(designer, untouched):
    changes = {"question__number": "x", "block": [{"name": "a"}, {"name": "b", "question": {"number": "x"}}]}
    answer = designer.save(untouched, designer.told(untouched), **changes)
    assert [fault["key"] for fault in answer.json()["faults"]] == ["question.number"]
    changes["block"][1]["question"]["number"] = -1
    answer = designer.save(untouched, designer.told(untouched), **changes)
    assert [fault["key"] for fault in answer.json()["faults"]] == ["question.number", "block.1.question.number"]


def test_what_was_typed_as_toml_is_read(site, designer, study):
    typed = [{"name": "a", "label": "A", "choices": {"as toml": '["x", "y"] # two'}, "kind": "choice"}]
    assert designer.save(study, designer.told(study), survey__fields=typed).status_code == 200
    assert site.studies[study].study.survey.fields[0].choices == ("x", "y")
    wrong = designer.save(study, designer.told(study), survey__fields={"as toml": "[1, "})
    assert (wrong.status_code, "not valid TOML" in wrong.text) == (422, True)


def test_two_tabs_at_once_the_second_is_told_and_loses_nothing(site, designer, study):
    first, second = designer.told(study), designer.told(study)
    assert designer.save(study, first, question__number=9).status_code == 200
    late = designer.save(study, second, break_every=5)
    assert late.status_code == 409
    assert "changed since you looked at it (revision 3, ada" in late.json()["detail"]
    assert "break_every = 5" not in text_of(site, study)
    again = designer.save(study, {**second, "basis": late.json()["now"]["basis"]}, break_every=5)
    assert again.status_code == 200
    assert {"question.number": 9, "break_every": 5}.items() <= again.json()["values"].items()


def test_an_edit_by_hand_in_between_is_told_too(site, designer, study):
    told = designer.told(study)
    path = site.root / study / "study.toml"
    path.write_text(text_of(site, study).replace("Some <b>words</b>", "Other"), encoding="utf-8")
    late = designer.save(study, told, question__number=9)
    assert late.status_code == 409
    assert late.json()["now"]["values"]["title"] == "Other"


def test_the_file_can_be_edited_as_text(site, designer, study):
    told = designer.told(study, "/text")
    assert told["text"] == text_of(site, study)
    other = f"# mine\n{told['text']}".replace("number = 60", "number = 12")
    assert designer.tell(study, "", told, basis=told["basis"], text=other).status_code == 200
    assert text_of(site, study) == other
    told = designer.told(study, "/text")
    wrong = designer.tell(study, "", told, basis=told["basis"], text="title = ")
    assert (wrong.status_code, "not valid TOML" in wrong.text) == (422, True)
    assert text_of(site, study) == other


def test_what_people_were_asked_with_is_locked_and_says_why(site, designer, study):
    assert designer.told(study)["locked"] == {}
    site.studies[study].set_state("live", "ada")
    join_and_answer(site.studies[study])
    told = designer.told(study)
    assert set(told["locked"]) == {"question.form"}
    assert "would not mean the same" in told["locked"]["question.form"]
    refused = designer.save(study, told, question__form="odd_one_out")
    assert refused.status_code == 422
    assert "already" in refused.json()["detail"]
    assert site.studies[study].study.question.form == "triplet"


def join_and_answer(service):
    from tests.study.live import join

    rater = join(service)
    service.questions(rater).result()
    return rater


def test_a_restart_in_between_keeps_a_draft_as_it_was(tmp_path):
    site = open_site(tmp_path)
    designer = designer_of(site)
    make(designer, "later")
    designer.save("later", designer.told("later"), question__number=5)
    site.close()
    again = open_site(site.root)
    try:
        other = designer_of(again)
        told = other.told("later")
        assert told["values"]["question.number"] == 5
        assert other.upload("later", zipped(words())).status_code == 200
        assert len(again.studies["later"].items) == 10
        assert other.save("later", other.told("later"), break_every=2).status_code == 200
    finally:
        again.close()


# --- items ---


def test_items_come_in_are_named_and_served_at_once(site, designer, study):
    bundle = zipped({"more/face.png": picture(grey=90), "../evil.png": picture(grey=91)})
    answer = designer.upload(study, {**bundle, "apple.txt": "again", "big.png": noise()})
    assert answer.status_code == 200
    taken = answer.json()["taken"]
    assert taken["added"] == ["face", "big"]
    assert {name for name, _ in taken["refused"]} == {"../evil.png", "apple.txt"}
    assert "face" in site.studies[study].items
    assert not list(site.root.parent.rglob("evil*"))
    small = designer.get(f"/admin/{study}/design/items/file/big?small=true")
    assert small.headers["content-type"] == "image/webp"
    assert len(small.content) < len(noise()) / 3
    assert designer.get(f"/admin/{study}/design/items/file/big").content == noise()
    assert "ada" in {deed.who for deed in deeds(site.database) if deed.what == "changed"}


def noise():
    """A picture of more than one piece."""
    import numpy as np
    from PIL import Image

    out = io.BytesIO()
    pixels = np.random.default_rng(0).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(out, "PNG")
    return out.getvalue()


def test_an_item_is_renamed_and_taken_out_with_a_warning_where_it_was_asked_about(site, designer, study):
    told = designer.told(study, "/items")
    assert designer.tell(study, "/items", told, do="rename", name="apple", to="pear").status_code == 200
    assert "pear" in site.studies[study].items
    site.studies[study].set_state("live", "ada")
    fill_words(site.studies[study])
    asked = designer.tell(study, "/items", told, do="remove", name="pear")
    assert (asked.status_code, asked.json()["code"]) == (409, "sure")
    assert re.search(r"\d+ answers are about 'pear'", asked.json()["detail"])
    assert "pear" in site.studies[study].items
    assert designer.tell(study, "/items", told, do="remove", name="pear", sure=True).status_code == 200
    assert "pear" not in site.studies[study].items
    assert (site.root / study / ".removed" / "pear.txt").is_file()


def fill_words(service):
    from similitude.study.service import Said
    from tests.study.live import join

    rater = join(service)
    for number in range(20):
        service.questions(rater).result()
        service.answer(Said(rater, number, f"answer-{number:08d}", "answered", [1.0])).result()


def kept_files(site, study):
    folder = site.root / study / "items"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_earlier_revision_comes_back_with_the_files_of_its_items(site, designer, study):
    first, before = site.kept[study].number, kept_files(site, study)

    def act(**body):
        told = designer.told(study, "/items")
        return designer.tell(study, "/items", told, basis=told["basis"], sure=True, **body)

    assert act(do="remove", name="apple").status_code == 200
    assert act(do="rename", name="boat", to="ship").status_code == 200
    assert designer.upload(study, {"drum.txt": "another drum"}, replace=True).json()["taken"]["replaced"] == ["drum"]
    assert "1 file of an item holds something else: items/drum.txt" in revisions.history(site, study)[0].changes
    assert designer.upload(study, {"new.txt": "new"}).status_code == 200
    later, after = site.kept[study].number, kept_files(site, study)
    page = designer.get(f"/admin/{study}/versions/{first}").text
    assert "3 files come back: items/apple.txt, items/boat.txt" in page
    assert "2 files are put away: items/new.txt" in page
    here = f"/admin/{study}/versions/{first}"
    assert designer.send(here, f"/admin/{study}/restore", number=first, base=later).status_code == 303
    assert kept_files(site, study) == before
    assert "apple" in site.studies[study].names
    revisions.restore(site, study, later, "bob")
    assert kept_files(site, study) == after
    assert [one.number for one in revisions.history(site, study)][:2] == [later + 2, later + 1]


def test_files_that_are_gone_are_named_before_anything_is_changed(site, designer, study):
    first = site.kept[study].number
    designer.save(study, designer.told(study), question__number=7)
    folder = site.root / study
    (folder / "items" / "apple.txt").unlink()
    (folder / "items" / "boat.txt").write_text("overwritten by hand", encoding="utf-8")
    look(site), look(site)
    before, number = kept_files(site, study), site.kept[study].number
    with pytest.raises(Refused, match=r"2 files of its items are gone \(items/apple\.txt, items/boat\.txt\)"):
        revisions.restore(site, study, first, "ada")
    assert (kept_files(site, study), site.kept[study].number) == (before, number)
    assert site.studies[study].study.question.number == 7
    page = designer.get(f"/admin/{study}/versions/{first}").text
    assert "2 files are gone: items/apple.txt, items/boat.txt." in page
    assert "Restore this revision" not in page
    here = f"/admin/{study}/versions/{first}"
    sent = {"number": first, "base": number, "texts_alone": "yes"}
    assert designer.send(here, f"/admin/{study}/restore", **sent).status_code == 303
    assert site.studies[study].study.question.number != 7
    assert kept_files(site, study) == before


def test_a_revision_that_cannot_be_served_leaves_the_files_where_they_are(site, designer, study):
    first = site.kept[study].number
    told = designer.told(study, "/items")
    designer.tell(study, "/items", told, basis=told["basis"], do="remove", name="apple")
    before = kept_files(site, study)
    with pytest.raises(Refused, match="changed since you looked"):
        revisions.restore(site, study, first, "ada", base=first)
    assert kept_files(site, study) == before


def test_a_study_that_is_live_keeps_enough_items(site, designer, study):
    site.studies[study].set_state("live", "ada")
    told = designer.told(study, "/items")
    names = [item["name"] for item in told["items"]]
    answers = [designer.tell(study, "/items", told, do="remove", name=name, sure=True) for name in names]
    assert {answer.status_code for answer in answers} == {200, 422}
    left = set(site.studies[study].items)
    assert left == {path.stem for path in (site.root / study / "items").glob("[a-z]*.txt")}, "what was refused is back"
    assert len(left) >= 3


def test_a_question_about_an_item_keeps_it_in(site, designer, study):
    known = [{"shown": ["apple", "boat", "drum"], "correct": [1]}]
    assert designer.save(study, designer.told(study), practice__questions=known).status_code == 200
    site.studies[study].set_state("live", "ada")
    told = designer.told(study, "/items")
    refused = designer.tell(study, "/items", told, do="remove", name="boat", sure=True)
    assert refused.status_code == 422
    assert "practice.questions shows 'boat'" in refused.json()["detail"]
    assert "boat" in site.studies[study].items


# --- texts ---


def test_pages_words_and_pictures_are_written_in_every_language(site, designer, study):
    assert designer.save(study, designer.told(study), language=["en", "de"]).status_code == 200
    pages = "/pages"

    def save(**body):
        told = designer.told(study, pages)
        return designer.tell(study, pages, told, basis=told["basis"], **body)

    assert designer.upload(study, {"one.png": picture(), "no.txt": "x"}, page=pages).json()["taken"]["added"] == [
        "one.png"
    ]
    assert save(do="page", page="consent", language="en", text="# Hello\n\n![](pages/one.png)").status_code == 200
    assert save(do="page", page="consent", language="de", text="# Hallo").status_code == 200
    assert save(do="page", page="done", language="en", text="# Bye").status_code == 200
    assert save(do="words", language="en", words={"skip": "Next"}).status_code == 200
    plural = {"one": "mindestens {seconds} Sekunde", "other": "mindestens {seconds} Sekunden"}
    assert save(
        do="words", language="de", words={"skip": "Weiter", "terms_time": plural, "title": "Wörter", "checked": True}
    )
    said = site.studies[study].study
    assert said.page("consent") == "# Hello\n\n![](pages/one.png)"
    assert (said.page("consent", "de"), said.page("done")) == ("# Hallo", "# Bye")
    assert said.texts == {"skip": "Next"}
    assert said.spoken["de"] == {"skip": "Weiter", "terms_time": plural, "title": "Wörter"}
    german = designer.told(study, pages)["languages"][1]
    assert german["checked"]
    assert {one["name"]: one["own"] for one in german["words"]}["terms_time"] == plural
    assert (
        save(do="words", language="de", words={"terms_time": None, "title": None, "checked": None}).status_code == 200
    )
    assert save(do="page", page="consent", language="de", text=None).status_code == 200
    assert save(do="page", page="instructions", language="en", text=None).status_code == 200
    said = site.studies[study].study
    assert said.spoken["de"] == {"skip": "Weiter"}
    assert (said.page("consent", "de"), said.page("instructions")) == (said.page("consent"), None)
    assert designer.get(f"/admin/{study}/pages/one.png").headers["content-type"] == "image/png"
    assert designer.get(f"/admin/{study}/pages/%2e%2e%2fstudy.toml").status_code == 404


def test_what_conditions_ask_is_written_in_other_languages(site, designer, study):
    conditions = [{"name": "plain"}, {"name": "mood", "text": "Which feels alike?"}]
    told = designer.told(study)
    assert designer.save(study, told, language=["en", "de"], condition=conditions).status_code == 200
    told = designer.told(study, "/pages")
    german = {one["name"]: one["default"] for one in told["languages"][1]["words"]}
    assert german["question_mood"] == "Which feels alike?"
    words = {"question_mood": "Welches fühlt sich ähnlich an?"}
    answer = designer.tell(study, "/pages", told, basis=told["basis"], do="words", language="de", words=words)
    assert answer.status_code == 200
    assert site.studies[study].study.spoken["de"] == words
    assert "question_mood" not in {one["name"] for one in told["languages"][0]["words"]}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"do": "page", "page": "consent", "language": "en", "text": "![](pages/none.png)"}, "none.png"),
        ({"do": "page", "page": "../x", "language": "en", "text": "x"}, "page: expected"),
        ({"do": "page", "page": "consent", "language": "../x", "text": "x"}, "language: expected"),
        ({"do": "words", "language": "en", "words": {"nothing": "x"}}, "no text of this name"),
        ({"do": "words", "language": "en", "words": {"progress": "{strange}"}}, "nothing can be filled in"),
    ],
)
def test_texts_that_cannot_be_are_refused_with_a_sentence(site, designer, study, body, said):
    site.studies[study].set_state("live", "ada")
    told = designer.told(study, "/pages")
    answer = designer.tell(study, "/pages", told, basis=told["basis"], **body)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


# --- the preview ---


def setup_in(answer):
    return json.loads(re.search(r'id="setup">(.*?)</script>', answer.text, re.DOTALL)[1])


TWO_BLOCKS = [
    {"name": "near", "question": {"number": 4}, "practice": [{"shown": ["apple", "boat", "drum"], "correct": [1]}]},
    {"name": "alike", "question": {"form": "similarity_rating", "number": 3}, "page": "part.md"},
]


def test_each_block_is_previewed_saved_or_not(designer, study):
    told, changes = designer.told(study), {"block": TWO_BLOCKS}
    files = json.dumps({"part.md": "# Now pairs"})

    def seen(stage, block):
        sent = {"stage": stage, "block": block, "files": files}
        return setup_in(designer.preview(study, told, changes, **sent))["preview"]

    for stage, block, form, number, announced in (
        ("question", "near", "triplet", 1, False), ("practice", "near", "triplet", 0, False),
        ("question", "alike", "similarity_rating", 5, False), ("part", "alike", "similarity_rating", 5, True),
        ("instructions", "alike", "triplet", 0, True), ("question", "gone", "triplet", 1, False),
    ):  # fmt: skip
        found = seen(stage, block)
        first = found["questions"][0]
        assert (first["form"], first["number"], found["announces"]) == (form, number, announced)
    assert "Now pairs" in seen("part", "alike")["pages"]["block-alike"]


def test_the_preview_is_the_raters_page_with_what_is_not_saved_and_keeps_nothing(site, designer, study):
    told = designer.told(study)
    answer = designer.preview(study, told, {"question.form": "odd_one_out", "title": "</script><b>"}, stage="question")
    setup = setup_in(answer)
    assert (setup["form"], setup["title"]) == ("odd_one_out", "</script><b>")
    assert len(setup["preview"]["questions"][0]["shown"]) == 3
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert site.studies[study].study.question.form == "triplet"
    with site.database.read() as connection:
        here = f"SELECT count(*) FROM rater WHERE study_id = {site.studies[study].study_id}"
        assert connection.exec_driver_sql(here).scalar() == 0


@pytest.mark.parametrize(
    ("stage", "at", "answered"),
    [("consent", "questions", 0), ("before", "before", 0), ("practice", "questions", 0), ("question", "questions", 1),
     ("survey", "questions", None), ("done", "done", 0), ("nonsense", "questions", 1)],
)  # fmt: skip
def test_every_stage_can_be_looked_at(site, designer, untouched, stage, at, answered):
    fields = [{"name": "a", "label": "A", "when": "before"}, {"name": "b", "label": "B"}]
    known = [{"shown": ["apple", "boat", "drum"], "correct": [1]}]
    changes = {"survey.fields": fields, "practice.questions": known, "completion.redirect": "https://x.org/"}
    preview = setup_in(designer.preview(untouched, designer.told(untouched), changes, stage=stage))["preview"]
    assert preview["stage"] == at
    assert preview["answered"] == (preview["length"] if answered is None else answered)
    assert preview["wayOut"]["redirect"] == "#"
    assert ("token" in preview["remembers"]) == (stage != "consent")


def test_what_cannot_be_shown_says_why_in_the_frame(site, designer, study):
    answer = designer.preview(study, designer.told(study), {"question.number": "x"})
    assert "expected a whole number" in answer.text
    answer = designer.preview(study, designer.told(study), {"block": [{"name": "a", "question": {"number": 0}}]})
    assert "<code>block 1, question, number</code>: expected at least 1" in answer.text
    make(designer, "empty")
    assert "Nothing to see yet" in designer.preview("empty", designer.told("empty")).text


# --- who may ---


ADDRESSES = ["/design", "/design/items", "/design/pages", "/design/text", "/design/now", "/design/items/file/apple",
             "/design/upload/upload-0001", "/pages/one.png"]  # fmt: skip


def test_strangers_see_and_change_nothing(site, designer, study):
    stranger = Designer(designer.client._transport.app)
    before = text_of(site, study)
    for address in ADDRESSES:
        assert stranger.get(f"/admin/{study}{address}").status_code in (303, 401)
    told = {"csrf": "x", "basis": 1, "piece": 1000}
    for page in ("", "/items", "/pages"):
        assert stranger.tell(study, page, told, basis=1, changes={"title": "x"}).status_code in (303, 401)
        assert designer.tell(study, page, told, basis=1, changes={"title": "x"}).status_code == 403, "a forged form"
    assert stranger.preview(study, told).status_code in (303, 401)
    assert designer.preview(study, told).status_code == 403
    forged = designer.raw(f"/admin/{study}/design/upload/upload-0001?at=0", content=b"x")
    assert forged.status_code == 403
    assert text_of(site, study) == before


def test_what_is_no_such_study_or_request_is_said(site, designer, study):
    assert designer.get("/admin/nothing/design").status_code == 404
    told = designer.told(study)
    for page, body in (("", {"changes": 1}), ("/items", {"do": "x"}), ("/items", {"do": "add", "files": [1]}),
                       ("/pages", {"do": "x"})):  # fmt: skip
        assert designer.tell(study, page, told, basis=told["basis"], **body).status_code == 422
    assert designer.raw(f"/admin/{study}/design", content=b"[1]").status_code == 422
    assert designer.raw(f"/admin/{study}/design", content=b"\xff").status_code == 422
    unknown = designer.save(study, told, nothing__here=1)
    assert "unknown key" in unknown.json()["detail"]


def test_a_full_disk_is_said_in_a_sentence(designer, study, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", "/a/place/of/the/server")

    told = designer.told(study, "/items")
    monkeypatch.setattr("similitude.study.editing.incoming.Incoming.add", full)
    reply = designer.raw(
        f"/admin/{study}/design/upload/upload-0001?at=0", content=b"x",
        headers={"X-CSRF": told["csrf"], "Accept": "*/*"},
    )  # fmt: skip
    assert reply.status_code == 507
    assert reply.json()["detail"].endswith(
        "(No space left on device); nothing was changed. Make room on its disk and try again."
    )
    assert "/a/place" not in reply.text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("items.folder", "\0"), ("items.folder", "x" * 3000), ("completion.code", "a\0b"),
        ("completion.code", "\ud800"), ("catch.questions", [None]), ("question.number", [None]),
    ],
)  # fmt: skip
def test_what_no_file_can_hold_is_told_and_leaves_the_draft_as_it_can_be_edited(designer, study, key, value):
    told = designer.told(study)
    body = json.dumps({"csrf": told["csrf"], "basis": told["basis"], "changes": {key: value}})
    reply = designer.raw(f"/admin/{study}/design", content=body)
    assert reply.status_code in (200, 422)
    again = designer.told(study)
    assert designer.save(study, again, title="Still here").status_code == 200
