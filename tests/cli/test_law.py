"""rmt-attention law: what is printed, files read back, one-line refusals, whole files."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from rmt_attention import AttentionLayer, ConvergenceError, __version__, limit_law
from rmt_attention.cli import law as command
from rmt_attention.experiments.law import law_report

from .runner import ENTRY, Run, check_refused, run_process

SMALL = ("--n-tokens", "64", "--d-model", "64", "--heads", "4", "--d-key", "16", "--d-out", "48")
LAYER = AttentionLayer(64, 64, heads=4, d_key=16, d_out=48)
LAW = limit_law(LAYER)
GAP = ("--n-tokens", "640", "--d-model", "640", "--heads", "4", "--d-key", "48", "--observable", "attention")
EVERY_FILE = ("--csv", "law.csv", "--npz", "law.npz", "--json", "law.json", "--plot", "law.png")


def _words_after(text: str, *start: str, title: str = "layer") -> list[str]:
    """Words after these, on the line that starts with them, in the block that starts with this title."""
    (block,) = [block for block in text.split("\n\n") if block.startswith(title)]
    (words,) = [line.split() for line in block.splitlines() if tuple(line.split()[: len(start)]) == start]
    return words[len(start) :]


# What is printed -----------------------------------------------------------------------------------------------------


def test_the_law_is_printed_with_everything_it_says(run: Run, tmp_path: Path) -> None:
    result = run("law", *SMALL)
    assert (result.code, result.err) == (0, "")
    assert "n=64 d=64 h=4 d_key=16 d_value=16 β=1 d_out=48 nothing shared, orthonormal inputs" in result.out
    assert "γ_K=1 γ_V=1 γ_O=0.75" in result.out
    assert _words_after(result.out, "observable")[0] == "output,"
    assert float(_words_after(result.out, "law", "mean")[0].rstrip(",")) == pytest.approx(LAW.mean, rel=1e-9)
    assert _words_after(result.out, "atoms") == ["0.25", "at", "0"]
    for k in (1, 2, 3, 4):
        expected = [LAW.moment(k), LAW.normalized().moment(k)]
        assert [float(word) for word in _words_after(result.out, str(k), title="moments")] == pytest.approx(
            expected, rel=1e-9
        )
    for share in (1, 10, 50, 90, 99):
        x = float(LAW.quantile(share / 100))
        found = [float(word) for word in _words_after(result.out, str(share), "%", title="quantiles")]
        assert found == pytest.approx([x, x / LAW.mean], rel=1e-7)
    for ratio in ("0.01", "0.05", "0.2", "1", "5"):
        ridge = float(ratio) * LAW.mean
        found = [float(word) for word in _words_after(result.out, ratio, title="w(λ)")]
        assert found == [pytest.approx(ridge, rel=1e-3), pytest.approx(LAW.degrees_of_freedom(ridge), abs=1e-9)]
    assert list(tmp_path.iterdir()) == []


def test_edges_are_printed_to_more_than_twelve_digits_and_all_intervals_are_named(run: Run) -> None:
    law = limit_law(AttentionLayer(640, 640, heads=4, d_key=48), "attention")
    out = run("law", *GAP).out
    words = [word.rstrip(",") for word in _words_after(out, "edges")]
    assert len(words) == 4
    for word, edge in zip(words, law.edges, strict=True):
        assert float(word) == pytest.approx(edge, rel=1e-12, abs=0)
        assert float(f"{edge:.10g}") != pytest.approx(edge, rel=1e-12, abs=0)  # fewer digits would not do
    assert "support [0.2077, 1.324] ∪ [1.401, 10.04]" in out
    assert _words_after(out, "atoms") == ["none"]


@pytest.mark.parametrize("observable", ["output", "values", "attention", "head-average"])
def test_the_law_of_every_observable_is_that_of_limit_law(run: Run, observable: str) -> None:
    report = json.loads(run("law", *SMALL, "--observable", observable, "--json", "-").out)
    law = limit_law(LAYER, observable)
    assert report["observable"] == observable
    assert (report["law"]["mean"], report["law"]["edges"]) == (law.mean, list(law.edges))


def test_the_mean_one_law_has_mean_one(run: Run) -> None:
    out = run("law", *SMALL, "--normalized").out
    assert "squared singular values over their mean" in out
    first, second = (_words_after(out, k, title="moments") for k in ("1", "2"))
    assert [float(word) for word in first] == pytest.approx([1, 1])
    assert float(second[0]) == float(second[1]) == pytest.approx(LAW.normalized().moment(2))
    report = json.loads(run("law", *SMALL, "--normalized", "--json", "-").out)
    np.testing.assert_allclose(report["law"]["edges"], np.array(LAW.edges) / LAW.mean)


def test_the_default_is_the_output_of_bert_base(run: Run) -> None:
    report = json.loads(run("law", "--json", "-").out)
    assert AttentionLayer.from_dict(report["layer"]) == AttentionLayer.from_preset("BERT-base")
    assert (report["observable"], report["normalized"], len(report["table"]["x"])) == ("output", False, 400)


def test_presets_files_and_flags_describe_the_layer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "layer.toml").write_text(LAYER.to_toml(), encoding="utf-8")
    for flags, layer in {
        ("--preset", "Falcon-7B", "--beta", "0.5"): AttentionLayer.from_preset("Falcon-7B", beta=0.5),
        ("--layer", "layer.toml", "--d-out", "32"): LAYER.replace(d_out=32),
        (*SMALL, "--kv-groups", "2", "--key-value-correlation", "1"): LAYER.replace(
            kv_groups=2, key_value_correlation=1.0
        ),
    }.items():
        assert AttentionLayer.from_dict(json.loads(run("law", *flags, "--json", "-").out)["layer"]) == layer


def test_moments_beyond_double_precision_say_so_and_nothing_is_warned(run: Run) -> None:
    result = run("law", *SMALL, "--beta", "26")
    assert (result.code, result.err) == (0, "")
    assert _words_after(result.out, "2", title="moments")[0] == "overflow"
    text = run("law", *SMALL, "--beta", "26", "--json", "-").out
    assert json.loads(text, parse_constant=pytest.fail)["law"]["moments"][1] is None


# Files ---------------------------------------------------------------------------------------------------------------


def test_every_file_is_written_and_named_and_holds_the_same_table(run: Run, tmp_path: Path) -> None:
    result = run("law", *SMALL, *EVERY_FILE, "--points", "50")
    assert (result.code, result.err) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["law.csv", "law.json", "law.npz", "law.png"]
    assert result.out.endswith("written: law.csv, law.npz, law.json, law.png\n")
    assert (tmp_path / "law.png").read_bytes().startswith(b"\x89PNG")
    table = law_report(LAYER, points=50).table.columns()
    with (tmp_path / "law.csv").open(newline="", encoding="utf-8") as stream:
        header, *rows = list(csv.reader(stream))
    assert header == ["x", "density", "x_density", "cdf"] == list(table)
    report = json.loads((tmp_path / "law.json").read_text(encoding="utf-8"))
    assert list(report["table"]) == header
    with np.load(tmp_path / "law.npz", allow_pickle=False) as archive:
        for column, name in enumerate(header):
            assert table[name].shape == (50,)
            np.testing.assert_array_equal([float(row[column]) for row in rows], table[name])
            np.testing.assert_array_equal(report["table"][name], table[name])
            np.testing.assert_array_equal(archive[name], table[name])


def test_numbers_in_csv_have_seventeen_digits(run: Run, tmp_path: Path) -> None:
    run("law", *SMALL, "--csv", "law.csv")
    rows = (tmp_path / "law.csv").read_text(encoding="utf-8").splitlines()[1:]
    digits = [len(Decimal(word).normalize().as_tuple().digits) for row in rows for word in row.split(",")]
    assert max(digits) == 17


def test_the_archive_also_holds_atoms_edges_support_and_layer(run: Run, tmp_path: Path) -> None:
    run("law", *SMALL, "--npz", "law.npz")
    with np.load(tmp_path / "law.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["atoms"], [[0.0, 0.25]])
        np.testing.assert_array_equal(archive["edges"], LAW.edges)
        np.testing.assert_array_equal(archive["support"], LAW.support)
        assert AttentionLayer.from_dict(json.loads(str(archive["layer"]))) == LAYER
        assert (str(archive["observable"]), bool(archive["normalized"]), int(archive["schema"])) == ("output", False, 1)
    run("law", *GAP, "--npz", "gap.npz")
    with np.load(tmp_path / "gap.npz", allow_pickle=False) as archive:
        assert (archive["atoms"].shape, archive["support"].shape, archive["edges"].shape) == ((0, 2), (2, 2), (4,))


def test_json_on_stdout_is_all_of_stdout_and_has_a_schema(tmp_path: Path) -> None:
    result = run_process("law", *SMALL, "--json", "-", "--csv", "law.csv", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert (report["schema"], report["kind"], report["version"]) == (1, "law", __version__)
    assert report == json.loads(json.dumps(law_report(LAYER).to_dict()))
    assert [path.name for path in tmp_path.iterdir()] == ["law.csv"]


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_figure_has_the_format_of_its_ending(run: Run, tmp_path: Path, suffix: str, start: bytes) -> None:
    assert run("law", *SMALL, "--plot", f"law{suffix}").code == 0
    assert (tmp_path / f"law{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize("points", [2, 3, 1000])
def test_every_interval_of_the_support_gets_the_points_asked_for(run: Run, points: int) -> None:
    table = json.loads(run("law", *GAP, "--points", str(points), "--json", "-").out)["table"]
    assert {len(column) for column in table.values()} == {2 * points}


# Bad input: one line, exit code 2, nothing written -------------------------------------------------------------------

BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "one point": (("--points", "1"), "points=1: must be an integer from 2 to 100000"),
    "too many points": (("--points", "100001"), "points=100001: must be an integer from 2 to 100000"),
    "negative points": (("--points", "-5"), "points=-5"),
    "points not a whole number": (("--points", "2.5"), "'2.5'"),
    "unknown observable": (("--observable", "scores"), "observable='scores': must be one of attention, values"),
    "csv and npz the same": (("--csv", "a", "--npz", "a"), "csv='a': must differ from npz"),
    "csv and json the same": (("--csv", "a", "--json", "./a"), "csv='a': must differ from json"),
    "npz of another suffix": (("--npz", "table.txt"), "npz='table.txt': must end in .npz"),
    "npz and plot the same": (("--npz", "a.png", "--plot", "sub/../a.png"), "npz='a.png': must differ from plot"),
    "json and plot the same": (("--json", "a.png", "--plot", "link.png"), "json='a.png': must differ from plot"),
    "csv on stdout": (("--csv", "-"), "csv='-': must be a file name"),
    "npz on stdout": (("--npz", "-"), "npz='-': must be a file name"),
    "plot on stdout": (("--plot", "-"), "plot='-'"),
    "csv in no folder": (("--csv", "nowhere/a.csv"), "the folder 'nowhere' does not exist"),
    "npz in no folder": (("--npz", "nowhere/a.npz"), "nowhere"),
    "json in no folder": (("--json", "nowhere/a.json"), "nowhere"),
    "plot in no folder": (("--plot", "nowhere/a.png"), "nowhere"),
    "csv is a folder": (("--csv", "sub"), "csv='sub': is a directory"),
    "npz is a folder": (("--npz", "sub"), "npz='sub': is a directory"),
    "plot of no format": (("--plot", "a.gif"), "plot='a.gif': must end in .png, .pdf, .svg"),
    "good files beside a bad one": (("--csv", "a.csv", "--json", "a.json", "--plot", "a"), "plot='a'"),
    "gaussian inputs": (("--inputs", "gaussian"), "inputs=GaussianInputs(): no limiting law is known"),
    "shared queries": (("--query-groups", "1"), "query_groups="),
    "shared output weights": (("--output-groups", "1"), "output_groups="),
    "correlated values": (("--key-value-correlation", "0.5"), "key_value_correlation=0.5: no limiting law"),
    "unequal key groups": (("--key-groups", "0,0,1,2", "--observable", "head-average"), "key_groups="),
    "draws": (("--draws", "3"), "--draws"),
    "extra argument": (("output",), "output"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_exit_code_2_and_writes_nothing(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "link.png").symlink_to(tmp_path / "a.png")
    arguments, named = BAD[name]
    check_refused(run, tmp_path, ("law", *SMALL, *arguments), named)


def test_files_are_checked_before_any_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*_: object, **__: object) -> None:
        raise RuntimeError("worked")

    monkeypatch.setattr(command, "law_report", work)
    for flag, path in (("--csv", "no/a"), ("--npz", "no/a"), ("--json", "no/a"), ("--plot", "a.gif"), ("--csv", "-")):
        assert run("law", *SMALL, flag, path).code == 2
    assert "worked" in run("law", *SMALL, "--csv", "a.csv").err  # negative control


def test_a_layer_without_a_law_leaves_old_files_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "law.csv").write_text("old")
    assert run("law", *SMALL, "--inputs", "gaussian", *EVERY_FILE).code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["law.csv"]
    assert (tmp_path / "law.csv").read_text() == "old"


# What could not finish -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [ConvergenceError("the branch could not be proved"), MemoryError("too large"), KeyboardInterrupt()]
)
def test_a_law_that_cannot_be_solved_is_one_line_with_exit_code_3(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(command, "law_report", fail)
    result = run("law", *SMALL, *EVERY_FILE)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert str(error) in result.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [RuntimeError("no space"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_figure_that_fails_leaves_no_file_of_any_kind(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException
) -> None:
    from matplotlib.figure import Figure

    def half_way(self: Figure, stream: object, **_: object) -> None:
        stream.write(b"\x89PNG")  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr(Figure, "savefig", half_way)
    (tmp_path / "law.npz").write_bytes(b"old")
    result = run("law", *SMALL, *EVERY_FILE)
    assert (result.code, result.out) == (3, "")
    assert [path.name for path in tmp_path.iterdir()] == ["law.npz"]
    assert (tmp_path / "law.npz").read_bytes() == b"old"


def test_a_terminal_without_greek_letters_gets_its_answer(tmp_path: Path) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "MPLBACKEND": "Agg"}
    result = subprocess.run([*ENTRY, "law", *SMALL], cwd=tmp_path, capture_output=True, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"quantiles" in result.stdout


def test_the_table_is_made_without_a_plotting_library(tmp_path: Path) -> None:
    script = (
        "import sys; sys.argv = ['rmt-attention', 'law', '--csv', 'law.csv']\n"
        "from rmt_attention.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    assert stop.code == 0\n"
        "print([name for name in ('matplotlib', 'scipy.stats') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
