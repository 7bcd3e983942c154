"""The command line as a shell sees it: what it prints, what it writes, how it fails."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import similitude as sm
from similitude import cli
from similitude.__main__ import main as begin
from similitude.cli.fitting import Method
from similitude.cli.output import phases, show
from similitude.cli.targets import beside
from similitude.feedback.forms import FORMS
from tests.shell import run, run_python

pytestmark = pytest.mark.slow

runner = CliRunner()


def printed_python(done):
    """The code that a command says does the same."""
    lines = done.stdout.split("the same in Python:\n")[1].split("next:")[0].splitlines()
    return "\n".join(line.strip() for line in lines)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    run("simulate", "answers.csv", "--items", 15, "--answers", 900, "--form", "odd_one_out", folder=folder)
    run("fit", "answers.csv", "--method", "ckl", "-d", 2, "--seed", 3, folder=folder)
    called = pd.DataFrame({"item": [f"item{k:02d}" for k in range(15)], "name": [f"thing {k}" for k in range(15)]})
    called.to_csv(folder / "names.csv", index=False)
    return folder


def test_simulate_and_fit_say_what_they_did(study):
    c = sm.read_comparisons(study / "answers.csv")
    assert (c.n_items, c.n_answers, len(c.answers.rater.labels)) == (15, 900, 10)
    similarity = sm.Similarity.load(study / "answers.sim")
    assert similarity.about["method"] == "CKL"
    assert similarity.score(c) > 0.75  # .90; of ten draws ± .03


def test_the_python_that_is_printed_does_the_same(study, tmp_path):
    done = run("fit", "answers.csv", "-o", "other.sim", "--penalty", 0.1, folder=study)
    run_python(printed_python(done).replace("other.sim", "again.sim"), study)
    first, second = sm.Similarity.load(study / "other.sim"), sm.Similarity.load(study / "again.sim")
    assert np.array_equal(first.embedding, second.embedding)


@pytest.mark.own_seed  # the command draws as it always does
@pytest.mark.parametrize("method", [None, "TACKL", "rankprojection"])
def test_methods_that_learn_from_features(study, method):
    c = sm.read_comparisons(study / "answers.csv")
    numbers = np.round(8 * np.random.default_rng(0).normal(size=(15, 3))) / 8  # which every reader of text reads alike
    table = pd.DataFrame(numbers, columns=list("xyz")).assign(name=c.names)[["name", *"xyz"]]
    table[::-1].to_csv(study / "features.tsv", sep="\t", index=False)  # rows are found by name
    chosen = () if method is None else ("--method", method)
    done = run("fit", "answers.csv", "-o", "featured.sim", "--features", "features.tsv", *chosen, folder=study)
    run_python(printed_python(done).replace("featured.sim", "again.sim"), study)
    first, second = sm.Similarity.load(study / "featured.sim"), sm.Similarity.load(study / "again.sim")
    assert np.array_equal(first.embedding, second.embedding)
    expected = getattr(sm, first.about["method"])(2, random_state=0).fit(c, features=numbers)
    np.testing.assert_allclose(first.distances(), expected.distances(), atol=1e-6)
    assert first.about["method"].lower() == (method or "FeatureEmbedding").lower()


def test_features_of_items_without_names_go_by_position(tmp_path):
    truth = np.random.default_rng(0).normal(size=(8, 2))
    sm.write_comparisons(sm.simulate(truth, 200, random_state=1), tmp_path / "answers.csv")
    shuffled = np.random.default_rng(2).permutation(8)
    pd.DataFrame(truth[shuffled], shuffled).to_csv(tmp_path / "features.csv", index_label="item")
    done = run("fit", "answers.csv", "--features", "features.csv", folder=tmp_path)
    run_python(printed_python(done).replace("answers.sim", "again.sim"), tmp_path)
    first, second = sm.Similarity.load(tmp_path / "answers.sim"), sm.Similarity.load(tmp_path / "again.sim")
    assert np.array_equal(first.embedding, second.embedding)
    expected = sm.FeatureEmbedding(2, random_state=0).fit(sm.read_comparisons(tmp_path / "answers.csv"), features=truth)
    np.testing.assert_allclose(first.distances(), expected.distances(), atol=1e-6)


def test_evaluate_compares_methods_with_features_and_without(study):
    c = sm.read_comparisons(study / "answers.csv")
    pd.DataFrame({"name": c.names, "x": range(15)}).to_csv(study / "places.csv", index=False)
    done = run("evaluate", "answers.csv", "--features", "places.csv", "--folds", 2, "--csv", "all.csv", folder=study)
    assert set(pd.read_csv(study / "all.csv").estimator) == {method.value for method in Method}
    assert "features=features" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "more.csv", "--items", 12, "--answers", 40),
        ("info", "answers.csv"),
        ("info", "answers.sim"),
        ("convert", "answers.csv", "converted.jsonl"),
        ("check", "answers.csv", "--html", "report.html", "--json", "report.json"),
        ("clean", "answers.csv", "cleaned.csv", "--reduce", "--drop-rater", "rater 1"),
        ("evaluate", "answers.csv", "-m", "STE", "--folds", 2),
        ("evaluate", "answers.csv", "--model", "answers.sim"),
        ("plot", "answers.sim", "-o", "map.svg", "--labels"),
        ("plot", "answers.sim", "-o", "named.svg", "--names", "names.csv"),
        ("info", "answers.csv", "--names", "names.csv"),
        ("next", "answers.sim", "-n", 5, "--asked", "answers.csv", "-o", "questions.csv", "--asks", "odd_one_out"),
        ("update", "answers.sim", "answers.csv", "-o", "updated.sim"),
        ("compare", "answers.sim", "answers.sim", "--answers", "answers.csv", "-o", "pairs.png", "--maps", "maps.png"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:3])),
)
def test_every_command_runs_and_prints_python_that_runs(arguments, study):
    run_python(printed_python(run(*arguments, folder=study)), study)


def test_a_model_is_scored_on_a_folder_that_was_cleaned_with_a_note(study):
    c = sm.clean(sm.read_comparisons(study / "answers.csv"))
    with sm.ComparisonWriter(study / "cleaned_folder", names=c.names) as writer:
        writer.write(c)
    done = run("evaluate", "cleaned_folder", "--model", "answers.sim", folder=study)
    assert "of the comparisons in cleaned_folder are ordered correctly" in done.stdout
    assert "this feedback was cleaned" in done.stderr


def test_a_model_is_scored_by_whole_answers_and_said_to_have_seen_them(tmp_path):
    c = sm.simulate(np.random.default_rng(0).normal(size=(10, 2)), 120, "odd_one_out", random_state=0)
    train, test = c.split(0.5, random_state=0)
    sm.write_comparisons(test, tmp_path / "test.csv")
    sm.write_comparisons(train, tmp_path / "train.csv")
    model = sm.STE(2, random_state=0).fit(sm.read_comparisons(tmp_path / "train.csv")).similarity_
    model.save(tmp_path / "m.sim")
    new = run("evaluate", "test.csv", "--model", "m.sim", folder=tmp_path).stdout
    right, lost = sm.answer_accuracy(model, test), sm.answer_log_loss(model, test)
    assert f"{right:.4f} of the answers are predicted as wholes, with a log-loss of {lost:.3f}" in new
    assert "learned from these very answers" not in new
    assert f"an honest score where none of these are among the {train.n_answers} that it learned from" in new
    assert "learned from these very answers" in run("evaluate", "train.csv", "--model", "m.sim", folder=tmp_path).stdout


def test_a_folder_with_a_model_is_exported_by_its_model(study):
    (study / "answers_report").mkdir()
    (study / "answers_report" / "model.sim").write_bytes((study / "answers.sim").read_bytes())
    done = run("export", "answers_report", "distances.csv", folder=study)
    assert "distances of 15 items" in done.stdout
    assert "answers_report/model.sim" in printed_python(done).replace("\\\\", "/")


def test_check_says_which_files_it_wrote(study):
    done = run("check", "answers.csv", "--html", "said.html", "--json", "said.json", folder=study, check=False)
    assert "the report is in said.html" in done.stdout
    assert "all figures are in said.json" in done.stdout


def test_check_says_by_its_status_that_something_is_worth_a_look(tmp_path):
    (tmp_path / "two.csv").write_text("head,winner,loser\n0,1,2\n1,0,2\n3,4,5\n4,3,5\n", encoding="utf-8")
    done = run("check", "two.csv", "--html", "report.html", folder=tmp_path, check=False)
    assert done.returncode == 3
    assert "worth a look: " in done.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Worth a look" in page
    assert "http" not in page.replace("http-equiv", "")


def test_names_of_items_are_given_by_a_table(study):
    said = run("info", "answers.csv", "--names", "names.csv", folder=study).stdout
    assert re.search(r"thing \d", said)  # some of them, as answered first
    assert "item0" not in said
    run("plot", "answers.sim", "--names", "names.csv", "-o", "things.svg", folder=study)
    assert "thing 14" in (study / "things.svg").read_text(encoding="utf-8")


def test_info_counts(study):
    said = run("info", "answers.csv", folder=study).stdout
    assert "900 answers to odd-one-out questions of three items, about 15 items by 10 raters" in said
    assert "comparisons: 1,800, per item 120.0" in said
    assert re.search(r"odd_one_out\s+900 answers", said)
    assert "CKL: 15 items in 2 dimensions" in run("info", "answers.sim", folder=study).stdout


def test_evaluate_compares_and_writes_a_table(study):
    done = run("evaluate", "answers.csv", "--folds", 2, "--by", "rater", "--csv", "table.csv", folder=study)
    assert {"STE", "TSTE", "CKL", "SOE", "GNMDS"} <= set(done.stdout.split())
    lines = (study / "table.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("estimator,accuracy,low,high")
    assert len(lines) == 6


def test_a_narrow_screen_cuts_no_figure_of_the_table(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    figures = {"accuracy": 0.701, "low": 0.651, "high": 0.751, "log_loss": 0.502, "answer_accuracy": 0.601}
    row = {"estimator": "a method with a long name", **figures, "answer_log_loss": 0.901, "seconds": 1234.56}
    show(pd.DataFrame([row]), "share ordered")
    told = capsys.readouterr().out
    assert "a method with a long name" in told
    assert "share ordered" in told
    assert "0.651 to 0.751" in told
    assert {"0.701", "0.502", "0.601", "0.901", "1234.56"} <= set(told.split())


def test_plot_draws_the_pictures_of_a_folder(study):
    import matplotlib.pyplot as plt

    (study / "pictures").mkdir(exist_ok=True)
    for k in range(3):
        plt.imsave(study / "pictures" / f"item{k:02d}.png", np.zeros((4, 4, 3)))
    run("plot", "answers.sim", "--images", "pictures", folder=study)
    assert (study / "answers.png").stat().st_size > 5000


def test_numbers_in_a_file_are_read_as_the_model_has_them(tmp_path):
    names = [str(k) for k in range(1, 11)]
    c = sm.simulate(np.arange(10.0)[:, None] ** 1.5, 800, sharpness=30.0, random_state=0)
    for name, own in (("names", c.with_items(names)), ("positions", c)):
        sm.STE(1, random_state=0).fit(own).similarity_.save(tmp_path / f"{name}.sim")
    some = c.select((c.answers.shown.matrix() > 0).all(1)).triplets  # neither item 0 nor, of names, "1"
    for name, first in (("names", 1), ("positions", 0)):
        table = pd.DataFrame(some + first, columns=["head", "winner", "loser"])
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        done = run("evaluate", f"{name}.csv", "--model", f"{name}.sim", folder=tmp_path)
        right = float(done.stdout.split(" of the comparisons")[0].split()[-1])
        assert right > 0.9  # by rank .6
        run_python(printed_python(done), tmp_path)
        run("next", f"{name}.sim", "--asked", f"{name}.csv", "-n", 3, folder=tmp_path)
        assert "STE: 10 items" in run("update", f"{name}.sim", f"{name}.csv", "-o", "m.sim", folder=tmp_path).stdout


def test_a_model_with_numbers_for_names_meets_all_that_numbers_may_look_like(tmp_path):
    c = sm.simulate(np.arange(10.0)[:, None] ** 1.5, 800, sharpness=30.0, random_state=0)
    c = c.with_items([str(k) for k in range(1, 11)])
    for name, method in (("a", sm.STE), ("b", sm.SOE)):
        method(1, random_state=0).fit(c).similarity_.save(tmp_path / f"{name}.sim")
    sm.write_comparisons(c, tmp_path / "all.csv")
    table = pd.DataFrame(c.triplets + 1, columns=["head", "winner", "loser"])
    table[(table > 1).all(axis=1)].to_csv(tmp_path / "some.csv", index=False)  # which alone would be positions
    table.astype(float).to_csv(tmp_path / "float.csv", index=False)
    with sm.ComparisonWriter(tmp_path / "folder") as writer:
        writer.write(c)
    done = run("compare", "a.sim", "b.sim", "--answers", "some.csv", folder=tmp_path)
    said = next(line for line in done.stdout.splitlines() if line.startswith("accuracy on"))
    assert min(float(number) for number in said.split() if number.startswith("0.")) > 0.9  # by rank .5
    for file in ("some.csv", "float.csv", "folder"):
        run("evaluate", file, "--model", "a.sim", folder=tmp_path)
    assert "STE: 10 items" in run("update", "a.sim", "all.csv", "float.csv", folder=tmp_path).stdout


def test_next_and_update_close_the_loop(study):
    run(
        "next",
        "answers.sim",
        "-n",
        8,
        "--asked",
        "answers.csv",
        "-o",
        "next.csv",
        "--asks",
        "odd_one_out",
        folder=study,
    )
    lines = (study / "next.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "form,shown,strategy,score,response"
    filled = [lines[0], *(line + "[0]" for line in lines[1:])]
    (study / "said.csv").write_text("\n".join(filled) + "\n", encoding="utf-8")
    assert sm.read_comparisons(study / "said.csv").n_answers == 8
    done = run("update", "answers.sim", "answers.csv", "said.csv", "-o", "more.sim", folder=study)
    assert "CKL: 15 items" in done.stdout
    old, new = sm.Similarity.load(study / "answers.sim"), sm.Similarity.load(study / "more.sim")
    assert new.names == old.names
    assert not np.array_equal(new.embedding, old.embedding)


@pytest.mark.parametrize("form", ["triplet", "choice"])
def test_next_writes_names_as_letters_and_says_what_to_fill_in(tmp_path, form):
    names = ["犬", "spaced é", "c", "d", "e"]
    answers = sm.simulate(np.arange(5.0), 40, names=names, random_state=0)
    sm.STE(2, random_state=0).fit(answers).similarity_.save(tmp_path / "m.sim")
    said = run("next", "m.sim", "-n", 5, "--asks", form, "-o", "q.csv", folder=tmp_path).stdout
    assert FORMS[form].fill_in in said
    text = (tmp_path / "q.csv").read_text(encoding="utf-8")
    assert "犬" in text
    assert "\\u" not in text


def test_next_prints_questions_where_no_file_is_named(study):
    said = run("next", "answers.sim", "-n", 3, "--strategy", "uncertainty", folder=study).stdout
    assert len(said.split("the same in Python:")[0].splitlines()) == 4


def test_ctrl_c_while_the_command_is_loaded_ends_it_quietly(monkeypatch):
    class Loading:
        def __getattr__(self, name):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "similitude.cli", Loading())
    with pytest.raises(SystemExit) as ended:
        begin()
    assert ended.value.code == 130


def test_a_time_limit_that_is_no_number_is_refused_before_the_work(study):
    done = run("learn", "answers.csv", "--time-limit", "nan", folder=study, check=False)
    assert done.returncode in (1, 2)  # by Typer, or by us where an older one lets it pass
    assert "--time-limit" in done.stderr
    assert done.stdout == ""


def test_a_time_limit_without_end_is_shown_as_none(capsys):
    for limit in (float("inf"), 60.0):
        with phases(limit) as step:
            step("fitting", 0, 0)
    assert capsys.readouterr().out.split() == ["fitting", "fitting"]


@pytest.mark.parametrize(
    ("arguments", "sentence", "status"),
    [
        (("info", "absent.csv"), r"absent\.csv", 1),
        (("fit", "broken.csv"), "broken.csv", 1),
        (("info", "broken.sim"), "broken.sim is not a similarity file", 1),
        (("plot", "absent.sim", "-o", "map.xyz"), r"--out: a figure cannot be saved as \.xyz", 1),
        (("compare", "absent.sim", "b.sim", "--maps", "a.docx"), r"--maps: a figure cannot be saved as \.docx", 1),
        (("plot", "answers.sim", "--images", "nothing"), "nothing", 1),
        (("convert", "answers.csv", "out.npy"), "npy", 1),
        (("fit", "answers.csv", "--penalty", "much"), "number or auto", 2),
        (("fit", "answers.csv", "--method", "magic"), "magic", 2),
        (("fit", "answers.csv", "--method", "tackl"), "TACKL learns from features", 2),
        (("fit", "answers.csv", "--method", "ckl", "--features", "f.csv"), "CKL learns from answers alone", 2),
        (("evaluate", "answers.csv", "-m", "RankProjection"), "RankProjection learns from features", 2),
        (("fit", "answers.csv", "--features", "none.csv"), "none.csv", 1),
        (("evaluate", "answers.csv", "--folds", "1"), "folds", 2),
        (("evaluate", "answers.csv", "--model", "answers.sim", "--csv", "a.csv"), "--csv.*not with --model", 2),
        (("evaluate", "answers.csv", "--model", "answers.sim", "-m", "STE"), "--method.*not with --model", 2),
        (("evaluate", "answers.csv", "--model", "answers.sim", "--folds", 5), "--folds.*not with --model", 2),
        (("evaluate", "answers.csv", "--model", "answers.sim", "-d", 3), "--dimensions.*not with --model", 2),
        (("evaluate", "answers.csv", "--model", "answers.sim", "--by", "rater"), "--by.*not with --model", 2),
        (("next", "answers.sim", "--form", "triplet"), "--form.*give those so far to --asked", 2),
        (
            ("next", "answers.sim", "--asked", "answers.csv", "--drop-item", "item03"),
            "--drop-item.*model has item03",
            2,
        ),
        (("next", "answers.sim", "--asked", "answers.csv", "--only-items", "item00"), "--only-items.*has item01", 2),
        (("compare", "answers.sim", "answers.sim", "--where", "rater != a"), "--where.*no answers are read", 2),
        (("compare", "answers.csv", "answers.sim", "--group", "rater"), "(?i)second.*not with --group", 2),
        (("info", "answers.sim", "--drop-item", "item03"), "--drop-item.*is a model", 2),
        (("info", "answers.sim", "answers.csv"), "FILES.*expected a model alone", 2),
        (("fit", "answers.csv", "--form", "ranking"), "--form: the file says .* that it is odd_one_out, found", 1),
        (
            ("fit", "answers.csv", "--larger", "similar"),
            "--larger: expected ratings whose .*, found answers to odd-one-out",
            1,
        ),
        (("next", "answers.sim", "--asks", "piles"), "--asks: expected one of triplet.*, found 'piles'", 1),
        (("next", "answers.sim", "-n", 100_000), "--number: only .*; ask for fewer$", 1),
        (("learn", "answers.csv", "--jobs", 0), "--jobs.*expected a number of processes", 2),
        (("fit", "answers.csv", "--seed", -1), "--seed", 2),
        (("info", "answers.csv", "--drop-rater", "nobody"), "--drop-rater: 'nobody' is not among the 10 raters", 1),
        (("info", "answers.csv", "--only-items", "item00"), "--only-items: nothing would be left, since all", 1),
        (("convert", "answers.csv", "."), r"the folder '\.' is there already, with files in it; expected a new", 1),
        (("export", "answers.sim", "d.xyz"), r"\.csv, .*\.hdf5, \.onnx, \.faiss, \.hnsw, \.ann, found 'd.xyz'", 1),
        (("fit", "answers.csv", "-m", "STEE"), r"(?<!Value error, )'STEE' is not one of", 2),
        (("info", "header.csv"), "header.csv: the file has a header and no rows below it", 1),
        (("info", ""), "found an empty path", 2),
        (("learn", "answers.csv", "--out="), "found an empty path", 2),
        (("study", "new", ""), "found an empty path", 2),
        (("no-such-command",), "no-such-command", 2),
        (("next", "soe.sim"), "SOE gives no probability", 1),
        (("next", "answers.sim", "--strategy", "magic"), "magic", 2),
        (("update", "answers.sim", "broken.csv"), "broken.csv", 1),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_errors_are_one_sentence(arguments, sentence, status, study):
    (study / "broken.csv").write_text("some,thing\n1,2\n", encoding="utf-8")
    (study / "header.csv").write_text("head,winner,loser\n", encoding="utf-8")
    (study / "broken.sim").write_text("hello", encoding="utf-8")
    sm.SOE(2, random_state=0).fit(sm.read_comparisons(study / "answers.csv")).similarity_.save(study / "soe.sim")
    done = run(*arguments, folder=study, check=False)
    assert done.returncode == status
    assert re.search(sentence, done.stderr)
    assert "Traceback" not in done.stderr
    if status == 1:
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        "simulate {}", "convert answers.csv {}", "clean answers.csv {}", "check answers.csv --html {}",
        "check answers.csv --json {}", "fit answers.csv -o {}", "evaluate answers.csv --csv {}",
        "next answers.sim --asked answers.csv -o {}", "update answers.sim answers.csv -o {}",
        "compare answers.sim answers.sim -o {}", "compare answers.sim answers.sim --maps {}", "plot answers.sim -o {}",
        "export answers.sim {}", "learn answers.csv -o {}", "dimensions answers.csv -o {}", "demo {}",
    ],
)  # fmt: skip
def test_a_place_where_nothing_can_be_written_is_refused_before_the_work(command, study):
    done = run(*command.format("answers.csv/below.csv").split(), folder=study, check=False)
    assert done.returncode == 1
    assert "cannot write into answers.csv" in done.stderr
    assert done.stdout == ""  # nothing was read, let alone learned


@pytest.mark.parametrize(
    "command", ["clean answers.csv {}", "fit answers.csv -o {}", "update answers.sim answers.csv -o {}"]
)
def test_a_missing_folder_is_named_before_the_work(command, study):
    done = run(*command.format("nowhere/new.csv").split(), folder=study, check=False)
    assert "cannot write into nowhere: there is no such folder; make it" in done.stderr
    assert done.stdout == ""


def test_a_model_of_the_folder_that_one_is_in_goes_beside_it(study, tmp_path):
    people = tmp_path / "people"
    people.mkdir()
    (people / "ann.csv").write_bytes((study / "answers.csv").read_bytes())
    run("fit", ".", folder=people)
    assert (tmp_path / "people.sim").is_file()
    assert beside(Path(".."), "_report").name == f"{Path.cwd().parent.name}_report"


@pytest.fixture(scope="module")
def kinds(study):
    """A file of every kind that a command may be given by mistake."""
    c = sm.read_comparisons(study / "answers.csv")
    pd.DataFrame(np.eye(15), index=c.names).to_csv(study / "table.csv")
    np.save(study / "arrays.npy", np.eye(15))
    (study / "map.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (study / "page.html").write_text("<!doctype html><p>report", encoding="utf-8")
    return study


@pytest.mark.parametrize(
    ("arguments", "expected", "found", "remedy"),
    [
        ("plot answers.csv", "a model", "answers", "similitude fit answers.csv"),
        ("export answers.csv out.csv", "a model", "answers", "similitude fit answers.csv"),
        ("next answers.csv", "a model", "answers", "similitude fit answers.csv"),
        ("update answers.csv answers.csv", "a model", "answers", "similitude fit answers.csv"),
        ("evaluate answers.csv --model answers.csv", "a model", "answers", "similitude fit answers.csv"),
        ("compare answers.csv answers.sim", "a model .* or a square table", "answers", "similitude fit answers.csv"),
        ("compare answers.sim arrays.npy", "a model .* or a square table", "arrays of numpy", "to_csv"),
        ("fit answers.csv --features arrays.npy", "a table of features", "arrays of numpy", "to_csv"),
        ("learn answers.csv --features answers.sim", "a table of features", "a model", "similitude info answers.sim"),
        ("fit answers.csv --features answers.csv", "a table of features", "answers", "similitude fit answers.csv"),
        ("fit answers.sim", "answers", "a model", "similitude info answers.sim"),
        ("check table.csv", "answers", "a table of features", "--features table.csv"),
        ("learn map.png", "answers", "a picture", "--images"),
        ("info page.html", "answers", "a document", "browser"),
    ],
)
def test_a_file_of_the_wrong_kind_is_called_by_its_kind(arguments, expected, found, remedy, kinds):
    done = run(*arguments.split(), folder=kinds, check=False)
    assert done.returncode == 1
    assert re.search(rf"expected {expected}.*, found {found}.*; .*{re.escape(remedy)}", done.stderr)
    assert not re.search("pickle|codec|float", done.stderr)


def test_a_model_is_known_by_its_content_whatever_it_is_called(study):
    (study / "renamed.npz").write_bytes((study / "answers.sim").read_bytes())
    assert "CKL: 15 items" in run("info", "renamed.npz", folder=study).stdout


def test_warnings_are_notes(tmp_path):
    (tmp_path / "two.csv").write_text("head,winner,loser\n0,1,2\n1,0,2\n3,4,5\n4,3,5\n", encoding="utf-8")
    done = run("fit", "two.csv", folder=tmp_path)
    assert "note: the items fall into 2 groups" in done.stderr


def test_help_is_there_for_every_command():
    said = runner.invoke(cli.app, ["--help"]).stdout
    for command in (
        "demo",
        "simulate",
        "info",
        "convert",
        "check",
        "clean",
        "fit",
        "evaluate",
        "plot",
        "next",
        "update",
    ):
        assert command in said
        assert runner.invoke(cli.app, [command, "--help"]).exit_code == 0
    assert "--install-completion" in said


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from similitude import cli; from typer.testing import CliRunner;"
        "CliRunner().invoke(cli.app, ['--help']);"
        "print(sorted({'numpy', 'scipy', 'numba', 'pandas', 'sklearn', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_folder_of_comparisons_is_checked_and_fitted(study):
    pytest.importorskip("pyarrow", reason="folders of comparisons need pyarrow")
    run("convert", "answers.csv", "many", folder=study)
    assert "comparisons per item: 120.0" in run("info", "many", folder=study).stdout
    checked = run("check", "many", "--json", "many.json", folder=study, check=False)
    assert checked.returncode == 0
    assert "left out" in checked.stdout
    assert run("check", "many", "--html", "a.html", folder=study, check=False).returncode == 1
    done = run("fit", "many", "--method", "ckl", "-d", 2, "--seed", 3, folder=study)
    assert "sm.ComparisonDataset('many')" in done.stdout
    refused = run("check", "many", "--form", "triplet", folder=study, check=False)
    assert re.search("--form.*many is a folder of comparisons", refused.stderr)
    c = sm.read_comparisons(study / "answers.csv")
    many, one = (sm.Similarity.load(study / f"{name}.sim") for name in ("many", "answers"))
    assert many.names == one.names
    assert abs(many.score(c) - one.score(c)) < 0.01
    failed = run("evaluate", "many", folder=study, check=False)
    assert failed.returncode == 1
    assert "expected what fits in memory" in failed.stderr
