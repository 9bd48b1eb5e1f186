"""Empirical laws, estimates over replicates, samples and their files."""

from __future__ import annotations

import math
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rmt_attention import Atom, AttentionLayer, EmpiricalLaw, Estimate, Head, SpectrumSample
from rmt_attention.spectra import Law

VALUES = [0.0, 3.0, 0.0, 1.0, 1.0, 0.5, 8.0, 2.5]


@pytest.fixture
def law() -> EmpiricalLaw:
    return EmpiricalLaw(VALUES, zeros=2)


# EmpiricalLaw --------------------------------------------------------------------------------------------------------


def test_eigenvalues_are_kept_ascending_zeros_included_and_read_only(law: EmpiricalLaw) -> None:
    assert law.eigenvalues.tolist() == sorted(VALUES)
    assert len(law) == 8
    with pytest.raises(ValueError, match="read-only"):
        law.eigenvalues[0] = 1.0


def test_the_caller_keeps_his_array() -> None:
    values = np.array([2.0, 1.0])
    law = EmpiricalLaw(values)
    values[0] = 9
    assert law.eigenvalues.tolist() == [1.0, 2.0]


def test_an_empirical_law_obeys_the_protocol_of_laws(law: EmpiricalLaw) -> None:
    assert isinstance(law, Law)


def test_the_cdf_counts_eigenvalues_up_to_and_including_x(law: EmpiricalLaw) -> None:
    points = [-1, -1e-300, 0, 0.49, 0.5, 0.99, 1, 2.9, 3, 8, 100]
    expected = [sum(value <= x for value in VALUES) / 8 for x in points]
    assert law.cdf(points).tolist() == expected
    assert float(law.cdf(3)) == 7 / 8
    assert law.cdf(np.arange(4)).tolist() == law.cdf(np.arange(4.0)).tolist()


def test_moments_and_mean_are_averages_over_all_eigenvalues(law: EmpiricalLaw) -> None:
    assert law.moment(0) == 1
    assert law.mean == law.moment(1) == sum(VALUES) / 8
    assert law.moment(3) == pytest.approx(sum(value**3 for value in VALUES) / 8, rel=1e-15, abs=0)


def test_the_density_of_points_is_zero_and_the_atom_is_counted_by_dimensions(law: EmpiricalLaw) -> None:
    assert (law.density([0, 1, 2.2]) == 0).all()
    assert law.atoms == (Atom(0.0, 0.25),)
    assert EmpiricalLaw(VALUES).atoms == ()


def test_zeros_are_what_the_caller_counts_not_what_is_small() -> None:
    tiny = EmpiricalLaw([0.0, 1e-30, 1.0], zeros=1)
    assert tiny.atoms == (Atom(0.0, 1 / 3),)
    assert float(tiny.degrees_of_freedom(0.0)) == pytest.approx(2 / 3)


def test_w_is_the_average_of_x_over_x_plus_ridge(law: EmpiricalLaw) -> None:
    ridges = np.array([[1e-6, 0.3], [1.0, 1e6]])
    expected = [[np.mean([x / (x + ridge) for x in VALUES]) for ridge in row] for row in ridges]
    np.testing.assert_allclose(law.degrees_of_freedom(ridges), expected, rtol=1e-14)
    assert law.degrees_of_freedom(2).shape == ()


def test_w_at_ridge_zero_is_the_share_of_nonzero_eigenvalues(law: EmpiricalLaw) -> None:
    assert float(law.degrees_of_freedom(0.0)) == 0.75
    assert float(EmpiricalLaw([0.0, 0.0], zeros=2).degrees_of_freedom(0.0)) == 0
    assert EmpiricalLaw([0.0, 0.0], zeros=2).degrees_of_freedom([0.0, 1.0]).tolist() == [0, 0]
    # an eigenvalue that rounding made zero still counts as nonzero at ridge 0, and as nothing at any other ridge
    rounded = EmpiricalLaw([0.0, 1.0])
    assert rounded.degrees_of_freedom([0.0, 1.0]).tolist() == [1.0, 0.25]


def test_w_of_extreme_ridges_needs_no_warning(law: EmpiricalLaw) -> None:
    # warnings are errors in this suite
    assert float(law.degrees_of_freedom(np.inf)) == 0
    assert law.degrees_of_freedom([5e-324, 1.7e308]) == pytest.approx([0.75, 0], abs=1e-300)
    assert float(EmpiricalLaw([5e-324, 1.0]).degrees_of_freedom(1.0)) == 0.25


def test_the_cauchy_transform_is_the_average_of_poles(law: EmpiricalLaw) -> None:
    for z in (-1.0, 2 + 1j, 0.3 - 0.2j):
        assert complex(law.cauchy(z)) == pytest.approx(np.mean([1 / (z - x) for x in VALUES]), rel=1e-14, abs=0)
    assert float(law.degrees_of_freedom(0.7)) == pytest.approx(
        1 + 0.7 * complex(law.cauchy(-0.7)).real, rel=1e-14, abs=0
    )
    assert law.cauchy(np.ones((2, 3)) * 1j).shape == (2, 3)


@pytest.mark.parametrize(
    ("values", "zeros", "message"),
    [
        ([], 0, r"eigenvalues=\[\]: at least one"),
        ([1.0, -1e-20], 0, r"eigenvalues=-1e-20: must be ≥ 0"),
        ([1.0, float("nan")], 0, r"eigenvalues=nan"),
        ([1.0, float("inf")], 0, r"eigenvalues=inf"),
        ([0.0, 1.0], -1, r"zeros=-1: must be between 0 and"),
        ([0.0, 1.0], 3, r"zeros=3: must be between 0 and"),
        ([0.0, 1.0], 2, r"zeros=2: .*fewer exact zeros"),
        ([0.0, 1.0], 1.5, r"zeros=1.5: must be"),
    ],
)
def test_impossible_spectra_are_refused_by_value(values: list[float], zeros: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        EmpiricalLaw(values, zeros=zeros)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["cdf", "density", "degrees_of_freedom", "cauchy"])
def test_nan_is_refused(law: EmpiricalLaw, method: str) -> None:
    with pytest.raises(ValueError, match="nan"):
        getattr(law, method)([1.0, float("nan")])


def test_a_negative_ridge_is_refused(law: EmpiricalLaw) -> None:
    with pytest.raises(ValueError, match=r"ridge=-0\.1: must be ≥ 0"):
        law.degrees_of_freedom(-0.1)


# Histogram -----------------------------------------------------------------------------------------------------------


def test_heights_are_over_all_eigenvalues_with_the_zeros_apart(law: EmpiricalLaw) -> None:
    histogram = law.histogram(16)
    assert histogram.edges[0] == 0
    assert histogram.edges[-1] == 8
    assert histogram.atom == 0.25
    assert histogram.outside == 0
    area = float((histogram.heights * np.diff(histogram.edges)).sum())
    assert area == pytest.approx(0.75, rel=1e-14, abs=0)
    # the two zeros are in no bin: [0, 0.5) is empty
    assert histogram.heights[0] == 0


def test_cutting_the_range_does_not_inflate_the_heights(law: EmpiricalLaw) -> None:
    # others renormalise to area 1 after dropping what lies outside
    histogram = law.histogram([0.0, 1.5, 3.0])
    assert histogram.heights.tolist() == pytest.approx([3 / 8 / 1.5, 2 / 8 / 1.5])
    assert histogram.outside == pytest.approx(1 / 8)
    area = float((histogram.heights * np.diff(histogram.edges)).sum())
    assert area + histogram.atom + histogram.outside == pytest.approx(1, rel=1e-14, abs=0)
    assert area < 0.65


def test_a_spectrum_of_zeros_has_an_atom_and_empty_bins() -> None:
    histogram = EmpiricalLaw([0.0, 0.0], zeros=2).histogram(4)
    assert histogram.atom == 1
    assert (histogram.heights == 0).all()
    assert (np.diff(histogram.edges) > 0).all()


@pytest.mark.parametrize(
    "bins",
    [0, -3, 100_001, 10**12, 2.5, float("nan"), "auto", True, [1.0], [1.0, 1.0], [2.0, 1.0], [0.0, float("nan")]],
)
def test_bins_that_cannot_be_are_refused_by_name(law: EmpiricalLaw, bins: Any) -> None:
    with pytest.raises(ValueError, match="bins") as caught:
        law.histogram(bins)
    assert "\n" not in str(caught.value)


# Estimate ------------------------------------------------------------------------------------------------------------

# Two-sided quantiles of Student's t as tables print them: confidence, replicates, quantile
STUDENT = [
    (0.95, 2, 12.706),
    (0.95, 5, 2.776),
    (0.95, 10, 2.262),
    (0.99, 10, 3.250),
    (0.95, 31, 2.042),
    (0.999, 4, 12.924),
]


def test_the_standard_error_is_that_of_the_mean() -> None:
    estimate = Estimate.from_values([1.0, 2.0, 4.0])
    assert estimate.value == pytest.approx(7 / 3)
    assert estimate.standard_error == pytest.approx(math.sqrt(((4 / 3) ** 2 + (1 / 3) ** 2 + (5 / 3) ** 2) / 2 / 3))
    assert estimate.replicates == 3


@pytest.mark.parametrize(("confidence", "replicates", "quantile"), STUDENT)
def test_the_interval_is_students(confidence: float, replicates: int, quantile: float) -> None:
    estimate = Estimate(2.0, 0.1, replicates)
    assert estimate.half_width(confidence) == pytest.approx(0.1 * quantile, abs=0.1 * 5.1e-4)
    low, high = estimate.interval(confidence)
    assert (low + high) / 2 == pytest.approx(2.0)
    assert high - low == pytest.approx(2 * estimate.half_width(confidence))


def test_one_replicate_has_no_error_to_report() -> None:
    estimate = Estimate.from_values([3.0])
    assert estimate.value == 3
    assert math.isnan(estimate.standard_error)
    assert math.isnan(estimate.half_width())


@pytest.mark.parametrize("confidence", [0.0, 1.0, -0.5, 95, float("nan")])
def test_a_confidence_outside_zero_to_one_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=r"confidence=.*must be in \(0, 1\)"):
        Estimate(0.0, 1.0, 5).interval(confidence)


# SpectrumSample ------------------------------------------------------------------------------------------------------


def _sample() -> SpectrumSample:
    layer = AttentionLayer(4, 8, [Head(2, 3, 0.5), Head(1, 2)], d_out=3, key_groups=[0, 1])
    rng = np.random.default_rng(0)
    spectra = [np.append(0.0, rng.exponential(size=3)) for _ in range(5)]
    laws = tuple(EmpiricalLaw(spectrum, zeros=1) for spectrum in spectra)
    return SpectrumSample(laws, layer, "output", "softmax", False, (7, 1), {"version": "0"})


def test_a_sample_is_a_sequence_of_spectra() -> None:
    sample = _sample()
    assert len(sample) == 5
    assert list(sample) == [sample[k] for k in range(5)]
    assert sample[-1] is sample.laws[4]
    assert [law is sample.laws[k + 1] for k, law in enumerate(sample[1:3])] == [True, True]
    with pytest.raises(IndexError):
        sample[5]


def test_estimates_take_the_replicate_as_unit() -> None:
    sample = _sample()
    tops = [float(law.eigenvalues[-1]) for law in sample]
    assert sample.estimate(lambda law: law.eigenvalues[-1]) == Estimate.from_values(tops)
    w = [float(law.degrees_of_freedom(0.3)) for law in sample]
    assert sample.degrees_of_freedom(0.3) == Estimate.from_values(w)
    assert sample.degrees_of_freedom(0.3).replicates == 5


def test_pooling_keeps_every_eigenvalue_and_every_zero() -> None:
    sample = _sample()
    pooled = sample.pooled()
    assert len(pooled) == 20
    assert pooled.zeros == 5
    assert pooled.mean == pytest.approx(np.mean([law.mean for law in sample]), rel=1e-14, abs=0)


def test_a_saved_sample_comes_back_bit_for_bit(tmp_path: Path) -> None:
    sample, path = _sample(), tmp_path / "sample.npz"
    sample.save(path)
    back = SpectrumSample.load(str(path))
    for mine, other in zip(sample, back, strict=True):
        assert mine.eigenvalues.tobytes() == other.eigenvalues.tobytes()
        assert mine.zeros == other.zeros
    assert (back.layer, back.observable, back.model) == (sample.layer, sample.observable, sample.model)
    assert (back.centered, back.seed, back.provenance) == (sample.centered, sample.seed, sample.provenance)
    assert os.listdir(tmp_path) == ["sample.npz"]
    assert pickle.loads(pickle.dumps(sample)).layer == sample.layer


def test_a_failing_save_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample, path = _sample(), tmp_path / "sample.npz"
    sample.save(path)
    before = path.read_bytes()

    def breaks(stream: Any, **_arrays: Any) -> None:
        stream.write(b"PK half")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", breaks)
    with pytest.raises(OSError, match="no space left"):
        sample.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["sample.npz"]


def test_a_file_cut_anywhere_is_refused_in_one_line_naming_it(tmp_path: Path) -> None:
    sample, path = _sample(), tmp_path / "sample.npz"
    sample.save(path)
    content = path.read_bytes()
    for length in {0, 1, 30, len(content) // 3, len(content) // 2, len(content) - 30, len(content) - 1}:
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"sample\.npz") as caught:
            SpectrumSample.load(path)
        assert "\n" not in str(caught.value)


def test_a_file_with_a_broken_byte_gives_the_sample_or_one_line_naming_it(tmp_path: Path) -> None:
    sample, path = _sample(), tmp_path / "sample.npz"
    sample.save(path)
    content = path.read_bytes()
    messages = []
    for position in range(0, len(content), 7):
        broken = bytearray(content)
        broken[position] ^= 0x41
        path.write_bytes(broken)
        try:
            back = SpectrumSample.load(path)
        except ValueError as error:
            messages.append(str(error))
        else:
            # the byte was in a field that readers of zip files ignore
            assert all((a.eigenvalues == b.eigenvalues).all() for a, b in zip(back, sample, strict=True))
    assert all("sample.npz" in message and "\n" not in message for message in messages)
    assert len(messages) > len(content) / 7 / 3


def test_a_file_of_another_kind_is_refused_in_one_line_naming_it(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello\nworld")
    np.save(tmp_path / "array.npy", np.ones(3))
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    header = np.frombuffer(b'{"format": 99}', dtype=np.uint8)
    np.savez(tmp_path / "version.npz", header=header, eigenvalues=np.ones((1, 2)), zeros=np.zeros(1, dtype=int))
    header = np.frombuffer(b'{"format": 1}', dtype=np.uint8)
    np.savez(tmp_path / "bare.npz", header=header, eigenvalues=np.ones((1, 2)), zeros=np.zeros(1, dtype=int))
    for name in ("text", "array.npy", "other.npz", "version.npz", "bare.npz"):
        with pytest.raises(ValueError, match=name) as caught:
            SpectrumSample.load(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        SpectrumSample.load(tmp_path / "absent.npz")


def test_quantiles_are_eigenvalues_and_invert_the_cdf() -> None:
    law = EmpiricalLaw(np.array([0.0, 0.0, 1.0, 2.0, 5.0]), zeros=2)
    assert law.quantile([0.0, 0.2, 0.4, 0.41, 0.6, 0.8, 0.81, 1.0]).tolist() == [0, 0, 0, 1, 1, 2, 5, 5]
    assert law.quantile(0.5).shape == ()
    many = EmpiricalLaw(np.random.default_rng(0).random(997))
    np.testing.assert_array_equal(many.quantile(many.cdf(many.eigenvalues)), many.eigenvalues)
    for q in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match=f"q={q}"):
            law.quantile(q)


def test_spectra_of_a_matrix_and_its_transpose_are_companions() -> None:
    matrix = np.random.default_rng(1).standard_normal((4, 7))
    rows = EmpiricalLaw(np.linalg.eigvalsh(matrix @ matrix.T))
    columns = rows.companion(7 / 4)
    assert columns.zeros == 3
    np.testing.assert_allclose(columns.eigenvalues[3:], np.linalg.eigvalsh(matrix.T @ matrix)[3:])
    np.testing.assert_array_equal(columns.companion(4 / 7).eigenvalues, rows.eigenvalues)
    assert columns.companion(4 / 7).zeros == 0
    with pytest.raises(ValueError, match=r"ratio=0\.5: must be ≥ 1\.0"):
        rows.companion(0.5)
    for ratio in (0.0, -1.0, 1.3, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=r"must be a whole number > 0"):
            rows.companion(ratio)


def test_normalized_eigenvalues_singular_values_and_draws() -> None:
    law = EmpiricalLaw(np.array([0.0, 1.0, 4.0, 7.0]), zeros=1)
    assert law.normalized().mean == 1
    assert law.normalized().zeros == 1
    assert law.singular_values().eigenvalues.tolist() == [0, 1, 2, math.sqrt(7)]
    draws = law.sample((50, 4), np.random.default_rng(2))
    assert draws.shape == (50, 4)
    assert set(draws.ravel()) == set(law.eigenvalues)
    with pytest.raises(ValueError, match="must be a numpy Generator"):
        law.sample(3, 0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="all eigenvalues are zero"):
        EmpiricalLaw(np.zeros(3), zeros=3).normalized()
