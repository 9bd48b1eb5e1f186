"""One head, the rules its numbers obey, and which heads share a matrix."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Groups = int | Sequence[int] | None


def positive_integer(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if isinstance(value, bool) or number < 1:
        raise ValueError(f"{name}={value!r}: must be an integer ≥ 1")
    if number > _LARGEST_WIDTH:
        raise ValueError(f"{name}={value!r}: must be at most {_LARGEST_WIDTH}")
    return number


SMALLEST_BETA, LARGEST_BETA = 1e-6, 26.0
_LARGEST_WIDTH = 2**31 - 1


def inverse_temperature(name: str, value: Any) -> float:
    beta = float(value) if not isinstance(value, bool) and isinstance(value, numbers.Real) else math.nan
    if not beta > 0 or math.isinf(beta):
        raise ValueError(
            f"{name}={value!r}: must be a finite number > 0"
            " (at 0 every softmax row is uniform and the centred output is exactly zero)"
        )
    if beta > LARGEST_BETA:
        raise ValueError(f"{name}={value!r}: must be at most {LARGEST_BETA:g}; spectra of size exp({name}²) overflow")
    if beta < SMALLEST_BETA:
        raise ValueError(f"{name}={value!r}: must be ≥ {SMALLEST_BETA:g}; spectra of size {name}² are lost to rounding")
    return beta


@dataclass(frozen=True)
class Head:
    """Widths and inverse temperature of one head: scores are Q Kᵀ/√d_key, weights softmax(beta · scores)."""

    d_key: int
    d_value: int
    beta: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "d_key", positive_integer("d_key", self.d_key))
        object.__setattr__(self, "d_value", positive_integer("d_value", self.d_value))
        object.__setattr__(self, "beta", inverse_temperature("beta", self.beta))


def group_assignment(name: str, groups: Groups, n_heads: int) -> tuple[int, ...]:
    """Matrix used by each head, named by the first head that uses it."""
    if groups is None:
        return tuple(range(n_heads))
    if isinstance(groups, Sequence):
        try:
            labels = [operator.index(label) for label in groups]
        except TypeError:
            raise ValueError(f"{name}={groups!r}: a sequence must name a matrix by an integer for each head") from None
        if len(labels) != n_heads:
            raise ValueError(f"{name}={groups!r}: names {len(labels)} heads, the layer has {n_heads}")
        return tuple(labels.index(label) for label in labels)
    distinct = positive_integer(name, groups)
    if n_heads % distinct:
        raise ValueError(f"{name}={groups!r}: must divide the number of heads, {n_heads}")
    size = n_heads // distinct
    return tuple(head - head % size for head in range(n_heads))
