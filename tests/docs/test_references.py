"""Links, files and commands in the docs exist."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from cli import main
from domain.admission.dependencies import JOB, Dependency, verdict
from domain.queues.limits import SYSTEMS, QueueMaximum
from domain.scheduling.supply import reasons
from domain.scheduling.supply.reasons import shown_reason
from tests.docs.page import DOCS, TOP

CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
# A path from the top, or a name with an extension that files of this project have.
PATH = re.compile(
    r"(?<![\w./~*-])(?:(?:api|bench|cli|domain|postgres|projections|replay|runtime|store|workers|tests|script|deploy|docs|\.ci)/[\w./-]*\w/?|[\w./-]+\.(?:py|sql|rng))"
)
LABLEDGER = re.compile(r"\blabledger((?: +[^\s`|;&<>()\"']+)+)")
# Punctuation behind a command.
END = re.compile(r"[:,.]$")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that a page links to, and the headings in them."""
    for target in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        if "://" not in target:
            file, _, heading = target.partition("#")
            yield (page.parent / file).resolve() if file else page, heading


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as Markdown viewers build them."""
    headings = HEADING.findall(
        re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    )
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def paths(page: Path) -> Iterator[str]:
    for code in CODE.findall(page.read_text("utf-8")):
        yield from PATH.findall(code)


def is_there(path: str) -> bool:
    """Return whether a path exists from the top, ends the path of a file, or is a module like `store.sql`."""
    module = TOP / f"{path.replace('.', '/')}.py"
    return (
        (TOP / path).exists() or module.exists() or any(f"/{file}".endswith(f"/{path}") for file in _files())
    )


@cache
def _files() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True
    )
    return tuple(listed.stdout.splitlines())


def commands_named(page: Path) -> Iterator[list[str]]:
    """Yield the words after each `labledger` in code, up to the end of the line."""
    for code in CODE.findall(page.read_text("utf-8")):
        if code.startswith("```sql"):
            continue
        for words in LABLEDGER.findall(code):
            yield [END.sub("", word) for word in words.split()]


def faults(words: list[str]) -> Iterator[str]:
    """Yield the subcommands and options of a command that do not exist."""
    command: click.Command = main
    context = click.Context(main)
    options = {"--help", "-h"}
    for word in words:
        options |= {option for param in command.params for option in param.opts + param.secondary_opts}
        if word.startswith("-") and len(word) > 1:
            option = word.partition("=")[0]
            if option not in options:
                yield f"{command.name} has no {option}"
        elif isinstance(command, click.Group) and word.isascii() and word.islower():
            found = command.get_command(context, word)
            if found is None:
                yield f"{command.name} has no {word}"
                return
            command = found


pytestmark = pytest.mark.skipif(
    subprocess.run(["git", "rev-parse"], cwd=TOP, check=False, capture_output=True).returncode != 0,
    reason="not in a checkout, so git cannot list the files",
)


@pytest.mark.parametrize("page", DOCS)
def test_page__its_links__lead_somewhere(page: str) -> None:
    for file, heading in links(TOP / page):
        assert file.exists(), f"{page} leads to {file}"
        assert not heading or heading in anchors(file), f"{page} leads to #{heading} of {file}"


# The page of renamed modules names old ones.
@pytest.mark.parametrize("page", sorted({*DOCS, "CHANGELOG.md"} - {"docs/renamed.md"}))
def test_page__files_it_names__exist(page: str) -> None:
    assert [path for path in paths(TOP / page) if not is_there(path)] == []


@pytest.mark.parametrize("page", DOCS)
def test_page__modules_it_runs__exist(page: str) -> None:
    run = re.findall(r"python -m ([a-z_.]+\w)", (TOP / page).read_text("utf-8"))
    assert [module for module in run if find_spec(module) is None] == []


@pytest.mark.parametrize("page", [*DOCS, "CHANGELOG.md"])
def test_page__commands_it_names__exist_with_their_options(page: str) -> None:
    found = [(" ".join(words), fault) for words in commands_named(TOP / page) for fault in faults(words)]
    assert found == []


def test_submitters_page__reasons_for_waiting__are_those_of_the_code() -> None:
    text = (TOP / "docs" / "how-to" / "submit-jobs.md").read_text("utf-8")
    table = re.findall(r"^\| `([^`]+)` \|", text.partition("| reason |")[2].partition("\n\n")[0], re.M)
    waiting = (
        *(reasons.NO_IDLE_SYSTEM, reasons.NO_IDLE_ACCESS, reasons.ALL_BROKEN, reasons.NONE_USABLE),
        *(reasons.ALL_SILENT, reasons.ALL_LENT, reasons.SET_INCOMPLETE, reasons.UNSAFE, reasons.LET_GO),
        *(reasons.TREE_AWAY, reasons.SIBLING_TREE_AWAY, f"{reasons.PREEMPTED} 7"),
    )
    waits_for_job = verdict((Dependency(JOB, 17),), lambda *_: None)[1]
    admission = waits_for_job, f'{reasons.PAUSED} "NAME"', reasons.NO_ROOM
    maximum, of_bob = (QueueMaximum("root.net", SYSTEMS, whose, 2) for whose in ("", "user bob"))
    of_queues = f"{reasons.QUEUE_STOPPED} root.net", f"{reasons.NO_ROOM}: {maximum}"
    assert set(table) == {*map(shown_reason, waiting), *admission, *of_queues}
    assert f"(`{of_bob}`)" in text


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("submit FILE --wait", []),
        ("lab simulate --speed 60 --once", []),
        ("lab-controller put lab.example.com --disabled", []),
        ("queue --nosuch", ["queue has no --nosuch"]),
        ("nosuch --json", ["main has no nosuch"]),
        ("lab nosuch", ["lab has no nosuch"]),
        ("token create --role=admin USER", []),
    ],
)
def test_faults__of_a_command__name_missing_parts(words: str, missing: list[str]) -> None:
    assert list(faults(words.split())) == missing


def test_is_there__existing_and_missing_paths__differ() -> None:
    assert is_there("cli/") and is_there("output_match.py") and is_there("docs/how-to/audit.md")
    assert not is_there("api/nosuch.py") and not is_there("put_match.py")


def test_tests_page__every_folder_with_tests__has_a_row() -> None:
    folders = {path.relative_to(TOP / "tests").parts[0] for path in (TOP / "tests").rglob("test_*.py")}
    listed = re.findall(r"^\| `(\w+)/` \| \d+ \|", (TOP / "tests" / "README.md").read_text("utf-8"), re.M)
    assert sorted(listed) == sorted(folder for folder in folders if not folder.endswith(".py"))
