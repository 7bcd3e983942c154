"""What comes with the package holds what it says, and what is fetched is checked, kept, and asked for once."""

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.datasets import human, remote
from similitude.datasets.remote import RemoteFile, cache_folder, fetched


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMILITUDE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def published(path, data):
    """A file at an address, as somebody may have published it."""
    path.write_bytes(data)
    return RemoteFile(path.name, path.as_uri(), hashlib.sha256(data).hexdigest())


@pytest.mark.parametrize("load", [sm.datasets.load_colours, sm.datasets.load_products])
def test_what_is_shipped_has_a_row_for_every_item_and_says_what_it_is(load):
    data = load()
    assert list(data.items.index) == list(data.answers.names)
    assert len(data.answers.items_compared) == data.answers.n_items
    assert data.licence.startswith("BSD-3")
    assert data.citation in data._repr_html_()
    folder = Path(sm.datasets.__file__).parent / "shipped"
    assert all(file.stat().st_size < 200_000 for file in folder.iterdir())


def test_the_clickers_among_the_colours_are_found():
    report = sm.check(sm.datasets.load_colours().answers)
    assert any("student 05, student 09" in doubt and "random" in doubt for doubt in report.doubts())


def test_customers_go_by_the_first_three_numbers():
    data = sm.datasets.load_products()
    vectors = data.items.filter(regex="^v").to_numpy()
    seen, unseen = (np.linalg.norm(part[:, None] - part, axis=2) for part in (vectors[:, :3], vectors[:, 3:]))
    near, far = data.answers.near.T, data.answers.far.T
    assert np.mean(seen[tuple(near)] < seen[tuple(far)]) > 0.8
    assert np.mean(unseen[tuple(near)] < unseen[tuple(far)]) < 0.6


def test_a_file_is_fetched_once(tmp_path, cache):
    file = published(tmp_path / "some.txt", b"one")
    assert fetched(file).read_bytes() == b"one"
    (tmp_path / "some.txt").unlink()
    assert fetched(file) == cache / "some.txt"


def test_a_file_that_was_damaged_on_the_disk_is_fetched_again(tmp_path, cache):
    file = published(tmp_path / "some.txt", b"one")
    fetched(file).write_bytes(b"broken")
    assert fetched(file).read_bytes() == b"one"


def test_a_file_that_is_another_one_is_refused_and_not_kept(tmp_path, cache):
    file = published(tmp_path / "some.txt", b"one")
    (tmp_path / "some.txt").write_bytes(b"another")
    with pytest.raises(ValueError, match="is not the file that is known"):
        fetched(file)
    assert not cache.exists()


def test_without_a_network_a_sentence_says_what_to_do(tmp_path, cache):
    file = RemoteFile("some.txt", (tmp_path / "absent.txt").as_uri(), "")
    with pytest.raises(ConnectionError, match=r"absent\.txt.*Go online.*or put the file at .*some\.txt yourself"):
        fetched(file)


@pytest.mark.parametrize(
    ("system", "variable", "folder"),
    [("linux", "XDG_CACHE_HOME", "similitude"), ("win32", "LOCALAPPDATA", "similitude")],
)
def test_the_cache_is_where_the_system_keeps_such_files(system, variable, folder, tmp_path, monkeypatch):
    monkeypatch.delenv("SIMILITUDE_CACHE", raising=False)
    monkeypatch.setattr(remote.sys, "platform", system)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path / folder


def test_cars_are_read_as_their_authors_wrote_them(tmp_path, cache, monkeypatch):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("60_cars_data/survey_data.csv", "a,b,c,d,e,f\n1,32,16,32,30,11.1\n2,53,18,15,53,19.5\n")
    monkeypatch.setattr(human, "CARS", published(tmp_path / "cars.zip", whole.getvalue()))
    data = sm.datasets.fetch_cars()
    assert data.answers.n_items == 60
    first = data.answers.answers.to_frame(data.answers.names).iloc[0]
    assert (first.rater, first.time) == ("round 1", 11.1)
    assert {tuple(sorted(row)) for row in data.answers.near[:2].tolist()} == {(15, 31), (29, 31)}
    assert data.items["class"].value_counts()["ordinary car"] == 24


def test_things_are_read_as_their_authors_wrote_them(tmp_path, cache, monkeypatch):
    header = "Word\tSynset\tWordNet ID\tx\ty\tuniqueID\n"
    rows = "bat\ta\tb\tc\td\tbat1\nbat\ta\tb\tc\td\tbat2\ncat\ta\tb\tc\td\tcat\n"
    monkeypatch.setattr(human, "THINGS_NAMES", published(tmp_path / "names.tsv", (header + rows).encode()))
    monkeypatch.setattr(human, "THINGS", published(tmp_path / "answers.txt", b"0 2 1\n1 2 0\n"))
    data = sm.datasets.fetch_things()
    assert data.answers.names == ("bat1", "bat2", "cat")
    assert data.answers.near[0].tolist() == [0, 2]  # the last of a row is the odd one
    assert data.items.word["bat2"] == "bat"
