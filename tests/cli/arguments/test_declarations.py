"""The options --lock, --depends-on and --reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import Result

from cli.arguments.declarations import DEPENDENCY
from cli.arguments.locks import LOCK, locks_document, locks_text
from domain.contention.locks import ALIASES, LEVELS, WHOLE_LAB
from tests.intake.jobs import read_xml

Run = Callable[..., Result]

MINIMAL = ("--distro", "RHEL-9.6", "--arch", "x86_64", "--task", "/t")

# Locks as options -> their document.
LOCKS: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("network=exclusive:vlan-12",), {"network": {"Exclusive": ["vlan-12"]}}),
    (("network=Shared:b, a",), {"network": {"Shared": ["a", "b"]}}),
    (("pool=AllShared", "guest=AllExclusive"), {"pool": "AllShared", "guest": "AllExclusive"}),
    (("system_resource=unknownexclusive",), {"system_resource": "UnknownExclusive"}),
    (("Node=exclusive:$system",), {"system": {"Exclusive": ["$system"]}}),
    (("network=shared:a:b",), {"network": {"Shared": ["a:b"]}}),
    (("whole_lab",), {"whole_lab": True}),
    # Locks of a level are merged.
    (("pool=shared:a", "pool=shared:b"), {"pool": {"Shared": ["a", "b"]}}),
    (("pool=shared:a", "pool=exclusive:a"), {"pool": {"Exclusive": ["a"]}}),
    (
        ("pool=shared:a", "pool=exclusive:b", "pool=exclusive:c"),
        {"pool": [{"Shared": ["a"]}, {"Exclusive": ["b", "c"]}]},
    ),
    (("pool=none",), {}),
]


def converted(options: tuple[str, ...]) -> dict[str, Any]:
    return locks_document(LOCK.convert(each, None, None) for each in options)


@pytest.mark.parametrize(("options", "document"), LOCKS)
def test_lock__in_its_short_form__is_the_document(options: tuple[str, ...], document: dict[str, Any]) -> None:
    assert converted(options) == document
    assert converted(tuple(locks_text(document).split())) == document


@pytest.mark.parametrize("level", [*LEVELS, *ALIASES])
def test_lock__every_level_and_alias__is_accepted(level: str) -> None:
    assert converted((f"{level}=AllShared",)) == {ALIASES.get(level, level): "AllShared"}


# A wrong lock -> the message behind it.
WRONG_LOCKS = [
    *((each, "must be LEVEL=KIND[:NAME,…]") for each in ("pool", "=shared:a", "pool=", "whole-lab", "")),
    *((each, "must be LEVEL=KIND[:NAME,…]") for each in ("pool=:a", "pool=shared=a", "pool=shared=a:b")),
    ("pol=AllShared", "unknown level 'pol'; must be one of pool, guest"),
    (f"{WHOLE_LAB}=AllShared", "whole_lab takes no kind; write whole_lab"),
    ("pool=odd", "unknown kind 'odd'; must be one of None, Shared"),
    ("pool=shared", "Shared needs names, as in pool=Shared:NAME"),
    ("pool=exclusive:", "Exclusive needs names"),
    ("pool=AllShared:a", "AllShared takes no names; write pool=AllShared"),
    ("pool=shared:a,,b", "a name must not be empty"),
    ("pool=shared:a\x00", "a name must not contain control characters"),
]


@pytest.mark.parametrize(("given", "message"), WRONG_LOCKS)
def test_lock__wrong__says_what_would_be_right(given: str, message: str) -> None:
    with pytest.raises(click.BadParameter) as raised:
        LOCK.convert(given, None, None)
    assert raised.value.message.startswith(f"{given!r}: {message}")


DEPENDENCIES: list[tuple[str, dict[str, Any]]] = [
    ("job=17", {"job": 17, "states": ["completed", "aborted"]}),
    ("set=3:aborted, Completed", {"recipe_set": 3, "states": ["completed", "aborted"]}),
    ("job=2147483647:cancelled", {"job": 2147483647, "states": ["cancelled"]}),
]


@pytest.mark.parametrize(("given", "document"), DEPENDENCIES)
def test_dependency__in_its_short_form__is_the_document(given: str, document: dict[str, Any]) -> None:
    assert DEPENDENCY.convert(given, None, None) == document


WRONG_DEPENDENCIES = [
    *((each, "must be job=ID or set=ID") for each in ("17", "job", "job=", "job=-1", "recipe=3", "job=x")),
    *((each, "the id must be from 1") for each in ("job=0", "set=2147483648")),
    ("job=1:done", "unknown state 'done'; must be one of completed, cancelled, aborted"),
    ("job=1:", "unknown state ''"),
]


@pytest.mark.parametrize(("given", "message"), WRONG_DEPENDENCIES)
def test_dependency__wrong__says_what_would_be_right(given: str, message: str) -> None:
    with pytest.raises(click.BadParameter) as raised:
        DEPENDENCY.convert(given, None, None)
    assert raised.value.message.startswith(f"{given!r}: {message}")


def test_workflow__with_declarations__they_are_in_the_job(run: Run) -> None:
    options = ("--lock", "network=exclusive:a", "--lock", "network=exclusive:b", "--lock", "whole_lab")
    more = ("--depends-on", "set=7", "--reason", "one", "--reason", "rate-limit:3:x")
    result = run("workflow", *MINIMAL, "--servers", "2", *options, *more)
    assert result.exit_code == 0, result.output
    job = read_xml(result.stdout.encode()).document
    assert job["depends_on"] == [{"recipe_set": 7, "states": ["completed", "aborted"]}]
    assert job["reasons"] == ["one", "rate-limit:3:x"]
    locks = {"network": {"Exclusive": ["a", "b"]}, "whole_lab": True}
    assert [recipe["locks"] for recipe in job["recipe_sets"][0]["recipes"]] == [locks, locks]


WORKFLOW, SUBMIT = ("workflow", *MINIMAL), ("submit", "-")


@pytest.mark.parametrize(
    "arguments",
    [
        *((*command, "--lock", "pool") for command in (WORKFLOW, SUBMIT)),
        *((*command, "--depends-on", "17") for command in (WORKFLOW, SUBMIT)),
        *((*command, "--reason", " ") for command in (WORKFLOW, SUBMIT)),
        # The server checks the reasons that `submit` adds.
        (*WORKFLOW, "--reason", "a\nb"),
    ],
)
def test_declaration__wrong__is_wrong_usage(run: Run, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
