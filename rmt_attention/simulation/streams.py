"""One random stream per array: keyed by (seed, replicate, role, matrix index).

Layers that differ only in β, sharing or tying therefore reuse the same matrices, a group uses the matrix of its first
head, and replicate k does not depend on how many replicates are asked for or on the number of workers.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

Role = Literal["tokens", "query", "key", "value", "output", "noise", "exact-rows", "covariance-rows"]
_ROLES: tuple[str, ...] = get_args(Role)

SeedKey = tuple[tuple[int, ...], tuple[int, ...]]


def seed_key(seed: int | np.random.SeedSequence) -> SeedKey:
    """(entropy, spawn key) of a seed; refuses anything that carries state, such as a Generator."""
    if isinstance(seed, np.random.SeedSequence):
        entropy = seed.entropy
        words = (int(entropy),) if isinstance(entropy, int) else tuple(int(word) for word in entropy or ())
        return words, tuple(int(word) for word in seed.spawn_key)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed={seed!r}: must be an integer ≥ 0 or a numpy SeedSequence")
    return (int(seed),), ()


def stream(key: SeedKey, replicate: int, role: Role, index: int = 0) -> np.random.Generator:
    """Generator of one array."""
    entropy, prefix = key
    sequence = np.random.SeedSequence(list(entropy), spawn_key=(*prefix, replicate, _ROLES.index(role), index))
    return np.random.Generator(np.random.SFC64(sequence))
