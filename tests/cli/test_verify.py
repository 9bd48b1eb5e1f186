"""rmt-attention verify: exit codes, one-line refusals, whole files. Seed 0."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rmt_attention
from rmt_attention import AttentionLayer, ConvergenceError, GaussianInputs, Head, __version__
from rmt_attention.experiments.verify import verify
from rmt_attention.presets import PRESETS

from .runner import ENTRY, Outcome, Run, check_refused, run_process

SMALL = ("--n-tokens", "48", "--d-model", "48", "--heads", "4", "--d-key", "12")
# a layer and so many draws that every check is decided
DECIDED = ("--n-tokens", "96", "--d-model", "96", "--heads", "4", "--d-key", "24", "--d-out", "144")
DECIDED += ("--beta", "0.7", "--draws", "60")
LAYER = AttentionLayer(48, 48, heads=4)


# What holds ----------------------------------------------------------------------------------------------------------


def test_a_small_layer_holds_and_prints_a_table(run: Run, tmp_path: Path) -> None:
    result = run("verify", *DECIDED)
    assert (result.code, result.err) == (0, "")
    for text in ("n=96", "γ_K=1", "relative W1", "w(λ)", "threshold", "all 6 checks held", "60 draws, seed 0"):
        assert text in result.out
    assert list(tmp_path.iterdir()) == []


def test_few_draws_are_undecided_and_exit_with_3(run: Run) -> None:
    result = run("verify", *SMALL, "--draws", "2")
    assert result.code == 3
    assert "undecided (more draws would decide)" in result.out
    assert "all 6 checks held" not in result.out


def test_a_terminal_without_greek_letters_gets_its_answer(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments, code in ((("verify", "--help"), 0), (("verify", *SMALL, "--draws", "2"), 3)):
        result = subprocess.run([*ENTRY, *arguments], cwd=tmp_path, capture_output=True, env=environment)
        assert (result.returncode, result.stderr) == (code, b"")


def test_file_names_are_printed_as_they_are(run: Run, tmp_path: Path) -> None:
    assert "written: [bold]x.json" in run("verify", *SMALL, "--json", "[bold]x.json").out


def test_the_same_file_twice_is_refused(run: Run) -> None:
    result = run("verify", *SMALL, "--json", "same.png", "--plot", "same.png")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "must differ from plot" in result.err


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "rmt_attention", "--version"]
    assert subprocess.run(command, capture_output=True, text=True).stdout.strip() == rmt_attention.__version__


def test_the_report_is_that_of_the_library(run: Run) -> None:
    found = json.loads(run("verify", *SMALL, "--json", "-").out)
    assert found == json.loads(json.dumps(verify(LAYER).to_dict()))
    assert found["schema"] == 1
    assert found["kind"] == "verify"


def test_files_are_written_and_named(run: Run, tmp_path: Path) -> None:
    result = run("verify", *DECIDED, "--json", "report.json", "--plot", "report.png", "--seed", "7", "--workers", "2")
    assert result.code in (0, 1)  # at this seed one check fails: a false alarm of probability 0.001
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.png"]
    assert "written: report.json, report.png" in result.out
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (report["seed"], report["draws"]) == ([7], 60)
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_json_on_stdout_is_all_of_stdout(tmp_path: Path) -> None:
    result = run_process("verify", *DECIDED, "--json", "-", cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["verdict"] == "held"


def test_every_field_of_the_layer_has_a_flag(run: Run) -> None:
    flags = (
        "--n-tokens 40 --d-model 50 --heads 4 --d-key 6 --d-value 6 --d-out 30 --beta 0.5 --query-groups 0,0,1,2"
        " --output-groups 2 --kv-groups 2 --key-value-correlation 0.6 --inputs gaussian --draws 2 --json -"
    )
    report = json.loads(run("verify", *flags.split()).out)
    assert AttentionLayer.from_dict(report["layer"]) == AttentionLayer(
        40,
        50,
        heads=4,
        d_key=6,
        d_value=6,
        d_out=30,
        beta=0.5,
        query_groups=(0, 0, 1, 2),
        output_groups=2,
        kv_groups=2,
        key_value_correlation=0.6,
        inputs=GaussianInputs(),
    )
    report = json.loads(run("verify", *SMALL, "--key-groups", "2", "--value-groups", "1", "--json", "-").out)
    assert AttentionLayer.from_dict(report["layer"]) == LAYER.replace(key_groups=2, value_groups=1)


def test_a_layer_without_a_law_is_compared_and_says_so(run: Run) -> None:
    result = run("verify", *SMALL, "--inputs", "gaussian")
    assert result.code in (0, 1)
    assert "law      none: inputs=GaussianInputs()" in result.out
    assert "w(λ)" not in result.out
    assert json.loads(run("verify", *SMALL, "--inputs", "gaussian", "--json", "-").out)["law"] is None


def test_the_default_layer_is_bert_base(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    seen: dict[str, object] = {}

    def spy(layer: AttentionLayer, **options: object) -> object:
        seen.update(options, layer=layer)
        raise ValueError("seen")

    monkeypatch.setattr("rmt_attention.cli.verify.verify", spy)
    for arguments, layer in {
        (): AttentionLayer.from_preset("BERT-base"),
        ("--preset", "falcon-7b"): AttentionLayer.from_preset("Falcon-7B"),
        ("--preset", "Falcon-7B", "--kv-groups", "71"): AttentionLayer.from_preset("Falcon-7B", kv_groups=71),
        ("--beta", "0.5"): AttentionLayer.from_preset("BERT-base", beta=0.5),
    }.items():
        assert run("verify", *arguments).err == "rmt-attention: seen\n"
        assert (seen["layer"], seen["replicates"], seen["seed"], seen["workers"]) == (layer, 10, 0, 1)


@pytest.mark.parametrize(
    "layer",
    [
        LAYER,
        LAYER.replace(kv_groups=2, beta=0.5),
        LAYER.replace(inputs=GaussianInputs()),
        AttentionLayer(32, 40, heads=(Head(4, 6, 0.5), Head(8, 2, 1.0)), d_out=20),
    ],
)
def test_a_layer_file_is_read(run: Run, tmp_path: Path, layer: AttentionLayer) -> None:
    (tmp_path / "layer.toml").write_text(layer.to_toml(), encoding="utf-8")
    result = run("verify", "--layer", "layer.toml", "--draws", "2", "--json", "-")
    assert AttentionLayer.from_dict(json.loads(result.out)["layer"]) == layer


def test_flags_override_fields_of_the_layer_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "layer.toml").write_text(LAYER.replace(kv_groups=2).to_toml(), encoding="utf-8")
    flags = ("--beta", "0.5", "--kv-groups", "1", "--d-out", "24")
    report = json.loads(run("verify", "--layer", "layer.toml", *flags, "--draws", "2", "--json", "-").out)
    assert AttentionLayer.from_dict(report["layer"]) == LAYER.replace(kv_groups=1, beta=0.5, d_out=24)


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version") == Outcome(0, f"{__version__}\n", "")


def test_help_names_the_presets_and_the_exit_codes(run: Run) -> None:
    text = " ".join(run("verify", "--help").out.replace("│", " ").split())
    assert all(name.split()[0] in text for name in PRESETS)
    assert "0 done, or held" in " ".join(run("--help").out.split())


# Bad input: one line, exit code 2, nothing written -------------------------------------------------------------------

BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "one draw": (("--draws", "1"), "replicates=1"),
    "negative seed": (("--seed", "-1"), "seed=-1"),
    "no workers": (("--workers", "0"), "workers=0"),
    "too small to halve": (("--d-key", "1"), "every width must be ≥ 2"),
    "no such folder": (("--json", "nowhere/report.json"), "nowhere"),
    "plot in no folder": (("--plot", "nowhere/report.png"), "nowhere"),
    "json is a folder": (("--json", "folder"), "folder"),
    "plot is a folder": (("--plot", "folder.png"), "folder.png"),
    "plot of no format": (("--plot", "report.gif"), "plot='report.gif'"),
    "json beside a bad plot": (("--json", "report.json", "--plot", "report"), "plot='report'"),
    "extra argument": (("BERT-base",), "BERT-base"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_with_exit_code_2_quickly_and_writes_nothing(run: Run, tmp_path: Path, name: str) -> None:
    for folder in ("folder", "folder.png"):
        (tmp_path / folder).mkdir()
    arguments, named = BAD[name]
    check_refused(run, tmp_path, ("verify", *arguments), named)


def test_bad_input_is_refused_by_the_installed_entry_point_too(tmp_path: Path) -> None:
    result = run_process("verify", "--beta", "-1", cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_an_unknown_command_is_bad_input(run: Run) -> None:
    result = run("varify")
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "varify" in result.err


def test_a_path_without_permission_is_bad_input(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # also where tests run as root
    result = run("verify", *SMALL, "--json", "report.json")
    assert result.code == 2
    assert result.err == "rmt-attention: json='report.json': not writable\n"
    assert list(tmp_path.iterdir()) == []


# A failed check ------------------------------------------------------------------------------------------------------


def test_a_failed_check_exits_with_1_and_still_reports(run: Run, tmp_path: Path) -> None:
    """β = 2 at n = 48 is far from the limit: 2β² = 8 is above log n = 3.9, where θ1 stops averaging over a row."""
    result = run("verify", *SMALL, "--beta", "2", "--json", "report.json")
    assert (result.code, result.err) == (1, "")
    assert "FAILED" in result.out
    assert "checks FAILED" in result.out
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "FAILED"
    failed = sum(check["verdict"] == "FAILED" for check in report["checks"])
    assert f"{failed} of {len(report['checks'])} checks FAILED" in result.out


def test_a_failed_check_exits_with_1_as_arun_process(tmp_path: Path) -> None:
    assert run_process("verify", *SMALL, "--beta", "2", cwd=tmp_path).returncode == 1


# What could not finish -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "traceback"),
    [
        (ConvergenceError("not converged after 200 steps"), False),
        (RuntimeError("a bug"), True),
        (TypeError("a bug"), True),
        (AssertionError("a bug"), True),
        (KeyError("a bug"), True),
        (ZeroDivisionError("a bug"), True),
        (MemoryError("too large"), False),
        (np.linalg.LinAlgError("Eigenvalues did not converge"), None),
        (KeyboardInterrupt(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_could_not_finish_exits_with_3_and_writes_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: BaseException, traceback: bool
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("rmt_attention.cli.verify.verify", fail)
    result = run("verify", *SMALL, "--json", "report.json", "--plot", "report.png")
    assert result.code == 3
    assert result.out == ""
    if traceback is not None:
        assert ("Traceback" in result.err) == traceback
    if traceback is False:
        assert result.err.count("\n") == 1
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
    result = run("verify", *SMALL, "--json", "report.json", "--plot", "report.png")
    assert result.code == 3
    assert list(tmp_path.iterdir()) == []


def test_numbers_that_json_cannot_hold_do_not_stop_the_report(run: Run, tmp_path: Path) -> None:
    """d_key ≤ 2β² has an infinite second-order outlier bias."""
    narrow = (*SMALL, "--d-key", "2")
    assert run("verify", *narrow).code == 3
    assert run("verify", *narrow, "--json", "report.json").code == 3
    json.loads((tmp_path / "report.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)


def test_a_reader_that_goes_away_is_not_a_failed_check(tmp_path: Path) -> None:
    """Exit code 1 is kept for checks; `rmt-attention verify … | head -1` is not one."""
    process = subprocess.Popen(
        [*ENTRY, "verify", *SMALL, "--json", "-"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stderr.read()  # type: ignore[union-attr]
    process.stderr.close()  # type: ignore[union-attr]
    assert process.wait(60) not in (1, 2)
