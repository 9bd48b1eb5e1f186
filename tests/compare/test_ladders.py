"""Every explicit law against its Gaussian equivalent, extrapolated to n → ∞.

w(λ) at five ridges is extrapolated linearly in 1/n over three sizes of exactly equal ratios; the law must lie inside
the 99.99 % Student-t interval. Seed 0 with the size as second word; 35 comparisons a ladder, so the whole ladder fails
by chance with probability at most 0.35 %.

Ratios. One draw's w fluctuates by about 0.4/n (seen in the chain at n = 300), so the short ladder's limit has a
standard error of about 2e-4 and a half-width of 8e-4, the long one's 0.7e-4 and 3e-4. The negative control multiplies
γ_K by 1.1. With β = 0.5 the linear fraction c = θ2/θ1 is 0.88, and at h = 2, γ_K = 0.4 (d_key = n/5, d_value = 3n/5,
d_out = 3n/2) this moves w by 9e-3 to 4e-2 at the most sensitive ridge and by 5e-3 or more at two others for every law:
several times the half-width, so the control must fail.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rmt_attention import AttentionLayer, SpectrumSample, laws, limit_law, sample_spectrum
from rmt_attention.experiments.verify_checks import exact_mean_factor
from rmt_attention.laws import SpectralLaw

from ..statistics import FALSE_ALARM, mean
from .ladders import LONG, RIDGES_OVER_MEAN, SHORT, Ladder

BETA, HEADS, GAMMA_KEY, GAMMA_VALUE, GAMMA_OUT = 0.5, 2, 0.4, 1.2, 1.5


def layer_at(n: int) -> AttentionLayer:
    return AttentionLayer(n, n, heads=HEADS, d_key=n // 5, d_value=3 * n // 5, d_out=3 * n // 2, beta=BETA)


def one_key_at(n: int) -> AttentionLayer:
    return layer_at(n).replace(key_groups=1)


def tied_at(n: int) -> AttentionLayer:
    return layer_at(n).replace(d_value=n // 5, key_value_correlation=1.0)


CASES: dict[str, tuple[Callable[[int], AttentionLayer], str, Callable[[float], SpectralLaw]]] = {
    "attention": (layer_at, "attention", lambda gamma: laws.attention_law(BETA, HEADS, gamma)),
    "values": (layer_at, "values", lambda gamma: laws.values_law(BETA, HEADS, gamma, GAMMA_VALUE)),
    "output": (layer_at, "output", lambda gamma: laws.output_law(BETA, HEADS, gamma, GAMMA_VALUE, GAMMA_OUT)),
    "head average, own keys": (layer_at, "head-average", lambda gamma: laws.attention_law(BETA, 1, gamma)),
    "head average, one key": (one_key_at, "head-average", lambda gamma: laws.attention_law(BETA, 1, gamma / HEADS)),
    "tied values": (tied_at, "values", lambda gamma: laws.tied_values_law(BETA, HEADS, gamma)),
    "tied output": (tied_at, "output", lambda gamma: laws.tied_output_law(BETA, HEADS, gamma, GAMMA_OUT)),
}


def _check_ladder(ladder: Ladder, name: str, record: Callable[[str, object], None]) -> None:
    build, observable, law_at = CASES[name]
    law, wrong = law_at(GAMMA_KEY), law_at(1.1 * GAMMA_KEY)
    ridges = law.mean * RIDGES_OVER_MEAN
    samples = ladder.samples(build, observable)
    _check_means(samples, law)
    expected, shifted = law.degrees_of_freedom(ridges), wrong.degrees_of_freedom(ridges)
    outside = 0
    for ratio, value, other, (limit, slope) in zip(
        RIDGES_OVER_MEAN, expected, shifted, ladder.limits(samples, ridges), strict=True
    ):
        line = f"{name}, λ = {ratio:g} means: w {value:.5f}, n → ∞ {limit}, coefficient of 1/n {slope}"
        print(line)
        record(f"{name}, {ratio:g}", line)
        assert limit.agrees_with(value), line
        outside += not limit.agrees_with(other)
    assert outside >= 2, f"{name}: γ_K × 1.1 told apart at {outside} of {len(ridges)} ridges only"


def _check_means(samples: list[SpectrumSample], law: SpectralLaw) -> None:
    """At each n the mean is exact: the limit's, and for tied values the key part times 1 + 1/n."""
    for sample in samples:
        layer = sample.layer
        measured = mean([one.mean for one in sample])
        assert limit_law(layer, sample.observable).mean == pytest.approx(law.mean, rel=1e-12)
        assert measured.agrees_with(law.mean * exact_mean_factor(layer)), (layer.n_tokens, measured)


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_the_limit_of_its_gaussian_equivalent(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    _check_ladder(SHORT, name, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_law_is_the_limit_of_its_gaussian_equivalent_at_larger_sizes(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    _check_ladder(LONG, name, record_property)


def test_every_size_has_the_ratios_that_the_laws_are_given() -> None:
    for ladder in (SHORT, LONG):
        for n in ladder.sizes:
            layer, tied = layer_at(n), tied_at(n)
            found = (layer.gamma_key, layer.gamma_value, layer.gamma_out, tied.gamma_key, tied.gamma_value)
            assert found == pytest.approx((GAMMA_KEY, GAMMA_VALUE, GAMMA_OUT, GAMMA_KEY, GAMMA_KEY), rel=1e-15)


def test_the_exact_mean_of_tied_values_carries_one_over_n() -> None:
    """At n = 10 the factor 1 + 1/n of the key part is many standard errors; false alarm 1e-4."""
    layer = tied_at(10)
    values = laws.tied_values_law(BETA, HEADS, GAMMA_KEY)
    sample = Ladder((10,), (4000,)).samples(tied_at, "values")[0]
    measured = mean([one.mean for one in sample])
    exact = GAMMA_KEY * layer.theta1 + HEADS * layer.theta2 * (1 + 1 / 10)
    assert values.mean * exact_mean_factor(layer) == pytest.approx(exact, rel=1e-12)
    assert measured.agrees_with(exact)
    assert not measured.agrees_with(values.mean)  # negative control


# Sharing and tying ---------------------------------------------------------------------------------------------------

SHARING = {"own keys and values": None, "pairs": 2, "multi-query": 1}
SHARED_HEADS = 4


def shared_at(n: int, groups: int | None) -> AttentionLayer:
    return AttentionLayer(
        n, n, heads=SHARED_HEADS, d_key=n // 10, d_value=3 * n // 10, d_out=3 * n // 2, beta=BETA, kv_groups=groups
    )


@pytest.mark.parametrize("observable", ["attention", "values", "output"])
def test_sharing_keys_and_values_leaves_the_law_object_as_it_is(observable: str) -> None:
    x = np.linspace(0.01, 5, 40)
    own = limit_law(shared_at(60, None), observable)
    for groups in (2, 1):
        shared = limit_law(shared_at(60, groups), observable)
        np.testing.assert_array_equal(shared.degrees_of_freedom(x), own.degrees_of_freedom(x))
        np.testing.assert_array_equal(shared.cdf(x), own.cdf(x))


@pytest.mark.parametrize("observable", ["values", "output"])
@pytest.mark.parametrize("name", SHARING)
def test_shared_keys_and_values_have_the_limit_of_own_ones(
    name: str, observable: str, record_property: Callable[[str, object], None]
) -> None:
    """Five ridges a pattern against the one law, false alarm 1e-4 each; sharing enlarges the spread of w over draws."""
    _check_sharing(SHORT, name, observable, "gaussian", record_property)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["softmax", "gaussian"])
@pytest.mark.parametrize("name", SHARING)
def test_shared_keys_and_values_have_the_limit_of_own_ones_at_larger_sizes(
    name: str, model: str, record_property: Callable[[str, object], None]
) -> None:
    _check_sharing(LONG, name, "output", model, record_property)


def _check_sharing(
    ladder: Ladder, name: str, observable: str, model: str, record: Callable[[str, object], None]
) -> None:
    law = limit_law(shared_at(60, None), observable)
    ridges = law.mean * RIDGES_OVER_MEAN
    samples = ladder.samples(lambda n: shared_at(n, SHARING[name]), observable, model)
    for ratio, value, (limit, slope) in zip(
        RIDGES_OVER_MEAN, law.degrees_of_freedom(ridges), ladder.limits(samples, ridges), strict=True
    ):
        line = f"{model}, {observable}, {name}, λ = {ratio:g} means: w {value:.5f}, n → ∞ {limit}, 1/n {slope}"
        print(line)
        record(f"{name}, {ratio:g}", line)
        assert limit.agrees_with(value), line


def test_the_head_average_tells_shared_keys_from_own_ones() -> None:
    """Negative control of the tests above: where sharing changes the law, the ladder sees it."""
    ladder = Ladder((60, 120, 240), (100, 75, 50))
    own = limit_law(shared_at(60, None), "head-average")
    ridges = own.mean * RIDGES_OVER_MEAN
    samples = ladder.samples(lambda n: shared_at(n, 1), "head-average")
    shared = limit_law(shared_at(60, 1), "head-average")
    limits = [limit for limit, _ in ladder.limits(samples, ridges)]
    assert all(w.agrees_with(v) for w, v in zip(limits, shared.degrees_of_freedom(ridges), strict=True))
    assert sum(not w.agrees_with(v) for w, v in zip(limits, own.degrees_of_freedom(ridges), strict=True)) >= 2


@pytest.mark.parametrize("model", ["softmax", "gaussian"])
def test_tying_is_told_from_independence_at_n_300(model: str) -> None:
    """d_value = d_key in both. The laws differ, and so do ten draws of each; false alarm 1e-6."""
    own = AttentionLayer(300, 300, heads=4, d_key=60, d_out=300)
    tied = own.replace(key_value_correlation=1.0)
    ridge = limit_law(own).mean * 0.2
    gap = float(limit_law(tied).degrees_of_freedom(ridge) - limit_law(own).degrees_of_freedom(ridge))
    own_w, tied_w = (
        [float(law.degrees_of_freedom(ridge)) for law in sample_spectrum(layer, "output", model, replicates=20)]
        for layer in (own, tied)
    )
    difference = mean(tied_w[:10]) - mean(own_w[10:])  # independent draws
    print(f"{model}: tied − own {difference}, laws {gap:.5f}")
    assert abs(gap) > 0.01
    assert not difference.agrees_with(0.0, 1e-6)
    assert np.sign(difference.value) == np.sign(gap)
    # negative control: two sets of draws of one layer are not told apart
    assert (mean(own_w[:10]) - mean(own_w[10:])).agrees_with(0.0, 1e-6)


def test_false_alarms_of_a_ladder_are_as_stated() -> None:
    assert len(CASES) * len(RIDGES_OVER_MEAN) * FALSE_ALARM == pytest.approx(0.0035)
