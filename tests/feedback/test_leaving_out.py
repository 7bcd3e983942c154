"""Leaving raters, items and answers out: by hand, in the shell, and never taken for cleaning."""

import ast
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from tests import shell


def run(*arguments):
    """What a command says."""
    return shell.run(*arguments, folder=Path(arguments[1]).parent).stdout


@pytest.fixture
def study():
    truth = np.random.default_rng(0).normal(size=(8, 2))
    names = [f"i{k}" for k in range(8)]
    c = sm.simulate(truth, 300, "odd_one_out", raters=6, sharpness=3.0, names=names, random_state=1)
    ages = {label: 20 + 5 * k for k, label in enumerate(c.answers.rater.labels)}
    extra = {
        "age": [ages[who] for who in c.answers.rater.values],
        "Group": [f"g{ages[who] % 2}" for who in c.answers.rater.values],
    }
    frame = c.answers.to_frame(c.names)
    return sm.read_comparisons(frame.assign(**extra), names=names)


def test_conditions_on_columns_keep_the_answers_that_fulfil_them(study):
    age = study.answers.extra["age"]
    assert sm.leave_out(study, where="age > 30").n_answers == (age > 30).sum()
    assert sm.leave_out(study, where=["AGE >= 30", "group = 'g0'"]).n_answers == ((age >= 30) & (age % 2 == 0)).sum()
    assert sm.leave_out(study, where="Group != g0").n_answers == (age % 2 == 1).sum()
    who = study.answers.rater.labels[0]
    assert sm.leave_out(study, where=f"rater = {who}").answers.rater.labels == (who,)


GERMAN = (
    "VP,Bild 1,Bild 2,Bild 3,odd,RT (ms),Punkte <gesamt>\n"
    "v1,Hund,Katze,Bus,Bus,500,1\nv1,Hund,Auto,Bus,Hund,900,2\nv2,Hund,Katze,Auto,Auto,1500,3\n"
)


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ("RT (ms) < 1000", 2),
        ("rt (ms) >= 900", 2),
        ("VP == v1", 2),
        ("Punkte <gesamt> > 1", 2),
        ("'Punkte <gesamt>' = 3", 1),
        ("time < 0.6", 1),
    ],
)
def test_a_condition_may_call_a_column_as_the_file_does(tmp_path, condition, kept):
    (tmp_path / "answers.csv").write_text(GERMAN)
    c = sm.read_comparisons(tmp_path / "answers.csv")
    assert sm.leave_out(c, where=condition).n_answers == kept
    assert sm.leave_out(sm.Comparisons.concatenate([c, c]), where=condition).n_answers == 2 * kept
    said = run("info", tmp_path / "answers.csv", "--where", condition)
    assert f"{kept} answers" in said.split("note:")[-1].split("left out")[-1]
    assert f"where={[condition]!r}" in said


def test_a_condition_on_items_points_to_what_leaves_items_out(tmp_path):
    (tmp_path / "answers.csv").write_text(GERMAN)
    done = shell.run("info", "answers.csv", "--where", "Bild 1 = Hund", folder=tmp_path, check=False)
    assert "'Bild 1' holds what was asked or answered" in done.stderr
    assert "give --only-items" in done.stderr


_LEARN = pytest.param("learn --method STE --dimensions 1 --time-limit 1", marks=pytest.mark.slow)


@pytest.mark.parametrize("command", ["info", "check", "fit", _LEARN])
def test_the_python_of_a_command_with_filters_compiles_and_defines_what_it_uses(study, tmp_path, command):
    sm.write_comparisons(study, tmp_path / "answers.csv")
    filters = ("--where", "Group == g0", "--drop-item", "i0", "--drop-rater", study.answers.rater.labels[0])
    name, *options = command.split()
    done = shell.run(name, "answers.csv", *filters, *options, folder=tmp_path, check=False)
    code = "\n".join(
        line.strip() for line in done.stdout.split("the same in Python:\n")[1].split("next:")[0].splitlines()
    )
    names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    assert {node.id for node in names} - stored <= {"sm", "print"}
    assert "c" in stored
    assert "sm.leave_out(c, raters=" in code


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("age", "no condition"),
        ("agee > 3", "no column"),
        ("age > old", "a number"),
        ("Group > g0", "words"),
        ("age > 99", "nothing would be left, since all [0-9]+ are answers that are not age > 99"),
    ],
)
def test_a_condition_that_cannot_be_says_why(study, condition, says):
    with pytest.raises(ValueError, match=says):
        sm.leave_out(study, where=condition)


def test_items_left_out_are_gone_and_other_comparisons_stay(study):
    left = sm.leave_out(study, items=["i0", "i3"])
    assert left.names == ("i1", "i2", "i4", "i5", "i6", "i7")
    before = {tuple(study.label(i) for i in row) for row in study.quadruplets}
    after = {tuple(left.label(i) for i in row) for row in left.quadruplets}
    assert after == {row for row in before if not {"i0", "i3"} & set(row)}
    only = sm.leave_out(study, only_items=left.names)
    np.testing.assert_array_equal(only.quadruplets, left.quadruplets)


def test_what_would_leave_no_comparison_is_refused(study):
    with pytest.raises(
        ValueError, match=r"items: nothing would be left, since all [0-9,]+ are comparisons with i1, i2"
    ):
        sm.leave_out(study, only_items=["i0"])


def test_an_answer_about_many_items_keeps_what_it_says_about_the_rest(tmp_path):
    c = sm.Comparisons.from_choices([["a", "b", "c", "d", "e"]], [["b", "c"]], names=list("abcde"))
    left = sm.leave_out(c, items=["e"])
    assert left.n_answers == 1
    assert {tuple(left.label(i) for i in row) for row in left.quadruplets} == {
        ("a", "b", "a", "d"),
        ("a", "c", "a", "d"),
    }
    sm.write_comparisons(left, tmp_path / "left.csv")
    np.testing.assert_array_equal(sm.read_comparisons(tmp_path / "left.csv").quadruplets, left.quadruplets)


def test_leaving_out_is_no_cleaning(study):
    left = sm.leave_out(study, raters=[study.answers.rater.labels[0]], items=["i0"], where="age > 20")
    assert [step.cleans for step in left.removed] == [False] * 3
    assert not left.cleaned
    assert sm.clean(left).cleaned


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_a_cleaned_file_says_so(study, tmp_path, suffix):
    cleaned = sm.clean(sm.leave_out(study, raters=[study.answers.rater.labels[0]]))
    path = tmp_path / f"cleaned.{suffix}"
    sm.write_comparisons(cleaned, path)
    again = sm.read_comparisons(path)
    assert again.cleaned
    assert [(step.step, step.why, step.weight) for step in again.removed] == [
        (step.step, step.why, step.weight) for step in cleaned.removed
    ]
    sm.write_comparisons(again, tmp_path / "again.csv")
    assert sm.read_comparisons(tmp_path / "again.csv").cleaned
    assert "cleaned" not in again.answers.extra
    sm.write_comparisons(study, path)
    assert not sm.read_comparisons(path).removed


def test_the_mark_survives_a_table_that_lost_its_first_row(study, tmp_path):
    import pandas as pd

    sm.write_comparisons(sm.clean(study), tmp_path / "cleaned.csv")
    table = pd.read_csv(tmp_path / "cleaned.csv").drop(columns=["format", "items"])
    rest = table[table.answer != table.answer[0]]
    rest.to_csv(tmp_path / "rest.csv", index=False)
    assert sm.read_comparisons(tmp_path / "rest.csv").cleaned


def test_a_column_of_that_name_that_is_no_mark_stays_a_column():
    rows = [(0, 1, 2), (1, 2, 0)]
    c = sm.read_comparisons(sm.Comparisons.from_triplets(rows).answers.to_frame().assign(cleaned=["no", "twice"]))
    assert not c.cleaned
    assert c.answers.extra["cleaned"].tolist() == ["no", "twice"]


def test_check_tells_no_noise_of_cleaned_answers(study):
    report = sm.check(sm.clean(study))
    assert report.cleaned
    assert report.ceiling.value is None
    assert any("cleaned" in doubt for doubt in report.doubts())


def test_the_shell_leaves_out_and_says_so(study, tmp_path):
    sm.write_comparisons(study, tmp_path / "answers.csv")
    who = study.answers.rater.labels[1]
    told = run("convert", tmp_path / "answers.csv", tmp_path / "left.csv", "--drop-rater", who, "--drop-item", "i7",
               "--where", "age > 20")  # fmt: skip
    assert f"left out: answers of {who}" in told
    assert "sm.leave_out(c, raters=" in told
    left = sm.read_comparisons(tmp_path / "left.csv")
    assert who not in left.answers.rater.labels
    assert "i7" not in left.names
    assert min(left.answers.extra["age"]) > 20


@pytest.mark.slow
def test_the_shell_calls_no_score_on_cleaned_answers_an_accuracy(study, tmp_path):
    sm.write_comparisons(study, tmp_path / "answers.csv")
    run("clean", tmp_path / "answers.csv", tmp_path / "cleaned.csv")
    told = run("evaluate", tmp_path / "cleaned.csv", "--method", "STE", "--folds", "2")
    assert "no accuracy on held-out answers" in told
    assert "accuracy " not in told.split("share ordered")[1].split("the same in Python")[0]
    few = sm.read_comparisons(tmp_path / "cleaned.csv").select(np.arange(29))  # so many that a report is quick
    sm.write_comparisons(few, tmp_path / "few.csv")
    run("learn", tmp_path / "few.csv", "--out", tmp_path / "report", "--time-limit", "1")
    for name in ("methods.txt", "report.html"):
        text = (tmp_path / "report" / name).read_text(encoding="utf-8")
        assert "cleaned" in text
        assert "of held-out comparisons as people did" not in text
    assert "no accuracy on held-out answers" in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_too_few_answers_give_no_figure(tmp_path):
    c = sm.Comparisons.from_triplets([("a", "b", "c"), ("b", "c", "d"), ("d", "a", "b")])
    sm.write_comparisons(c, tmp_path / "three.csv")
    told = run("evaluate", tmp_path / "three.csv", "--method", "STE", "--folds", "2")
    assert "too few to tell" in told
    assert "interval" not in told
    run("learn", tmp_path / "three.csv", "--out", tmp_path / "report", "--time-limit", "1")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "too few to tell" in page
    assert "% interval" not in page


def test_items_by_position_are_left_out_by_it_and_the_others_keep_their_numbers():
    c = sm.simulate(np.random.default_rng(0).normal(size=(5, 2)), 60, random_state=0)
    for item in (3, "3"):
        left = sm.leave_out(c, items=[item])
        assert left.names == ("0", "1", "2", "4")
        old = np.array([int(name) for name in left.names])
        assert old[left.quadruplets].tolist() == c.quadruplets[~(c.quadruplets == 3).any(1)].tolist()
    with pytest.raises(ValueError, match="no names here"):
        sm.leave_out(c, items=["cat"])


@pytest.mark.parametrize("where", ["Group != g0 and Group != g1", "Group = g0 or g1", "age > 30 & age < 50"])
def test_two_conditions_in_one_are_refused(study, where):
    with pytest.raises(ValueError, match="again for each"):
        sm.leave_out(study, where=where)
    cells = np.where(study.answers.extra["Group"] == "g0", "black and white", "g1")
    c = sm.read_comparisons(study.answers.to_frame(study.names).assign(Ink=cells), names=study.names)
    assert sm.leave_out(c, where="Ink = black and white").n_answers == (cells != "g1").sum()


@pytest.mark.parametrize("column", ["rater", "Worker"])
def test_the_rater_is_who_was_said_to_be_and_not_another_column_of_that_name(tmp_path, column):
    (tmp_path / "answers.csv").write_text("rater,Worker,a,b,c,odd\nx,R1,p,q,r,p\nR1,y,p,q,s,s\nx,R1,q,r,s,q\n")
    said = run("info", tmp_path / "answers.csv", "--columns", "rater=Worker", "--where", f"{column} = R1")
    assert f"not {column} = R1 (2 comparisons)" in said
