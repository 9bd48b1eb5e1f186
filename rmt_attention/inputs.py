"""Frozen descriptions of the token matrix X (n_tokens × d_model)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Orthonormal:
    """Deterministic tokens with X Xᵀ/d = I, namely X = √d [I_n, 0]. Needs n_tokens ≤ d_model.

    Queries and keys then have independent N(0, 1) entries
    (Hayase and Karakida 2026, section 2.2; Nait Saada et al. 2025).
    """


@dataclass(frozen=True)
class GaussianInputs:
    """Tokens with independent N(0, 1) entries, drawn anew in each replicate. Any n_tokens / d_model.

    The Gram matrix X Xᵀ/d has mean eigenvalue 1. Simulated only: no limiting law is known to the
    package for these inputs yet, and :func:`rmt_attention.limit_law` refuses them.
    """


Inputs = Orthonormal | GaussianInputs

_KINDS: dict[str, type[Orthonormal] | type[GaussianInputs]] = {
    "orthonormal": Orthonormal,
    "gaussian": GaussianInputs,
}


def inputs_to_dict(inputs: Inputs) -> dict[str, Any]:
    """Plain-data form of an input description: ``{"kind": name}``."""
    for name, kind in _KINDS.items():
        if type(inputs) is kind:
            return {"kind": name}
    raise ValueError(f"inputs={inputs!r}: must be one of {', '.join(k.__name__ + '()' for k in _KINDS.values())}")


def inputs_from_dict(data: Mapping[str, Any] | str) -> Inputs:
    """Inverse of :func:`inputs_to_dict`; a plain name will do."""
    kind = data.get("kind") if isinstance(data, Mapping) and len(data) == 1 else data
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ValueError(f"inputs={data!r}: must be {{'kind': name}} or name, one of {', '.join(_KINDS)}")
    return _KINDS[kind]()
