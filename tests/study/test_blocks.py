"""Several blocks in one study: asked in the rater's order, learned as one model, told apart in every file."""

import json
from collections import Counter

import numpy as np
import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.export import export_answers
from similitude.study.maintenance.raters_file import export_raters, read_raters
from similitude.study.maintenance.rebuild import rebuild
from similitude.study.service import Said
from similitude.study.settings import StudyError
from similitude.study.store import schema
from tests.study.live import answer, fill, join, open_study, worker_of, write_study
from tests.study.servers import write_study as write_words

WORDS = """
block_order = "{order}"
[choose]
ahead = 3
[[block]]
name = "triplets"
question = {{number = 4}}
practice = [{{shown = ["w00", "w01", "w02"], correct = [1]}}]
[[block]]
name = "ratings"
question = {{form = "similarity_rating", number = 3, scale = 5}}
items = ["w0*"]
[[block]]
name = "grades"
question = {{form = "similarity_rating", number = 3, scale = 9}}
"""
COLOURS = """
[[block]]
name = "one"
question = {{number = {number}}}
[[block]]
name = "two"
question = {{form = "odd_one_out", number = {number}}}
items = ["c00", "c01", "c02", "c03", "c04", "c05"]
[[block]]
name = "three"
question = {{form = "similarity_rating", number = {number}}}
"""


def ask_all(service, rater_id, said=lambda _: [1.0]):
    """Answer everything; the questions in the order in which they came."""
    asked = []
    while held := service.questions(rater_id).result()["questions"]:
        asked.append(held[0])
        uid = f"answer-{rater_id}-{held[0]['number']}"
        service.answer(Said(rater_id, held[0]["number"], uid, "answered", said(held[0]))).result()
    return asked


def log_of(service):
    with service.database.read() as connection:
        return list(connection.execute(sa.select(schema.answer).order_by(schema.answer.c.id)).mappings())


def test_a_rater_goes_from_block_to_block(serve, take_part):
    service = serve(WORDS.format(order="fixed"))
    asked = ask_all(service, take_part(service))
    assert [one["block"] for one in asked] == ["triplets"] * 5 + ["ratings"] * 3 + ["grades"] * 3
    assert [one["form"] for one in asked] == ["triplet"] * 5 + ["similarity_rating"] * 6
    assert [one["kind"] for one in asked] == ["practice"] + ["question"] * 10
    assert [one["number"] for one in asked] == list(range(11))
    assert all(name.startswith("w0") for one in asked[5:8] for name in one["shown"])
    log = log_of(service)
    assert [row["block"] for row in log] == [one["block"] for one in asked]
    assert [row["form"] for row in log] == [one["form"] for one in asked]


def test_an_answer_is_checked_as_its_block_means_it(serve, take_part):
    service = serve(WORDS.format(order="fixed"))
    rater_id = take_part(service)
    while (held := service.questions(rater_id).result()["questions"])[0]["block"] != "ratings":
        service.answer(Said(rater_id, held[0]["number"], f"answer{held[0]['number']:04d}", "answered", [1.0])).result()
    with pytest.raises(ValueError, match="5"):
        service.answer(Said(rater_id, held[0]["number"], "too-high", "answered", [8.0])).result()


def test_orders_are_balanced_over_raters_and_kept(serve, take_part):
    service = serve(WORDS.format(order="balanced"))
    ids = [take_part(service, f"browser{k}") for k in range(12)]
    with service.database.read() as connection:
        kept = {row.id: row.blocks for row in connection.execute(sa.select(schema.rater))}
    assert Counter(kept.values()) == Counter(dict.fromkeys(set(kept.values()), 2))
    assert len(set(kept.values())) == 6
    for rater_id in ids[:3]:
        blocks = list(dict.fromkeys(one["block"] for one in ask_all(service, rater_id)))
        assert blocks == json.loads(kept[rater_id])


def test_random_orders_differ(serve, take_part):
    service = serve(WORDS.format(order="random"))
    for k in range(40):
        take_part(service, f"browser{k}")
    with service.database.read() as connection:
        kept = Counter(connection.scalars(sa.select(schema.rater.c.blocks)))
    assert len(kept) > 1  # all forty alike: 6 / 6**40
    assert all(sorted(json.loads(one)) == ["grades", "ratings", "triplets"] for one in kept)


def test_the_same_items_may_be_asked_about_in_every_block_but_twice_in_none(serve, take_part):
    names = ["a", "b", "c"]
    blocks = "".join(f'[[block]]\nname = "{name}"\nquestion = {{number = 3}}\n' for name in ("colour", "shape"))
    service = serve(blocks, names)
    asked = ask_all(service, take_part(service))
    seen = Counter((one["block"], one["shown"][0], *sorted(one["shown"][1:])) for one in asked)
    assert len(seen) == 6
    assert len({one[1:] for one in seen}) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("scale = 9", "scale = 7"), "block grades: question.scale is 7, but people were asked with 9"),
        (("number = 4", "number = 9000"), "block triplets: question.number is 9000, but 12 items give only"),
        (('["w0*"]', '["w00"]'), "block ratings: a similarity_rating shows 2 items, but there are 1"),
        (('"w02"], correct', '"w99"], correct'), "block triplets: practice shows 'w99', which is no item"),
    ],
)
def test_what_cannot_be_asked_in_a_block_is_said_at_the_start(tmp_path, change, message):
    text = WORDS.format(order="fixed")
    site, service = open_study(write_words(tmp_path / "words", text))
    ask_all(service, join(service))
    site.close()
    with pytest.raises(StudyError, match=message):
        open_study(write_words(tmp_path / "words", text.replace(*change)))


def test_a_block_may_go_and_what_was_held_of_it_goes_with_it(tmp_path):
    text = WORDS.format(order="fixed")
    site, service = open_study(write_words(tmp_path / "words", text))
    rater_id = join(service)
    assert {one["block"] for one in service.questions(rater_id).result()["questions"]} == {"triplets"}
    site.close()
    first = text.index("[[block]]")
    later = text[:first] + text[text.index("[[block]]", first + 1) :]
    site, service = open_study(write_words(tmp_path / "words", later))
    held = service.questions(rater_id).result()
    assert {one["block"] for one in held["questions"]} == {"ratings", "grades"} or held["length"] == 6
    assert {one["block"] for one in ask_all(service, rater_id)} <= {"ratings", "grades"}
    site.close()


def test_one_model_learns_from_all_blocks_and_chooses_for_each(tmp_path):
    folder = tmp_path / "colours"
    write_study(folder, catch=COLOURS.format(number=18), number=18)
    site, service = open_study(folder)
    fill(service, 4, 54)
    worker = worker_of(service)
    worker.step()
    assert worker.learner.n_answers == 4 * 54
    assert set(worker.learner.comparisons.answers.form.labels) == {"triplet", "odd_one_out", "similarity_rating"}
    with service.database.read() as connection:
        pool = list(connection.execute(sa.select(schema.pool)).mappings())
    assert Counter(row["part"] for row in pool) == {"one": 10, "two": 10}
    few = {f"c{k:02d}" for k in range(6)}
    assert all(few >= set(json.loads(row["shown"])) for row in pool if row["part"] == "two")
    rng = np.random.default_rng(5)
    rater_id = join(service)
    answer(service, rater_id, 54, rng)
    asked = Counter((row["block"], row["strategy"]) for row in log_of(service) if row["rater_id"] == rater_id)
    assert asked["one", "information_gain"]
    assert asked["two", "information_gain"]
    assert {strategy for block, strategy in asked if block == "three"} == {"random"}
    site.close()


def test_files_tell_blocks_apart_and_sheets_of_two_scales_are_two(tmp_path):
    site, service = open_study(write_words(tmp_path / "words", WORDS.format(order="balanced")))
    for _ in range(3):
        ask_all(service, join(service), lambda one: [1.0 + one["number"] % 5 if one["form"] != "triplet" else 1.0])
    file = tmp_path / "answers.csv"
    assert export_answers(service.database, "words", file).answers == 30
    c = sm.read_comparisons(file)
    # a sheet for each scale of each rater
    assert Counter(c.answers.form.values) == {"triplet": 12, "similarity_rating": 6}
    assert set(c.answers.extra["block"]) == {"triplets", "ratings", "grades"}
    worker = worker_of(service)
    worker._catch_up()
    live = worker.learner.comparisons
    same = [sorted(map(tuple, one.quadruplets.tolist())) for one in (c, live)]
    assert same[0] == same[1]
    export_raters(service.database, "words", tmp_path / "raters.csv")
    assert all(json.loads(row["blocks"]) for row in read_raters(tmp_path / "raters.csv"))
    plain = tmp_path / "plain.csv"
    export_answers(service.database, "words", plain, plain=True)
    assert plain.read_text().splitlines()[0].endswith(",block")
    export_answers(service.database, "words", file, known=True)
    assert rebuild(service.database) == 0
    site.close()
    _, other = open_study(write_words(tmp_path / "others" / "words", WORDS.format(order="fixed")))
    assert bring_in(other, file) == 33
    assert Counter(row["block"] for row in log_of(other)) == {"triplets": 15, "ratings": 9, "grades": 9}
