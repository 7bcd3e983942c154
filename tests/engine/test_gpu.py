"""The engine on torch against the engine on numpy: every loss, every function of the seam, starts, solvers, fits."""

from importlib.util import find_spec

import numpy as np
import pytest

import similitude as sm
from similitude.engine import terms
from similitude.engine.backend import CPU
from similitude.engine.choice_terms import Picked
from similitude.engine.comparison_terms import Compared
from similitude.engine.devices import backend_on, blocks_on_device, choose_device, on_device, solvers_of
from similitude.engine.joint_terms import Linked
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.starts import spectral_positions, spectral_start
from similitude.feedback.forms import picking_forms
from similitude.feedback.whole_answers import choices_of
from similitude.graph.build import build_graph
from tests.contracts.registry import losses

LOSSES = losses()
IDS = [f"{loss.scale.name}-{loss.shape.name}" for loss in LOSSES]
METHODS = [sm.STE, sm.TSTE, sm.CKL, sm.SOE, sm.GNMDS]


@pytest.fixture(params=["torch", "cuda"])
def device(request):
    torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'similitude[gpu]'")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no GPU here that torch can use")
    if request.param == "torch":
        torch.set_num_threads(1)
    return request.param


def tolerance(device):
    return 1e-6 if device == "torch" else 1e-4  # weights are 32-bit on every device


def feedback(kind="mixed", n_items=40, m=3000, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.array([rng.permutation(n_items)[:4] for _ in range(m)])
    shared = {"triplets": m, "mixed": m // 2, "quadruplets": 0}[kind]
    rows[:shared, 2] = rows[:shared, 0]
    return sm.Comparisons.from_quadruplets(rows, weight=rng.uniform(0.1, 2, m) if weighted else None)


def close(found, wanted, device):
    np.testing.assert_allclose(np.asarray(found.cpu()), wanted, atol=tolerance(device) * np.abs(wanted).max(), rtol=0)


@pytest.mark.parametrize("loss", LOSSES, ids=IDS)
@pytest.mark.parametrize(
    ("kind", "weighted", "width"), [("triplets", False, 16), ("triplets", True, 3), ("mixed", True, 5)]
)
def test_one_pass_gives_what_the_compiled_engine_gives(device, loss, kind, weighted, width):
    c = feedback(kind, weighted=weighted)
    X = np.random.default_rng(1).normal(size=(40, width))
    wanted, product = CPU().embedding(loss, X, build_graph(c))
    graph, backend = on_device(c, device)
    value, found = backend.embedding(loss, X, graph)
    assert value == pytest.approx(wanted, rel=tolerance(device))
    close(found, product, device)


def test_the_kernel_and_plain_torch_agree(device):
    if device != "cuda":
        pytest.skip("the kernel needs a GPU")
    graph, backend = on_device(feedback(), device)
    X = np.random.default_rng(1).normal(size=(40, 7))
    plain = type(backend)(backend.device, fused=False)
    for loss in LOSSES:
        one, other = backend.embedding(loss, X, graph), plain.embedding(loss, X, graph)
        assert one[0] == pytest.approx(other[0], rel=1e-5)
        close(one[1], np.asarray(other[1].cpu()), device)


@pytest.mark.parametrize("loss", LOSSES[:4], ids=IDS[:4])
def test_distances_losses_and_laplacian_one_by_one(device, loss):
    c = feedback()
    _, backend = on_device(c, device)
    graph, cpu = build_graph(c), CPU()
    X = np.random.default_rng(1).normal(size=(40, 3))
    d2 = cpu.sqdist(X, graph.pairs)
    value, w = cpu.losses(loss, d2, graph)
    there, pairs = backend.tensor(X), backend.indices(graph.pairs)
    close(backend.sqdist(there, pairs), d2, device)
    found, slopes = backend.losses(loss, backend.tensor(d2), graph)
    assert found == pytest.approx(value, rel=tolerance(device))
    close(slopes, w, device)
    close(backend.laplacian(there, pairs, backend.tensor(w)), cpu.laplacian(X, graph.pairs, w), device)


@pytest.mark.parametrize("expression", [*terms.SCALES, *terms.SHAPES], ids=lambda e: e.__name__)
def test_formulas_lowered_to_torch_are_the_same(device, expression):
    from similitude.engine.gpu.formulas import evaluate

    _, backend = on_device(feedback(), device)
    argument = np.linspace(-3, 5, 83)
    wanted = expression(argument, 0.7)
    for found, want in zip(evaluate(terms.Formula(expression, 0.7), backend.tensor(argument)), wanted, strict=False):
        close(found, want, device)


def test_counts_are_those_of_the_graph(device):
    rows = [(0, 1, 0, 2), (3, 4, 3, 5), (1, 2, 2, 0), (4, 5, 3, 5)]
    c = sm.Comparisons.from_quadruplets(rows, n_items=8, weight=[1.0, 2.0, 0.5, 1.5])
    graph, _ = on_device(c, device)
    wanted = build_graph(c)
    assert len(graph) == 4
    assert graph.total_weight == pytest.approx(5.0)
    assert np.array_equal(graph.occurrences, wanted.occurrences)
    assert np.array_equal(graph.components, wanted.components)


def test_comparisons_without_weight_are_left_out(device):
    graph, _ = on_device(sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 3)], weight=[1.0, 0.0], n_items=4), device)
    assert len(graph) == 1
    assert graph.occurrences.tolist() == [2, 1, 1, 0]


def test_long_heads_are_cut_and_parts_are_summed(device, monkeypatch):
    from similitude.engine.gpu import comparisons

    c = feedback("triplets", n_items=6)
    X = np.random.default_rng(1).normal(size=(6, 3))
    wanted, product = CPU().embedding(LOSSES[0], X, build_graph(c))
    monkeypatch.setattr(comparisons, "_LONGEST", 17)
    monkeypatch.setattr(comparisons, "_ROWS_PER_PART", 400)
    graph, backend = on_device(c, device)
    assert len(list(graph.parts())) == 8
    value, found = backend.embedding(LOSSES[0], X, graph)
    assert value == pytest.approx(wanted, rel=tolerance(device))
    close(found, product, device)


def test_streamed_comparisons_give_the_same(device, monkeypatch):
    if device != "cuda":
        pytest.skip("there is nothing to stream to")
    from similitude.engine.gpu import comparisons

    c, X = feedback(), np.random.default_rng(1).normal(size=(40, 3))
    resident, backend = on_device(c, device)
    monkeypatch.setattr(comparisons, "device_room", lambda _: 0.0)
    streamed, _ = on_device(c, device)
    assert all(part.near.device.type == "cpu" for part in streamed._parts)
    one, other = (backend.embedding(LOSSES[0], X, graph) for graph in (resident, streamed))
    assert one[0] == pytest.approx(other[0], rel=1e-6)
    close(one[1], np.asarray(other[1].cpu()), device)


def test_batches_hold_every_comparison_once(device):
    import torch

    from similitude.engine.gpu.solvers import batches

    graph, backend = on_device(feedback(), device)
    X = backend.tensor(np.random.default_rng(1).normal(size=(40, 3)))
    value, product = backend.embedding(LOSSES[0], X, graph)
    out, total, weight = torch.zeros_like(X), 0.0, 0.0
    for batch in batches(graph, 7, torch.Generator(device=graph.device).manual_seed(0)):
        total += float(backend.add(LOSSES[0], X, batch, out))
        weight += float(batch.total_weight)
    assert weight == pytest.approx(graph.total_weight)
    assert total / weight == pytest.approx(value, rel=tolerance(device))
    close(out / weight, np.asarray(product.cpu()), device)


def test_the_spectral_start_spans_what_the_eigenvectors_span(device):
    truth = np.random.default_rng(0).normal(size=(80, 2))
    c = sm.simulate(truth, 6000, random_state=1)
    graph, backend = on_device(c, device)
    problem = Problem(Positions(80, 2), Compared(graph, LOSSES[0]), Ridge(0.1), backend=backend)
    found = spectral_start(problem, 2, np.random.default_rng(2))
    wanted = spectral_positions(build_graph(c), 2, np.random.default_rng(2))
    assert sm.procrustes_distance(found, wanted) < 0.05


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.__name__)
def test_fits_end_at_the_same_value(device, method):
    truth = np.random.default_rng(0).normal(size=(30, 2))
    c, held_out = (sm.simulate(truth, 1500, sharpness=2.0, random_state=seed) for seed in (1, 2))
    here = method(2, random_state=0).fit(c)
    there = method(2, random_state=0, device=device).fit(c)
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-3)
    assert there.score(held_out) == pytest.approx(here.score(held_out), abs=0.01)
    assert there.status_ == "converged"


def test_a_map_of_features_with_a_rest_is_fitted_there(device):
    F = np.random.default_rng(0).normal(size=(60, 8))
    c, held_out = (sm.simulate(F[:, :2], 2000, sharpness=2.0, random_state=seed) for seed in (1, 2))
    # to the end: two dimensions tell all, and a fit may rest for a while before it spreads the third
    here = sm.FeatureEmbedding(3, tol=1e-8, random_state=0).fit(c, features=F)
    there = sm.FeatureEmbedding(3, tol=1e-8, random_state=0, device=device).fit(c, features=F)
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-3)
    assert there.score(held_out) == pytest.approx(here.score(held_out), abs=0.01)
    np.testing.assert_allclose(there.distances(F, F), here.distances(F, F), atol=0.1)


def said_in_every_form(cant_tell=False, n_items=20):
    truth = np.random.default_rng(0).normal(size=(n_items, 3))
    forms = [form for form in picking_forms().values() if form.has_own_chances]
    settings = {"grid_size": 5, "cant_tell": 0.2}
    said = [sm.simulate(truth, 40, form.name, random_state=k, **settings) for k, form in enumerate(forms)]
    return [part for c in said for part in choices_of(c, cant_tell=cant_tell)]


@pytest.mark.parametrize("scale", [terms.squared, terms.student, terms.logarithm], ids=lambda e: e.__name__)
@pytest.mark.parametrize("as_table", [False, True])
@pytest.mark.parametrize("raters", [False, True])
@pytest.mark.parametrize("cant_tell", [False, True])
def test_choices_have_the_value_and_gradient_of_the_compiled_pass(
    device, scale, as_table, raters, cant_tell, monkeypatch
):
    from similitude.engine.gpu import backend as there

    monkeypatch.setattr(there, "_WORTH", 1 << 20 if as_table else 0)
    rng = np.random.default_rng(1)
    who = {"rater": rng.integers(-1, 4, 60), "n_raters": 4, "lapse": None} if raters else {}
    choices = said_in_every_form(cant_tell)
    term = Picked(terms.Formula(scale, 0.5), choices, unsure=None if cant_tell else 0.0, **who)
    vectors = Positions(20, 4)
    backend = backend_on(device)
    for model in [vectors, DotProducts(vectors)] if scale is terms.squared else [vectors]:
        here = Problem(model, term, Ridge(0.1, 20))
        at = 0.5 * rng.normal(size=80 + term.size)
        value, gradient = here.value_and_gradient(at)
        problem = Problem(model, term.on(backend), Ridge(0.1, 20), backend=backend)
        found, slope = problem.value_and_gradient(backend.tensor(at))
        assert found == pytest.approx(value, rel=tolerance(device))
        close(slope, gradient, device)


@pytest.mark.parametrize(("similarity", "mapped"), [("dot", True), ("distance", True), ("dot", False)])
def test_choices_with_features_and_lapses_are_fitted_there(device, similarity, mapped):
    F = np.random.default_rng(0).normal(size=(40, 6))
    c = sm.simulate(F[:, :2], 1500, "odd_one_out", sharpness=2.0, random_state=1)
    settings, features = {"similarity": similarity, "lapse": "auto", "random_state": 0}, F if mapped else None
    here, there = (
        sm.ChoiceEmbedding(5, device=where, **settings).fit(c, features=features) for where in ("cpu", device)
    )
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-3)
    assert sm.answer_log_loss(there, c) == pytest.approx(sm.answer_log_loss(here, c), abs=0.01)
    assert there.status_ == "converged"


@pytest.mark.parametrize("mapped", [True, False])
def test_dimensions_that_are_never_negative_are_fitted_there(device, mapped):
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 2.0, (30, 3)) * (np.arange(30)[:, None] % 3 == np.arange(3))
    features = X @ rng.normal(size=(3, 5)) if mapped else None
    c = sm.simulate(X, 1500, "odd_one_out", metric="dot", sharpness=1, random_state=1)
    here, there = (
        sm.NonNegativeEmbedding(12, device=where, scale=1.0, random_state=0).fit(c, features=features)
        for where in ("cpu", device)
    )
    assert abs(there.n_dimensions_ - here.n_dimensions_) <= 1  # a small one more changes the objective by a thousandth
    assert there.objective_ == pytest.approx(here.objective_, rel=2e-3)
    assert sm.answer_log_loss(there, c) == pytest.approx(sm.answer_log_loss(here, c), abs=0.01)
    assert (there.embedding_ >= 0).all()


def test_minibatches_come_near(device):
    truth = np.random.default_rng(0).normal(size=(30, 2))
    c = sm.simulate(truth, 3000, sharpness=2.0, random_state=1)
    whole = sm.STE(2, random_state=0).fit(c).objective_
    seen = []
    model = sm.STE(2, random_state=0, device=device, solver="minibatch").fit(c, callback=lambda _, v: seen.append(v))
    assert model.objective_ < 1.05 * whole
    assert len(seen) >= 20


def test_a_folder_of_comparisons_is_fitted_there(device, tmp_path):
    truth = np.random.default_rng(0).normal(size=(30, 2))
    c = sm.simulate(truth, 3000, sharpness=2.0, random_state=1)
    with sm.ComparisonWriter(tmp_path / "answers", group_rows=500) as writer:
        writer.write(c)
    dataset = sm.ComparisonDataset(tmp_path / "answers", shard_rows=1000)
    one = sm.STE(2, random_state=0, device=device).fit(dataset)
    other = sm.STE(2, random_state=0, device=device).fit(c)
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-3)


@pytest.fixture
def folder(tmp_path):
    truth = np.random.default_rng(0).normal(size=(30, 2))
    c = sm.simulate(truth, 3000, sharpness=2.0, random_state=1)
    c = c.reweight(np.where(np.arange(len(c)) % 7 == 3, 0.0, np.where(np.arange(len(c)) < 1500, 1.0, 2.0)))
    with sm.ComparisonWriter(tmp_path / "answers", group_rows=250) as writer:
        writer.write(c)
    return c, sm.ComparisonDataset(tmp_path / "answers", shard_rows=500)


def little_memory(monkeypatch, on_device, in_host=0.0):
    from similitude.engine.gpu import comparisons

    monkeypatch.setattr(comparisons, "device_room", lambda _: on_device)
    monkeypatch.setattr(comparisons, "host_room", lambda: in_host)


@pytest.mark.parametrize("room", [0.0, 20_000.0])
def test_what_fits_nowhere_is_read_from_disk_at_every_pass(device, folder, room, monkeypatch):
    c, dataset = folder
    whole, backend = on_device(c, device)
    little_memory(monkeypatch, room)
    streamed, _ = blocks_on_device(dataset, device)
    assert streamed.from_disk == len(streamed._parts) == (2 if room else 0)
    assert len(list(streamed.parts())) == dataset.n_shards == 6
    assert len(streamed) == len(whole) == int((c.weight > 0).sum())
    assert streamed.total_weight == whole.total_weight
    assert np.array_equal(streamed.occurrences, whole.occurrences)
    assert np.array_equal(streamed.components, whole.components)
    X = np.random.default_rng(1).normal(size=(30, 3))
    one, other = (backend.embedding(LOSSES[0], X, graph) for graph in (whole, streamed))
    assert other[0] == pytest.approx(one[0], rel=1e-6)
    close(other[1], np.asarray(one[1].cpu()), device)


def test_all_of_memory_and_then_the_disk(device, folder, monkeypatch):
    c, dataset = folder
    whole, backend = on_device(c, device)
    little_memory(monkeypatch, 20_000.0, 18_000.0)
    streamed, _ = blocks_on_device(dataset, device)
    assert streamed.from_disk == len(streamed._parts) == 5
    if device == "cuda":
        assert [part.near.device.type for part in streamed._parts] == ["cuda"] * 4 + ["cpu"]
    X = np.random.default_rng(1).normal(size=(30, 3))
    one, other = (backend.embedding(LOSSES[0], X, graph) for graph in (whole, streamed))
    assert other[0] == pytest.approx(one[0], rel=1e-6)
    close(other[1], np.asarray(one[1].cpu()), device)


@pytest.mark.parametrize("solver", ["lbfgs", "minibatch"])
def test_a_fit_from_disk_ends_where_one_in_memory_does(device, folder, solver, monkeypatch):
    c, dataset = folder
    wanted = sm.STE(2, random_state=0).fit(c)
    little_memory(monkeypatch, 20_000.0)
    model = sm.STE(2, random_state=0, device=device, solver=solver).fit(dataset)
    assert model.objective_ == pytest.approx(wanted.objective_, rel=2e-3 if solver == "lbfgs" else 0.05)
    given = sm.STE(2, init=wanted.embedding_, device=device).fit(dataset)
    assert given.objective_ == pytest.approx(wanted.objective_, rel=2e-3)


def test_what_a_folder_lacks_is_said_from_disk_too(device, folder, tmp_path, monkeypatch):
    little_memory(monkeypatch, 0.0)
    with sm.ComparisonWriter(tmp_path / "gaps", n_items=7) as writer:
        writer.write(np.array([(0, 1, 2), (1, 0, 2), (3, 4, 5)]))
    with pytest.warns(sm.FeedbackWarning, match="never compared|2 groups"):
        sm.STE(1, random_state=0, device=device).fit(sm.ComparisonDataset(tmp_path / "gaps"))


@pytest.mark.parametrize("room", [float("inf"), 0.0])
def test_a_folder_without_weight_is_refused(device, tmp_path, room, monkeypatch):
    little_memory(monkeypatch, room)
    with sm.ComparisonWriter(tmp_path / "none") as writer:
        writer.write(np.array([(0, 1, 2), (1, 0, 2)]), weight=[0.0, 0.0])
    with pytest.raises(ValueError, match="there are none to learn from"):
        sm.STE(1, device=device).fit(sm.ComparisonDataset(tmp_path / "none"))


def test_the_hosts_memory_is_that_of_its_container(monkeypatch, tmp_path):
    pytest.importorskip("torch", reason="torch is not installed: pip install 'similitude[gpu]'")
    from similitude.engine.gpu import memory

    monkeypatch.setattr(memory, "_LIMITS", ())
    assert 0 < memory.host_room() < 2**60
    (tmp_path / "max").write_text("max\n", encoding="utf-8")
    (tmp_path / "limit").write_text("1000\n", encoding="utf-8")
    (tmp_path / "used").write_text("400\n", encoding="utf-8")
    files = {name: str(tmp_path / name) for name in ("max", "limit", "used", "absent")}
    free = memory.host_room()
    monkeypatch.setattr(memory, "_LIMITS", ((files["max"], files["used"]), (files["absent"], files["used"])))
    assert memory.host_room() == pytest.approx(free, rel=0.5)
    monkeypatch.setattr(memory, "_LIMITS", ((files["limit"], files["used"]),))
    assert memory.host_room() == 300.0


def test_devices_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="device: expected 'auto', 'cpu', 'cuda', found 'gpu'"):
        choose_device("gpu", 10)
    if find_spec("torch") is None:
        with pytest.raises(ModuleNotFoundError, match=r'device=.cuda. needs torch, .* pip install "similitude\[gpu\]"'):
            choose_device("cuda", 10)
    assert choose_device("auto", 10) == "cpu"
    assert choose_device("cpu", 10**9) == "cpu"


def test_links_beside_comparisons_on_a_device(device):
    """Comparisons take the device's pass, links the host's way through pairs; L-BFGS ends where it does on the host."""
    c, loss = feedback("triplets"), terms.ComparisonLoss(terms.Formula(terms.squared), terms.Formula(terms.logistic))
    pairs = np.arange(20).reshape(10, 2)
    links = Linked(loss.scale, pairs, np.arange(10) % 2 == 0, np.full(10, 50.0))
    here = Problem(Positions(40, 2), [Compared(build_graph(c), loss), links], Ridge(0.1, 40))
    graph, backend = on_device(c, device)
    there = Problem(Positions(40, 2), [Compared(graph, loss), links], Ridge(0.1, 40), backend=backend)
    at = here.start(np.random.default_rng(1).normal(size=(40, 2))) + 0.1
    value, gradient = here.value_and_gradient(at)
    found, slope = there.value_and_gradient(at)
    assert found == pytest.approx(value, rel=tolerance(device))
    np.testing.assert_allclose(slope, gradient, atol=tolerance(device) * np.abs(gradient).max(), rtol=0)
    best = solvers_of(backend)[0](there, at, tol=1e-7)
    assert best.params.shape == (82,)
    assert best.value == pytest.approx(solvers_of(CPU())[0](here, at, tol=1e-7).value, rel=1e-3)


def test_mixed_feedback_is_fitted_on_a_device(device):
    c = sm.simulate(np.random.default_rng(0).normal(size=(20, 2)), 800, sharpness=1.0, random_state=1)
    links = sm.Links.from_pairs(similar=[(0, 1), (2, 3)], dissimilar=[(0, 2), (1, 3)], n_items=20)
    here, there = (
        sm.MixedEmbedding(2, weights={"links": 5.0}, random_state=0, device=where).fit(c, links=links)
        for where in ("cpu", device)
    )
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-3)
    assert sm.procrustes_distance(there.embedding_, here.embedding_) < 0.01
