"""Layers that no command accepts: one line, exit code 2, nothing written."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from rmt_attention import AttentionLayer

from .runner import ENTRY, Run, check_refused

LAYER = AttentionLayer(48, 48, heads=4)

BAD: dict[str, tuple[tuple[str, ...], str]] = {
    "tied widths differ": (
        ("--key-value-correlation", "1", "--d-key", "32", "--d-value", "16"),
        "d_value=16, d_key=32",
    ),
    "correlation above 1": (("--key-value-correlation", "1.5"), "key_value_correlation=1.5"),
    "correlation nan": (("--key-value-correlation", "nan"), "key_value_correlation=nan"),
    "groups do not divide": (("--kv-groups", "5"), "kv_groups=5: must divide the number of heads, 12"),
    "groups zero": (("--output-groups", "0"), "output_groups=0"),
    "groups of another number of heads": (("--key-groups", "0,1"), "key_groups=[0, 1]: names 2 heads"),
    "groups not numbers": (("--query-groups", "a,b"), "query_groups='a,b'"),
    "kv with key groups": (("--kv-groups", "2", "--key-groups", "2"), "key_groups=2"),
    "no tokens": (("--n-tokens", "0"), "n_tokens=0"),
    "one token": (("--n-tokens", "1"), "n_tokens=1"),
    "negative tokens": (("--n-tokens", "-3"), "n_tokens=-3"),
    "no width": (("--d-model", "0"), "d_model=0"),
    "no heads": (("--heads", "0"), "heads=0"),
    "no key width": (("--d-key", "0"), "d_key=0"),
    "negative value width": (("--d-value", "-1"), "d_value=-1"),
    "no output": (("--d-out", "0"), "d_out=0"),
    "heads do not divide": (("--layer", "undivided.toml"), "heads=7: must divide d_model=768"),
    "more tokens than width": (("--n-tokens", "1000"), "n_tokens=1000: must be ≤ d_model=768"),
    "beta nan": (("--beta", "nan"), "beta=nan"),
    "beta negative": (("--beta", "-1"), "beta=-1.0"),
    "beta zero": (("--beta", "0"), "beta=0.0"),
    "beta infinite": (("--beta", "inf"), "beta=inf"),
    "beta overflows": (("--beta", "27"), "beta=27.0: must be at most 26"),
    "beta underflows": (("--beta", "1e-150"), "beta=1e-150"),
    "unknown preset": (("--preset", "GPT-5"), "preset='GPT-5'"),
    "unknown inputs": (("--inputs", "uniform"), "inputs="),
    "no such layer": (("--layer", "nowhere.toml"), "layer='nowhere.toml': cannot be read: No such file"),
    "layer is a folder": (("--layer", "folder"), "layer='folder': cannot be read"),
    "preset and layer": (("--layer", "good.toml", "--preset", "BERT-base"), "preset='BERT-base'"),
    "not toml": (("--layer", "not.toml"), "(in not.toml)"),
    "not text": (("--layer", "binary.toml"), "layer='binary.toml': must be text in UTF-8"),
    "unknown field": (("--layer", "unknown.toml"), "widht=3: no such field"),
    "missing field": (("--layer", "missing.toml"), "missing"),
    "field of another type": (("--layer", "text.toml"), "d_key='wide'"),
    "inputs of another type": (("--layer", "inputs.toml"), "inputs=3"),
    "heads of another type": (("--layer", "heads.toml"), "heads=[1, 2]"),
    "not a number": (("--n-tokens", "many"), "--n-tokens"),
    "unknown option": (("--n-token", "5"), "--n-token"),
    "empty preset": (("--preset", ""), "preset=''"),
    "another number of unequal heads": (("--layer", "unequal.toml", "--heads", "2"), "heads=2: must be absent"),
    "more heads than can be": (("--heads", "100001"), "heads=100001: must be ≤ 100000"),
    "endless layer": (("--layer", "/dev/zero"), "layer='/dev/zero': must be at most"),
    "option without a value": (("--beta",), "--beta"),
}

FILES = {
    "good.toml": LAYER.to_toml().encode(),
    "not.toml": b"n_tokens = ",
    "binary.toml": b"\xff\xfe\x00",
    "unknown.toml": b"n_tokens = 32\nd_model = 32\nheads = 4\nwidht = 3\n",
    "missing.toml": b"heads = 4\n",
    "text.toml": b"n_tokens = 32\nd_model = 32\nheads = 4\nd_key = 'wide'\n",
    "inputs.toml": b"n_tokens = 32\nd_model = 32\nheads = 4\ninputs = 3\n",
    "undivided.toml": b"n_tokens = 512\nd_model = 768\nheads = 7\n",
    "unequal.toml": b"n_tokens=64\nd_model=64\nheads=[{d_key=4,d_value=4,beta=0.5},{d_key=8,d_value=4,beta=0.5}]\n",
    "heads.toml": b"n_tokens = 32\nd_model = 32\nheads = [1, 2]\n",
}


@pytest.mark.parametrize("command", ["verify", "law"])
@pytest.mark.parametrize("name", BAD)
def test_a_bad_layer_is_one_line_with_exit_code_2_quickly_and_writes_nothing(
    run: Run, tmp_path: Path, name: str, command: str
) -> None:
    for file, content in FILES.items():
        (tmp_path / file).write_bytes(content)
    (tmp_path / "folder").mkdir()
    arguments, named = BAD[name]
    check_refused(run, tmp_path, (command, *arguments, "--json", "report.json"), named)


@pytest.mark.parametrize("flag", ["--csv", "--npz", "--json"])
def test_the_layer_file_is_not_overwritten(run: Run, tmp_path: Path, flag: str) -> None:
    file = tmp_path / "layer.toml"
    file.write_text(LAYER.to_toml())
    outcome = run("law", "--layer", "layer.toml", flag, "./layer.toml")
    assert outcome.code == 2
    assert "must differ from layer" in outcome.err
    assert file.read_text() == LAYER.to_toml()


def test_a_layer_file_written_by_the_package_takes_another_number_of_heads(run: Run, tmp_path: Path) -> None:
    (tmp_path / "layer.toml").write_text(LAYER.to_toml())
    outcome = run("law", "--layer", "layer.toml", "--heads", "6", "--d-key", "8")
    assert outcome.code == 0
    assert "h=6" in outcome.out


def test_a_number_of_heads_leaves_the_widths_and_the_temperature_of_equal_heads(run: Run, tmp_path: Path) -> None:
    head = "{d_key=4,d_value=4,beta=0.5}"
    (tmp_path / "layer.toml").write_text(f"n_tokens=128\nd_model=128\nheads=[{head},{head}]\n")
    for flags, expected in (
        (("--heads", "8"), "h=8 d_key=4 d_value=4 β=0.5"),
        (("--d-key", "16"), "h=2 d_key=16 d_value=4 β=0.5"),
        (("--beta", "0.7"), "h=2 d_key=4 d_value=4 β=0.7"),
    ):
        outcome = run("law", "--layer", "layer.toml", *flags)
        assert outcome.code == 0
        assert expected in outcome.out


def test_with_standard_output_closed_files_are_written_all_the_same(tmp_path: Path) -> None:
    command = f"{shlex.join([*ENTRY, 'law', '--json', 'report.json'])} >&-"
    finished = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))


def test_outputs_are_named_by_their_option(run: Run, tmp_path: Path) -> None:
    check_refused(run, tmp_path, ("law", "--csv", "nowhere/x.csv"), "csv='nowhere/x.csv': the folder 'nowhere'")


def test_an_empty_file_name_is_refused(run: Run, tmp_path: Path) -> None:
    check_refused(run, tmp_path, ("law", "--csv", ""), "csv='': must be a file name")
