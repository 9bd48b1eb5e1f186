"""Theory and code point at each other: labels, symbols, test ids and file names in derivations/ all resolve."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = [
    "Statement",
    "Assumptions and scaling",
    "Status",
    "Derivation",
    "Finite-size remarks",
    "Implemented in",
    "Checked by",
    "References",
]
_LABEL = r"\((?:model|laws|free)\.[a-z0-9-]+\)"
# A label is defined where it stands alone in bold, **(area.name)**, and cited by (area.name) anywhere else.
_DEFINITION = re.compile(rf"\*\*({_LABEL})\*\*")
_CITATION = re.compile(rf"(?<!\*\*){_LABEL}")


def derivations() -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((ROOT / "derivations").glob("*.md"))}


def package_prose() -> dict[str, str]:
    return {
        str(path.relative_to(ROOT)): prose(path.read_text()) for path in sorted((ROOT / "rmt_attention").rglob("*.py"))
    }


# Checkers: each returns what is wrong, one sentence per fault ---------------------------------------------------------


def prose(source: str) -> str:
    """Comments and bare string statements (docstrings) of Python source; code never counts as a citation."""
    tree = ast.parse(source)
    pieces = [
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    pieces += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(pieces)


def definitions(documents: Mapping[str, str]) -> dict[str, list[str]]:
    """Files that define each label, once per definition."""
    found: dict[str, list[str]] = {}
    for name, text in documents.items():
        for label in _DEFINITION.findall(text):
            found.setdefault(label, []).append(name)
    return found


def label_faults(documents: Mapping[str, str], package: Mapping[str, str]) -> list[str]:
    defined = definitions(documents)
    faults = [f"{label} is defined {len(files)} times: {files}" for label, files in defined.items() if len(files) > 1]
    cited_by: dict[str, set[str]] = {}
    for name, text in {**documents, **package}.items():
        for label in _CITATION.findall(text):
            cited_by.setdefault(label, set()).add(name)
    faults += [
        f"{label} is cited by {sorted(files)} and defined nowhere"
        for label, files in cited_by.items()
        if label not in defined
    ]
    faults += [
        f"{label} is cited neither by the package nor by another derivation"
        for label, files in defined.items()
        if not cited_by.get(label, set()) - set(files)
    ]
    return faults


def resolves(symbol: str) -> bool:
    """Whether a dotted name is a module, or an attribute or dataclass field reached from one."""
    parts = symbol.split(".")
    for length in range(len(parts), 0, -1):
        try:
            target: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            if dataclasses.is_dataclass(target) and part in {field.name for field in dataclasses.fields(target)}:
                return part == parts[-1]
            if not hasattr(target, part):
                return False
            target = getattr(target, part)
        return True
    return False


def symbol_faults(documents: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: {symbol} does not exist"
        for name, text in documents.items()
        for symbol in re.findall(r"`(rmt_attention(?:\.\w+)+)`", text)
        if not resolves(symbol)
    ]


def collect_tests(body: Iterable[ast.stmt], prefix: str = "") -> set[str]:
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.ClassDef):
            names |= collect_tests(node.body, f"{prefix}{node.name}::")
        elif isinstance(node, ast.FunctionDef):
            names.add(prefix + node.name)
    return names


def broken_test_ids(documents: Mapping[str, str]) -> list[str]:
    faults = []
    for name, text in documents.items():
        for path, test in re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)(?:\[[^`]*\])?`", text):
            file = ROOT / path
            if not file.is_file():
                faults.append(f"{name}: {path} does not exist")
            elif test not in collect_tests(ast.parse(file.read_text()).body):
                faults.append(f"{name}: {path} has no test {test}")
    return faults


def section(text: str, title: str) -> str:
    match = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return match.group(1).strip() if match else ""


def template_faults(documents: Mapping[str, str]) -> list[str]:
    faults = []
    for name, text in documents.items():
        if not re.match(r"# \S", text):
            faults.append(f"{name}: does not start with a title")
        titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
        if titles != SECTIONS:
            faults.append(f"{name}: sections are {titles}, expected {SECTIONS}")
        faults += [f"{name}: section {title} is empty" for title in titles if not section(text, title)]
        if "`rmt_attention." not in section(text, "Implemented in"):
            faults.append(f"{name}: Implemented in names no symbol")
        if "`tests/" not in section(text, "Checked by"):
            faults.append(f"{name}: Checked by names no test")
    return faults


def file_name_faults(texts: Mapping[str, str], existing: Iterable[str]) -> list[str]:
    known = set(existing)
    return [
        f"{name}: there is no derivations/{file}"
        for name, text in texts.items()
        for file in re.findall(r"\b(\d\d-[\w-]+\.md)", text)
        if file not in known
    ]


# The project ---------------------------------------------------------------------------------------------------------


def test_every_label_cited_in_the_package_is_defined_once_and_every_defined_label_is_cited():
    assert label_faults(derivations(), package_prose()) == []


def test_the_package_cites_labels_at_all():
    cited = {label for text in package_prose().values() for label in _CITATION.findall(text)}
    assert {"(laws.curve)", "(laws.cdf)", "(model.thetas)"} <= cited


def test_every_symbol_named_in_a_derivation_exists():
    assert symbol_faults(derivations()) == []


def test_every_test_id_named_in_a_derivation_exists():
    assert broken_test_ids(derivations()) == []


def test_every_derivation_has_the_sections_of_the_template_in_order():
    assert template_faults(derivations()) == []


def test_every_derivation_file_named_in_the_package_or_in_derivations_exists():
    documents = derivations()
    assert file_name_faults({**documents, **package_prose()}, documents) == []


# Negative controls: every checker must see a planted fault -----------------------------------------------------------

DOCUMENT = """# Title

## Statement

**(laws.real)** x = y, and (laws.other).

## Implemented in

`rmt_attention.spectra.EmpiricalLaw` `rmt_attention.spectra.Atom.location`

## Checked by

`tests/test_derivations.py::test_every_test_id_named_in_a_derivation_exists`
"""


def test_a_citation_without_definition_is_reported():
    faults = label_faults({"a.md": "**(laws.real)**"}, {"m.py": "(laws.real) (laws.bogus)"})
    assert faults == ["(laws.bogus) is cited by ['m.py'] and defined nowhere"]


def test_a_label_defined_twice_is_reported():
    faults = label_faults({"a.md": "**(laws.real)**", "b.md": "**(laws.real)**"}, {"m.py": "(laws.real)"})
    assert faults == ["(laws.real) is defined 2 times: ['a.md', 'b.md']"]


def test_a_label_cited_only_by_its_own_file_is_reported():
    faults = label_faults({"a.md": "**(laws.real)** and again (laws.real)"}, {"m.py": ""})
    assert faults == ["(laws.real) is cited neither by the package nor by another derivation"]


def test_only_comments_and_docstrings_count_as_citations():
    source = 'def f():\n    """See (laws.a)."""\n    return g(laws.b)  # (laws.c)\n\nx = "(laws.d)"\n"""(laws.e)"""\n'
    assert set(_CITATION.findall(prose(source))) == {"(laws.a)", "(laws.c)", "(laws.e)"}


@pytest.mark.parametrize(
    "symbol",
    ["rmt_attention.bogus", "rmt_attention.spectra.Bogus", "rmt_attention.spectra.EmpiricalLaw.bogus"],
)
def test_a_symbol_that_does_not_exist_is_reported(symbol):
    assert symbol_faults({"a.md": DOCUMENT}) == []
    assert symbol_faults({"a.md": f"`{symbol}`"}) == [f"a.md: {symbol} does not exist"]


def test_a_test_id_that_does_not_exist_is_reported():
    assert broken_test_ids({"a.md": DOCUMENT}) == []
    missing = "`tests/test_bogus.py::test_x` `tests/test_derivations.py::test_bogus[1]`"
    assert broken_test_ids({"a.md": missing}) == [
        "a.md: tests/test_bogus.py does not exist",
        "a.md: tests/test_derivations.py has no test test_bogus",
    ]


def test_missing_or_misplaced_sections_are_reported():
    whole = "# T\n" + "".join(f"## {title}\n`rmt_attention.x` `tests/x`\n" for title in SECTIONS)
    assert template_faults({"a.md": whole}) == []
    assert template_faults({"a.md": whole.replace("## Status\n", "## Standing\n")}) != []
    assert template_faults({"a.md": DOCUMENT}) != []
    assert template_faults({"a.md": whole.replace("`tests/x`", "TODO")}) == ["a.md: Checked by names no test"]


def test_a_file_name_that_does_not_exist_is_reported():
    assert file_name_faults({"m.py": "see derivations/99-bogus.md"}, ["01-real.md"]) == [
        "m.py: there is no derivations/99-bogus.md"
    ]
