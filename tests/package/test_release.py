"""A release says the same everywhere (tag, version, changelog, citation), and its workflows are well formed."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import similitude as sm
from similitude.cli import app

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def citation():
    return dict(re.findall(r"^([\w-]+): (\S.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE))


def test_the_newest_entry_of_the_changelog_is_this_version_with_its_date():
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    entries = re.findall(r"^## (\d\S*) - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    assert entries[0] == (sm.__version__, citation()["date-released"])
    assert [date for _, date in entries] == sorted((date for _, date in entries), reverse=True)


def test_the_citation_names_this_version_and_licence():
    assert citation()["version"] == sm.__version__
    assert citation()["license"] == PROJECT["license"]


def test_the_command_line_says_the_version():
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"similitude {sm.__version__}\n")


def test_a_tag_is_the_version():
    tag = os.environ.get("SIMILITUDE_TAG")
    if tag is None:
        pytest.skip("no release is being made: SIMILITUDE_TAG is not set")
    assert tag == f"v{sm.__version__}"


def test_the_pythons_of_the_workflow_are_those_of_the_classifiers():
    tried = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8"))
    said = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert tried is not None
    assert re.findall(r"[\d.]+", tried[1]) == said
    assert PROJECT["requires-python"] == f">={said[0]}"


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-workflows", WORKFLOWS), ("vendor.citation-file-format", [ROOT / "CITATION.cff"])],
    ids=["workflows", "citation"],
)
def test_files_for_other_programs_have_the_form_that_these_expect(schema, files):
    pytest.importorskip("check_jsonschema", reason="the extra test is not installed")
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_hooks_are_programs_of_the_development_environment():
    """So that a commit needs no network, and is judged by the versions that `make check` uses."""
    text = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert re.findall(r"repo: (\S+)", text) == ["local"]
    programs = re.findall(r"entry: python -m (\S+)", text)
    assert len(programs) == text.count("- id:")
    declared = " ".join(PROJECT["optional-dependencies"]["dev"])
    assert [name for name in programs if name not in declared] == []
