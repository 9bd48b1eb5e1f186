"""The frozen description of an attention layer from which everything else follows."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .equations.temperature import score_variance_excess
from .heads import Groups, Head, group_assignment, positive_integer
from .inputs import Inputs, Orthonormal, inputs_from_dict, inputs_to_dict
from .presets import preset_fields

__all__ = ["AttentionLayer", "Head"]

_MOST_HEADS = 100_000
_GROUP_FIELDS = ("query_groups", "key_groups", "value_groups", "output_groups")


def layer_fields(text: str) -> dict[str, Any]:
    """Fields of a layer from the text of a TOML document, not yet checked."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"layer: not a valid TOML document: {error}") from None


@dataclass(frozen=True, init=False)
class AttentionLayer:
    """A multi-head self-attention layer with random Gaussian weights.

    For head r, with tokens X (n × d): Q_r = X W^Q_r, K_r = X W^K_r, V_r = X W^V_r, scores S_r = Q_r K_rᵀ/√d_key,
    A_r = softmax(β_r S_r) by rows, output [A_1 V_1, …, A_h V_h] W^O. Entries of W^Q, W^K, W^V are N(0, 1/d_model),
    those of W^O are N(0, 1/(sum of value widths)).

    Parameters
    ----------
    n_tokens, d_model : int
        n and d. Orthonormal inputs need n ≤ d.
    heads : int or sequence of Head
        Number of identical heads, or one :class:`Head` each (then d_key, d_value and beta stay unset).
    d_key, d_value, d_out : int, optional
        Per-head query/key width (default d_model // heads, which must divide), per-head value width (default d_key),
        output width (default d_model).
    beta : float
        Inverse temperature, 1e-6 ≤ β ≤ 26; default 1. β = 0 is refused: softmax is then exactly uniform and the
        centred output exactly 0.
    query_groups, key_groups, value_groups, output_groups : int or sequence of int, optional
        Number of distinct matrices, consecutive heads sharing one, or a sequence naming each head's matrix.
        Default: every head its own. kv_groups sets key_groups and value_groups together (GQA; 1 is MQA).
    key_value_correlation : float
        τ in [0, 1]: W^V = τ W^K + √(1−τ²) W′. 1 ties values to keys. τ > 0 needs d_value = d_key and equal key and
        value groups.
    inputs : Orthonormal or GaussianInputs

    Raises
    ------
    ValueError
        Naming the field, its value and the rule.

    Notes
    -----
    Ratios follow Hayase and Karakida (2026): gamma_key = Σ d_key / n, gamma_value = Σ d_value / n and
    gamma_out = d_out / n are TOTAL widths over n; theta1 = exp(β²) − 1, theta2 = β², linear_fraction = theta2/theta1.
    See ``derivations/00-conventions.md``.

    Examples
    --------
    >>> layer = AttentionLayer(512, 768, heads=12)
    >>> layer.heads[0], layer.gamma_key
    (Head(d_key=64, d_value=64, beta=1.0), 1.5)
    >>> layer.replace(kv_groups=1).n_parameters < layer.n_parameters
    True
    """

    n_tokens: int
    d_model: int
    heads: tuple[Head, ...]
    d_out: int
    query_groups: tuple[int, ...]
    key_groups: tuple[int, ...]
    value_groups: tuple[int, ...]
    output_groups: tuple[int, ...]
    key_value_correlation: float
    inputs: Inputs = field(default_factory=Orthonormal)

    def __init__(
        self,
        n_tokens: int,
        d_model: int,
        heads: int | Sequence[Head],
        *,
        d_key: int | None = None,
        d_value: int | None = None,
        d_out: int | None = None,
        beta: float | None = None,
        query_groups: Groups = None,
        key_groups: Groups = None,
        value_groups: Groups = None,
        output_groups: Groups = None,
        kv_groups: Groups = None,
        key_value_correlation: float = 0.0,
        inputs: Inputs | None = None,
    ) -> None:
        n_tokens = positive_integer("n_tokens", n_tokens)
        d_model = positive_integer("d_model", d_model)
        if n_tokens < 2:
            raise ValueError(f"n_tokens={n_tokens}: must be ≥ 2 (one token attends only to itself)")
        if isinstance(heads, Sequence):
            resolved = self._explicit_heads(heads, d_key=d_key, d_value=d_value, beta=beta)
        else:
            resolved = self._identical_heads(heads, d_model, d_key, d_value, 1.0 if beta is None else beta)
        n_heads = len(resolved)
        if kv_groups is not None:
            for name, given in (("key_groups", key_groups), ("value_groups", value_groups)):
                if given is not None:
                    raise ValueError(f"{name}={given!r}: must be absent when kv_groups={kv_groups!r} is given")
            group_assignment("kv_groups", kv_groups, n_heads)
            key_groups = value_groups = kv_groups
        if key_value_correlation and value_groups is None:
            value_groups = key_groups
        given_groups = (query_groups, key_groups, value_groups, output_groups)
        groups = {
            name: group_assignment(name, given, n_heads)
            for name, given in zip(_GROUP_FIELDS, given_groups, strict=True)
        }
        inputs = Orthonormal() if inputs is None else inputs
        inputs_to_dict(inputs)  # refuses anything that is not an input description
        values = {
            "n_tokens": n_tokens,
            "d_model": d_model,
            "heads": resolved,
            "d_out": d_model if d_out is None else positive_integer("d_out", d_out),
            **groups,
            "key_value_correlation": key_value_correlation,
            "inputs": inputs,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_sharing()
        if isinstance(inputs, Orthonormal) and n_tokens > d_model:
            raise ValueError(
                f"n_tokens={n_tokens}: must be ≤ d_model={d_model} for Orthonormal inputs (X Xᵀ/d = I has rank ≤ d)"
            )

    @staticmethod
    def _explicit_heads(heads: Sequence[Head], **absent: Any) -> tuple[Head, ...]:
        for name, value in absent.items():
            if value is not None:
                raise ValueError(f"{name}={value!r}: must be absent when heads is a sequence of Head")
        if not heads or not all(isinstance(head, Head) for head in heads):
            raise ValueError(f"heads={heads!r}: must be an integer ≥ 1 or a non-empty sequence of Head")
        return tuple(heads)

    @staticmethod
    def _identical_heads(
        heads: int, d_model: int, d_key: int | None, d_value: int | None, beta: float
    ) -> tuple[Head, ...]:
        n_heads = positive_integer("heads", heads)
        if n_heads > _MOST_HEADS:
            raise ValueError(
                f"heads={n_heads}: must be ≤ {_MOST_HEADS}; functions of rmt_attention.laws take any number"
            )
        if d_key is None:
            if d_model % n_heads:
                raise ValueError(f"heads={n_heads}: must divide d_model={d_model} when d_key is not given")
            d_key = d_model // n_heads
        head = Head(d_key, d_key if d_value is None else d_value, beta)
        return (head,) * n_heads

    def _check_sharing(self) -> None:
        correlation = self.key_value_correlation
        if isinstance(correlation, bool) or not isinstance(correlation, (int, float)) or not 0 <= correlation <= 1:
            raise ValueError(f"key_value_correlation={correlation!r}: must be a number in [0, 1]")
        object.__setattr__(self, "key_value_correlation", float(correlation))
        if correlation:
            for head in self.heads:
                if head.d_key != head.d_value:
                    raise ValueError(
                        f"key_value_correlation={correlation!r}: needs d_value = d_key in every head,"
                        f" got d_value={head.d_value}, d_key={head.d_key}"
                    )
            if self.key_groups != self.value_groups:
                raise ValueError(
                    f"key_value_correlation={correlation!r}: needs equal key and value groups,"
                    f" got {self.key_groups} and {self.value_groups}"
                )
        widths = {
            "query_groups": [head.d_key for head in self.heads],
            "key_groups": [head.d_key for head in self.heads],
            "value_groups": [head.d_value for head in self.heads],
            "output_groups": [head.d_value for head in self.heads],
        }
        for name, width in widths.items():
            for index, first in enumerate(getattr(self, name)):
                if width[index] != width[first]:
                    raise ValueError(
                        f"{name}={getattr(self, name)}: heads {first} and {index} share a matrix"
                        f" but have widths {width[first]} and {width[index]}"
                    )

    # Derived numbers -------------------------------------------------------------------------------------------------

    @property
    def n_heads(self) -> int:
        """h, the number of query heads."""
        return len(self.heads)

    @property
    def has_equal_heads(self) -> bool:
        """Whether all heads have the same widths and the same β."""
        return len(set(self.heads)) == 1

    @property
    def gamma_key(self) -> float:
        """γ_K = (sum of key widths) / n."""
        return sum(head.d_key for head in self.heads) / self.n_tokens

    @property
    def gamma_value(self) -> float:
        """γ_V = (sum of value widths) / n."""
        return sum(head.d_value for head in self.heads) / self.n_tokens

    @property
    def gamma_out(self) -> float:
        """γ_O = d_out / n."""
        return self.d_out / self.n_tokens

    @property
    def beta(self) -> float:
        """The inverse temperature shared by all heads; ValueError if they differ."""
        betas = {head.beta for head in self.heads}
        if len(betas) > 1:
            raise ValueError(f"heads: β differs between heads ({sorted(betas)}); this quantity needs one β")
        return self.heads[0].beta

    @property
    def theta1(self) -> float:
        """θ1 = exp(β²) − 1, the variance of exp(βχ − β²/2), χ standard normal."""
        return math.expm1(self.beta**2)

    @property
    def theta2(self) -> float:
        """θ2 = β², the part of θ1 carried linearly by the scores."""
        return self.beta**2

    @property
    def theta_noise(self) -> float:
        """θ1 − θ2 > 0, the variance of the Gaussian noise, without cancellation at small β."""
        return score_variance_excess(math, self.beta**2)

    @property
    def linear_fraction(self) -> float:
        """c = θ2/θ1 in (0, 1)."""
        return self.theta2 / self.theta1

    @property
    def n_parameters(self) -> int:
        """Number of distinct weights in W^Q, W^K, W^V and W^O (a tied W^V adds none)."""

        def distinct(groups: tuple[int, ...], width: str) -> int:
            return sum(getattr(self.heads[first], width) for first in set(groups))

        columns = distinct(self.query_groups, "d_key") + distinct(self.key_groups, "d_key")
        if self.key_value_correlation < 1:
            columns += distinct(self.value_groups, "d_value")
        return self.d_model * columns + self.d_out * distinct(self.output_groups, "d_value")

    # Copies and plain data -------------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> AttentionLayer:
        """A copy with some constructor arguments changed.

        Groups given as numbers are kept as assignments of heads to matrices, so changing ``heads`` drops every group
        that is not changed along with it; d_key, d_value and d_out keep their values.
        """
        known = {f.name for f in fields(self)} | {"d_key", "d_value", "beta", "kv_groups"}
        for name in changes:
            if name not in known:
                raise ValueError(f"{name}={changes[name]!r}: no such field; fields are {', '.join(sorted(known))}")
        arguments = self._constructor_arguments()
        if "heads" in changes:
            for name in _GROUP_FIELDS:
                arguments.pop(name)
            if isinstance(changes["heads"], Sequence):
                for name in ("d_key", "d_value", "beta"):
                    arguments.pop(name, None)
        if "kv_groups" in changes:
            arguments.pop("key_groups", None)
            arguments.pop("value_groups", None)
        if not self.has_equal_heads and {"d_key", "d_value", "beta"} & set(changes) and "heads" not in changes:
            raise ValueError("heads: have different widths or β; replace heads= with a sequence of Head instead")
        return AttentionLayer(**{**arguments, **changes})

    def _constructor_arguments(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.has_equal_heads:
            head = self.heads[0]
            arguments |= {"heads": self.n_heads, "d_key": head.d_key, "d_value": head.d_value, "beta": head.beta}
        return arguments

    def to_dict(self) -> dict[str, Any]:
        """Plain data (numbers, lists, dicts) from which :meth:`from_dict` rebuilds the layer.

        Groups are left out if every head has a matrix of its own, and a number if they are of equal size and in order.
        """
        data = self._constructor_arguments()
        if not self.has_equal_heads:
            data["heads"] = [{"d_key": h.d_key, "d_value": h.d_value, "beta": h.beta} for h in self.heads]
        for name in _GROUP_FIELDS:
            groups = data.pop(name)
            count = len(set(groups))
            even = self.n_heads % count == 0 and groups == group_assignment(name, count, self.n_heads)
            if not even:
                data[name] = list(groups)
            elif count < self.n_heads:
                data[name] = count
        data["inputs"] = inputs_to_dict(self.inputs)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AttentionLayer:
        """Build a layer from plain data: the constructor's arguments, heads and inputs as dicts."""
        if not isinstance(data, Mapping):
            raise ValueError(f"data={data!r}: must be a mapping of field names to values")
        allowed = {f.name for f in fields(cls)} | {"d_key", "d_value", "beta", "kv_groups"}
        arguments = dict(data)
        for name in arguments:
            if name not in allowed:
                table = (
                    " (fields of a layer are in no table of their own)" if isinstance(arguments[name], Mapping) else ""
                )
                known = ", ".join(sorted(allowed))
                raise ValueError(f"{name}={arguments[name]!r}: no such field{table}; fields are {known}")
        for name in ("n_tokens", "d_model", "heads"):
            if name not in arguments:
                raise ValueError(f"{name}: missing")
        if isinstance(arguments["heads"], Sequence):
            try:
                arguments["heads"] = [Head(**head) for head in arguments["heads"]]
            except TypeError:
                raise ValueError(
                    f"heads={arguments['heads']!r}: each head needs d_key, d_value and optionally beta"
                ) from None
        if "inputs" in arguments:
            inputs = arguments["inputs"]
            arguments["inputs"] = inputs_from_dict(inputs)
        return cls(**arguments)

    def to_toml(self) -> str:
        """The layer as a TOML document; :meth:`from_toml` reads it back."""
        data = self.to_dict()
        heads = data["heads"] if isinstance(data["heads"], list) else []
        lines = [f"{key} = {value!r}" for key, value in data.items() if key != "inputs" and value is not heads]
        if heads:
            inline = ["{ " + ", ".join(f"{key} = {value!r}" for key, value in head.items()) + " }" for head in heads]
            lines.append("heads = [\n    " + ",\n    ".join(inline) + ",\n]")
        lines.append(f'inputs = {{ kind = "{data["inputs"]["kind"]}" }}')
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> AttentionLayer:
        """Build a layer from the text of a TOML document with the fields of :meth:`from_dict`."""
        return cls.from_dict(layer_fields(text))

    @classmethod
    def from_preset(cls, name: str, **changes: Any) -> AttentionLayer:
        """A layer with the dimensions of a public model (β = 1, d_out = d_model); see :data:`PRESETS`.

        Source: Hayase and Karakida (2026), table D.2, who take widths and head counts from the models' papers.
        """
        return cls(**{**preset_fields(name), **changes})


def check_layer(layer: Any) -> None:
    """ValueError unless the argument is a layer."""
    if not isinstance(layer, AttentionLayer):
        raise ValueError(f"layer={layer!r}: must be an AttentionLayer")
