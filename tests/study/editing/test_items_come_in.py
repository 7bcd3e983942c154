"""Items that are uploaded: pieces, archives, tables; what is hostile, there already or broken is named with why."""

import io
import stat
import struct
import zipfile

import pytest

from similitude.study.editing import incoming
from similitude.study.editing.document import values_of
from similitude.study.editing.gallery import REMOVED, Gallery, Moves
from similitude.study.editing.incoming import Incoming
from similitude.study.editing.taking import Taking
from similitude.study.fault import StudyError
from similitude.study.items import read_items
from similitude.study.refusal import Refused
from similitude.study.settings import FILE, read_study
from similitude.study.web.limits import LIMITS, Limits
from tests.study.making import SHORT, faces, picture, write_study

TOML = f'title = "T"\n{SHORT}'


@pytest.fixture
def study(tmp_path):
    return write_study(tmp_path, "faces", TOML, {"items/old.png": picture(grey=10), "items/README.txt": "no item"})


def zipped(files, **more):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content, **more)
    return out.getvalue()


def upload(folder, files, replace=False, asked=lambda _: 0, limits=LIMITS):
    """Upload files by name; what became of them, written as the server would."""
    box, sent = Incoming(folder, limits), []
    for k, (name, content) in enumerate(files.items()):
        data = content if isinstance(content, bytes) else content.encode()
        half = len(data) // 2
        box.add(f"upload-{k}", 0, data[:half])
        box.add(f"upload-{k}", half, data[half:])
        sent.append((f"upload-{k}", name))
    text = (folder / FILE).read_text(encoding="utf-8")
    taking = Taking(Gallery(folder, values_of(text)), Moves(), replace, asked, limits.table_rows)
    taken = taking.take(box.came(sent), text)
    for name, text in taken.texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    box.clear([uid for uid, _ in sent])
    assert not (folder / incoming.FOLDER).exists()
    return taken


def names(folder):
    return list(read_items(read_study(folder)))


def reasons(taken):
    return dict(taken.refused)


def test_files_come_in_and_what_is_no_item_is_named_with_why(study):
    taken = upload(
        study,
        {
            "new.png": picture(grey=20), "word.txt": "hello", "again.png": picture(grey=20),
            "old.png": picture(grey=30), "copy.png": picture(grey=10), "broken.png": picture()[:40],
            "empty.wav": b"", "notes.docx": b"x", "README.png": picture(grey=40), "con.png": picture(grey=50),
            "wide\u0000.png": picture(grey=60),
        },
    )  # fmt: skip
    assert taken.added == ["new", "word"]
    why = reasons(taken)
    assert "same bytes as the item 'new'" in why["again.png"]
    assert "same bytes as the item 'old'" in why["copy.png"]
    assert "there is an item 'old' already" in why["old.png"]
    assert "no picture" in why["broken.png"]
    assert "empty" in why["empty.wav"]
    assert ".png" in why["notes.docx"]
    assert set(why) == {"again.png", "old.png", "copy.png", "broken.png", "empty.wav", "notes.docx", "README.png",
                        "con.png", "wide\u0000.png"}  # fmt: skip
    assert names(study) == ["new", "old", "word"]


def test_an_item_is_replaced_where_that_is_wanted_and_nobody_was_asked_about_it(study):
    assert upload(study, {"old.jpg": picture(kind="JPEG")}, replace=True).replaced == ["old"]
    assert [path.name for path in (study / "items").glob("old.*")] == ["old.jpg"]
    assert (study / REMOVED / "old.png").is_file(), "nothing is lost"
    taken = upload(study, {"old.png": picture(grey=3)}, replace=True, asked=lambda _: 7)
    assert "7 answers are about 'old'" in reasons(taken)["old.png"]


def test_a_name_with_a_script_in_it_is_a_name_or_is_refused_but_never_more(study):
    taken = upload(study, {"table.csv": 'name,text\n"<script>alert(1)</script>","<img src=x onerror=alert(1)>"\n'})
    assert taken.added == ["<script>alert(1)</script>"]
    assert names(study) == ["<script>alert(1)</script>", "old"]
    assert "which no file can have" in reasons(upload(study, {"<b>.png": picture(grey=99)}))["<b>.png"]


def test_an_archive_is_unpacked_and_its_tricks_are_refused(study):
    link = zipfile.ZipInfo("link.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    content = {
        "a/b/deep.png": picture(grey=70), "../../out.png": picture(grey=71), "/root.png": picture(grey=72),
        "..\\win.png": picture(grey=73), "C:\\drive.png": picture(grey=74), "__MACOSX/._deep.png": b"x",
        ".DS_Store": b"x", "inner.zip": zipped({"x.png": picture()}), "other/deep.png": picture(grey=75),
        link: b"/etc/passwd",
    }  # fmt: skip
    taken = upload(study, {"set.zip": zipped(content)})
    assert taken.added == ["deep"]
    why = reasons(taken)
    assert all("leads out" in why[name] for name in ("../../out.png", "/root.png", "..\\win.png", "C:\\drive.png"))
    assert "there is an item 'deep' already" in why["deep.png"]
    assert "link" in why["link.png"]
    assert "inner.zip" in why
    assert sorted(path.name for path in study.iterdir()) == ["consent.md", "instructions.md", "items", "study.toml"]
    assert names(study) == ["deep", "old"]


def test_an_archive_that_is_larger_than_it_says_is_stopped(study):
    limits = Limits(unpacked_bytes=50_000, archive_files=3)
    bomb = zipped({"bomb.txt": b"0" * 10_000_000, "after.png": picture()})
    assert len(bomb) < 20_000
    assert reasons(upload(study, {"bomb.zip": bomb}, limits=limits)) == {
        "bomb.txt": "too large once it is unpacked; what came after it was left out"
    }
    size = struct.pack("<I", 10_000_000)
    assert bomb.count(size) == 2
    lying = upload(study, {"lie.zip": bomb.replace(size, struct.pack("<I", 100))}, limits=limits)
    assert lying.added == []
    many = upload(study, {"many.zip": zipped({f"{k}.txt": str(k) for k in range(9)})}, limits=limits)
    assert many.added == ["0", "1", "2"]
    assert "more than 3 files" in reasons(many)["many.zip"]
    assert "no archive" in reasons(upload(study, {"no.zip": b"PK\3\4 not really"}))["no.zip"]


def test_a_table_becomes_the_items_beside_those_of_the_folder(study):
    table = "name,text,colour,file,mood\nred,,#ff0000,,warm\nword,some words,,,\nseen,a face,,face.png,\nold,x,,,\nfar,,,https://x.org/a.png,\nbad,,red,,\n"
    taken = upload(study, {"things.csv": table, "face.png": picture(grey=80)})
    assert taken.added == ["red", "word", "seen"]
    why = reasons(taken)
    assert "already" in why["things.csv, row 5"]
    assert "other hosts are not asked" in why["things.csv, row 6"]
    assert "expected #rrggbb" in why["things.csv, row 7"]
    items = read_items(read_study(study))
    assert list(items) == ["old", "red", "seen", "word"]
    assert (items["seen"].content, items["seen"].path.name) == ("a face", "face.png")
    assert upload(study, {"more.png": picture(grey=81)}).added == ["more"]
    assert "mood" in (study / "items.csv").read_text(encoding="utf-8"), "columns of the researcher stay"
    assert names(study) == ["more", "old", "red", "seen", "word"]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (b"a,b\n1,2\n", "a column `name`"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"name\n", "a column `name`"),
        (b"name\n" + b"a\n" * 12, "more than 9 rows"),
    ],
)
def test_what_is_no_table_is_refused(study, table, why):
    assert why in reasons(upload(study, {"t.csv": table}, limits=Limits(table_rows=9)))["t.csv"]
    assert "table" not in (study / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("as_table", [False, True])
def test_items_are_renamed_and_taken_out_and_moved_back(tmp_path, as_table):
    folder = write_study(tmp_path, "faces", TOML, faces(4))
    if as_table:
        upload(folder, {"t.csv": "name\nword\n"})
    gallery = Gallery(folder, values_of((folder / FILE).read_text(encoding="utf-8")))
    before, moves = names(folder), Moves()

    def write(texts):
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")

    kept = (folder / "items.csv").read_text(encoding="utf-8") if as_table else None
    write(gallery.remove("face01", moves))
    write(gallery.rename("face02", "friend", moves))
    assert names(folder) == ["face00", "face03", "friend", *before[4:]]
    for wrong, why in (("friend", "already"), ("", "1 to 200"), ("a/b" if not as_table else "\0", "name")):
        with pytest.raises(StudyError, match=why):
            gallery.rename("face03", wrong, moves)
    with pytest.raises(StudyError, match="no item 'face01'"):
        gallery.remove("face01", moves)
    moves.take_back()
    write({} if kept is None else {"items.csv": kept})
    assert names(folder) == before


def test_a_piece_is_taken_where_it_belongs_alone(study):
    box = Incoming(study, Limits(upload_bytes=5))
    assert box.add("uploaded", 0, b"abc") == 3
    with pytest.raises(Refused, match="expected 3, found 0"):
        box.add("uploaded", 0, b"abc")
    assert box.size("uploaded") == 3
    for strange in ("../x", "a/b/c/d/e", "", "x" * 100, "short"):
        with pytest.raises(Refused, match="letters, digits"):
            box.add(strange, 0, b"")
    with pytest.raises(Refused, match="at most"):
        box.add("uploaded", 3, b"def")
    assert box.size("uploaded") == 0
    assert [one.why_not for one in box.came([("uploaded", "x.png")])] == ["it did not arrive; send it again"]


def test_what_nobody_finished_is_thrown_away_after_a_day(study, monkeypatch):
    box = Incoming(study)
    box.add("left-behind", 0, b"abc")
    monkeypatch.setattr(incoming.time, "time", lambda: 10**10)
    box.add("newcomer", 0, b"x")
    assert box.size("left-behind") == 0


def test_a_folder_outside_the_study_is_none_of_its(study):
    for key in ("items.folder", "items.table"):
        with pytest.raises(StudyError, match="outside the study's folder"):
            Gallery(study, {key: "../elsewhere"})
