"""The suite with other versions: of Python, and the oldest of every package that `pyproject.toml` allows.

    python -m tests.versions                     every row
    python -m tests.versions oldest-3.11         these rows
    python -m tests.versions newest-3.13 -- -x   what follows -- goes to pytest

Each row is an environment of its own, made by uv with an interpreter that is on this machine (`python3.13` on the
path, one of pyenv's, or one that uv knows of or can fetch); a row without one is said. The oldest row holds each direct
dependency at its floor.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.rows import PYTEST, chosen_rows, summary

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Versions:
    """One row: an interpreter, and which end of what is allowed."""

    name: str
    python: str
    resolution: str

    def environment(self) -> Path:
        """Where its packages are."""
        return ROOT / ".venv-versions" / self.name

    def install(self) -> str | None:
        """Make the environment; says why where that cannot be done."""
        uv, python = [sys.executable, "-m", "uv"], str(self.environment())
        make = [*uv, "venv", "-q", "--seed", "--clear", "--python", self.python, python]
        made = subprocess.run(make, capture_output=True, text=True, env=_with_all_interpreters())
        if made.returncode:
            return made.stderr.strip().splitlines()[-1]
        install = [*uv, "pip", "install", "-q", "--python", python, "--resolution", self.resolution]
        subprocess.run([*install, "--editable", f"{ROOT}[test]"], check=True)
        return None


VERSIONS = (
    Versions("oldest-3.11", "3.11", "lowest-direct"),
    Versions("newest-3.12", "3.12", "highest"),
    Versions("newest-3.13", "3.13", "highest"),
)


def _with_all_interpreters() -> dict[str, str]:
    """The variables with which uv finds interpreters: of pyenv's all, not only the one that is in use."""
    if shutil.which("pyenv") is None:
        return dict(os.environ)
    known = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True).stdout.split()
    return {**os.environ, "PYENV_VERSION": ":".join(known)}


def run(versions: Versions, arguments: list[str]) -> str:
    """Run the suite on a row, and say how it went."""
    if (wrong := versions.install()) is not None:
        return f"not to be had here: {wrong}"
    python = versions.environment() / "bin" / "python"
    command = [str(python), *PYTEST, *arguments]
    return "passed" if subprocess.run(command, cwd=ROOT).returncode == 0 else "FAILED"


def main() -> int:
    """Run the rows that were asked for; 0 where every one that could run passed."""
    chosen, arguments = chosen_rows("tests.versions", VERSIONS)
    return summary({versions.name: run(versions, arguments) for versions in chosen})


if __name__ == "__main__":
    sys.exit(main())
