"""A command that lacks an extra says so before it begins, and says what to install."""

import importlib.metadata
import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import similitude as sm
from similitude import extras
from similitude.distributed.partitions import spread
from similitude.engine.devices import choose_device
from similitude.feedback.files.workbooks import parse_ods, parse_rds, parse_sav, parse_xlsx
from tests.package.hiding import beyond, environment

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = PROJECT["optional-dependencies"]
FASTER = {"uvloop"}  # used where it is there, never missed
MATHEMATICS = ("numba", "scipy", "sklearn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("extras")
    sm.write_comparisons(sm.simulate([[0.0], [1.0], [3.0], [7.0]], 50, random_state=0), where / "answers.csv")
    (where / "vectors.parquet").write_bytes(b"never looked at")
    return where


def run(*arguments, folder, hidden):
    """The command line in a process that lacks some modules that the base lacks, and anything to compute with."""
    command = [sys.executable, "-m", "similitude.cli", *arguments]
    absent = beyond(PROJECT["dependencies"]).intersection(hidden)
    lacking = environment(folder / "hidden", [*absent, *MATHEMATICS], Path(sm.__file__).parents[1])
    return subprocess.run(command, cwd=folder, env=lacking, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "command"),
    [
        ("parquet", ["simulate", "out.parquet"]),
        ("parquet", ["convert", "answers.csv", "out"]),
        ("parquet", ["clean", "answers.csv", "out.parquet"]),
        ("serve", ["serve", "model.sim"]),
        ("study", ["study", "new", "faces"]),
        ("study", ["study", "serve", "faces"]),
        ("study", ["study", "demo"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_command_says_what_it_lacks_before_it_begins(extra, command, folder):
    before = sorted(folder.iterdir())
    done = run(*command, folder=folder, hidden=extras.EXTRAS[extra])
    assert done.returncode == 1
    (said,) = done.stderr.splitlines()
    assert said.endswith(f'not installed: pip install "similitude[{extra}]"')
    assert done.stdout == ""
    assert sorted({*folder.iterdir()} - {folder / "hidden"}) == sorted({*before} - {folder / "hidden"})


@pytest.fixture
def without(monkeypatch):
    """Let what extras bring look as if it were not installed, in this process."""
    hidden, real = set(), importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in hidden else real(name, *more))
    return lambda extra: hidden.update(extras.EXTRAS[extra])


def test_features_in_a_parquet_file_are_refused_before_anything_is_learned(without, folder):
    without("parquet")
    from similitude.feedback.files.features import read_features

    with pytest.raises(ModuleNotFoundError, match=r"vectors\.parquet: a Parquet file needs pyarrow"):
        read_features(folder / "vectors.parquet", None, 4)


@pytest.mark.parametrize(
    ("parse", "needed"),
    [
        (parse_xlsx, "an Excel file needs openpyxl, which is"),
        (parse_ods, "an OpenDocument spreadsheet needs odfpy, which is"),
        (parse_sav, "an SPSS file needs pyreadstat, which is"),
        (parse_rds, "an R file needs pyreadr, which is"),
    ],
)
def test_a_file_asks_for_what_it_needs_alone_by_the_name_that_pip_knows(parse, needed, without):
    without("tables")
    with pytest.raises(ModuleNotFoundError, match=rf'^{needed} not installed: pip install "similitude\[tables\]"'):
        parse(b"never looked at")


@pytest.mark.slow
def test_pictures_that_are_not_there_are_refused_before_anything_is_learned(folder, tmp_path):
    (tmp_path / "pictures").mkdir()
    command = ["learn", "answers.csv", "--images", str(tmp_path / "pictures")]
    done = run(*command, folder=folder, hidden=[])
    assert done.returncode == 1
    assert "no file in" in done.stderr
    assert not (folder / "answers_report").exists()


def test_an_export_to_parquet_is_refused_before_the_database_is_asked(without, folder):
    from similitude.study.maintenance.export import export_answers

    without("parquet")
    with pytest.raises(ModuleNotFoundError, match="a Parquet file needs pyarrow"):
        export_answers(None, "faces", folder / "out.parquet")


def test_a_gpu_without_torch_and_a_cluster_without_dask(without):
    without("gpu")
    without("distributed")
    with pytest.raises(ModuleNotFoundError, match=r'device=.cuda. needs torch, .*: pip install "similitude\[gpu\]"'):
        sm.STE(device="cuda").fit([(0, 1, 2)])
    assert choose_device("auto", 10**9) == "cpu"
    with pytest.raises(ModuleNotFoundError, match=r'needs dask, distributed, which are .*\[distributed\]"'):
        spread("nowhere")


@pytest.mark.slow
@pytest.mark.parametrize("extra", sorted(extras.EXTRAS))
def test_an_extra_brings_the_modules_that_are_asked_for(extra):
    if extras.missing(extra):
        pytest.skip(f"the extra {extra} is not installed")
    owners = importlib.metadata.packages_distributions()
    asked = {name.lower() for module in extras.EXTRAS[extra] for name in owners[module]}
    assert asked >= {extras.CALLED[module] for module in extras.EXTRAS[extra] if module in extras.CALLED}
    own = [Requirement(line) for line in DECLARED[extra]]
    brought = {one.name.lower() for one in own} | {more for one in own for more in one.extras}
    assert asked <= brought
    assert {one.name for one in own if one.name != "similitude"} - FASTER <= asked
