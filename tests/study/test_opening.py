"""Files of items are opened at the start: what no browser could show is said by name, and what any could is taken."""

import pytest
from typer.testing import CliRunner

import similitude.study.serve
from similitude.cli import app
from similitude.study.create import new_study, still_an_example, still_in_english, unfinished
from similitude.study.opening import fault_of
from similitude.study.settings import StudyError, read_study
from similitude.study.site import open_site
from similitude.study.texts import default_texts
from similitude.study.web.limits import Limits
from tests.study.making import SHORT, faces, picture, tones, write_study
from tests.study.screens import FILM

TONE = tones()["items/tone0.wav"]
DRAWING = b'<svg xmlns="http://www.w3.org/2000/svg"/>'


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_whole_pictures_open_and_cut_ones_do_not(tmp_path, kind):
    whole = picture(200, 150, kind=kind.upper())
    path = tmp_path / f"a.{kind}"
    path.write_bytes(whole)
    assert fault_of(path) is None
    path.write_bytes(whole[: len(whole) // 2])
    assert fault_of(path)


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.png", b"", "empty"),
        ("a.png", b"no picture", "no picture of a known kind"),
        ("a.svg", b"<svg", "damaged"),
        ("a.svg", b"<html/>", "no drawing"),
        ("a.svg", DRAWING, None),
        ("a.wav", TONE, None),
        ("a.wav", b"ID3 text", "not what its ending .wav says"),
        ("a.mp3", b"\xff\xfb\x90", None),
        ("a.webm", b"<html>", "not what its ending .webm says"),
        ("a.mp4", b"\0\0\0\x0cftypisom", "no moov"),
        ("a.wav", b"RIFF\0\0\0\0AVI ", "no sound in it"),
        ("a.ogg", b"OggS" + bytes(23) + b"more", "no page where one should begin"),
        ("a.wav", TONE.replace(TONE[4:8], b"\xff\xff\xff\xff", 1)[:2000], None),  # written into a pipe
        ("a.webm", FILM + b"recorded", None),  # as browsers record it
    ],
)
def test_what_a_file_begins_with_tells_what_it_is(tmp_path, name, content, fault):
    (tmp_path / name).write_bytes(content)
    found = fault_of(tmp_path / name)
    assert found is None if fault is None else fault in found


def box(name, content=b""):
    return (8 + len(content)).to_bytes(4, "big") + name + content


WHOLE = {
    "wav": TONE,
    "ogg": b"".join(b"OggS" + bytes(22) + b"\x02\x08\x08" + bytes(16) for _ in range(3)),
    "m4a": box(b"ftyp", b"M4A ") + box(b"moov", bytes(40)) + box(b"mdat", bytes(100)),
    "mp4": box(b"ftyp", b"isom") + box(b"mdat", bytes(100)) + box(b"moov", bytes(40)),
    "webm": b"\x1a\x45\xdf\xa3\x84webm\x18\x53\x80\x67\x40\x64" + bytes(100),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_sounds_and_films_are_taken_and_those_without_their_end_are_not(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(WHOLE[kind])
    assert fault_of(path) is None
    for share in (0.2, 0.5, 0.97):
        path.write_bytes(WHOLE[kind][: int(share * len(WHOLE[kind]))])
        assert "damaged: its end is missing" in fault_of(path), share


def test_a_study_with_broken_items_does_not_start_and_names_them(tmp_path):
    broken = {"items/cut.png": picture()[:60], "items/none.jpg": b""}
    write_study(tmp_path, "faces", f'title = "T"\n{SHORT}', {**faces(), **broken})
    with pytest.raises(StudyError, match=r"faces: items: cannot be shown: cut\.png \(damaged.*none\.jpg \(.* empty\)"):
        open_site(tmp_path)


def test_serving_warns_of_a_consent_page_that_is_still_the_example(tmp_path, monkeypatch):
    monkeypatch.setattr(similitude.study.serve, "serve", lambda *_, **__: None)
    new_study(tmp_path / "faces")
    said = CliRunner().invoke(app, ["study", "serve", str(tmp_path / "faces")])
    assert "warning: faces/consent.md is still the example" in said.output
    (tmp_path / "faces" / "consent.md").write_text(
        "# Taking part\n\nAsked by the University of Somewhere.", encoding="utf-8"
    )
    assert "warning" not in CliRunner().invoke(app, ["study", "serve", str(tmp_path / "faces")]).output


def test_limits_are_set_where_the_server_is_started_and_others_stay(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(similitude.study.serve, "serve", lambda *all_of, **_: given.append(all_of[-1]))
    write_study(tmp_path, "faces", f'title = "T"\n{SHORT}')
    options = ["--connections", "9", "--connections-per-address", "8", "--header-seconds", "7", "--body-seconds", "6.5"]
    for chosen in (options, []):
        assert CliRunner().invoke(app, ["study", "serve", str(tmp_path / "faces"), *chosen]).exit_code == 0
    assert given == [Limits(connections=9, per_address=8, header_seconds=7, body_seconds=6.5), Limits()]


def test_texts_that_would_stay_in_english_are_told(tmp_path):
    folder = write_study(tmp_path, "faces", f'title = "T"\nlanguage = "sw"\n{SHORT}')
    said = still_in_english(read_study(folder))
    assert "faces/study.toml: language is 'sw'" in said
    assert "would be in English: ask_triplet, scale_low" in said
    words = "\n".join(f'{name} = "x"' for name in default_texts() if not name.startswith("key_") and name != "skip")
    (folder / "study.toml").write_text(f'title = "T"\nlanguage = "sw-KE"\n{SHORT}[texts]\n{words}\n', encoding="utf-8")
    assert "1 text of the pages would be in English: skip;" in still_in_english(read_study(folder))
    (folder / "study.toml").write_text(f'title = "T"\nlanguage = "en-GB"\n{SHORT}', encoding="utf-8")
    assert unfinished(read_study(folder)) == []


CATCHES = 'questions = [{shown = ["face00", "face01", "face02"], correct = [1]}]'


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (f"[catch]\n{CATCHES}\n", "catch.every: 1 catch question is never asked: this is 0; say after how many"),
        (f"[question]\nnumber = 9\n[catch]\nevery = 10\n{CATCHES}\n", "after every 10 questions, and there are 9;"),
        (f'[[block]]\nname = "a"\n{CATCHES.replace("questions", "catch")}\n', "block.0.catch_every: 1 catch question"),
        (f"[question]\nnumber = 9\n[catch]\nevery = 9\n{CATCHES}\n", None),
    ],
    ids=["zero", "too rare", "of a block", "asked"],
)
def test_catch_questions_that_are_never_asked_are_told(tmp_path, monkeypatch, toml, said):
    write_study(tmp_path, "faces", f'title = "T"\n{SHORT}{toml}')
    monkeypatch.setattr("similitude.study.serve.serve", lambda *_, **__: None)
    result = CliRunner().invoke(app, ["study", "serve", str(tmp_path / "faces")])
    assert result.exit_code == 0
    assert (said in result.output) if said else "never asked" not in result.output


def test_consent_that_is_still_the_example_is_told(tmp_path):
    new_study(tmp_path / "faces")
    assert "faces/consent.md is still the example" in still_an_example(read_study(tmp_path / "faces"))
    consent = tmp_path / "faces" / "consent.md"
    consent.write_text(
        consent.read_text(encoding="utf-8").replace("*Write here", "# More\n\n*Write here"), encoding="utf-8"
    )
    assert still_an_example(read_study(tmp_path / "faces"))
    consent.write_text("# Taking part\n\nAsked by the University of Somewhere.", encoding="utf-8")
    assert still_an_example(read_study(tmp_path / "faces")) is None
