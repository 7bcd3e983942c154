"""What commands write: never what they read, whichever way it is called."""

import os
import re

import pandas as pd
import pytest
from PIL import Image

import similitude as sm
from similitude.cli.targets import beside
from tests.shell import run
from tests.systems import unix_only


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Answers, a folder of them, a model, a table of names and one of features, a picture, an earlier report."""
    folder = tmp_path_factory.mktemp("given")
    names = [f"item{k}" for k in range(6)]
    c = sm.simulate(pd.DataFrame({"x": range(6)}).to_numpy(float), 60, names=names, random_state=0)
    (folder / "group").mkdir()
    (folder / "report" / "tables").mkdir(parents=True)
    for place in ("a.csv", "group/p1.csv", "report/tables/answers.csv"):
        sm.write_comparisons(c, folder / place)
    sm.STE(1, random_state=0).fit(c).similarity_.save(folder / "m.sim")
    (folder / "m.png").write_bytes((folder / "m.sim").read_bytes())
    pd.DataFrame({"item": names, "name": names}).to_csv(folder / "names.csv", index=False)
    for name in ("features.csv", "features.sim"):
        pd.DataFrame({"item": names, "x": range(6)}).to_csv(folder / name, index=False)
    (folder / "pictures").mkdir()
    Image.new("RGB", (4, 4)).save(folder / "pictures" / "item0.png")
    return folder


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.csv", "a"), ("a.csv.gz", "a"), ("v1.2 answers.csv", "v1.2 answers"), ("study.v2.csv", "study.v2"), ("a", "a")],
)
def test_a_result_that_no_option_names_keeps_all_of_a_name_but_its_ending(file, name, tmp_path):
    assert beside(tmp_path / file, ".sim") == tmp_path / f"{name}.sim"
    assert beside(tmp_path / file, "_report") == tmp_path / f"{name}_report"


def test_a_folder_of_answers_keeps_all_of_its_name(tmp_path):
    (tmp_path / "wave.2").mkdir()
    assert beside(tmp_path / "wave.2", ".sim") == tmp_path / "wave.2.sim"


@unix_only
def test_a_model_that_no_option_names_goes_over_no_answers_by_a_link(given, tmp_path):
    answers = tmp_path / "a.csv"
    answers.write_bytes((given / "a.csv").read_bytes())
    (tmp_path / "a.sim").symlink_to(answers)
    before = answers.read_bytes()
    done = run("fit", "a.csv", folder=tmp_path, check=False)
    assert "a.sim is the same as a.csv, which is read, and would be lost" in done.stderr
    assert answers.read_bytes() == before


def kept(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("fit a.csv -o a.csv", "--out"),
        ("fit a.csv --features features.sim -o features.sim", "--out"),
        ("update m.sim features.sim -o features.sim", "--out"),
        ("evaluate a.csv -m STE --csv a.csv", "--csv"),
        ("check a.csv --json a.csv", "--json"),
        ("check a.csv --html ./a.csv", "--html"),
        ("next m.sim --asked a.csv -o a.csv", "--out"),
        ("next m.sim -o m.sim", "--out"),
        ("clean a.csv a.csv", ""),
        ("convert a.csv a.csv --drop-item item0", ""),
        ("convert a.csv names.csv --names names.csv", ""),
        ("clean group group/p1.csv", ""),
        ("check group --json group/figures.json", "--json"),
        ("plot m.png", "--out"),
        ("plot m.sim --images pictures -o pictures/item0.png", "--out"),
        ("compare m.png m.sim -o m.png", "--out"),
        ("compare m.sim m.sim --maps both.png -o both.png", "--maps"),
        ("check a.csv --html both --json both", "--json"),
        ("export features.csv features.csv", ""),
        ("learn report/tables/answers.csv -o report", "--out"),
        ("learn group -o group", "--out"),
        ("study invite study names.csv --out names.csv", "--out"),
        ("learn a.csv -o report --images report/tables", "--out"),
        ("dimensions a.csv --attributes report/tables/answers.csv -o report", "--out"),
    ],
)
def test_nothing_is_written_over_what_is_read_or_written_beside_it(command, option, given):
    before = kept(given)
    done = run(*command.split(), folder=given, check=False)
    assert done.returncode == 1
    assert re.match(rf"similitude: {option}: .*expected" if option else "similitude: .*; expected", done.stderr)
    assert re.search("would be lost|every file is read|which is written|writes, too|that ends in", done.stderr)
    assert kept(given) == before
    assert done.stdout == ""  # before anything was read


@unix_only
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_to_what_is_read_is_not_written_over(link, given, tmp_path):
    link(given / "a.csv", tmp_path / "link.csv")
    before = kept(given)
    done = run("convert", given / "a.csv", "link.csv", "--drop-item", "item0", folder=tmp_path, check=False)
    assert "link.csv is the same as" in done.stderr
    assert kept(given) == before


def test_a_model_is_updated_in_its_place_and_a_result_may_lie_beside_answers(given, tmp_path):
    (tmp_path / "m.sim").write_bytes((given / "m.sim").read_bytes())
    run("update", "m.sim", given / "group", folder=tmp_path)
    run("update", "m.sim", given / "group", "-o", "m.sim", folder=tmp_path)
    assert sm.Similarity.load(tmp_path / "m.sim").about["method"] == "STE"
    (tmp_path / "p1.csv").write_bytes((given / "a.csv").read_bytes())
    run("fit", ".", "-o", "all.sim", folder=tmp_path)
    run("fit", ".", "-o", "all.sim", folder=tmp_path)  # once more: no model is among the answers


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("next m.sim -o q.xlsx", "--out: expected a file name that ends in .csv or .tsv or .jsonl, found 'q.xlsx'"),
        ("next m.sim -o q.parquet", "--out: .*'q.parquet'"),
        ("next m.sim -o q.csv.gz", "--out: .*'q.csv.gz'"),
        ("fit a.csv -o m2.png", "--out: .* ends in .sim, found 'm2.png'"),
        ("update m.sim a.csv -o x.docx", "--out: .*'x.docx'"),
        ("evaluate a.csv -m STE --csv x.docx", "--csv: .* ends in .csv or .txt, found 'x.docx'"),
        ("check a.csv --html x.docx", "--html: .* ends in .html or .htm, found 'x.docx'"),
        ("check a.csv --json x.csv", "--json: .*'x.csv'"),
        ("learn a.csv -o report.html", "--out: expected the name of a folder, found that of a file, 'report.html'"),
        ("dimensions a.csv -o atlas.zip", "--out: .*'atlas.zip'"),
        ("study payable study --out x.pdf", "--out: .*'x.pdf'"),
        ("study invite study names.csv --out x.xlsx", "--out: .*'x.xlsx'"),
    ],
)
def test_a_name_that_says_what_the_file_does_not_hold_is_refused(command, sentence, given):
    before = kept(given)
    done = run(*command.split(), folder=given, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(sentence, done.stderr)
    assert kept(given) == before


@pytest.mark.parametrize("name", ["q.csv", "q.tsv", "q.jsonl", "q"])
@pytest.mark.parametrize("strategy", ["information_gain", "random"])
def test_questions_are_written_as_what_they_are_called_and_read_when_filled_in(name, strategy, given, tmp_path):
    file = tmp_path / name
    run("next", given / "m.sim", "-n", 4, "--strategy", strategy, "-o", file, folder=tmp_path)
    text = file.read_text(encoding="utf-8")
    if name == "q.jsonl":
        file.write_text(text.replace('"response":null', '"response":"1"'), encoding="utf-8")
    else:
        assert ("\t" in text) == (name == "q.tsv")
        filled = [line + "1" * bool(k) for k, line in enumerate(text.splitlines())]
        file = tmp_path / f"filled{file.suffix or '.csv'}"
        file.write_text("\n".join(filled), encoding="utf-8")
    read = sm.read_comparisons(file)
    assert (read.n_answers, len(read), read.answers.form.labels) == (4, 4, ("triplet",))


def test_a_model_may_have_a_name_without_an_ending(given, tmp_path):
    run("fit", given / "a.csv", "-o", "model", folder=tmp_path)
    assert sm.Similarity.load(tmp_path / "model").n_items == 6
