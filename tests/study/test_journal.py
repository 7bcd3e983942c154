"""Whoever is killed while files of items are moved leaves nothing half: the next to look finishes it, or undoes it."""

import contextlib
import subprocess
import sys
import threading

import pytest

from similitude.study import journal
from similitude.study.editing.gallery import REMOVED, Moves, put_away
from similitude.study.following import look, moving
from similitude.study.refusal import Refused
from similitude.study.revisions import history, restore
from similitude.study.site import open_site
from tests.study.making import SHORT, write_study

FIRST = f'title = "First"\n{SHORT}[question]\nnumber = 1\n'
SECOND = FIRST.replace("First", "Second")
WORDS = {f"items/{name}.txt": name for name in ("a", "b", "c", "d")}

# a process that is killed before it makes its k-th step: a file moved or taken away, or bytes made safe
KILLED = """
import os, sys
from pathlib import Path

left = int(sys.argv[2])

def step(*_):
    global left
    left -= 1
    if left < 0:
        os._exit(9)

from similitude.study.site import open_site
from similitude.study.revisions import restore

safe = os.fsync
os.fsync = lambda number: (step(), safe(number))[1]
root = Path(sys.argv[1]).resolve()
sys.addaudithook(lambda event, given: step() if event in ("os.rename", "os.remove") else None)
site = open_site(root)
if sys.argv[3] == "restore":
    restore(site, "words", 1, "ada")
print("done", flush=True)
os._exit(0)
"""


def killed(root, after, what):
    """Whether a process was killed after some steps; else it came to its end."""
    given = [sys.executable, "-c", KILLED, str(root), str(after), what]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 9), done.stderr
    return done.returncode == 9


def there(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / "items").iterdir()}


def changed_study(root):
    """A study whose second revision swaps two files, replaces one, takes one out, adds one, and has another title."""
    folder = write_study(root, "words", FIRST, WORDS)
    with contextlib.closing(open_site(root)) as site:
        items, moves = folder / "items", Moves()
        for one, other in (("a", "t"), ("b", "a"), ("t", "b")):
            moves.move(items / f"{one}.txt", items / f"{other}.txt")
        put_away(folder, items / "c.txt", moves)
        put_away(folder, items / "d.txt", moves)
        (items / "c.txt").write_text("another", encoding="utf-8")
        (items / "e.txt").write_text("e", encoding="utf-8")
        (folder / "study.toml").write_text(SECOND, encoding="utf-8")
        look(site), look(site)
        assert len(history(site, "words")) == 2
    return folder


def check_whole(root, folder, states):
    """A start finds one of the states as a whole, and records nothing by itself."""
    with contextlib.closing(open_site(root)) as site:
        found = history(site, "words")
        now = 0 if len(found) == 2 else 1
        assert [one.who for one in found[:-2]] == ["ada"] * now
        assert (there(folder), (folder / "study.toml").read_text(encoding="utf-8")) == states[now]
        assert site.studies["words"].study.title == ("Second", "First")[now]
        assert sorted(site.studies["words"].contents.items) == sorted(name[:-4] for name in states[now][0])
        look(site), look(site)
        assert len(history(site, "words")) == len(found)
    assert not (folder / journal.NAME).exists()
    return now


def states_of(folder):
    return (there(folder), SECOND), ({name[6:]: text for name, text in WORDS.items()}, FIRST)


@pytest.mark.slow
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.whole), 3])
def test_a_restore_that_is_killed_anywhere_is_made_or_not_made(tmp_path, every):
    found, after = set(), 0
    while True:
        root = tmp_path / str(after)
        folder = changed_study(root)
        states, before = states_of(folder), sorted(path.read_bytes() for path in folder.rglob("*.txt"))
        ended = not killed(root, after, "restore")
        found.add(check_whole(root, folder, states))
        assert sorted(path.read_bytes() for path in folder.rglob("*.txt")) == before  # nothing is lost
        if ended:
            break
        after += every
    assert after > 10
    assert found == {0, 1}


@pytest.mark.parametrize("after", range(6))
def test_a_start_that_is_killed_while_it_undoes_moves_leaves_the_rest_to_the_next(tmp_path, after):
    folder = changed_study(tmp_path)
    states = states_of(folder)
    with contextlib.closing(open_site(tmp_path)) as site:
        swapped = journal.Journal(folder, site.kept["words"].number)
    moves, items = Moves(swapped), folder / "items"
    for one, other in (("a", "t"), ("b", "a"), ("t", "b"), ("c", "x"), ("e", "c")):
        moves.move(items / f"{one}.txt", items / f"{other}.txt")
    swapped.leave()
    killed(tmp_path, after, "start")
    assert check_whole(tmp_path, folder, states) == 0


def test_a_server_that_runs_mends_what_another_process_left(tmp_path):
    folder = changed_study(tmp_path)
    states = states_of(folder)
    with contextlib.closing(open_site(tmp_path)) as site:
        left = journal.Journal(folder, site.kept["words"].number)
        put_away(folder, folder / "items" / "a.txt", Moves(left))
        look(site), look(site)  # somebody moves files: nothing is looked at
        assert len(history(site, "words")) == 2
        assert "a.txt" not in there(folder)
        left.leave()  # and is killed
        restore(site, "words", 1, "ada")
        assert there(folder) == states[1][0]
        assert history(site, "words")[0].who == "ada"
    assert check_whole(tmp_path, folder, states) == 1


def test_who_changes_a_study_waits_for_another_who_moves_its_files(tmp_path, monkeypatch):
    folder = changed_study(tmp_path)
    with contextlib.closing(open_site(tmp_path)) as site, contextlib.closing(open_site(tmp_path)) as other:
        with moving(other, other.kept["words"]) as moves:
            put_away(folder, folder / "items" / "e.txt", moves)
            monkeypatch.setattr(journal, "PATIENCE", 0.0)
            with pytest.raises(Refused, match="being moved just now; try again"):
                restore(site, "words", 1, "ada")
            moves.take_back()
            monkeypatch.undo()
            waiting = threading.Thread(target=restore, args=(site, "words", 1, "ada"))
            waiting.start()
        waiting.join()
        assert history(site, "words")[0].who == "ada"
    assert (folder / REMOVED / "e.txt").exists()


def test_a_line_that_was_cut_off_says_nothing(tmp_path):
    folder = write_study(tmp_path, "words", FIRST, WORDS)
    (folder / journal.NAME).write_bytes(b'{"base": 1}\n["items/a.txt", "it')
    assert journal.mend(folder, lambda *_: False)
    assert sorted(there(folder)) == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert not (folder / journal.NAME).exists()
