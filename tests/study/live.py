"""A small study with simulated people, for the tests of what learns from them and of who watches."""

import itertools

import numpy as np

from similitude.feedback.simulation.mind import Mind, Truth
from similitude.study.asking import form_of
from similitude.study.service import Joining, Said, StudyService
from similitude.study.site import open_site
from similitude.study.worker import StudyWorker

# never other draws: the catch trials of studies say what is right
TRUTH = np.random.Generator(np.random.PCG64(4)).normal(size=(12, 2))
NAMES = [f"c{k:02d}" for k in range(12)]
_UIDS = itertools.count()


def write_study(
    folder, form="triplet", more="", choose="pool = 20\nrefit_every = 50", catch="", title="Colours", number=40
):
    """A study of twelve colours in a folder; `more` belongs to the question."""
    folder.mkdir(parents=True, exist_ok=True)
    colours = np.clip(128 + 60 * np.column_stack([TRUTH, TRUTH[:, :1]]), 0, 255).astype(int)
    rows = [f"{name},#{r:02x}{g:02x}{b:02x}" for name, (r, g, b) in zip(NAMES, colours, strict=True)]
    (folder / "colours.csv").write_text("\n".join(["name,colour", *rows]) + "\n", encoding="utf-8")
    question = f'[question]\nform = "{form}"\nnumber = {number}\n{more}'
    parts = [f'title = "{title}"', '[items]\ntable = "colours.csv"', question, f"[choose]\n{choose}", catch]
    (folder / "study.toml").write_text("\n".join(parts) + "\n", encoding="utf-8")
    (folder / "consent.md").write_text("I agree.", encoding="utf-8")
    (folder / "instructions.md").write_text("Choose.", encoding="utf-8")
    return folder


def open_study(folder, url=None):
    """The site and its only study, whose random questions are the same each time."""
    site = open_site(folder, url)
    service = next(iter(site.studies.values()))
    service.answering.rng.seed(0)
    return site, service


def worker_of(service: StudyService, name="one", **options):
    return StudyWorker(service.study, service.names, service.database, name, **options)


def join(service: StudyService, **parameters):
    """A rater who has agreed to take part."""
    token = service.join(Joining(f"browser{next(_UIDS):08d}", parameters)).result()
    rater_id = service.rater_of(token)
    service.consent(rater_id).result()
    return rater_id


UNLIKE_OTHERS = (  # what is said of a rater who says the contrary: by how much decides which
    "sees things differently: says the contrary of the others: was the question read the wrong way round?",
    "sees things differently: disagrees with the others, but their own answers hang together",
    "sees things differently: disagrees with the others; their own answers seem to hang together, but not beyond doubt",
    "cannot be told: disagrees with the others; too few answers to say whether they hang together",
    "answers at random: agrees with the others hardly more than by chance, and not with their own other answers either",
)


def respond(form, shown, rng, contrary=False, sharpness=3.0):
    """What a person who sees the truth, a little blurred, says to a question; one may say the contrary.

    Who says the contrary is flagged in any draw; one who clicks at random passes most catch trials now and then.
    """
    X = TRUTH[[NAMES.index(name) for name in shown]]
    X = X + rng.normal(size=X.shape) / sharpness / 3

    def far(i, j):
        return (-1 if contrary else 1) * float(((X[i] - X[j]) ** 2).sum())

    if form == "triplet":
        return [1 if far(0, 1) < far(0, 2) else 2]
    if form == "quadruplet":
        return [0 if far(0, 1) < far(2, 3) else 1]
    if form == "odd_one_out":
        return [int(np.argmin([far(1, 2), far(0, 2), far(0, 1)]))]
    if form == "choice":
        return (1 + np.argsort([far(0, k) for k in range(1, len(shown))])[:2]).tolist()
    if form == "similarity_rating":
        return [int(np.clip(round(7 - 1.5 * far(0, 1) ** 0.5), 1, 7))]
    if form == "same_different":
        return [int(far(0, 1) < 1.5)]
    if form == "labelling":
        return [int(X[0, 0] > 0), min(abs(float(X[0, 0])), 1.0)]
    truth = Truth(len(X), positions=X)
    mind = Mind(truth, np.full(1, np.inf), np.zeros(1), float(contrary), 2, None, rng)
    return form_of(form).answer(mind, np.arange(len(X))[None])[0][0].tolist()


def answer(service: StudyService, rater_id, n, rng, outcome="answered", **how):
    """Answer up to n of the questions that are asked; the kinds and strategies are in the log."""
    for _ in range(n):
        held = service.questions(rater_id).result()["questions"]
        if not held:
            return
        question = held[0]
        said = respond(question["form"], question["shown"], rng, **how) if outcome == "answered" else None
        time = int(rng.integers(700, 3000))
        service.answer(Said(rater_id, question["number"], f"answer{next(_UIDS):08d}", outcome, said, time)).result()


def fill(service: StudyService, raters, each, seed=0, **how):
    """Several raters, each with some answers."""
    rng = np.random.default_rng(seed)
    ids = [join(service) for _ in range(raters)]
    for rater_id in ids:
        answer(service, rater_id, each, rng, **how)
    return ids
