"""Clients of others run a whole adaptive study against a server: Python, jsPsych in node, R, PsychoPy's example."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.study.remote import RemoteStudy
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.tokens import ApiTokens
from tests.patience import PATIENCE, until
from tests.study.conftest import serving
from tests.study.live import NAMES, TRUTH, write_study

pytestmark = pytest.mark.slow

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
CLIENTS = ROOT / "src" / "similitude" / "study" / "web" / "static" / "clients"
STUDIES = ("python", "jspsych", "rscript", "psychopy", "timed")
TIMED = "[timing]\nexposure_ms = 500\nleast_seconds = 0.5\nrecord_device = true\n"
SAYS_WHICH = r"timing: this study asks for exposure_ms = 500, least_seconds = 0\.5, which a display must keep"
EACH = 25  # questions for each rater
SETTINGS = "pool = 40\nrefit_every = 20\nahead = 2"
CODE = '[completion]\ncode = "THANKS"\nseconds_per_question = 0'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with its model process, a study for each client, and a token for each study."""
    root = tmp_path_factory.mktemp("clients")
    for name in STUDIES:
        more = TIMED if name == "timed" else ""
        write_study(root / name, choose=SETTINGS, catch=more + CODE, number=EACH if name != "psychopy" else 4)
    (root / "truth.json").write_text(json.dumps(dict(zip(NAMES, TRUTH.tolist(), strict=True))), encoding="utf-8")
    with closing(open_site(root)) as site:
        made = {name: ApiTokens(site.database).make(one.study_id, "a lab", ["ask", "read"], "ada")
                for name, one in site.studies.items()}  # fmt: skip
    with serving(root, "--model") as live:
        live.tokens = made
        yield live


def nearer(items):
    head, first, second = TRUTH[[NAMES.index(name) for name in items]]
    return [1 if ((head - first) ** 2).sum() < ((head - second) ** 2).sum() else 2]


def chosen(server, name):
    """Wait until the model has learned all answers and has chosen enough questions for the next rater."""
    pool = "SELECT count(*) AS n FROM pool p JOIN study s ON s.id = p.study_id WHERE s.name = ?"
    newest = "SELECT last_answer AS n FROM model m JOIN study s ON s.id = m.study_id WHERE s.name = ?"

    def ready():
        kept = server.rows(newest, name)
        return kept and kept[0]["n"] >= server.answers(name)[-1]["id"] and server.rows(pool, name)[0]["n"] >= EACH

    until(ready, lambda: f"questions of {name}")


def check_whole(server, name, study, raters):
    """All answers are in the log, later ones to questions that the model chose, and the model knows the truth.

    A map of 12 places drawn at random gets 0.5 of all triplets right with a standard deviation of 0.047 (2,000 draws):
    0.69 is four of them beyond. 75 answers without noise give 0.76 and more.
    """
    log = server.answers(name)
    assert len(log) == EACH * raters
    later = [row["strategy"] for row in log if row["rater_id"] != log[0]["rater_id"]]
    assert later.count("information_gain") > len(later) / 4
    chosen(server, name)
    every = np.array([(i, j, k) for i in range(12) for j in range(12) for k in range(j) if i not in (j, k)])
    d2 = ((TRUTH[:, None] - TRUTH[None]) ** 2).sum(-1)
    near = d2[every[:, 0], every[:, 1]] < d2[every[:, 0], every[:, 2]]
    rows = np.where(near[:, None], every, every[:, [0, 2, 1]])
    named = sm.Comparisons.from_triplets(np.array(NAMES)[rows])
    assert study.similarity().score(named) > 0.69


def test_a_whole_study_in_python(server, tmp_path):
    with closing(RemoteStudy(server.link("python"), server.tokens["python"])) as study:
        with pytest.raises(StudyError, match="after you have agreed"):
            study.ask("P01")
        for rater in ("P01", "P02", "P03"):
            question = study.ask(rater, consent=True, room="3")
            while question is not None:
                question = study.tell(question, nearer(question.items), milliseconds=812.4)
            assert study.finish(rater)["code"] == "THANKS"
            chosen(server, "python")
        check_whole(server, "python", study, 3)
        assert [name for name, _ in study.neighbors("c03", 2)] == study.similarity().neighbors("c03", 2)
        study.export(tmp_path / "answers.csv")
        assert len(sm.read_comparisons(tmp_path / "answers.csv").answers) == 3 * EACH
        assert study.items()[0]["name"] == "c00"
        with pytest.raises(StudyError, match="item: expected the name of an item"):
            study.neighbors("nobody")


def test_the_first_answer_again_after_the_connection_was_lost_is_one(server):
    with closing(RemoteStudy(server.link("python"), server.tokens["python"], rehearsal=True)) as study:
        question = study.ask("P01", consent=True)
        study._loop.call_soon_threadsafe(study._client.close)
        assert study.tell(question, [1]).number == question.number + 1


def program(name):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture(scope="module")
def node_modules(request):
    """jsPsych and a page without a screen, fetched once for a checkout; skipped where they cannot be."""
    npm = program("npm")
    folder = Path(request.config.cache.mkdir("jspsych"))
    if not (folder / "node_modules" / "jspsych").is_dir():
        command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        done = subprocess.run([*command, "jspsych@8", "jsdom@26"], capture_output=True, text=True, timeout=PATIENCE * 4)
        if done.returncode:
            pytest.skip(f"npm could not fetch jsPsych and jsdom: {done.stderr[:200]}")
    return folder / "node_modules"


def run(command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_whole_study_in_jspsych(server, node_modules):
    node, plugin = program("node"), CLIENTS / "jspsych-similitude.js"
    common = [node, str(HERE / "clients" / "jspsych.cjs"), str(plugin), server.link("jspsych")]
    common.append(str(server.root / "truth.json"))
    with closing(RemoteStudy(server.link("jspsych"), server.tokens["jspsych"])) as study:
        told = run([*common, "J01"], NODE_PATH=str(node_modules))
        chosen(server, "jspsych")
        told += run([*common, "J02", "J03"], NODE_PATH=str(node_modules))
        assert told == [
            {"rater": name, "trials": EACH, "answered": EACH, "code": "THANKS"} for name in ("J01", "J02", "J03")
        ]
        check_whole(server, "jspsych", study, 3)
    identities = server.rows("SELECT identity FROM rater r JOIN study s ON s.id = r.study_id WHERE s.name = 'jspsych'")
    assert sorted(row["identity"] for row in identities) == ["J01", "J02", "J03"]


def program_with_packages():
    """R with what the client needs; skipped where it is not there."""
    rscript = program("Rscript")
    has = "quit(status = !all(c('curl', 'jsonlite') %in% rownames(installed.packages())))"
    if subprocess.run([rscript, "-e", has], capture_output=True).returncode:
        pytest.skip("R lacks the packages curl and jsonlite")
    return rscript


def test_a_whole_study_in_r(server):
    common = [
        program_with_packages(),
        str(HERE / "clients" / "whole_study.R"),
        str(CLIENTS / "similitude.R"),
        server.link("rscript"),
    ]
    common.append(str(server.root / "truth.json"))
    with closing(RemoteStudy(server.link("rscript"), server.tokens["rscript"])) as study:
        told = run([*common, "R01"], SIMILITUDE_TOKEN=server.tokens["rscript"])["told"]
        chosen(server, "rscript")
        found = run([*common, "R02", "R03"], SIMILITUDE_TOKEN=server.tokens["rscript"])
        told += found["told"]
        assert told == [{"rater": name, "answered": EACH, "code": "THANKS"} for name in ("R01", "R02", "R03")]
        assert found["items"] == NAMES
        assert found["distance"] > 0
        assert list(found["near"].values()) == sorted(found["near"].values())
        assert found["rows"] == 3 * EACH
        check_whole(server, "rscript", study, 3)


# --- times that a display must keep ---


def test_python_asks_no_study_with_times_unless_the_display_keeps_them(server):
    with closing(RemoteStudy(server.link("timed"), server.tokens["timed"], rehearsal=True)) as study:
        with pytest.raises(StudyError, match=f"{SAYS_WHICH}.*keeps_times=True"):
            study.ask("P01", consent=True)
        assert study.items(), "whoever only looks is not refused"
    with closing(RemoteStudy(server.link("timed"), server.tokens["timed"], True, keeps_times=True)) as study:
        question = study.ask("P01", consent=True)
        with pytest.raises(StudyError, match="expected at least 500"):
            study.tell(question, [1], milliseconds=20)
        assert study.tell(question, [1], milliseconds=700).number == 1


_ASKED = """
globalThis.jsPsychModule = { ParameterType: {} };
const [plugin, link, keeps] = process.argv.slice(1);
const text = require("fs").readFileSync(plugin, "utf8") + "; return jsPsychSimilitude;";
const Plugin = new Function("jsPsychModule", text)(jsPsychModule);
const study = new Plugin.Study(link, { parameters: { rehearsal: "yes" }, keepsTimes: keeps === "yes" });
const say = what => console.log(JSON.stringify(what));
study.next().then(({ number }) => say(number), error => say(error.message));
"""


def test_jspsych_asks_no_study_with_times_unless_the_display_keeps_them(server):
    node, plugin = program("node"), CLIENTS / "jspsych-similitude.js"
    command = [node, "-e", _ASKED, str(plugin), server.link("timed")]
    assert re.match(f"{SAYS_WHICH}.*keepsTimes: true", run([*command, "no"]))
    assert run([*command, "yes"]) == 0


def test_r_asks_no_study_with_times_unless_the_display_keeps_them(server):
    rscript = program_with_packages()
    code = (
        f'source("{CLIENTS / "similitude.R"}"); token <- Sys.getenv("SIMILITUDE_TOKEN"); '
        f'study <- function(keeps) similitude_study("{server.link("timed")}", token, TRUE, keeps); '
        'asked <- function(keeps) similitude_ask(study(keeps), "R01", consent = TRUE)$number; '
        "said <- function(keeps) tryCatch(asked(keeps), error = conditionMessage); "
        "cat(jsonlite::toJSON(list(said(FALSE), said(TRUE)), auto_unbox = TRUE))"
    )
    refused, number = run([rscript, "-e", code], SIMILITUDE_TOKEN=server.tokens["timed"])
    assert re.match(f"{SAYS_WHICH}.*keeps_times = TRUE", refused)
    assert number == 0


class Fakes:
    """As much of PsychoPy as the example uses; somebody presses keys in front of it."""

    def __init__(self):
        self.drawn, self.flips, self.pressed = [], 0, 0
        self.visual = types.SimpleNamespace(Window=self.window, TextStim=self.stimulus, ImageStim=self.stimulus,
                                            Rect=self.stimulus)  # fmt: skip
        self.core = types.SimpleNamespace(Clock=self.clock, quit=lambda: None)
        self.event = types.SimpleNamespace(waitKeys=self.keys)

    def window(self, **_):
        return types.SimpleNamespace(flip=self.flip, close=lambda: None)

    def flip(self):
        self.flips += 1

    def stimulus(self, window, **how):
        return types.SimpleNamespace(draw=lambda: self.drawn.append(how))

    def clock(self):
        return types.SimpleNamespace(getTime=lambda: 0.9)

    def keys(self, keyList, timeStamped):
        self.pressed += 1
        return [(keyList[self.pressed % 2], 0.8)]


def test_the_example_of_psychopy_runs(server, monkeypatch):
    fakes = Fakes()
    monkeypatch.setitem(sys.modules, "psychopy", fakes)
    monkeypatch.setattr(sys, "argv", ["psychopy_study.py", server.link("psychopy"), "P01"])
    monkeypatch.setenv("SIMILITUDE_TOKEN", server.tokens["psychopy"])
    runpy.run_path(str(ROOT / "docs" / "how-to" / "study" / "psychopy_study.py"), run_name="__main__")
    log = server.answers("psychopy")
    assert [row["milliseconds"] for row in log] == [800] * 4
    assert [row["response"] for row in log] == [[2], [1], [2], [1]]
    assert sum("fillColor" in how for how in fakes.drawn) == 3 * 4


@pytest.mark.parametrize("file", [*CLIENTS.iterdir(), ROOT / "src" / "similitude" / "study" / "remote.py"])
def test_clients_are_short(file):
    assert len(file.read_text(encoding="utf-8").splitlines()) < 150
