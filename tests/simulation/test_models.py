"""The chain of models: noise trick, conditional means and covariances, uncentred matrices. Seed 0."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtri

from rmt_attention import AttentionLayer, GaussianInputs, Head, sample_spectrum
from rmt_attention.simulation import MODELS
from rmt_attention.simulation.models import HeadModels
from rmt_attention.simulation.projections import Projections
from rmt_attention.simulation.streams import seed_key, stream

from ..statistics import mean
from .fixed import FixedWeights, GivenArrays, rows

KEY = seed_key(0)


# The noise trick (model.noise) ---------------------------------------------------------------------------------------

VALUES: dict[str, np.ndarray] = {
    "narrow": np.random.default_rng(0).standard_normal((12, 5)),
    "square": np.random.default_rng(0).standard_normal((12, 12)),
    "wider than n": np.random.default_rng(0).standard_normal((12, 30)),
    "repeated columns": np.repeat(np.random.default_rng(0).standard_normal((12, 4)), 3, axis=1),
    "rank one": np.outer(np.arange(1.0, 13.0), np.ones(6)),
    "a zero column": np.random.default_rng(0).standard_normal((12, 5)) * [1, 1, 0, 1, 1],
    "scales from 1e-6 to 1e6": np.random.default_rng(0).standard_normal((12, 5)) * np.logspace(-6, 6, 5),
}


def _models_on(value: np.ndarray, fresh: int = 0) -> HeadModels:
    n, width = value.shape
    layer = AttentionLayer(n, n, heads=1, d_key=3, d_value=width, beta=0.7)
    return HeadModels(GivenArrays(layer, {"value": value}, fresh), 0)


@pytest.mark.parametrize("name", VALUES)
def test_the_right_factor_of_the_noise_has_the_gram_of_the_values(name: str) -> None:
    value = VALUES[name]
    factor = _models_on(value)._context.values_factor
    assert factor.shape[0] == min(value.shape)
    scale = np.linalg.norm(value, axis=0)
    bound = 1e-14 * value.shape[0] * np.outer(scale, scale)  # column by column: no column may borrow another's size
    assert (np.abs(factor.T @ factor - value.T @ value) <= bound).all()


def test_the_right_factor_survives_tokens_of_low_rank() -> None:
    layer = AttentionLayer(20, 6, heads=2, d_key=4, d_value=15, inputs=GaussianInputs())
    head = HeadModels(Projections(layer, KEY, 0), 0)._context
    value, factor = head.arrays.value, head.values_factor
    assert np.linalg.matrix_rank(value) == 6
    np.testing.assert_allclose(factor.T @ factor, value.T @ value, rtol=0, atol=1e-13 * np.linalg.norm(value) ** 2)


@pytest.mark.parametrize("model", ["gaussian", "gaussian-covariance"])
def test_the_product_with_values_is_its_score_part_plus_noise_times_the_factor(model: str) -> None:
    """Exactly: scores times V plus √(θ1−θ2) N R, over √n, with N from the noise stream."""
    value = VALUES["wider than n"]
    models = _models_on(value)
    context = models._context
    d_key = context.arrays.head.d_key
    query = context.arrays.query if model == "gaussian" else stream(KEY, 0, "covariance-rows").standard_normal((12, 3))
    scores = 0.7 * query @ context.arrays.key.T / math.sqrt(d_key)
    noise = stream(KEY, 0, "noise").standard_normal((12, 12)) @ context.values_factor
    expected = (scores @ value + math.sqrt(math.exp(0.49) - 1 - 0.49) * noise) / math.sqrt(12)
    np.testing.assert_allclose(models.times_values(model, True), expected, rtol=0, atol=1e-12)


def _spectral_statistics(matrix: np.ndarray) -> np.ndarray:
    """First and second moments of the eigenvalues of M Mᵀ and w at three ridges."""
    eigenvalues = np.linalg.svd(matrix, compute_uv=False) ** 2
    n, scale = matrix.shape[0], (matrix**2).sum() / matrix.shape[0]
    ridges = scale * np.array([0.05, 0.5, 5])
    w = (eigenvalues / (eigenvalues + ridges[:, None])).sum(1) / n
    return np.array([scale, (eigenvalues**2).sum() / n, *w])


@pytest.mark.parametrize("name", ["narrow", "wider than n", "repeated columns"])
@pytest.mark.parametrize("model", ["gaussian", "gaussian-covariance", "gaussian-exact-covariance"])
def test_products_with_values_have_the_law_of_the_full_matrix_times_the_values(name: str, model: str) -> None:
    """Five spectral statistics over 600 independent draws of queries and noise each way; false alarm 1e-4 each.

    Negative control: noise whose factor has the right column norms but independent columns.
    """
    value, count = VALUES[name], 600
    quick, full, wrong = [], [], []
    diagonal = np.diag(np.linalg.norm(value, axis=0))
    for draw in range(count):
        quick.append(_spectral_statistics(_models_on(value, draw).times_values(model, True)))
        other = _models_on(value, count + draw)
        full.append(_spectral_statistics(other.full(model, True) @ value))
        context = other._context
        noise = context.noise_scale * stream(KEY, count + draw, "noise").standard_normal((12, value.shape[1]))
        context.__dict__["values_factor"] = np.zeros((1, value.shape[1]))
        scores = other.times_values("gaussian", True)
        wrong.append(_spectral_statistics(scores + noise @ diagonal / math.sqrt(12)))
    quick_means, full_means, wrong_means = (
        [mean(column) for column in np.array(draws).T] for draws in (quick, full, wrong)
    )
    for one, other_mean in zip(quick_means, full_means, strict=True):
        assert (one - other_mean).agrees_with(0.0)
    assert not all((one - bad).agrees_with(0.0) for one, bad in zip(quick_means, wrong_means, strict=True))


def test_softmax_times_values_is_the_full_matrix_times_the_values() -> None:
    for model in ("softmax", "exponential", "exponential-centered"):
        for centered in (True, False):
            models = _models_on(VALUES["wider than n"])
            product = models.full(model, centered) @ VALUES["wider than n"]
            np.testing.assert_allclose(models.times_values(model, centered), product, rtol=0, atol=1e-12)


# Conditional means and covariances (model.exponential-centered), (model.exact-covariance), (model.covariance) --------

SMALL = AttentionLayer(7, 9, heads=1, d_key=4, beta=0.8)
DRAWS = 200_000


def _key_of(layer: AttentionLayer) -> np.ndarray:
    return FixedWeights(layer, 0, 0).head(0).key


def _exponential_rows(layer: AttentionLayer) -> np.ndarray:
    """f(S) for one token and 200 000 draws of its query, given the keys of replicate 0."""
    query = np.random.default_rng(0).standard_normal((DRAWS, layer.heads[0].d_key))
    scores = query @ _key_of(layer).T / math.sqrt(layer.heads[0].d_key)
    return np.exp(layer.beta * scores - layer.beta**2 / 2) - 1


def _entries_agree(draws: np.ndarray, expected: np.ndarray) -> bool:
    """Means over the first axis against expected entries; false alarm 1e-4 over all entries."""
    error = draws.std(axis=0, ddof=1) / math.sqrt(len(draws))
    bound = 1e-4 / expected.size
    return bool((np.abs(draws.mean(axis=0) - expected) <= -ndtri(bound / 2) * error).all())


def test_the_mean_removed_is_the_mean_over_queries_given_keys() -> None:
    projections = FixedWeights(SMALL, 0, 0)
    removed = (rows(projections, "exponential") - rows(projections, "exponential-centered")) * math.sqrt(7)
    np.testing.assert_allclose(removed, np.broadcast_to(removed[0], removed.shape), rtol=0, atol=1e-13)
    draws = _exponential_rows(SMALL)
    assert _entries_agree(draws, removed[0])
    assert not _entries_agree(draws, np.zeros(7))  # negative control: the mean over keys too


def test_for_correlated_tokens_the_mean_removed_has_the_token_variance_in_it() -> None:
    layer = SMALL.replace(d_model=5, inputs=GaussianInputs())
    projections = FixedWeights(layer, 0, 0)
    removed = (rows(projections, "exponential") - rows(projections, "exponential-centered")) * math.sqrt(7)
    tokens, key = projections.tokens, projections.head(0).key
    assert tokens is not None
    weights = np.random.default_rng(0).standard_normal((40_000, 5, 4))
    draws = np.exp(0.8 * (tokens @ weights) @ key.T / 2 - 0.32) - 1
    assert _entries_agree(draws, removed)
    sigma = (key**2).sum(axis=1) / 4
    forgotten = np.exp(0.32 * (sigma - 1)) - 1  # negative control: B_ii = 1
    assert not _entries_agree(draws, np.broadcast_to(forgotten, (7, 7)))


def _covariance_of_rows(layer: AttentionLayer, model: str, role: str) -> np.ndarray:
    """The covariance behind a Gaussian model's rows, recovered from Y and the Gaussian matrix it was made from."""
    n = layer.n_tokens
    gaussian = stream(KEY, 0, role).standard_normal((n, n))  # type: ignore[arg-type]
    root = np.linalg.solve(gaussian, rows(FixedWeights(layer, 0, 0), model)) * math.sqrt(n)
    return root.T @ root


def test_the_exact_covariance_is_that_of_a_row_of_the_exponential_model_given_keys() -> None:
    covariance = _covariance_of_rows(SMALL, "gaussian-exact-covariance", "exact-rows")
    draws = _exponential_rows(SMALL)
    deviations = draws - draws.mean(axis=0)
    products = deviations[:, :, None] * deviations[:, None, :]
    assert _entries_agree(products, covariance)
    sigma = _key_of(SMALL) @ _key_of(SMALL).T / 4
    linear = 0.64 * sigma + (math.exp(0.64) - 1 - 0.64) * np.eye(7)  # negative control: the limit's covariance
    assert not _entries_agree(products, linear)
    written = np.exp(0.32 * np.add.outer(np.diag(sigma) - 1, np.diag(sigma) - 1)) * (np.exp(0.64 * sigma) - 1)
    np.testing.assert_allclose(covariance, written, rtol=0, atol=1e-10 * written.max())


def test_the_exact_covariance_of_projected_rows_is_the_projection_of_it() -> None:
    layer = AttentionLayer(7, 9, heads=1, d_key=4, d_value=3, beta=0.8)
    projections = FixedWeights(layer, 0, 0)
    value = projections.head(0).value
    product = HeadModels(projections, 0).times_values("gaussian-exact-covariance", True)
    gaussian = stream(KEY, 0, "exact-rows").standard_normal((7, 3))
    root = np.linalg.lstsq(gaussian, product, rcond=None)[0] * math.sqrt(7)
    sigma = projections.head(0).key @ projections.head(0).key.T / 4
    written = np.exp(0.32 * np.add.outer(np.diag(sigma) - 1, np.diag(sigma) - 1)) * (np.exp(0.64 * sigma) - 1)
    expected = value.T @ written @ value
    np.testing.assert_allclose(root.T @ root, expected, rtol=0, atol=1e-10 * expected.max())


@pytest.mark.parametrize("model", ["gaussian", "gaussian-covariance", "gaussian-exact-covariance"])
def test_rows_of_gaussian_models_given_keys_have_the_stated_covariance_and_mean_zero(model: str) -> None:
    """20 000 draws of queries and noise given keys; rows are independent, so all n of them count."""
    layer, count = SMALL, 3000
    drawn = np.concatenate([rows(FixedWeights(layer, 0, draw), model) for draw in range(count)]) * math.sqrt(7)
    sigma = _key_of(layer) @ _key_of(layer).T / 4
    limit = 0.64 * sigma + (math.exp(0.64) - 1 - 0.64) * np.eye(7)
    exact = np.exp(0.32 * np.add.outer(np.diag(sigma) - 1, np.diag(sigma) - 1)) * (np.exp(0.64 * sigma) - 1)
    stated, other = (exact, limit) if model == "gaussian-exact-covariance" else (limit, exact)
    products = drawn[:, :, None] * drawn[:, None, :]
    assert _entries_agree(drawn, np.zeros(7))
    assert _entries_agree(products, stated)
    assert not _entries_agree(products, other)  # negative control


def test_gaussian_models_of_correlated_tokens_have_correlated_rows() -> None:
    """Cov(Y_ij, Y_i'j' | X, K) = (θ2 B_ii' Σ_jj' + (θ1−θ2) δ δ)/n for both, with fresh queries in one of them."""
    layer = AttentionLayer(4, 3, heads=1, d_key=2, beta=0.8, inputs=GaussianInputs())
    projections = FixedWeights(layer, 0, 0)
    tokens, key = projections.tokens, projections.head(0).key
    assert tokens is not None
    gram, sigma = tokens @ tokens.T, key @ key.T / 2
    noise = math.exp(0.64) - 1 - 0.64
    expected = 0.64 * np.einsum("ik,jl->ijkl", gram, sigma) + noise * np.einsum("ik,jl->ijkl", np.eye(4), np.eye(4))
    for model in ("gaussian", "gaussian-covariance"):
        drawn = np.array([rows(FixedWeights(layer, 0, draw), model) for draw in range(10_000)]) * 2
        products = np.einsum("tij,tkl->tijkl", drawn, drawn)
        assert _entries_agree(products, expected)
        independent = 0.64 * np.einsum("ik,jl->ijkl", np.eye(4), sigma) + noise * np.einsum(
            "ik,jl->ijkl", np.eye(4), np.eye(4)
        )
        assert not _entries_agree(products, independent)  # negative control: rows as for orthonormal tokens


# Uncentred matrices (model.uncentered) -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_uncentred_is_the_average_plus_the_centred_matrix(model: str) -> None:
    layer = AttentionLayer(12, 15, heads=2, d_key=4, d_value=5, beta=0.8)
    value = Projections(layer, KEY, 0).head(1).value
    centred, plain = (HeadModels(Projections(layer, KEY, 0), 1).full(model, flag) for flag in (True, False))
    average = np.full((12, 12), 1 / 12)
    np.testing.assert_allclose(plain, centred + math.sqrt(12) * average, rtol=0, atol=1e-14)
    centred, plain = (HeadModels(Projections(layer, KEY, 0), 1).times_values(model, flag) for flag in (True, False))
    np.testing.assert_allclose(plain, centred + math.sqrt(12) * average @ value, rtol=0, atol=1e-13)


def test_softmax_rows_sum_to_one_and_the_models_do_not() -> None:
    layer = AttentionLayer(12, 15, heads=1, d_key=4, beta=0.8)
    for model in MODELS:
        sums = HeadModels(Projections(layer, KEY, 0), 0).full(model, False).sum(axis=1) / math.sqrt(12)
        assert (np.abs(sums - 1).max() < 1e-13) == (model == "softmax")


def test_the_exponential_model_overflows_into_a_message() -> None:
    layer = AttentionLayer(6, 6, heads=(Head(2, 2, 20.0),))
    wide = {"query": np.full((6, 2), 10.0), "key": np.full((6, 2), 10.0)}
    with pytest.raises(ValueError, match=r"model='exponential': overflows double precision at beta=20, d_key=2"):
        rows(GivenArrays(layer, wide), "exponential")


# The whole chain -----------------------------------------------------------------------------------------------------

CHAIN = {
    "softmax": (0.5548, 0.0004),
    "exponential": (0.5636, 0.0006),
    "exponential-centered": (0.5632, 0.0006),
    "gaussian-exact-covariance": (0.5751, 0.0004),
    "gaussian-covariance": (0.5674, 0.0002),
    "gaussian": (0.5675, 0.0002),
}
"""w(0.5) and its standard error over 40 draws at n = 300, from an implementation independent of the package."""


def test_every_model_of_the_chain_has_the_recorded_degrees_of_freedom() -> None:
    """Within four standard errors of the difference: false alarm about 1e-4 each."""
    layer = AttentionLayer(300, 400, heads=4, d_key=75, d_value=100, d_out=450)
    samples = sample_spectrum(layer, "output", MODELS, replicates=40)
    found = {model: samples[model].degrees_of_freedom(0.5) for model in MODELS}
    for model, (value, error) in CHAIN.items():
        estimate = found[model]
        print(f"{model}: {estimate.value:.5f} ± {estimate.standard_error:.5f}, recorded {value} ± {error}")
        assert abs(estimate.value - value) < 4 * math.hypot(estimate.standard_error, error)
    # negative control: neighbours in the chain that are far apart are told apart
    value, error = CHAIN["gaussian"]
    for model in ("softmax", "gaussian-exact-covariance"):
        assert abs(found[model].value - value) > 4 * math.hypot(found[model].standard_error, error)
