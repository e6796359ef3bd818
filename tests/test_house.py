"""House rules of the repository: language, class names, names of tests, and modules shared by tests."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.language import FOLDERS, PRODUCT, TOP, findings, in_page, in_python, sources

DOMAIN = "domain"
MIRRORS = (
    "api.intake.document",
    "api.rest.contract.answers",
    "api.rest.contract.inputs",
    "api.rest.resources",
    # It repeats the rules of the domain without its code.
    "replay.audit",
)
BETTER = "Choose a name that says what is special about this class; see docs/glossary.md."

Places = dict[str, list[str]]


def clashes(modules: Mapping[str, str]) -> list[str]:
    """Return the class names with more than one meaning, from the source texts of modules by dotted name."""
    places: dict[str, Places] = defaultdict(lambda: defaultdict(list))
    for module, text in modules.items():
        for name in _classes(text):
            places[name][_room(module)].append(module)
    return [
        f"{name}: {', '.join(_flat(by_room))}. {BETTER}"
        for name, by_room in sorted(places.items())
        if _clashes(by_room)
    ]


def dotted_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _classes(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and not any(_is_protocol(base) for base in node.bases):
            yield node.name


def _is_protocol(base: ast.expr) -> bool:
    return ast.unparse(base).partition("[")[0] in ("Protocol", "typing.Protocol")


def _room(module: str) -> str:
    """Return the package in which a name is unique: a mirror, the domain, or "" for the rest."""
    rooms = (room for room in (*MIRRORS, DOMAIN) if f"{module}.".startswith(f"{room}."))
    return next(rooms, "")


def _clashes(by_room: Places) -> bool:
    is_alone = len(by_room) == 1
    return any(len(modules) > 1 for modules in by_room.values()) or ("" in by_room and not is_alone)


def _flat(by_room: Places) -> Iterable[str]:
    return sorted(module for modules in by_room.values() for module in modules)


TESTS = Path(__file__).resolve().parent

SHARED = "Other tests must not import a test module: move shared code into a module that is named after it."
STORY = "Name it subject__situation__outcome: the tested thing, the case, and the expected result."


def faults(source: str) -> list[str]:
    nodes = [*ast.walk(ast.parse(source))]
    return [
        *(f"imports {name}. {SHARED}" for name in _imported(nodes) if _is_test_module(name)),
        *(f"{name}. {STORY}" for name in _tests(nodes) if not _tells_a_story(name)),
    ]


def _imported(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield imported modules and names, since an imported name may be a module."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
            yield from (alias.name for alias in node.names)


def _is_test_module(name: str) -> bool:
    return name.rpartition(".")[2].startswith("test_")


def _tests(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name


def _tells_a_story(name: str) -> bool:
    parts = name.removeprefix("test_").split("__")
    return len(parts) >= 3 and all(parts)


@pytest.mark.parametrize("name", [*FOLDERS, *sorted(page.name for page in TOP.glob("*.md"))])
def test_repository__every_file__keeps_the_house_rules(name: str) -> None:
    found = [str(finding) for finding in findings(sources(name))]
    for file in sources(name):
        if file.is_relative_to(TESTS) and file.suffix == ".py":
            found += [f"{file.relative_to(TOP)}: {fault}" for fault in faults(file.read_text())]
    assert not found, "\n".join(["files break house rules:", *found])


PLANTED = [
    # Helpers of another test, by each form of import.
    ("from tests.workers.test_lease import holder", SHARED),
    ("from tests.workers import test_lease", SHARED),
    ("from .test_lease import holder", SHARED),
    ("import tests.workers.test_lease", SHARED),
    ("def story():\n    from tests.workers.test_lease import holder", SHARED),
    # Names without one of the three parts.
    ("def test_lease(): ...", STORY),
    ("def test_lease__is_taken(): ...", STORY),
    ("def test_lease____is_taken(): ...", STORY),
    ("async def test_lease_held_is_not_taken(): ...", STORY),
]


@pytest.mark.parametrize(("source", "why"), PLANTED, ids=[source for source, _ in PLANTED])
def test_faults__planted__are_found_with_advice(source: str, why: str) -> None:
    (fault,) = faults(source)
    assert fault.endswith(why)


CORRECT = [
    "from tests.workers.leases import holder",
    "from tests.harness.databases import TestDatabase",
    "def test_lease__held_by_another__is_not_taken(): ...",
    "def tested(): ...",
]


@pytest.mark.parametrize("source", CORRECT)
def test_faults__correct_code__has_none(source: str) -> None:
    assert faults(source) == []


MODULE = TOP / "domain" / "module.py"
PAGE = TOP / "docs" / "page.md"

PLANTED_IN_CODE = [
    # Openings of docstrings, of functions, classes and modules.
    ('def f(): """Of each system, its lab."""', 'docstring opens with "Of" -> a verb: Return'),
    ('class A: """Whether it is idle."""', 'docstring opens with "Whether" -> a verb: Return'),
    ('"""What is cached."""', 'docstring opens with "What" -> a verb: Return'),
    ('async def f(): """The same for groups."""', 'docstring opens with "The same" -> a verb: Return'),
    # Words, in docstrings and comments.
    ('def f(): """Return the told events."""', '"told" -> serialised'),
    ('def f():\n    """Return.\n\n    Whoever asks.\n    """', 'module.py:4: "Whoever" -> the caller'),
    ("a = 1  # Systems that come in.", '"come in" -> authenticate'),
    ("# So many systems at most.", '"So many" -> the number'),
    # Names of functions, classes, arguments, variables, attributes.
    ("def told(): ...", "name told -> serialised"),
    ("class AllKnown: ...", "name AllKnown -> registered"),
    ("def f(whos): ...", "name whos -> submitters"),
    ("known = []", "name known -> registered"),
    ("self._packed = b''", "name _packed -> compressed"),
    # Limits.
    ("MOST_SYSTEMS = 5", "name MOST_SYSTEMS -> max"),
    ("DEPTH_LIMIT = 5", "limit DEPTH_LIMIT -> MAX_"),
]


@pytest.mark.parametrize(("source", "better"), PLANTED_IN_CODE)
def test_language__planted_in_code__is_found_with_a_better_form(source: str, better: str) -> None:
    (found,) = in_python(MODULE, source)
    assert better in str(found)


def test_language__planted_in_a_page__is_found_in_its_line() -> None:
    (found,) = in_page(PAGE, "# Page\n\nSystems of which nothing is heard.\n")
    assert str(found).startswith('docs/page.md:3: "of which" -> a sentence')


CORRECT_CODE = [
    'def f(): """Return the lab of each system."""',
    '"""In-memory log."""',
    "MAX_SYSTEMS = 5",
    "DEFAULT_LIMIT = 20",
    "unknown = []",
    "print('told')",
    "# The value is otherwise unused, and supposed to be small.",
]


@pytest.mark.parametrize("source", CORRECT_CODE)
def test_language__correct_code__has_no_findings(source: str) -> None:
    assert [*in_python(MODULE, source)] == []


def test_language__code_in_a_page__is_not_checked() -> None:
    assert [*in_page(PAGE, "`told` and [a link](told.md)\n\n```\ntold\n```\n")] == []


def test_classes__of_the_product__have_one_meaning_each() -> None:
    files = [file for file in sources(*PRODUCT) if file.suffix == ".py"]
    modules = {dotted_name(file.relative_to(TOP)): file.read_text() for file in files}
    assert not (found := clashes(modules)), "\n".join(found)


SAME_NAMES = [
    ("store.a", "workers.b", True),
    ("domain.a", "domain.b", True),
    ("domain.a", "store.b", True),
    ("api.rest.contract.answers.a", "api.use_cases.b", True),
    ("api.rest.contract.answers.a", "api.rest.contract.answers.b", True),
    # Shapes of HTTP mirror the domain, and the audit repeats it.
    ("api.rest.contract.answers.a", "domain.b", False),
    ("replay.audit.a", "domain.b", False),
]


@pytest.mark.parametrize(("one", "other", "clash"), SAME_NAMES)
def test_classes__two_of_one_name__clash_unless_one_mirrors_the_other(
    one: str, other: str, clash: bool
) -> None:
    found = clashes({one: "class Row: ...", other: "class Row: ..."})
    assert found == ([f"Row: {one}, {other}. {BETTER}"] if clash else [])


def test_classes__protocol_of_the_same_name__is_no_clash() -> None:
    assert clashes({"api.a": "class Rows(Protocol[T]): ...", "store.b": "class Rows: ..."}) == []
