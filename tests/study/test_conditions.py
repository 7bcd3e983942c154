"""Conditions: balanced assignment, places that are given, given back and never given twice, columns in every file."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import similitude as sm
from similitude.study import revisions
from similitude.study.invite import invite, withdraw
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.erase import erase_rater
from similitude.study.maintenance.export import export_answers
from similitude.study.maintenance.raters_file import export_raters, read_raters
from similitude.study.people.standing import People
from similitude.study.service import Joining, Refused
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.tokens import ApiTokens
from similitude.study.web.app import create_app
from similitude.study.web.watch import Watch
from tests.study.live import answer, join, open_study, worker_of, write_study
from tests.study.servers import write_study as write_words
from tests.study.test_api import Lab
from tests.study.test_joining import parts, refused
from tests.study.test_service import finish, hands_of, rows

THREE = """
[question]
number = 3
[completion]
seconds_per_question = 0
[assignment]
minutes = 30
[[condition]]
name = "plain"
quota = 4
[[condition]]
name = "colour"
quota = 2
text = "Which is more like it in colour?"
[[condition]]
name = "few"
quota = 2
items = ["w00", "w01", "w02", "w03"]
strategy = "random"
"""
sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def conditions(service):
    return Counter(row["condition"] for row in rows(service, schema.rater))


def complete(service, rater_id):
    finish(service, rater_id)
    return service.survey(rater_id, {}).result()


def test_raters_are_spread_in_the_proportion_of_the_quotas_and_no_more_come_than_there_are_places(serve, take_part):
    service = serve(THREE)
    for k in range(4):
        take_part(service, f"browser{k}")
    assert conditions(service) == {"plain": 2, "colour": 1, "few": 1}
    for k in range(4, 8):
        take_part(service, f"browser{k}")
    assert conditions(service) == {"plain": 4, "colour": 2, "few": 2}
    assert service.is_shut()
    assert refused(service, Joining("browser9")) == "full"
    assert service.join(Joining("browser3")).result()  # who is in comes back in


def test_many_who_come_at_once_to_two_servers_fill_the_places_exactly(tmp_path, url):
    folder = write_words(tmp_path / "words", THREE)
    sites = [open_site(folder, url) for _ in range(2)]
    services = [site.studies["words"] for site in sites]

    def come(k):
        try:
            return services[k % 2].join(Joining(f"browser{k:04d}")).result()
        except Refused as refusal:
            return refusal.code

    with ThreadPoolExecutor(20) as threads:
        found = list(threads.map(come, range(60)))
    assert Counter(found)["full"] == 52
    assert conditions(services[0]) == {"plain": 4, "colour": 2, "few": 2}
    for site in sites:
        site.close()


def test_a_rater_is_asked_as_the_condition_says(serve, take_part):
    service = serve(THREE)
    ids = [take_part(service, f"browser{k}") for k in range(8)]
    of = {row["id"]: row["condition"] for row in rows(service, schema.rater)}
    for rater_id in ids:
        asked = finish(service, rater_id)
        shown = {name for question in asked for name in question["shown"]}
        assert (shown <= {"w00", "w01", "w02", "w03"}) or of[rater_id] != "few"


def test_a_place_is_given_on_when_its_time_is_over_and_somebody_needs_it(serve, take_part):
    service = serve(THREE)
    ids = [take_part(service, f"browser{k}") for k in range(8)]
    finish(service, ids[0])
    hands_of(service)[0] += 31 * 60
    assert len(service.questions(ids[1]).result()["questions"]) == 3  # nobody has come for the place
    late = [take_part(service, f"late{k:05d}") for k in range(8)]
    for rater_id in late:
        complete(service, rater_id)
    assert refused(service, Joining("browser9")) == "full"
    for request in (lambda: service.questions(ids[1]), lambda: service.survey(ids[0], {})):
        with pytest.raises(Refused) as refusal:
            request().result()
        assert refusal.value.code == "displaced"
    done = [row for row in rows(service, schema.rater) if row["finished"] is not None]
    assert Counter(row["condition"] for row in done) == {"plain": 4, "colour": 2, "few": 2}


def test_who_comes_back_in_time_for_a_free_place_goes_on(serve, take_part):
    service = serve(THREE)
    ids = [take_part(service, f"browser{k}") for k in range(8)]
    of = {row["id"]: row["condition"] for row in rows(service, schema.rater)}
    hands_of(service)[0] += 31 * 60
    new = take_part(service, "newcomer")  # takes away the places of all in its condition whose time is over
    under = {row["id"]: row["condition"] for row in rows(service, schema.rater)}[new]
    same = [rater_id for rater_id in ids if of[rater_id] == under]
    for rater_id in same[:-1]:
        complete(service, rater_id)
    with pytest.raises(Refused) as refusal:
        complete(service, same[-1])
    assert refusal.value.code == "displaced"
    complete(service, new)
    done = [row for row in rows(service, schema.rater) if row["finished"] is not None and row["condition"] == under]
    assert len(done) == len(same)


@sqlite
def test_places_come_back_from_who_gets_no_code_is_withdrawn_or_erased(serve):
    service = serve(THREE.replace("seconds_per_question = 0", 'code = "C1"') + "[raters]\ninvited = true\n")
    links = [parts(link) for link in invite(service, [f"p{k}" for k in range(11)]).values()]

    def come(k):
        rater_id = service.rater_of(service.join(Joining(f"browser{k}", links[k])).result())
        service.consent(rater_id).result()
        return rater_id

    ids = [come(k) for k in range(8)]
    assert refused(service, Joining("browser8", links[8])) == "full"
    assert complete(service, ids[0])["withheld"] == "time"
    come(8)
    withdraw(service, "p1")
    come(9)
    erase_rater(service.database, "words", "p2", by_identity=True)
    come(10)
    assert service.is_shut()
    invite(service, ["p1"])
    with pytest.raises(Refused) as refusal:
        service.questions(ids[1]).result()
    assert refusal.value.code == "displaced"
    assert service.survey(ids[0], {}).result()["withheld"] == "time"  # said again as it was


@sqlite
def test_a_quota_of_those_who_joined_is_never_given_back(serve, take_part):
    service = serve(THREE.replace("minutes = 30", 'counts = "joined"'))
    ids = [take_part(service, f"browser{k}") for k in range(8)]
    hands_of(service)[0] += 24 * 3600
    assert refused(service, Joining("browser9")) == "full"
    complete(service, ids[3])


@sqlite
def test_the_link_may_say_which(serve, take_part):
    service = serve(THREE.replace("minutes = 30", 'parameter = "group"'))
    for k in range(2):
        take_part(service, f"browser{k}", group="few")
    assert conditions(service) == {"few": 2}
    assert refused(service, Joining("browser3", {"group": "few"})) == "full"
    assert refused(service, Joining("browser3", {"group": "fewer"})) == "not_named"
    take_part(service, "browser4")
    assert conditions(service)["few"] == 2


@sqlite
def test_weights_are_kept_where_there_are_no_quotas(serve, take_part):
    service = serve('[[condition]]\nname = "a"\nweight = 3.0\n[[condition]]\nname = "b"\nweight = 1.0\n')
    for k in range(40):
        take_part(service, f"browser{k}")
    assert conditions(service) == {"a": 30, "b": 10}


@sqlite
def test_rehearsals_take_no_place(serve, take_part):
    service = serve(THREE)
    for k in range(20):
        take_part(service, f"browser{k}", rehearsal="yes")
    assert not service.is_shut()
    for k in range(8):
        take_part(service, f"people{k}")
    assert service.is_shut()
    take_part(service, "after all", rehearsal="yes")
    shown = Watch(service).look()["now"]["design"]["conditions"]
    assert [(one["name"], one["places"], one["quota"], one["raters"]) for one in shown] == [
        ("plain", 4, 4, 4), ("colour", 2, 2, 2), ("few", 2, 2, 2)
    ]  # fmt: skip


def test_who_came_before_there_were_conditions_has_a_row_everywhere(tmp_path):
    folder, rng = write_study(tmp_path / "colours", number=40), np.random.default_rng(3)
    site, service = open_study(folder)
    early = [join(service) for _ in range(3)]
    for rater_id in early:
        answer(service, rater_id, 2, rng)
    text = (folder / "study.toml").read_text(encoding="utf-8")
    for names in (("old", "right"), ("left", "right")):
        design = "".join(f'\n[[condition]]\nname = "{name}"\n' for name in names)
        revisions.revise(site, "colours", {"study.toml": text + design}, "ada")
        service = site.studies["colours"]
        for _ in range(8 if "left" in names else 2):
            rater_id = join(service)
            of = {row["id"]: row["condition"] for row in rows(service, schema.rater)}
            answer(service, rater_id, 40, rng, contrary=of[rater_id] == "right")
    watch = Watch(service)

    def adds_up():
        now = watch.look()["now"]
        shown, totals = now["design"]["conditions"], now["totals"]
        for figure in ("raters", "answers", "finished"):
            assert sum(one[figure] for one in shown) == totals[figure], figure
        return {one["name"]: (one["raters"], one["answers"], one["places"]) for one in shown}

    found = adds_up()
    assert list(found) == ["left", "right", "before conditions", "old"]
    assert (found["before conditions"], found["old"]) == ((3, 6, None), (1, 40, None))
    People(service.database, service.study_id).leave_out(["r0001"], "ada", "asleep")
    assert adds_up()["before conditions"] == (2, 4, None), "who is left out is in no row"
    People(service.database, service.study_id).take_back(["r0001"], "ada")
    file = tmp_path / "answers.csv"
    export_answers(service.database, "colours", file)
    c = sm.read_comparisons(file)
    under = {one.name: (one.answers, one.raters) for one in sm.check(c).conditions}
    assert under["before conditions"] == (6, 3)
    assert sum(answers for answers, _ in under.values()) == len(c.answers)
    compared = sm.compare_groups(c, "condition", random_state=0)
    assert compared.groups == ("left", "old", "right")
    assert sum(compared.raters) + compared.ungrouped == 13
    assert "3 raters, not compared" in str(compared)
    export_raters(service.database, "colours", tmp_path / "raters.csv")
    assert Counter(row["condition"] for row in read_raters(tmp_path / "raters.csv"))["before conditions"] == 3
    other_site, other = open_study(write_study(tmp_path / "other" / "colours", catch=design, number=40))
    bring_in(other, file)
    assert conditions(other)[None] == 3
    for one in (site, other_site):
        one.close()


@pytest.mark.slow
def test_conditions_are_columns_and_groups_are_compared_by_them(tmp_path):
    design = '[[condition]]\nname = "left"\n[[condition]]\nname = "right"\n'
    site, service = open_study(write_study(tmp_path / "colours", catch=design, number=40))
    rng = np.random.default_rng(3)
    for _ in range(12):
        rater_id = join(service)
        of = {row["id"]: row["condition"] for row in rows(service, schema.rater)}
        answer(service, rater_id, 40, rng, contrary=of[rater_id] == "right")
    file = tmp_path / "answers.csv"
    export_answers(service.database, "colours", file)
    c = sm.read_comparisons(file)
    assert set(c.answers.raters["condition"]) == {"left", "right"}
    under = {one.name: one for one in sm.check(c).conditions}
    assert [(one.by, one.answers, one.raters) for one in under.values()] == [("condition", 240, 6)] * 2
    assert "condition left" in str(sm.check(c))
    found = sm.compare_groups(c, "condition", random_state=0)
    assert found.groups == ("left", "right")
    assert found.raters == (6, 6)
    # One says the contrary of the other. Of four raters each another split may chance to differ as much, 1 in 35.
    assert found.differ
    export_raters(service.database, "colours", tmp_path / "raters.csv")
    assert Counter(row["condition"] for row in read_raters(tmp_path / "raters.csv")) == {"left": 6, "right": 6}
    other_site, other = open_study(write_study(tmp_path / "other" / "colours", catch=design, number=40))
    bring_in(other, file)
    assert conditions(other) == {"left": 6, "right": 6}
    assert worker_of(other).step()
    for one in (site, other_site):
        one.close()


def test_programs_are_told_the_condition_and_the_form_and_raters_are_not(tmp_path):
    design = '[assignment]\nparameter = "group"\n[[condition]]\nname = "a"\nquota = 2\n[[condition]]\nname = "b"\n'
    site, service = open_study(write_study(tmp_path / "colours", catch=design))
    app, group = create_app(site), {"group": "a"}
    program = Lab(app, ApiTokens(service.database).make(service.study_id, "a lab", ["ask"], "ada"))
    asked = program.post("/ask", rater="ann", consent=True, parameters=group).json()
    assert asked["condition"] == "a"
    assert {(one["block"], one["form"]) for one in asked["questions"]} == {("", "triplet")}
    assert "condition" not in Lab(app, service.known_as("ann", rehearsal=False).result()).post("/ask").json()
    assert not service.is_shut(group)
    program.post("/ask", rater="bob", consent=True, parameters=group)
    assert service.is_shut(group)
    assert not service.is_shut({"group": "b"})
    assert program.post("/ask", rater="cyd", consent=True, parameters=group).json()["code"] == "full"
    site.close()
