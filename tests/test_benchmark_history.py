"""The history of core operations: what fell behind is said, what chance moves is not."""

import re
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.__main__ import main
from benchmarks.history import commands, entries, naive
from benchmarks.history.entries import Entry, Figure, falls
from benchmarks.history.operations import gradients
from benchmarks.problems import Problem

HERE = {"processor": "AMD EPYC", "numpy": "2.4.6"}


def entry(number, machine=HERE, error=0.01, **ratios):
    figures = {name: Figure(ratio, error) for name, ratio in ratios.items()}
    return Entry(f"c{number}", False, "2026-11-16", machine, figures)


def steady(n=6, seed=0):
    """Entries of one machine whose figures move by a hundredth."""
    rng = np.random.default_rng(seed)
    chance = np.exp(0.01 * rng.normal(size=(n, 2)))
    return [entry(k, fit=10.0 * a, read=2.0 * b) for k, (a, b) in enumerate(chance)]


def test_chance_is_no_fall():
    assert falls(steady()) == []
    assert falls(steady(1)) == []
    assert falls([]) == []


def test_a_planted_fall_is_found_and_named():
    (fall,) = falls([*steady(), entry(9, fit=7.0, read=2.0)])
    assert fall.operation == "fit"
    assert fall.before == pytest.approx(10.0, rel=0.03)
    assert str(fall).startswith("fit: 7.0 times as fast as naive, ")
    assert re.search(r" before \(-(29|30|31)%\)$", str(fall))


def test_a_rise_is_no_fall():
    assert falls([*steady(), entry(9, fit=17.0, read=3.0)]) == []


def test_an_operation_that_is_measured_badly_must_fall_further():
    fallen = entry(9, fit=7.0, read=2.0)
    unsure = replace(fallen, figures={name: replace(figure, error=0.2) for name, figure in fallen.figures.items()})
    assert falls([*steady(), unsure]) == []


def test_one_lucky_run_does_not_make_the_next_one_a_fall():
    lucky = entry(7, fit=14.0, read=2.0)
    assert falls([*steady(), lucky, entry(8, fit=10.0, read=2.0)]) == []


def test_another_machine_is_compared_with_itself_where_it_can_be():
    other = HERE | {"processor": "another"}
    first = entry(7, other, fit=7.5, read=2.0)
    assert falls([*steady(), first]) == []
    (fall,) = falls([*steady(), first, entry(8, other, fit=6.0, read=2.0)])
    assert (fall.operation, fall.before) == ("fit", 7.5)
    (fall,) = falls([*steady(), entry(7, other, fit=5.0, read=2.0)])
    assert fall.operation == "fit"


def test_new_and_dropped_operations_have_nothing_to_be_compared_with():
    assert falls([*steady(), entry(9, fit=10.0, new=1.0)]) == []


def test_the_command_prints_the_table_and_fails_where_something_fell(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(entries.load, "__defaults__", (tmp_path / "history.jsonl",))
    for one in [*steady(), entry(9, fit=7.0, read=2.0)]:
        entries.add(one, tmp_path / "history.jsonl")
    with pytest.raises(SystemExit) as ended:
        main(["history", "--last", "2"])
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "7: c9 2026-11-16" in said
    assert "fell behind: fit: 7.0 times as fast as naive" in said
    assert "c0" not in said


def test_entries_read_back_as_they_were(tmp_path):
    for one in steady():
        entries.add(one, tmp_path / "history.jsonl")
    assert entries.load(tmp_path / "history.jsonl") == steady()
    assert entries.load(tmp_path / "none.jsonl") == []


def test_what_is_measured_is_the_time_of_one_beside_the_other():
    clock = [0.0]

    def taking(seconds):
        return lambda: clock.append(clock[-1] + seconds)

    found = commands.measure(taking(0.002), taking(0.03), 5, clock=lambda: clock[-1])
    assert found.ratio == pytest.approx(15.0)
    assert found.error == pytest.approx(0.0, abs=1e-9)


def test_the_naive_gradients_are_those_of_the_methods():
    """But for the hinge, which ours rounds."""
    for operation in gradients(Problem(40, 500, 5, m_test=0)):
        (_, ours), (_, plain) = operation.ours(), operation.naive()
        alike = (ours * plain).sum() / np.sqrt((ours**2).sum() * (plain**2).sum())
        assert alike > (0.97 if operation.name == "gradient GNMDS" else 1 - 1e-6), operation.name


def test_the_naive_reader_and_count_do_what_they_say(tmp_path):
    (tmp_path / "a.csv").write_text("head,winner,loser\na,b,c\na,c,b\nb,a,c\n", encoding="utf-8")
    rows = naive.read(tmp_path / "a.csv")
    assert rows.tolist() == [[0, 1, 2], [0, 2, 1], [1, 0, 2]]
    assert naive.contradictions(rows) == 2
    assert naive.questions(np.array([[0.0], [1.0], [1.1]]), 1).tolist() == [[0, 1, 2]]
