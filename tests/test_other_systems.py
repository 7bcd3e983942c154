"""What differs on Windows and macOS, as far as it can be acted here: files, encodings, shells."""

import errno
import os
import subprocess
import sys

import pytest

import similitude as sm
from similitude.cli.output import in_shell
from similitude.feedback.files.whole import write_whole


def test_a_file_that_a_spreadsheet_holds_is_left_as_it_was(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Access is denied", str(source))

    (tmp_path / "table.csv").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError, match=r"table\.csv: cannot be replaced; close the program that has it open"):
        write_whole(tmp_path / "table.csv", b"new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"table.csv": b"old"}


def test_a_file_that_cannot_be_written_is_named_and_not_the_one_beside_it(tmp_path):
    with pytest.raises(FileNotFoundError) as refused:
        write_whole(tmp_path / "nowhere" / "table.csv", b"new")
    assert refused.value.filename == str(tmp_path / "nowhere" / "table.csv")
    assert f"there is no folder {str(tmp_path / 'nowhere')!r}; make it first" in str(refused.value)
    assert "None" not in str(refused.value)


def test_a_pipe_gets_utf_8_where_the_system_writes_otherwise(tmp_path):
    """As on Windows, where text that goes to a pipe is written in a code page that lacks most letters."""
    sm.write_comparisons(sm.Comparisons.from_triplets([("قطة", "كلب", "سيارة")]), tmp_path / "إجابات.csv")
    command = [sys.executable, "-m", "similitude.cli", "info", "إجابات.csv"]
    narrow = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(command, cwd=tmp_path, env=narrow, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("utf-8").startswith("إجابات.csv: 1 answer")


def test_a_command_is_written_as_the_shell_takes_it():
    assert in_shell("my answers.csv", "posix") == "'my answers.csv'"
    assert in_shell("my answers.csv", "nt") == '"my answers.csv"'
    assert in_shell("answers.csv", "nt") == in_shell("answers.csv", "posix") == "answers.csv"
