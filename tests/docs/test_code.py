"""The code on every page runs: Python blocks in one namespace per page, command lines as a shell would run them."""

import itertools
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from similitude import demo
from tests.docs.pages import blocks, name, needs, pages
from tests.patience import PATIENCE
from tests.shell import run

pytestmark = pytest.mark.slow

RUN = ("python", "bash", "console")
SHELL_SIGNS = set("|<>&;$`\\(")  # what only a shell understands
WITH_CODE = [page for page in pages() if any(language in RUN for language, _ in blocks(page))]


@pytest.mark.parametrize("page", WITH_CODE, ids=name)
def test_code_runs(page, tmp_path, monkeypatch, capsys):
    if needed := needs(page):
        module, least = needed
        pytest.importorskip(module, least, reason=f"{module} {least or ''} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(demo, "SECONDS", 1.0)
    namespace = {"__name__": "page"}
    for number, (language, text) in enumerate(blocks(page), 1):
        if language == "python":
            exec(compile(text, f"{name(page)}, block {number}", "exec"), namespace)
        elif language in RUN:
            run_lines(text, tmp_path, f"{name(page)}, block {number}")


def run_lines(text, folder, where):
    """Run a block of command lines: what calls `similitude` and nothing else in this process, the others in a shell."""
    for plain, lines in itertools.groupby(text.splitlines(), is_plain):
        if not plain:
            run_in_shell("\n".join(lines), folder, where)
            continue
        for line in lines:
            done = run(*hastened(shlex.split(line, comments=True)[1:]), folder=folder, check=False)
            assert done.returncode == 0, f"{where}: {line}\n{done.stdout}\n{done.stderr}"


def is_plain(line):
    return line.startswith("similitude ") and not SHELL_SIGNS & set(line)


def hastened(words):
    """A command that takes its default minute on the page need not take it here, where it must only run."""
    return [*words, "--time-limit", "1"] if words[0] == "learn" and "--time-limit" not in words else words


def run_in_shell(text, folder, where):
    """Run a block with `similitude` as the real command line, stopping at the first line that fails.

    It is a program, not a function of the shell: one that runs in the background is then the process that is ended.
    """
    shell = shutil.which("bash")
    if shell is None:
        pytest.skip("there is no bash to run the command lines with")
    program = folder / ".bin" / "similitude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!{shell}\nexec "{sys.executable}" -m similitude.cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [shell, "-c", f"set -e\n{text}"], capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert done.returncode == 0, f"{where}: status {done.returncode}\n{text}\n{done.stdout}\n{done.stderr}"


def test_there_are_pages_with_both_kinds_of_code():
    languages = {language for page in WITH_CODE for language, _ in blocks(page)}
    assert {"python", "bash"} <= languages
    assert len(WITH_CODE) > 30
