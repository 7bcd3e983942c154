"""Where a file cannot be written is said before the work whose result should go there."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from similitude.feedback.files.whole import check_place, write_whole
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
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_place(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        write_whole(pipe, b"what was found")
        assert read.result(60) == b"what was found"
    assert pipe.is_fifo()
