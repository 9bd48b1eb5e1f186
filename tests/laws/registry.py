"""Laws of every kind on which the whole contract is checked: ratios below, at and above 1, ties, atoms and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rmt_attention import AttentionLayer, laws
from rmt_attention.laws import SpectralLaw
from rmt_attention.simulation.conditional import row_covariance_eigenvalues
from rmt_attention.simulation.streams import seed_key

from ..oracles import Compound, Independent, Tied


@dataclass(frozen=True)
class Case:
    """A law of the package and the description from which the oracles compute the same law."""

    name: str
    oracle: Independent | Tied | Compound

    @cached_property
    def law(self) -> SpectralLaw:
        return build(self.oracle)


def build(oracle: Independent | Tied | Compound) -> SpectralLaw:
    """The package's law for an oracle's parameters."""
    if isinstance(oracle, Compound):
        return laws.compound_poisson_law(oracle.jumps, oracle.rate, oracle.weights)
    if isinstance(oracle, Tied) and oracle.gamma_out is None:
        return laws.tied_values_law(oracle.beta, oracle.heads, oracle.gamma_key)
    if isinstance(oracle, Tied):
        return laws.tied_output_law(oracle.beta, oracle.heads, oracle.gamma_key, oracle.gamma_out)
    functions = (laws.attention_law, laws.values_law, laws.output_law)
    return functions[len(oracle.outer)](oracle.beta, oracle.heads, oracle.gamma_key, *oracle.outer)


def _semi_empirical(layer: AttentionLayer) -> Compound:
    """The law of the output given one draw of the weights, as in conditional_law."""
    jumps = row_covariance_eigenvalues(layer, seed_key(0), 0)
    return Compound(tuple(jumps.tolist()), layer.gamma_out, (1 / jumps.size,) * jumps.size)


CASES = (
    Case("attention", Independent(1.0, 4, 2.0)),
    Case("attention, gap", Independent(1.0, 4, 0.3)),
    Case("attention, one head, gap", Independent(1.0, 1, 0.1)),
    Case("attention, almost two bulks", Independent(1.0, 4, 0.35)),
    Case("attention, one bulk where two would be close", Independent(1.0, 4, 0.5)),
    Case("attention, fewer heads than one", Independent(1.3, 0.6, 0.8)),
    Case("attention, many heads", Independent(0.7, 128, 1.0)),
    Case("attention, small β", Independent(0.05, 2, 1.5)),
    Case("attention, one head, small β, ratio 1", Independent(0.05, 1, 1.0)),
    Case("head average, one key matrix of eight heads", Independent(1.0, 1, 1.6 / 8)),
    Case("head average, own keys", Independent(1.2, 1, 1.6)),
    Case("head average, two key groups of eight heads", Independent(0.8, 1, 1.6 * 2 / 8)),
    Case("attention, one head, large β", Independent(2.5, 1, 1.2)),
    Case("values", Independent(0.9, 3, 0.75, (1.25,))),
    Case("values, atom", Independent(1.0, 8, 0.5, (0.4,))),
    Case("values, double tie at 1", Independent(1.2, 1, 0.9, (1.0,))),
    Case("output", Independent(0.9, 3, 0.75, (1.25, 0.75))),
    Case("output, gap", Independent(1.0, 4, 0.1, (3.0, 5.0))),
    Case("output, all tied at 1", Independent(1.0, 1, 1.0, (1.0, 1.0))),
    Case("output, tie below 1", Independent(0.8, 2, 0.5, (0.5, 0.5))),
    Case("output, non-integer heads", Independent(1.5, 2.5, 1.7, (0.9, 2.2))),
    Case("output, large β", Independent(2.5, 128, 0.7, (1.3, 2.0))),
    Case("output, small β", Independent(0.05, 12, 1.5, (1.5, 1.5))),
    Case("output, many heads, small β", Independent(0.05, 128, 0.9, (1.1, 0.6))),
    Case("output, h smallest", Independent(1.0, 0.3, 2.0, (0.8, 1.6))),
    Case("tied values", Tied(0.7, 3, 0.6)),
    Case("tied values, γ_K = h = 1", Tied(1.0, 1, 1.0)),
    Case("tied values, γ_K above 1", Tied(1.2, 2.5, 1.8)),
    Case("tied values, many heads, large β", Tied(2.5, 128, 0.5)),
    Case("tied output", Tied(0.7, 3, 0.6, 0.8)),
    Case("tied output, one head, small β", Tied(0.05, 1, 1.4, 1.0)),
    Case("tied output, all tied at 1", Tied(1.0, 1, 1.0, 1.0)),
    Case("tied output, γ_O smallest", Tied(0.9, 16, 1.4, 0.5)),
    Case("tied output, small β", Tied(0.05, 4, 0.9, 1.1)),
    Case("tied output, large β", Tied(2.5, 8, 2.0, 3.0)),
    Case("Marchenko–Pastur below 1", Compound((1.0,), 0.5, (1.0,))),
    Case("Marchenko–Pastur at 1", Compound((1.0,), 1.0, (1.0,))),
    Case("Marchenko–Pastur above 1", Compound((2.0,), 2.0, (1.0,))),
    Case("compound, three bulks and an atom", Compound((1.0, 3.0, 10.0), 0.1, (0.2, 0.4, 0.4))),
    Case("semi-empirical", _semi_empirical(AttentionLayer(24, 24, heads=2, d_key=6, d_out=12))),
    Case("compound, no atom", Compound((0.2, 1.0, 7.0), 3.0, (0.5, 0.25, 0.25))),
)
