"""What a spectrum is: atoms, empirical laws, samples of them, and the contract every law obeys. No solver."""

from __future__ import annotations

import io
import json
import math
import numbers
import os
import reprlib
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, SupportsComplex, SupportsFloat, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .files import write_whole
from .layer import AttentionLayer

__all__ = ["Atom", "EmpiricalLaw", "Estimate", "Histogram", "Law", "SpectrumSample"]

_FORMAT_VERSION = 1
_UNREADABLE = (KeyError, TypeError, ValueError, OSError, EOFError, NotImplementedError, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Atom:
    """A point mass of a law."""

    location: float
    mass: float


@runtime_checkable
class Law(Protocol):
    """What every law on [0, ∞) offers. Laws are of squared singular values; see derivations/00-conventions.md."""

    @property
    def mean(self) -> float: ...
    @property
    def atoms(self) -> tuple[Atom, ...]: ...
    def moment(self, k: int) -> float: ...
    def cdf(self, x: ArrayLike) -> NDArray[np.float64]: ...
    def density(self, x: ArrayLike) -> NDArray[np.float64]: ...
    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]: ...
    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]: ...


def check_numbers(name: str, value: ArrayLike, *, minimum: float | None = None) -> NDArray[np.float64]:
    """Real array without NaN, not below ``minimum``; ValueError naming the first offending entry otherwise."""
    array = _numbers(name, value, float)
    bad = np.isnan(array) if minimum is None else ~(array >= minimum)
    if bad.any():
        rule = "must not be NaN" if minimum is None else f"must be ≥ {minimum:g} and not NaN"
        raise ValueError(f"{name}={float(array[bad].flat[0])!r}: {rule}")
    return array


def check_complex(name: str, value: ArrayLike, *, zero: bool = False) -> NDArray[np.complex128]:
    """Complex array without NaN and, unless allowed, 0; ValueError naming the first offending entry otherwise."""
    array = _numbers(name, value, complex)
    if np.isnan(array).any():
        raise ValueError(f"{name}={complex(array[np.isnan(array)].flat[0])!r}: must not be NaN")
    if not zero and (array == 0).any():
        raise ValueError(f"{name}=0: must be nonzero; see atoms and degrees_of_freedom for the behaviour at 0")
    return array


def _numbers(name: str, value: ArrayLike, kind: type) -> NDArray[Any]:
    """An array of numbers; text, truth values, dates, missing and masked entries are none."""
    nothing = np.array(None)
    try:
        given = np.asarray(value)
        if given.dtype.kind == "O":  # Fractions, mpmath's numbers …
            numeric = all(isinstance(one, (SupportsFloat, SupportsComplex)) for one in given.flat)
            given = given.astype(kind) if numeric else nothing
    except (TypeError, ValueError, OverflowError):
        given = nothing
    if given.dtype.kind not in "iufc" or np.ma.is_masked(value):
        raise ValueError(f"{name}={shown(value)}: must be a number or an array of numbers")
    if given.dtype.kind == "c" and kind is float:
        raise ValueError(f"{name}={shown(value)}: must be real")
    return given.astype(kind, copy=False)


def check_levels(q: ArrayLike) -> NDArray[np.float64]:
    """Real array in [0, 1]; ValueError naming the first offending entry otherwise."""
    levels = check_numbers("q", q, minimum=0.0)
    if (levels > 1).any():
        raise ValueError(f"q={float(levels[levels > 1].flat[0])!r}: must be in [0, 1]")
    return levels


def check_draws(size: Any, rng: Any) -> None:
    """ValueError unless a numpy Generator and an array's shape: an integer ≥ 0 or a sequence of them, None for one."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng={rng!r}: must be a numpy Generator")
    sizes = size if isinstance(size, Sequence) else [] if size is None else [size]
    for one in sizes:
        if isinstance(one, (bool, np.bool_)) or not isinstance(one, (int, np.integer)) or one < 0:
            raise ValueError(f"size={shown(size)}: must be an integer ≥ 0 or a sequence of them")


def check_values(name: str, value: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of a user's function at x: real, finite, one for each x or one for all; ValueError otherwise."""
    values = _numbers(f"{name}(x)", value, float)
    if values.shape not in ((), x.shape):
        raise ValueError(f"{name}(x): has shape {values.shape} for x of shape {x.shape}; must be vectorised")
    bad = ~np.isfinite(np.broadcast_to(values, x.shape))
    if bad.any():
        wrong = float(np.broadcast_to(values, x.shape)[bad][0])
        raise ValueError(f"{name}(x)={wrong!r} at x={float(x[bad][0])!r}, where the law has mass: must be finite")
    return values


def shown(value: Any) -> str:
    """A value in one short line."""
    return " ".join(reprlib.repr(value).split())


def check_positive(name: str, value: Any) -> None:
    """ValueError unless a real number, finite and > 0."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not 0 < value <= sys.float_info.max:
        raise ValueError(f"{name}={shown(value)}: must be a finite number > 0")


def check_order(k: Any, largest: int) -> int:
    """Order of a moment as an int; ValueError otherwise."""
    whole = not isinstance(k, (bool, np.bool_)) and isinstance(k, numbers.Real) and k in range(largest + 1)
    if not whole:
        raise ValueError(f"k={shown(k)}: must be an integer from 0 to {largest}")
    return int(k)


@dataclass(frozen=True)
class Estimate:
    """Mean over independent replicates with its standard error (NaN for a single replicate)."""

    value: float
    standard_error: float
    replicates: int

    @classmethod
    def from_values(cls, values: ArrayLike) -> Estimate:
        """Mean and standard error s/√R of R replicate values."""
        array = np.asarray(values, dtype=float)
        error = float(array.std(ddof=1)) / math.sqrt(array.size) if array.size > 1 else math.nan
        return cls(float(array.mean()), error, array.size)

    def half_width(self, confidence: float = 0.95) -> float:
        """Half-width of the two-sided Student-t interval at this confidence."""
        from scipy.special import stdtrit

        if not 0 < confidence < 1:
            raise ValueError(f"confidence={confidence!r}: must be in (0, 1)")
        if self.replicates < 2:
            return math.nan
        return float(stdtrit(self.replicates - 1, (1 + confidence) / 2)) * self.standard_error

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Two-sided Student-t interval."""
        half = self.half_width(confidence)
        return self.value - half, self.value + half


@dataclass(frozen=True)
class Histogram:
    """Bin heights of a density over ALL eigenvalues: heights · widths sum to 1 − atom − outside.

    ``atom`` is the share of exact zeros, which are never binned; ``outside`` the share of eigenvalues beyond the edges.
    """

    edges: NDArray[np.float64]
    heights: NDArray[np.float64]
    atom: float
    outside: float


@dataclass(frozen=True, eq=False)
class EmpiricalLaw:
    """Law that puts mass 1/n on each of n eigenvalues, zeros included.

    Parameters
    ----------
    eigenvalues : array_like
        All n eigenvalues, ≥ 0. Stored ascending.
    zeros : int
        How many of them are zero by counting dimensions; the rest are taken as nonzero whatever their size.
    """

    eigenvalues: NDArray[np.float64]
    zeros: int = 0

    def __post_init__(self) -> None:
        values = np.sort(check_numbers("eigenvalues", self.eigenvalues, minimum=0.0).ravel())
        if values.size and np.isinf(values[-1]):
            raise ValueError("eigenvalues=inf: must be finite")
        if not values.size:
            raise ValueError("eigenvalues=[]: at least one is needed")
        if not isinstance(self.zeros, (int, np.integer)) or not 0 <= self.zeros <= values.size:
            raise ValueError(f"zeros={self.zeros!r}: must be between 0 and the number of eigenvalues, {values.size}")
        if self.zeros and values[self.zeros - 1] != 0:
            raise ValueError(f"zeros={self.zeros!r}: the eigenvalues contain fewer exact zeros")
        values.setflags(write=False)
        object.__setattr__(self, "eigenvalues", values)

    def __len__(self) -> int:
        return self.eigenvalues.size

    def __repr__(self) -> str:
        return f"<EmpiricalLaw of {len(self)} eigenvalues, {self.zeros} exact zeros: mean {self.mean:.6g}>"

    @property
    def mean(self) -> float:
        """First moment."""
        return float(self.eigenvalues.mean())

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The atom at zero, if dimensions force one. The other 1/n masses are not listed."""
        return (Atom(0.0, self.zeros / len(self)),) if self.zeros else ()

    def moment(self, k: int) -> float:
        """∫ x^k dν."""
        return float((self.eigenvalues**k).mean())

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Share of eigenvalues ≤ x, right-continuous."""
        points = check_numbers("x", x)
        return np.asarray(np.searchsorted(self.eigenvalues, points, side="right") / len(self))

    def density(self, x: ArrayLike) -> NDArray[np.float64]:
        """Density of the absolutely continuous part, which is 0; for bin heights use :meth:`histogram`."""
        return np.zeros(check_numbers("x", x).shape)

    def cauchy(self, z: ArrayLike) -> NDArray[np.complex128]:
        """∫ dν/(z − x)."""
        points = _numbers("z", z, complex)
        if np.isnan(points).any():
            raise ValueError(f"z={complex(points[np.isnan(points)].flat[0])!r}: must not be NaN")
        if np.isin(points, self.eigenvalues).any():
            raise ValueError("z: must not be an eigenvalue, where the transform has a pole")
        return np.asarray((1 / (points[..., None] - self.eigenvalues)).mean(-1))

    def degrees_of_freedom(self, ridge: ArrayLike) -> NDArray[np.float64]:
        """w(λ) = ∫ x/(x+λ) dν for λ ≥ 0; w(0) = share of eigenvalues that are not zero by counting."""
        penalty = check_numbers("ridge", ridge, minimum=0.0)
        nonzero = self.eigenvalues[self.zeros :]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            shares = 1 / (1 + penalty[..., None] / nonzero)  # 0/0 only at λ = 0, replaced below
        return np.where(penalty == 0, nonzero.size, shares.sum(-1)) / len(self)

    def quantile(self, q: ArrayLike) -> NDArray[np.float64]:
        """Smallest eigenvalue x with cdf(x) ≥ q, 0 ≤ q ≤ 1; the smallest one at q = 0."""
        levels = check_levels(q)
        shares = np.arange(1, len(self) + 1) / len(self)
        return np.asarray(self.eigenvalues[np.searchsorted(shares, levels, side="left")])

    def sample(self, size: int | Sequence[int] | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """Eigenvalues drawn independently, with replacement."""
        check_draws(size, rng)
        return rng.choice(self.eigenvalues, size)

    def normalized(self) -> EmpiricalLaw:
        """Eigenvalues over their mean."""
        if not self.mean > 0:
            raise ValueError("mean=0.0: must be > 0, all eigenvalues are zero")
        return EmpiricalLaw(self.eigenvalues / self.mean, self.zeros)

    def singular_values(self) -> EmpiricalLaw:
        """The law of the square roots."""
        return EmpiricalLaw(np.sqrt(self.eigenvalues), self.zeros)

    def companion(self, ratio: float) -> EmpiricalLaw:
        """Law of MᵀM when this is the law of MMᵀ and M has ``ratio`` columns per row: zeros added or left out."""
        columns = round(ratio * len(self)) if 0 < ratio < math.inf else -1
        if not math.isclose(columns, ratio * len(self), rel_tol=1e-9):
            raise ValueError(f"ratio={ratio!r}: times the number of rows, {len(self)}, must be a whole number > 0")
        nonzero = self.eigenvalues[self.zeros :]
        if columns < nonzero.size:
            raise ValueError(
                f"ratio={ratio!r}: must be ≥ {nonzero.size / len(self)!r}, the share of nonzero eigenvalues"
            )
        return EmpiricalLaw(np.append(np.zeros(columns - nonzero.size), nonzero), columns - nonzero.size)

    def histogram(self, bins: int | ArrayLike = 60) -> Histogram:
        """Bin heights normalised by all n eigenvalues, zeros kept apart as an atom.

        ``bins`` is a number of equal bins up to the largest eigenvalue (at most 100 000), or the bin edges.
        """
        nonzero = self.eigenvalues[self.zeros :]
        if np.ndim(bins) == 0:
            if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= 100_000:
                raise ValueError(f"bins={bins!r}: must be an integer between 1 and 100000, or an array of edges")
            count = int(bins)
            edges = np.linspace(0.0, float(nonzero.max(initial=0.0)) or 1.0, count + 1)
        else:
            edges = check_numbers("bins", bins)
            if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
                raise ValueError("bins: edges must be a strictly increasing sequence of at least two numbers")
        counts = np.histogram(nonzero, edges)[0]
        total = len(self)
        outside = (nonzero.size - int(counts.sum())) / total
        return Histogram(edges, counts / (total * np.diff(edges)), self.zeros / total, outside)


@dataclass(frozen=True, eq=False)
class SpectrumSample(Sequence[EmpiricalLaw]):
    """Spectra of independent replicates of one random matrix; the replicate is the sample unit."""

    laws: tuple[EmpiricalLaw, ...]
    layer: AttentionLayer
    observable: str
    model: str
    centered: bool
    seed: tuple[int, ...]
    provenance: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.laws)

    def __repr__(self) -> str:
        kind = "centred" if self.centered else "uncentred"
        return f"<SpectrumSample of {len(self)} draws: {kind} {self.observable}, {self.model}, seed {self.seed}>"

    @overload
    def __getitem__(self, index: int) -> EmpiricalLaw: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[EmpiricalLaw]: ...
    def __getitem__(self, index: int | slice) -> EmpiricalLaw | Sequence[EmpiricalLaw]:
        return self.laws[index]

    def __iter__(self) -> Iterator[EmpiricalLaw]:
        return iter(self.laws)

    def estimate(self, statistic: Callable[[EmpiricalLaw], float]) -> Estimate:
        """Mean and standard error over replicates of a number computed from each spectrum."""
        return Estimate.from_values([statistic(law) for law in self.laws])

    def degrees_of_freedom(self, ridge: float) -> Estimate:
        """w(λ) = ∫ x/(x+λ) dν, averaged over replicates."""
        return self.estimate(lambda law: float(law.degrees_of_freedom(ridge)))

    def pooled(self) -> EmpiricalLaw:
        """All replicates as one empirical law, for histograms; not for standard errors."""
        zeros = sum(law.zeros for law in self.laws)
        return EmpiricalLaw(np.concatenate([law.eigenvalues for law in self.laws]), zeros)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sample to one file, whole or not at all: written beside it, then renamed."""
        header = {
            "format": _FORMAT_VERSION,
            "layer": self.layer.to_dict(),
            "observable": self.observable,
            "model": self.model,
            "centered": self.centered,
            "seed": list(self.seed),
            "provenance": self.provenance,
        }
        arrays: dict[str, NDArray[Any]] = {
            "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
            "eigenvalues": np.stack([law.eigenvalues for law in self.laws]),
            "zeros": np.array([law.zeros for law in self.laws]),
        }
        with write_whole(path) as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SpectrumSample:
        """Read a sample written by :meth:`save`."""
        with open(os.fspath(path), "rb") as stream:
            try:
                with zipfile.ZipFile(stream) as archive:
                    header = json.loads(_member(archive, "header").tobytes())
                    eigenvalues, zeros = _member(archive, "eigenvalues"), _member(archive, "zeros")
                sample = cls._from_parts(header, eigenvalues, zeros)
            except _UNREADABLE as error:
                raise ValueError(f"path={os.fspath(path)!r}: not a whole saved spectrum sample ({error})") from None
        return sample

    @classmethod
    def _from_parts(
        cls, header: dict[str, Any], eigenvalues: NDArray[np.float64], zeros: NDArray[np.int64]
    ) -> SpectrumSample:
        if header.get("format") != _FORMAT_VERSION:
            raise ValueError(f"format {header.get('format')!r}, expected {_FORMAT_VERSION}")
        return cls(
            laws=tuple(EmpiricalLaw(row, int(count)) for row, count in zip(eigenvalues, zeros, strict=True)),
            layer=AttentionLayer.from_dict(header["layer"]),
            observable=header["observable"],
            model=header["model"],
            centered=header["centered"],
            seed=tuple(header["seed"]),
            provenance=header["provenance"],
        )


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of an npz archive, its checksum verified."""
    array: NDArray[Any] = np.load(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)
    return array
