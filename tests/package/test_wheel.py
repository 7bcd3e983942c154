"""The wheel and the sdist, as a stranger gets them: everything is in them, and the first commands work from them."""

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import similitude as sm
from tests.package.hiding import beyond, environment

pytestmark = pytest.mark.slow  # a process for each test

pytest.importorskip("build", reason="the extra test is not installed")
pytest.importorskip("hatchling", reason="the extra test is not installed")

ROOT = Path(__file__).parents[2]
# the command line with a demo that finds out less: small data are asked for everything
HASTENED = "from similitude import cli, demo; demo.SECONDS = 1.0; cli.main()"


def quietly(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the sdist and of the wheel that is built from the sdist."""
    folder = tmp_path_factory.mktemp("built")
    quietly(sys.executable, "-m", "build", "--no-isolation", "--skip-dependency-check", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (file,) = built.glob("similitude-*.whl")
    return file


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


def tracked(folder):
    """The files that the project has in a folder."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout, so nobody knows which files belong to the project")
    trusted = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    listed = quietly("git", "-C", ROOT, "ls-files", "-z", folder, env=os.environ | trusted)  # whoever owns the folder
    return {Path(name) for name in listed.split("\0") if name and (ROOT / name).exists()}


def test_the_wheel_has_every_file_of_the_package_and_the_licence(wheel):
    with zipfile.ZipFile(wheel) as archive:
        inside = {Path(name) for name in archive.namelist()}
    package = {path.relative_to("src") for path in tracked("src/similitude")}
    assert {path.suffix for path in package} >= {".html", ".js", ".css", ".toml", ".md", ".mako", ".typed"}
    assert sorted(package - inside) == []
    assert [path for path in inside if path.name == "LICENSE"]


def test_the_command_begins_in_the_module_that_python_runs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        assert "similitude/__main__.py" in archive.namelist()
        (name,) = [name for name in archive.namelist() if name.endswith("entry_points.txt")]
        assert "similitude = similitude.__main__:main" in archive.read(name).decode()


def test_the_wheel_has_nothing_but_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"similitude"}
    assert [name for name in names if "__pycache__" in name or "/tests/" in name] == []


def test_the_sdist_has_what_proves_the_package_and_no_heavy_results(built):
    (file,) = built.glob("similitude-*.tar.gz")
    with tarfile.open(file) as archive:
        inside = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    for folder in ("src", "tests", "docs", "examples"):
        assert sorted(tracked(folder) - inside) == []
    assert {Path(name) for name in ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile")} <= inside
    unwanted = {"results", ".venv", ".git", "__pycache__", "shared", ".mypy_cache", "_build"}
    assert [str(path) for path in inside if unwanted & {*path.parts}] == []


def test_the_metadata_say_what_a_stranger_looks_for(metadata):
    links = dict(line.split(", ", 1) for line in metadata.get_all("Project-URL"))
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog"} <= {*links}
    assert "Typing :: Typed" in metadata.get_all("Classifier")
    assert "plot" in metadata.get_all("Provides-Extra")
    assert [line for line in metadata.get_all("Requires-Dist") if 'extra == "plot"' in line] == []


@pytest.fixture(scope="module")
def python(wheel, metadata, tmp_path_factory):
    """A way to run Python in a folder of its own with the wheel, and with what the base brings alone."""
    folder = tmp_path_factory.mktemp("installed")
    install = ("install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", folder / "site", wheel)
    quietly(sys.executable, "-m", "pip", *install)
    base = [line for line in metadata.get_all("Requires-Dist") if "extra ==" not in line]
    settings = environment(folder / "hidden", beyond(base), folder / "site")
    (folder / "work").mkdir()
    return lambda *arguments: quietly(sys.executable, *arguments, cwd=folder / "work", env=settings), folder


def test_commands_run_from_what_was_installed(python):
    run, folder = python
    where = run("-c", "import similitude; print(similitude.__file__)").strip()
    assert Path(where).is_relative_to(folder / "site")
    run("-m", "similitude", "simulate", "answers.csv", "--items", "6", "--answers", "60")
    assert "60 answers" in run("-m", "similitude.cli", "info", "answers.csv")


@pytest.mark.whole  # everything is compiled anew
def test_the_base_alone_finishes_what_it_starts(python):
    run, folder = python
    demo_and_learn(lambda *arguments: run("-c", HASTENED, *arguments), folder / "work")


def demo_and_learn(similitude, folder):
    """The first commands of a stranger end with a report each."""
    said = similitude("demo")
    assert "the report is in" in said
    assert (folder / "demo" / "colours.png").stat().st_size > 10_000
    assert sm.read_comparisons(folder / said.split(" learn ")[1].split()[0]).n_items == 60
    similitude("simulate", "answers.csv", "--items", "6", "--answers", "60")
    similitude("learn", "answers.csv", "--time-limit", "2", "--method", "STE")
    for made in ("demo/report", "answers_report"):
        report = (folder / made / "report.html").read_text("utf-8")
        assert report.startswith("<!doctype html>")
        assert "The map" in report


@pytest.mark.whole
def test_an_empty_environment_gets_all_that_it_needs(wheel, tmp_path):
    """Everything is fetched anew, as `pip install similitude` does; this needs the network."""
    quietly(sys.executable, "-m", "venv", tmp_path / "empty")
    programs = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
    quietly(programs / "python", "-m", "pip", "install", f"{wheel}[plot]")
    quietly(programs / "python", "-m", "pip", "check")
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    demo_and_learn(lambda *arguments: quietly(programs / "similitude", *arguments, cwd=tmp_path, env=alone), tmp_path)
