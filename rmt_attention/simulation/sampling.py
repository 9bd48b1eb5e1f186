"""Spectra of random layers: one pass over the heads per replicate, a bounded number of n × n arrays in memory."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from typing import overload

import numpy as np
from threadpoolctl import threadpool_limits

from ..layer import AttentionLayer, check_layer
from ..spectra import EmpiricalLaw, SpectrumSample
from .gram import Columns, Sum
from .models import HeadModels, check_model
from .projections import Matrix, Projections
from .rank import matrix_rank
from .streams import SeedKey, seed_key

OBSERVABLES: tuple[str, ...] = ("attention", "values", "output", "head-average")
"""√(n/h)[A_1 − P, …], [(A_r − P)V_r], [(A_r − P)V_r]W^O and √(nh)(Ā − P). (derivations/00-conventions.md)"""

Progress = Callable[[int, int], None]


def check_observable(observable: str) -> None:
    """ValueError unless the observable is known."""
    if observable not in OBSERVABLES:
        raise ValueError(f"observable={observable!r}: must be one of {', '.join(OBSERVABLES)}")


# One replicate -------------------------------------------------------------------------------------------------------


def _pass_over_heads(
    layer: AttentionLayer, observable: str, models: Sequence[str], centered: bool, projections: Projections
) -> dict[str, Columns | Sum]:
    n, h = layer.n_tokens, layer.n_heads
    if observable == "output":
        sums = {model: Sum(n, layer.d_out) for model in models}
    elif observable == "head-average":
        sums = {model: Sum(n, n) for model in models}
    else:
        width = sum(head.d_value for head in layer.heads) if observable == "values" else h * n
        columns = {model: Columns(n, width) for model in models}
    for index in range(h):
        head = HeadModels(projections, index)
        weights = projections.output_weights(index) if observable == "output" else None
        for model in models:
            if observable == "output":
                assert weights is not None
                sums[model].add(head.times_values(model, centered), weights, 1 / math.sqrt(n))
            elif observable == "head-average":
                matrix = head.full(model, centered)
                matrix /= math.sqrt(h)
                sums[model].add_matrix(matrix)
                del matrix
            elif observable == "values":
                columns[model].add(head.times_values(model, centered) / math.sqrt(n))
            else:
                matrix = head.full(model, centered)
                matrix /= math.sqrt(h)
                columns[model].add(matrix)
                del matrix
        del head
    return dict(sums if observable in ("output", "head-average") else columns)


def _replicate_spectra(
    layer: AttentionLayer, observable: str, models: Sequence[str], centered: bool, key: SeedKey, replicate: int
) -> dict[str, Matrix]:
    with threadpool_limits(1):
        projections = Projections(layer, key, replicate)
        accumulated = _pass_over_heads(layer, observable, models, centered, projections)
        del projections
        spectra = {}
        for model in models:
            rank = matrix_rank(layer, observable, model, centered)
            with np.errstate(over="ignore", invalid="ignore"):
                spectra[model] = accumulated.pop(model).squared_singular_values(rank)
            if not np.isfinite(spectra[model]).all():
                betas = sorted({head.beta for head in layer.heads})
                raise ValueError(f"model={model!r}: overflows double precision at beta={betas[-1]:g}")
        return spectra


# Public --------------------------------------------------------------------------------------------------------------


@overload
def sample_spectrum(
    layer: AttentionLayer,
    observable: str = ...,
    model: str = ...,
    *,
    centered: bool = ...,
    replicates: int = ...,
    seed: int | np.random.SeedSequence = ...,
    workers: int = ...,
    progress: Progress | None = ...,
) -> SpectrumSample: ...
@overload
def sample_spectrum(
    layer: AttentionLayer,
    observable: str,
    model: tuple[str, ...] | list[str],
    *,
    centered: bool = ...,
    replicates: int = ...,
    seed: int | np.random.SeedSequence = ...,
    workers: int = ...,
    progress: Progress | None = ...,
) -> dict[str, SpectrumSample]: ...
def sample_spectrum(
    layer: AttentionLayer,
    observable: str = "output",
    model: str | Sequence[str] = "softmax",
    *,
    centered: bool = True,
    replicates: int = 1,
    seed: int | np.random.SeedSequence = 0,
    workers: int = 1,
    progress: Progress | None = None,
) -> SpectrumSample | dict[str, SpectrumSample]:
    """Squared singular values of independent draws of a layer.

    Parameters
    ----------
    layer : AttentionLayer
    observable : str
        "attention": √(n/h)[A_1 − P, …, A_h − P] (n × hn); "values": [(A_r − P) V_r] (n × Σd_value);
        "output": [(A_r − P) V_r] W^O (n × d_out); "head-average": √(nh)(Ā − P) (n × n). P = 11ᵀ/n.
    model : str or sequence of str
        "softmax", or a model that replaces √n(A_r − P), in the order of the chain: "exponential",
        "exponential-centered", "gaussian-exact-covariance", "gaussian-covariance", "gaussian" (rescaled scores plus
        Gaussian noise). A sequence is one pass over the heads with the same weights and gives a dict.
    centered : bool
        False leaves P in: A_r in place of A_r − P.
    replicates, seed, workers
        Number of draws; an integer or SeedSequence; number of processes. Replicate k depends on (seed, k) only.
    progress : callable, optional
        Called as progress(done, total) after each draw.

    Returns
    -------
    SpectrumSample, or dict of them by model
        All n eigenvalues of M Mᵀ per draw, ascending; zeros that the dimensions force are exact.

    Raises
    ------
    ValueError
        Naming the argument, its value and the rule; also if a model overflows at this β.

    Notes
    -----
    LAPACK and BLAS run in one thread. Memory stays below 6·8·(n² + n·d_out + n·d_key) bytes for "values" and "output"
    with one or two models, whatever the number of heads. Model: Hayase and Karakida (2026), sections 2 and 4.

    Examples
    --------
    >>> layer = AttentionLayer(64, 64, heads=4)
    >>> spectra = sample_spectrum(layer, "output", ("softmax", "gaussian"), replicates=3)
    >>> len(spectra["softmax"]), len(spectra["softmax"][0])
    (3, 64)
    """
    check_layer(layer)
    check_observable(observable)
    models = (model,) if isinstance(model, str) else tuple(model)
    if not models or len(set(models)) != len(models):
        raise ValueError(f"model={model!r}: must name at least one model, each once")
    for name in models:
        check_model(name, layer.inputs)
    for name, value in (("replicates", replicates), ("workers", workers)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name}={value!r}: must be an integer ≥ 1")
    key = seed_key(seed)
    results: list[dict[str, Matrix]] = []
    for result in _run(layer, observable, models, centered, key, int(replicates), int(workers)):
        results.append(result)
        if progress is not None:
            progress(len(results), int(replicates))
    samples = {
        name: SpectrumSample(
            laws=tuple(
                EmpiricalLaw(spectra[name], layer.n_tokens - matrix_rank(layer, observable, name, centered))
                for spectra in results
            ),
            layer=layer,
            observable=observable,
            model=name,
            centered=centered,
            seed=(*key[0], *key[1]),
            provenance=_provenance(),
        )
        for name in models
    }
    return samples[models[0]] if isinstance(model, str) else samples


def _run(  # type: ignore[no-untyped-def]
    layer: AttentionLayer,
    observable: str,
    models: tuple[str, ...],
    centered: bool,
    key: SeedKey,
    replicates: int,
    workers: int,
):
    tasks = ((layer, observable, models, centered, key, replicate) for replicate in range(replicates))
    if workers == 1 or replicates == 1:
        return (_replicate_spectra(*task) for task in tasks)
    from joblib import Parallel, delayed

    return Parallel(n_jobs=min(workers, replicates), return_as="generator")(
        delayed(_replicate_spectra)(*task) for task in tasks
    )


def sample_features(
    layer: AttentionLayer,
    model: str = "softmax",
    *,
    centered: bool = True,
    seed: int | np.random.SeedSequence = 0,
    replicate: int = 0,
) -> Matrix:
    """The output [(A_r − P) V_r] W^O of one draw (n × d_out); centered=False gives MHA(X) itself.

    It is the matrix whose squared singular values :func:`sample_spectrum` returns for "output" at this replicate.
    """
    check_layer(layer)
    check_model(model, layer.inputs)
    if isinstance(replicate, bool) or not isinstance(replicate, (int, np.integer)) or replicate < 0:
        raise ValueError(f"replicate={replicate!r}: must be an integer ≥ 0")
    with threadpool_limits(1):
        projections = Projections(layer, seed_key(seed), int(replicate))
        accumulated = _pass_over_heads(layer, "output", (model,), centered, projections)[model]
    assert isinstance(accumulated, Sum)
    return np.ascontiguousarray(accumulated.matrix)


def output_with_common_row(layer: AttentionLayer, key: SeedKey, replicate: int) -> tuple[Matrix, Matrix]:
    """Centred softmax output of one draw (n × d_out) and the row 1ᵀ[V_1, …, V_h] W^O/n that centring removes."""
    with threadpool_limits(1):
        projections = Projections(layer, key, replicate)
        accumulated = _pass_over_heads(layer, "output", ("softmax",), True, projections)["softmax"]
        row = np.zeros(layer.d_out)
        for index in range(layer.n_heads):
            row += projections.head(index).value.mean(axis=0) @ projections.output_weights(index)
    assert isinstance(accumulated, Sum)
    return np.ascontiguousarray(accumulated.matrix), row


def _provenance() -> dict[str, str]:
    import scipy

    from .. import __version__

    return {
        "rmt-attention": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
    }
