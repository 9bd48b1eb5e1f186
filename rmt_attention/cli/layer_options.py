"""The flags that describe a layer, the same for every command."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ..layer import AttentionLayer, layer_fields
from ..presets import PRESETS, preset_fields
from .terminal import one_line_errors

DEFAULT_PRESET = "BERT-base"
_LARGEST_FILE = 10_000_000
_GROUP_HELP = "Number of distinct {} matrices, or a comma-separated matrix for each head."


def layer_command(command: Callable[..., int]) -> Callable[..., None]:
    """A typer command from a function of a layer and options of its own that returns an exit code.

    The layer, its first argument, is replaced by the flags of :func:`layer_from_flags`. What the function refuses or
    cannot finish becomes one line and an exit code.
    """
    flags = inspect.signature(layer_from_flags, eval_str=True).parameters
    _, *options = inspect.signature(command, eval_str=True).parameters.values()

    @functools.wraps(command)
    def run(**given: Any) -> None:
        with one_line_errors():
            for name in ("csv", "npz", "json_file", "plot"):
                path, source = given.get(name), given["layer"]
                if path is not None and source is not None and Path(path).resolve() == source.resolve():
                    raise ValueError(f"{name.removesuffix('_file')}={path!r}: must differ from layer, which is read")
            layer = layer_from_flags(**{name: given.pop(name) for name in flags})
            code = command(layer, **given)
        raise typer.Exit(code)

    run.__signature__ = inspect.Signature([*flags.values(), *options])  # type: ignore[attr-defined]
    return run


def layer_from_flags(
    preset: Annotated[str | None, typer.Option(help=f"Dimensions of a public model: {', '.join(PRESETS)}.")] = None,
    layer: Annotated[Path | None, typer.Option(help="TOML file that describes the layer.")] = None,
    n_tokens: Annotated[int | None, typer.Option(help="Tokens n.")] = None,
    d_model: Annotated[int | None, typer.Option(help="Input width d.")] = None,
    heads: Annotated[int | None, typer.Option(help="Number of heads h.")] = None,
    d_key: Annotated[int | None, typer.Option(help="Query/key width of a head.")] = None,
    d_value: Annotated[int | None, typer.Option(help="Value width of a head.")] = None,
    d_out: Annotated[int | None, typer.Option(help="Output width.")] = None,
    beta: Annotated[float | None, typer.Option(help="Inverse temperature β > 0.")] = None,
    query_groups: Annotated[str | None, typer.Option(help=_GROUP_HELP.format("query"))] = None,
    key_groups: Annotated[str | None, typer.Option(help=_GROUP_HELP.format("key"))] = None,
    value_groups: Annotated[str | None, typer.Option(help=_GROUP_HELP.format("value"))] = None,
    output_groups: Annotated[str | None, typer.Option(help=_GROUP_HELP.format("output"))] = None,
    kv_groups: Annotated[
        str | None, typer.Option(help=_GROUP_HELP.format("key and value") + " 1 is multi-query.")
    ] = None,
    key_value_correlation: Annotated[
        float | None, typer.Option(help="Correlation of W^V with W^K in each head; 1 ties them.")
    ] = None,
    inputs: Annotated[str | None, typer.Option(help="orthonormal or gaussian.")] = None,
) -> AttentionLayer:
    """The layer of a preset (BERT-base if none) or of a TOML file, its fields replaced by the flags that were given."""
    if preset is not None and layer is not None:
        raise ValueError(f"preset={preset!r}: must be absent when a layer file is given")
    numbers = {
        "n_tokens": n_tokens,
        "d_model": d_model,
        "heads": heads,
        "d_key": d_key,
        "d_value": d_value,
        "d_out": d_out,
        "beta": beta,
        "key_value_correlation": key_value_correlation,
        "inputs": inputs,
    }
    groups = {
        "query_groups": query_groups,
        "key_groups": key_groups,
        "value_groups": value_groups,
        "output_groups": output_groups,
        "kv_groups": kv_groups,
    }
    given: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
    given |= {name: _groups(name, text) for name, text in groups.items() if text is not None}
    base = preset_fields(DEFAULT_PRESET if preset is None else preset) if layer is None else _fields_of(layer)
    changed = [name for name in ("heads", "d_key", "d_value", "beta") if name in given]
    if changed and isinstance(base.get("heads"), list):
        base = _with_equal_heads(base, f"{changed[0]}={given[changed[0]]!r}")
    overridden = {
        "kv_groups": ("key_groups", "value_groups"),
        "key_groups": ("kv_groups",),
        "value_groups": ("kv_groups",),
    }
    dropped = {old for name in given for old in overridden.get(name, ())}
    return AttentionLayer.from_dict({**{name: base[name] for name in base if name not in dropped}, **given})


def _with_equal_heads(base: dict[str, Any], flag: str) -> dict[str, Any]:
    """Fields of a layer that lists its heads, with their number, widths and β as numbers if all are the same."""
    listed = base["heads"]
    if not all(isinstance(head, dict) and head == listed[0] for head in listed):
        raise ValueError(f"{flag}: must be absent when the layer file lists heads that differ")
    return {**base, **(listed[0] if listed else {}), "heads": len(listed)}


def _fields_of(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise ValueError(f"layer={str(path)!r}: must be at most {_LARGEST_FILE} bytes long")
        return layer_fields(content.decode())
    except OSError as error:
        raise ValueError(f"layer={str(path)!r}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"layer={str(path)!r}: must be text in UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{error} (in {path})") from None


def _groups(name: str, text: str) -> int | list[int]:
    """A group option: a number of matrices, or a comma-separated matrix for each head."""
    try:
        labels = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name}={text!r}: must be an integer, or one integer per head separated by commas") from None
    return labels[0] if len(labels) == 1 else labels
