"""Languages: every one whole, chosen by the browser, from the right where it is read so, part of a study's version."""

import asyncio
import shutil

import httpx
import pytest
import sqlalchemy as sa

from similitude.study import languages
from similitude.study.create import unfinished
from similitude.study.languages import FOLDER, categories, category, chosen, direction, in_language, shipped
from similitude.study.service import Joining
from similitude.study.settings import StudyError, read_study
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.texts import default_texts, places
from similitude.study.web.app import create_app
from similitude.study.web.pages import terms_in_words, texts_of
from tests.study.servers import write_study

OTHERS = [language for language in shipped() if language != "en"]


def forms_of(text):
    return [text] if isinstance(text, str) else list(text.values())


def test_the_promised_languages_are_there():
    assert set(OTHERS) >= {"de", "fr", "es", "pt", "it", "nl", "pl", "tr", "ar", "he", "hi", "zh", "ja", "ko"}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_says_every_text_with_the_same_places(language):
    english, said = default_texts(), languages._file(FOLDER / f"{language}.toml")[0]
    assert [name for name in english if name not in said] == []
    for name, text in english.items():
        for form in forms_of(said[name]):
            assert (name, places(form)) == (name, places(text))
            assert form.strip() == form != ""
        if isinstance(said[name], dict):
            assert (name, set(said[name])) == (name, set(categories(language)))
    keys = [said[name] for name in ("key_skip", "key_cant_tell")]
    assert all(len(key) == 1 for key in keys)
    assert keys[0] != keys[1]


@pytest.mark.parametrize("language", OTHERS)
def test_a_language_is_marked_as_made_by_a_machine_until_somebody_has_checked_it(language):
    head = (FOLDER / f"{language}.toml").read_text(encoding="utf-8").splitlines()
    assert "Made by a machine" in head[1]
    assert "checked = false" in head[:8]


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("de", {0: "other", 1: "one", 2: "other"}),
        ("fr", {0: "one", 1: "one", 2: "other"}),
        ("pl", {1: "one", 2: "few", 5: "many", 12: "many", 22: "few", 112: "many", 0: "many"}),
        ("ar", {0: "zero", 1: "one", 2: "two", 3: "few", 10: "few", 11: "many", 99: "many", 100: "other", 103: "few"}),
        ("he", {1: "one", 2: "two", 3: "other", 20: "other"}),
        ("ja", {1: "other", 5: "other"}),
        ("pt-BR", {0: "one", 1: "one", 2: "other"}),
    ],
)
def test_plural_forms_are_those_of_cldr(language, forms):
    assert {number: category(language, number) for number in forms} == forms
    assert set(forms.values()) <= set(categories(language))


def test_the_number_of_a_study_decides_the_form():
    seconds = [in_language("pl", [], {"terms_time": {"seconds": n}})["terms_time"] for n in (1, 3, 30)]
    assert [text.partition("{seconds} ")[2].split()[0] for text in seconds] == ["sekunda", "sekundy", "sekund"]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("", "de"),
        ("fr", "fr"),
        ("fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        ("ja,en;q=0.5", "en"),
        ("en;q=0.4, ar;q=0.9", "ar"),
        ("pt", "pt-BR"),
        ("PT-br", "pt-BR"),
        ("ja, ko", "de"),
        ("*", "de"),
        ("fr;q=x,en", "en"),
        ("a" * 5000, "de"),
    ],
)
def test_the_browser_chooses_among_those_that_are_offered(header, found):
    assert chosen(header, ("de", "fr", "en", "ar", "pt-BR")) == found


TOML = 'language = ["de", "fr", "ar"]\n[question]\nnumber = 4\n[completion]\ncode = "X"\nseconds_per_question = 1'


@pytest.fixture
def folder(tmp_path):
    folder = write_study(tmp_path / "words", TOML)
    (folder / "consent.fr.md").write_text("Êtes-vous d’accord ?", encoding="utf-8")
    own = 'checked = true\ntitle = "Des mots"\nquestion = "Lequel ?"\nskip = "Sauter"\n'
    (folder / "texts.fr.toml").write_text(own, encoding="utf-8")
    return folder


def page_of(folder, *requests):
    site = open_site(folder)
    app = create_app(site)

    async def ask():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://study") as client:
            return [await client.get(path, headers={"accept-language": header}) for path, header in requests]

    try:
        return asyncio.run(ask())
    finally:
        site.close()


def test_a_page_is_in_the_language_of_the_browser(folder):
    wanted = [("/s/words/", "fr"), ("/s/words/", "ja"), ("/s/words/", "ar,en"), ("/s/words/?language=fr", "de")]
    french, german, arabic, linked = page_of(folder, *wanted)
    assert '<html lang="fr" dir="ltr">' in french.text
    assert "Des mots" in french.text
    assert "Lequel ?" in french.text
    assert "Êtes-vous" in french.text
    assert "Sauter" in french.text
    assert "accepte et je veux participer" in french.text
    assert '<html lang="de" dir="ltr">' in german.text
    assert "Do you agree?" in german.text, "the page of the study that has no German one"
    assert "Welches der beiden" in german.text
    assert "mindestens 4 Sekunden" in german.text
    assert '<html lang="ar" dir="rtl">' in arabic.text
    assert "4 ثوانٍ" in arabic.text
    assert linked.text == french.text
    assert french.headers["vary"] == "Accept-Language"


def test_languages_that_are_read_from_the_right():
    assert [one for one in shipped() if direction(one) == "rtl"] == ["ar", "he"]


def test_a_study_in_one_language_is_not_moved_by_a_browser(tmp_path):
    folder = write_study(tmp_path / "words", 'language = "nl"')
    (page,) = page_of(folder, ("/s/words/?language=fr", "fr"))
    assert '<html lang="nl"' in page.text
    assert "Welke van de twee" in page.text


def test_own_texts_are_in_the_first_language(tmp_path):
    study = read_study(write_study(tmp_path / "words", 'language = ["en", "de"]\ntexts = {skip = "Next, please"}'))
    assert texts_of(study, "en")["skip"] == "Next, please"
    assert texts_of(study, "de")["skip"] == "Überspringen"
    assert terms_in_words(study, "de") == []


def test_the_version_follows_the_languages(folder, tmp_path, monkeypatch):
    versions = [read_study(folder).version]
    (folder / "texts.de.toml").write_text('skip = "Weglassen"', encoding="utf-8")
    versions.append(read_study(folder).version)
    (folder / "consent.ar.md").write_text("هل توافق؟", encoding="utf-8")
    versions.append(read_study(folder).version)
    shutil.copytree(FOLDER, tmp_path / "edited")
    german = tmp_path / "edited" / "de.toml"
    german.write_text(german.read_text(encoding="utf-8").replace("Bestätigen", "Gut so"), encoding="utf-8")
    monkeypatch.setattr(languages, "FOLDER", tmp_path / "edited")
    versions.append(read_study(folder).version)
    assert len(set(versions)) == 4
    assert read_study(folder).version == versions[-1]


def test_an_earlier_version_is_read_as_it_was(folder):
    site = open_site(folder)
    try:
        served = site.studies["words"].answering.served
        with site.database.read() as connection:
            row = connection.execute(sa.select(schema.study_version.c.version)).scalar_one()
            assert served.at(connection, row).languages == ("de", "fr", "ar")
            served = type(served).of(served.study, served.study_id, "another", served.names)
            assert texts_of(served.at(connection, row), "fr")["skip"] == "Sauter"
    finally:
        site.close()


def test_what_nobody_has_checked_is_said_and_so_is_what_stays_english(folder):
    said = unfinished(read_study(folder))
    (sentence,) = [one for one in said if "made by a machine" in one]
    assert "de, ar" in sentence, "French is checked"
    assert not any("English" in one for one in said)
    basque = write_study(folder.parent / "basque", 'language = "eu"\ntexts = {skip = "Saltatu"}')
    (sentence,) = [one for one in unfinished(read_study(basque)) if "English" in one]
    assert "texts.eu.toml" in sentence
    assert "skip," not in sentence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('skp = "x"', r"texts\.fr\.toml: skp: there is no text of this name; did you mean 'skip'\?"),
        ('break = "{count}"', r"break: nothing can be filled in for \{count\}"),
        ("skip = 3", "skip: expected a text, or a table of plural forms, found 3"),
        ('[terms_time]\none = "x"', "terms_time: expected the plural forms one, other"),
        ("skip = ", "not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_a_sentence(folder, text, message):
    (folder / "texts.fr.toml").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=message):
        read_study(folder)


def test_languages_are_named_once(tmp_path):
    with pytest.raises(StudyError, match="language: expected each only once"):
        read_study(write_study(tmp_path / "words", 'language = ["de", "de"]'))
    with pytest.raises(StudyError, match="language"):
        read_study(write_study(tmp_path / "words", 'language = "Deutsch!"'))


def test_raters_of_several_languages_are_told_apart_in_what_is_kept(folder):
    """The page adds `language` to the parts of its link, which the table of raters holds."""
    site = open_site(folder)
    try:
        service = site.studies["words"]
        service.join(Joining("browser0", {"language": "fr"})).result()
        with site.database.read() as connection:
            assert connection.scalar(sa.select(schema.rater.c.parameters)) == '{"language": "fr"}'
    finally:
        site.close()
