"""The pages as the server makes them: words in their place, nothing let through, faults that people can read."""

import asyncio
import contextlib
import html
import json
import re

import httpx
import pytest

from similitude.feedback.forms import PAGES
from similitude.study.service import StudyService
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.store.database import StoreError
from similitude.study.texts import default_texts
from similitude.study.web.app import create_app
from similitude.study.web.pages import STATIC, markdown
from tests.study.making import SHORT, picture, words, write_study


@pytest.fixture
def served(tmp_path):
    """Write studies and get addresses of their site."""
    with contextlib.ExitStack() as stack:

        def serve(**tomls):
            for name, toml in tomls.items():
                done = {"done.md": "# Done\n\n![A face](<pages/example face.png>)"}
                write_study(tmp_path, name, toml, {**words(), **done})
            app = create_app(stack.enter_context(contextlib.closing(open_site(tmp_path))))
            return lambda address, **more: asyncio.run(get(app, address, **more))

        yield serve


async def get(app, address, **more):
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
        return await client.get(address, **more)


def setup_of(page):
    return json.loads(re.search(r'id="setup">(.*?)</script>', page.text)[1])


def test_the_only_study_is_at_the_door_with_the_whole_link(served):
    get = served(one='title = "One"\n')
    answer = get("/?PROLIFIC_PID=x&STUDY_ID=y")
    assert answer.status_code == 307
    assert answer.headers["location"] == "s/one/?PROLIFIC_PID=x&STUDY_ID=y"


def test_several_studies_are_not_listed_to_strangers(served):
    page = served(one='title = "First of them"\n', two='title = "Zwei"\n')("/")
    assert page.status_code == 200
    assert "please use the one that you were sent" in page.text
    assert not any(word in page.text for word in ("First of them", "Zwei", "s/one", "s/two"))


def test_raters_are_told_beforehand_what_the_code_asks_for(served):
    get = served(
        one='title = "One"\n[question]\nnumber = 40\n[completion]\ncode = "C1"\n',
        two=f'title = "Two"\n{SHORT}[question]\nnumber = 40\nskip = false\ncant_tell = false\n'
        '[completion]\ncode = "C1"\n',
        three=f'title = "Three"\n{SHORT}',
        four='title = "Four"\n[completion]\ncode = "C1"\nseconds_per_question = 0\nlargest_skip_share = 1\n',
    )
    one, two, three, four = (get(f"/s/{name}/") for name in ("one", "two", "three", "four"))
    for page in (one, two):
        assert "at least 20 seconds for all questions together" in page.text
        assert "instructions" in setup_of(page)["pages"]
    assert "answer at least 20 of the 40 questions" in one.text
    assert "<h1>Before you start</h1>" not in one.text
    assert "<h1>Before you start</h1>" in two.text, "a page of its own where the study has no instructions"
    assert 'class="terms">To count as complete, answer' not in two.text, "nothing can be skipped"
    assert 'class="terms"' not in three.text + four.text
    assert setup_of(three)["pages"] == []


def test_the_words_of_a_study_are_on_its_page(served):
    toml = """
    title = "</title><script>alert(1)</script>"
    language = "pt-BR"
    question = {form = "choice", grid_size = 4, pick = 3}
    texts = {skip = "</script><script>alert(2)</script>", loading = "Um momento"}
    """
    page = served(one=toml)("/s/one/")
    assert page.status_code == 200
    assert '<html lang="pt-BR"' in page.text
    assert page.text.count("<script") == 2  # the words of the study as data, and the one script of ours
    assert html.escape("</title><script>alert(1)</script>") in page.text
    setup = setup_of(page)
    assert setup["texts"]["skip"] == "</script><script>alert(2)</script>"
    assert setup["ask"] == "Escolha os 3 que mais se parecem com o de cima."
    assert "Um momento" in page.text


def test_one_is_one(served):
    get = served(one='title = "One"\nquestion = {form = "choice", grid_size = 4, pick = 1}\n')
    assert setup_of(get("/s/one/"))["ask"] == "Pick the one that is most like the one on top."


def test_what_is_asked_has_the_words_of_the_study_in_it(served):
    ends = 'grid_size = 4, low = "the darkest {pick}", high = "the lightest"'
    get = served(
        one=f'title = "One"\nquestion = {{form = "attribute", {ends}}}\n',
        all='title = "All"\nquestion = {form = "ranking", grid_size = 4, pick = 4}\n',
    )
    assert setup_of(get("/s/one/"))["ask"] == "Put these in order, from the darkest {pick} to the lightest."
    assert setup_of(get("/s/all/"))["ask"].startswith("Pick all of them in order")


def test_settings_that_a_form_cannot_be_asked_with_are_refused(served):
    for question, said in {
        'form = "attribute"': "low: an attribute has a name for its least and its most",
        'form = "placement", grid_size = 21': "grid_size: expected at most 20 items on the table",
        'form = "grouping", grid_size = 2': "grid_size: expected at least 3 items",
        'form = "ranking", pick = 1': "pick: expected 2 to 8",
    }.items():
        with pytest.raises(StudyError, match=said):
            served(one=f'title = "One"\nquestion = {{{question}}}\n')


def test_pages_show_pictures_that_are_no_items(tmp_path, served):
    for name in ("example face.png", "secret.txt"):
        (tmp_path / "one" / "pages").mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / "pages" / name).write_bytes(picture())
    (tmp_path / "one" / "plain.png").write_bytes(picture())
    get = served(one='title = "One"\npages = {done = "done.md"}\n')
    assert 'src="pages/example%20face.png"' in get("/s/one/").text
    shown = get("/s/one/pages/example%20face.png")
    assert (shown.status_code, shown.headers["content-type"], shown.content) == (200, "image/png", picture())
    odd = ("%00.png", "a%00.png", "x" * 300 + ".png")
    for other in ("secret.txt", "none.png", "..%2Fplain.png", "..%2Fstudy.toml", "../plain.png", *odd):
        assert get(f"/s/one/pages/{other}").status_code == 404


@pytest.mark.parametrize("address", ["pages/none.png", "face.png", "https://example.org/face.png", "pages/../face.png"])
def test_a_page_that_shows_a_picture_that_is_not_there_is_refused(tmp_path, address):
    write_study(tmp_path, "one", 'title = "One"\n', {**words(), "consent.md": f"![A face]({address})"})
    with pytest.raises(StudyError, match=r"pages\.consent shows the picture .*expected pages/NAME"):
        open_site(tmp_path)


def test_scripts_and_styles_are_our_own_files(served):
    get = served(one='title = "One"\n')
    page = get("/s/one/")
    policy = page.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'self'" in policy
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        if not address.startswith("data:"):
            assert get(f"/s/one/{address}").status_code == 200
    for script in STATIC.glob("*.js"):
        for other in re.findall(r'from "\./([^"]+)"', script.read_text(encoding="utf-8")):
            assert (STATIC / other).is_file()
        assert not re.search(r"innerHTML|https?://(?!localhost)", script.read_text(encoding="utf-8"))


def test_scripts_are_asked_for_anew(served):
    get = served(one='title = "One"\n')
    first = get("/static/rater.js")
    assert first.headers["cache-control"] == "no-cache"
    assert get("/static/rater.js", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    assert get("/static/../pages.py").status_code == 404


def test_markdown_lets_no_html_through():
    made = markdown("# A\n\n<script>alert(1)</script> *b* [c](javascript:alert(1))\n\n| d |\n|---|\n| e |")
    assert "<h1>A</h1>" in made
    assert "<em>b</em>" in made
    assert "<td>e</td>" in made
    assert "<script" not in made
    assert "href" not in made


def test_an_unknown_study_is_a_page_that_says_so(served):
    page = served(one='title = "One"\n')("/s/none/")
    assert page.status_code == 404
    assert "There is no such page." in page.text


def test_a_database_that_does_not_answer_is_a_page_that_says_nothing_is_lost(served, monkeypatch):
    get = served(one='title = "One"\ntexts = {unavailable = "Nichts ist verloren."}\n')

    def broken(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(StudyService, "is_shut", broken)
    page = get("/s/one/")
    assert page.status_code == 503
    assert "Nichts ist verloren." in page.text
    assert "the disk is full" not in page.text  # the researcher's concern, not the rater's


def test_what_the_scripts_are_told(served):
    get = served(
        one=f'title = "One"\n{SHORT}[question]\ntext = "Which?"\nskip = false\n[raters]\nlimit = 3\n',
        two='title = "Two"\n[question]\nform = "similarity_rating"\nnumber = 5\nlow = "no"\n',
    )
    first, second = setup_of(get("/s/one/")), setup_of(get("/s/two/"))
    assert (first["ask"], first["skip"], first["cantTell"], first["full"]) == ("Which?", False, True, False)
    assert (first["pages"], second["pages"]) == ([], ["consent", "instructions"])
    assert (second["low"], second["high"]) == ("no", "very alike")


def test_every_text_is_used_and_every_text_that_is_used_is_there():
    sources = [
        *STATIC.rglob("*.js"),
        *(STATIC.parent / "templates").glob("*.html"),
        STATIC.parent / "pages.py",
        STATIC.parents[1] / "timing.py",
    ]
    code = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    used = set(re.findall(r"texts\.(\w+)(?!\w*\()", code)) | set(re.findall(r'texts\["(\w+)"\]', code))
    used -= {"title"}  # the study's own, which has no default
    used |= {name for form in PAGES.values() for name in form.asks}
    for name in (
        "full",
        "not_open",
        "paused",
        "not_named",
        "crowded",
        "erased",
        "withdrawn",
        "displaced",
        "declined",
        "fault",
    ):  # those that `sorry` shows by name
        assert f'"{name}"' in code
        used |= {name, f"{name}_title"}
    assert used == set(default_texts())


def test_pages_in_languages_from_the_right_say_so(served):
    get = served(one='title = "One"\nlanguage = "he"\n', two='title = "Two"\nlanguage = "de-AT"\n')
    assert '<html lang="he" dir="rtl">' in get("/s/one/").text
    assert '<html lang="de-AT" dir="ltr">' in get("/s/two/").text
