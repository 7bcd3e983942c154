"""Every scale and shape: slope and curvature by finite differences, finite everywhere, the same when compiled."""

import numpy as np
import pytest
from scipy import special

from similitude.engine import compiled, terms
from similitude.engine.terms import SCALES, SHAPES
from tests.contracts.registry import KINKS, scales, shapes

FORMULAS = [*scales(), *shapes()]
IDS = [formula.name for formula in FORMULAS]


def arguments(formula, reach=1e-3):
    grid = np.concatenate([np.linspace(-4, 6, 41), [-30.0, 25.0]]) + 0.0123
    kinks = np.array(KINKS.get(formula.name, []))
    return grid[(np.abs(grid[:, None] - kinks) > reach).all(1)] if len(kinks) else grid


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_slope_is_the_derivative_of_value_and_curvature_of_slope(formula):
    t, h = arguments(formula), 1e-5
    numeric_slope = (formula(t + h)[0] - formula(t - h)[0]) / (2 * h)
    numeric_curvature = (formula(t + h)[1] - formula(t - h)[1]) / (2 * h)
    np.testing.assert_allclose(formula(t)[1], numeric_slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(formula(t)[2], numeric_curvature, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_finite_for_every_real_argument(formula):
    t = np.array([-1e100, -1e6, -745.0, -1e-300, 0.0, 1e-300, 745.0, 1e6, 1e100])
    assert all(np.isfinite(part).all() for part in formula(t))


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_value_is_continuous_with_its_slope_at_kinks(formula):
    for kink in KINKS.get(formula.name, []):
        below, above = formula(np.array([kink - 1e-9])), formula(np.array([kink + 1e-9]))
        np.testing.assert_allclose(below[0], above[0], atol=1e-6)
        np.testing.assert_allclose(below[1], above[1], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("formula", scales(), ids=[formula.name for formula in scales()])
def test_scales_rise_and_start_where_they_should(formula):
    t = np.linspace(-3, 10, 200)
    assert (np.diff(formula(t)[0]) > 0).all()
    start = {"logarithm": np.log(formula.parameter)} if formula.name == "logarithm" else {}
    np.testing.assert_allclose(formula(np.zeros(1))[0], start.get(formula.name, 0.0), atol=1e-15)


@pytest.mark.parametrize("formula", shapes(), ids=[formula.name for formula in shapes()])
def test_shapes_fall_and_are_convex(formula):
    value, slope, curvature = formula(np.linspace(-5, 5, 301))
    assert (value >= 0).all()
    assert (slope <= 0).all()
    assert (curvature >= 0).all()
    assert (np.diff(slope) >= -1e-12).all()


def test_a_sharper_hinge_nears_the_exact_one():
    m = np.linspace(-2, 3, 50)
    exact = np.maximum(0, 1 - m)
    np.testing.assert_allclose(terms.Formula(terms.hinge, 1e-12)(m)[0], exact, atol=1e-11)


@pytest.mark.parametrize("formula", FORMULAS, ids=IDS)
def test_compiled_is_the_same_formula(formula):
    t = np.concatenate([arguments(formula), [-745.0, 0.0, 745.0, 1e6]])
    known, choose = (SCALES, compiled.scale_of) if formula.expression in SCALES else (SHAPES, compiled.shape_of)
    code = known.index(formula.expression)
    ours = np.array([choose(code, x, formula.parameter) for x in t]).T
    np.testing.assert_allclose(ours, np.array(formula(t)), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("expression", [*SCALES, *SHAPES], ids=lambda expression: expression.__name__)
def test_formulas_need_nothing_but_the_operations_that_every_device_has(expression):
    used = {name: getattr(np, name) for name in ("absolute", "exp", "log", "log1p", "maximum", "minimum", "sqrt")}
    t = np.linspace(-3, 5, 21)
    for found, wanted in zip(terms.lower(expression, used)(t, 0.7), expression(t, 0.7), strict=True):
        assert np.array_equal(found, wanted)


def test_an_operation_that_a_device_lacks_is_named():
    def arctangent(t, _):
        return np.arctan(t), 1.0 / (1.0 + t * t), -2.0 * t / (1.0 + t * t) ** 2

    with pytest.raises(ValueError, match="arctangent uses np, arctan, which this device does not have"):
        terms.lower(arctangent, {"exp": np.exp})


def test_probit_is_minus_the_log_of_the_normal_distribution():
    m = np.concatenate([np.linspace(-37.0, 8.0, 500), [30.0]])
    value, slope, curvature = terms.probit(m)
    np.testing.assert_allclose(value, -special.log_ndtr(m), rtol=1e-13)
    ratio = np.exp(-0.5 * m * m - 0.5 * np.log(2 * np.pi) - special.log_ndtr(m))
    np.testing.assert_allclose(slope, -ratio, rtol=1e-10)
    np.testing.assert_allclose(curvature, ratio * (ratio + m), rtol=1e-7)
    a = np.array([300.0, 9e3])  # far out, Mills' ratio is 1/a - 1/a³ + 3/a⁵ - ...
    np.testing.assert_allclose(terms.probit(-a)[1], -1 / (1 / a - 1 / a**3 + 3 / a**5), rtol=1e-13)


def test_which_shapes_have_a_probability():
    assert {shape.name for shape in shapes() if shape.has_probability} == {"logistic", "probit"}


@pytest.mark.parametrize("shape", [shape for shape in shapes() if shape.has_probability], ids=lambda shape: shape.name)
def test_a_shape_owns_its_probability_and_its_information(shape):
    m, h = np.linspace(-4, 4, 101), 1e-4
    p = shape.probability(m)
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(p + shape.probability(-m), 1.0, rtol=1e-12)
    steep = (shape.probability(m + h) - shape.probability(m - h)) / (2 * h)
    assert (steep > 0).all()
    np.testing.assert_allclose(shape.information(m), steep**2 / (p * (1 - p)), rtol=1e-6)
    assert shape.log_odds == pytest.approx(4 * steep[50], rel=1e-6)


def test_without_a_probability_information_is_the_curvature():
    shape, m = terms.Formula(terms.squared_hinge, 1.0), np.linspace(-2, 2, 9)
    assert np.array_equal(shape.information(m), shape(m)[2])


def test_logistic_slope_gives_the_probability():
    loss = terms.ComparisonLoss(terms.Formula(terms.squared), terms.Formula(terms.logistic))
    near, far = np.array([1.0, 2.0, 0.0]), np.array([2.0, 2.0, 800.0])
    np.testing.assert_allclose(loss.probability(near, far), 1 / (1 + np.exp(near - far)), rtol=1e-12)


def test_crowd_kernel_probability_is_the_papers():
    mu = 0.05
    loss = terms.ComparisonLoss(terms.Formula(terms.logarithm, mu), terms.Formula(terms.logistic))
    near, far = np.array([0.3, 2.0]), np.array([1.7, 0.1])
    np.testing.assert_allclose(loss.probability(near, far), (mu + far) / (2 * mu + near + far), rtol=1e-12)


def test_student_probability_is_the_papers():
    alpha = 1.5
    loss = terms.ComparisonLoss(terms.Formula(terms.student, alpha), terms.Formula(terms.logistic))
    near, far = np.array([0.3, 2.0]), np.array([1.7, 0.1])
    kernel = [(1 + d2 / alpha) ** (-(alpha + 1) / 2) for d2 in (near, far)]
    np.testing.assert_allclose(loss.probability(near, far), kernel[0] / (kernel[0] + kernel[1]), rtol=1e-12)


def test_a_hinge_has_no_probability_and_says_what_has():
    loss = terms.ComparisonLoss(terms.Formula(terms.squared), terms.Formula(terms.hinge, 0.1))
    with pytest.raises(ValueError, match="STE"):
        loss.probability(np.ones(1), np.ones(1))
