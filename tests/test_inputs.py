"""Input descriptions: values, equality, plain-data form."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from rmt_attention import GaussianInputs, Orthonormal
from rmt_attention.inputs import inputs_from_dict, inputs_to_dict

KINDS = [(Orthonormal(), "orthonormal"), (GaussianInputs(), "gaussian")]


@pytest.mark.parametrize(("inputs", "kind"), KINDS)
def test_the_plain_form_round_trips(inputs: Any, kind: str) -> None:
    assert inputs_to_dict(inputs) == {"kind": kind}
    assert inputs_from_dict({"kind": kind}) == inputs


def test_descriptions_are_values() -> None:
    assert Orthonormal() == Orthonormal()
    assert Orthonormal() != GaussianInputs()
    assert len({Orthonormal(), Orthonormal(), GaussianInputs()}) == 2
    assert pickle.loads(pickle.dumps(GaussianInputs())) == GaussianInputs()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"kind": "uniform"},
        {"kind": "gaussian", "mean": 1},
        {"name": "gaussian"},
        {"kind": ["gaussian"]},
        {"kind": None},
    ],
    ids=str,
)
def test_an_unknown_plain_form_is_refused_naming_the_choices(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"inputs=.*orthonormal, gaussian") as caught:
        inputs_from_dict(data)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("inputs", ["gaussian", None, 3, GaussianInputs], ids=str)
def test_what_is_not_a_description_is_refused_by_value(inputs: Any) -> None:
    with pytest.raises(ValueError, match=r"inputs=.*must be one of Orthonormal\(\), GaussianInputs\(\)"):
        inputs_to_dict(inputs)
