"""Where a file cannot be written is said before the work whose result should go there."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from similitude import Comparisons, write_comparisons
from similitude.feedback.files.whole import check_place, placed_whole, write_whole
from tests.systems import unix_only


def contents(folder):
    return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", ["there.csv", "new.csv"])
def test_a_place_is_looked_at_and_left_as_it_is(name, tmp_path):
    (tmp_path / "there.csv").write_text("of before", encoding="utf-8")
    before = contents(tmp_path)
    check_place(tmp_path / name)
    check_place(tmp_path / "new" / "folders" / name, makes_folders=True)
    assert contents(tmp_path) == before


def test_what_cannot_be_written_is_said_with_the_folder(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"^--out: cannot write into .*nowhere: there is no such folder; make"):
        check_place(tmp_path / "nowhere" / "new.csv", "--out")
    with pytest.raises(NotADirectoryError, match="file is a file; expected a folder"):
        check_place(tmp_path / "file" / "below" / "new.csv", makes_folders=True)
    with pytest.raises(IsADirectoryError, match="is a folder; expected the name of a file"):
        check_place(tmp_path)


def test_a_folder_that_may_not_be_written_into_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)
    for path in (Path("new.csv"), tmp_path / "new.csv"):
        with pytest.raises(PermissionError, match=f"cannot write into {tmp_path}: Permission denied; give another"):
            check_place(path)


@unix_only
def test_a_link_is_said_by_the_folder_that_is_not_there(tmp_path):
    (tmp_path / "new.csv").symlink_to(tmp_path / "nowhere" / "new.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "nowhere")
    for path in (tmp_path / "new.csv", tmp_path / "folder" / "new.csv"):
        with pytest.raises(FileNotFoundError, match=r"cannot write into .*nowhere: there is no such folder"):
            check_place(path)


def test_nobody_is_told_to_remove_what_is_no_new_folder(tmp_path):
    (tmp_path / "full").touch()
    for path in (os.devnull, tmp_path, tmp_path / "full", ""):
        with pytest.raises((ValueError, OSError), match=r"expected .*name") as refused:
            write_comparisons(Comparisons.from_triplets([(0, 1, 2)]), path)
        assert "remove it" not in str(refused.value)


@unix_only
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_place(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write_whole(pipe, b"what was found")
        assert read.result(60) == b"what was found"
    assert pipe.is_fifo()


@unix_only
@pytest.mark.parametrize("called", ["/dev/fd/{}", "link"])
def test_what_is_open_already_is_written_into_and_keeps_what_it_holds(called, tmp_path):
    log = tmp_path / "log.csv"
    log.write_bytes(b"of before\n")
    with log.open("ab") as opened:
        path = Path(called.format(opened.fileno()))
        if called == "link":
            path = tmp_path / "link"
            path.symlink_to(f"/dev/fd/{opened.fileno()}")
        check_place(path)
        write_whole(path, b"what was found\n")
        with placed_whole(path) as beside:
            beside.write_bytes(b"and more\n")
        opened.write(b"and after\n")
    assert log.read_bytes() == b"of before\nwhat was found\nand more\nand after\n"


@unix_only
def test_standard_output_that_a_shell_appends_to_loses_nothing(tmp_path):
    (tmp_path / "log").write_bytes(b"of before\n")
    code = "from pathlib import Path; from similitude.feedback.files.whole import write_whole as w; print('said');"
    code += "w(Path('/dev/stdout'), b'found\\n'); print('and')"
    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_bytes() == b"of before\nsaid\nfound\nand\n"


def test_a_full_disk_is_said_of_the_file_that_was_asked_for(tmp_path):
    def pieces():
        yield b"first"
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: .*new\.csv"):
        write_whole(tmp_path / "new.csv", pieces())
    assert not list(tmp_path.iterdir())
