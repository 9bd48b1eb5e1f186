"""From a layer to its law: the one place that decides which law a layer has."""

from __future__ import annotations

import numpy as np

from .errors import UnsupportedLayerError
from .inputs import Orthonormal
from .laws import (
    SpectralLaw,
    attention_law,
    compound_poisson_law,
    output_law,
    tied_output_law,
    tied_values_law,
    values_law,
)
from .layer import AttentionLayer, check_layer
from .simulation.conditional import row_covariance_eigenvalues
from .simulation.sampling import check_observable
from .simulation.streams import seed_key

__all__ = ["conditional_law", "limit_law"]


def _refuse(field: str, value: object, reason: str) -> UnsupportedLayerError:
    return UnsupportedLayerError(f"{field}={value!r}: no limiting law is known to the package for {reason}")


def limit_law(layer: AttentionLayer, observable: str = "output") -> SpectralLaw:
    """Limiting law of the centred observable of a layer, at the layer's own ratios.

    Keys and values may be shared across heads in any pattern without changing the attention, values and output laws;
    sharing keys changes the head average; W^V = W^K within heads changes values and output.

    Parameters
    ----------
    layer : AttentionLayer
    observable : str
        "attention", "values", "output" or "head-average", as in :func:`rmt_attention.sample_spectrum`.

    Returns
    -------
    SpectralLaw
        Not normalised: the law of the squared singular values that :func:`rmt_attention.sample_spectrum` draws.

    Raises
    ------
    UnsupportedLayerError
        For inputs other than Orthonormal, heads of different widths or β, shared queries, shared output weights (output
        only), 0 < key_value_correlation < 1 (values and output), unequal key groups (head average).

    Notes
    -----
    Proportional limit: n and all widths grow at fixed ratios, h and β fixed (Hayase and Karakida 2026, theorem 3.1 and
    appendix C). See derivations/02-explicit-laws.md and 03-tied-laws.md.

    Examples
    --------
    >>> layer = AttentionLayer.from_preset("BERT-base")
    >>> print(f"{limit_law(layer).mean:.6f}")
    2.577423
    """
    check_layer(layer)
    check_observable(observable)
    if not isinstance(layer.inputs, Orthonormal):
        raise _refuse("inputs", layer.inputs, "tokens that are not orthonormal")
    if not layer.has_equal_heads:
        raise _refuse("heads", tuple(dict.fromkeys(layer.heads)), "heads of different widths or β")
    every_own = tuple(range(layer.n_heads))
    if layer.query_groups != every_own:
        raise _refuse("query_groups", layer.query_groups, "queries shared across heads")
    beta, h, gamma_key = layer.beta, layer.n_heads, layer.gamma_key
    if observable == "attention":
        return attention_law(beta, h, gamma_key)
    if observable == "head-average":
        sizes = [layer.key_groups.count(first) for first in sorted(set(layer.key_groups))]
        if len(set(sizes)) > 1:
            raise _refuse("key_groups", layer.key_groups, "the head average with key groups of different sizes")
        return attention_law(beta, 1, gamma_key * len(sizes) / h)
    correlation = layer.key_value_correlation
    if 0 < correlation < 1:
        raise _refuse("key_value_correlation", correlation, "values partly correlated with keys")
    if observable == "output" and layer.output_groups != every_own:
        raise _refuse("output_groups", layer.output_groups, "output weights shared across heads")
    if observable == "values":
        if correlation:
            return tied_values_law(beta, h, gamma_key)
        return values_law(beta, h, gamma_key, layer.gamma_value)
    if correlation:
        return tied_output_law(beta, h, gamma_key, layer.gamma_out)
    return output_law(beta, h, gamma_key, layer.gamma_value, layer.gamma_out)


def conditional_law(
    layer: AttentionLayer, *, seed: int | np.random.SeedSequence = 0, replicate: int = 0
) -> SpectralLaw:
    """Law of the output given one draw of keys, values and output weights: π(μ_VO, γ_O). (laws.compound)

    Semi-empirical: μ_VO is the spectrum of the covariance of a row of the Gaussian equivalent, computed from the same
    weights as replicate ``replicate`` of :func:`rmt_attention.sample_spectrum` at this seed. It holds for any
    dependence of values and output weights on keys, any sharing of them, and unequal heads.

    Raises
    ------
    UnsupportedLayerError
        For inputs other than Orthonormal and for shared queries.

    Notes
    -----
    Hayase and Karakida (2026), theorem 3.1. Cost: one eigenvalue problem of size d_out.
    """
    check_layer(layer)
    if not isinstance(layer.inputs, Orthonormal):
        raise _refuse("inputs", layer.inputs, "tokens that are not orthonormal")
    if layer.query_groups != tuple(range(layer.n_heads)):
        raise _refuse("query_groups", layer.query_groups, "queries shared across heads")
    if isinstance(replicate, bool) or not isinstance(replicate, (int, np.integer)) or replicate < 0:
        raise ValueError(f"replicate={replicate!r}: must be an integer ≥ 0")
    jumps = row_covariance_eigenvalues(layer, seed_key(seed), int(replicate))
    return compound_poisson_law(jumps, layer.gamma_out)
