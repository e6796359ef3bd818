"""Suggestions for unknown commands."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from click.testing import Result

from cli.beaker_verbs import COMMANDS, WITHOUT
from tests.cli.command_tree import LEAVES, command_at

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        ("partition create x", "labledger partition put"),
        ("user add x", "labledger user put"),
        ("group new x", "labledger group put"),
        # The command for a part of an object comes first.
        ("group add g1 nobody", "labledger group add-member` or `labledger group put"),
        ("pool add big a.b", "labledger pool add-system` or `labledger pool put"),
        ("system remove a.b", "labledger system condition FQDN Removed"),
        # Another command is nearer.
        ("system ad x", "labledger system add"),
        # The group of systems has no `put`, and `vacate` is only spelt alike.
        ("system create x", "labledger system add"),
        # The name of an object.
        ("partition west", "labledger partition show west"),
    ],
)
def test_unknown_command__of_a_group__suggests_one_that_exists(
    run: Run, arguments: str, suggested: str | None
) -> None:
    result = run(*arguments.split(), prog_name="labledger")
    assert result.exit_code == 2
    suggestion = "" if suggested is None else f" Did you mean `{suggested}`?"
    name = arguments.split()[1]
    assert result.stderr.endswith(f"No such command: {name!r}.{suggestion}\n")


@pytest.mark.parametrize("verb", ["backup", "restore"])
def test_backup__no_command__names_the_page(run: Run, verb: str) -> None:
    assert run(verb).stderr.endswith(f"No such command: {verb!r}. See docs/backup.md.\n")


@pytest.mark.parametrize("verb", sorted({*COMMANDS, *WITHOUT}))
def test_command__of_beaker__advice_names_commands_that_exist(run: Run, verb: str) -> None:
    result = run(verb, "1", prog_name="labledger")
    assert result.exit_code == 2
    assert f"No such command: {verb!r}. Coming from Beaker? " in result.stderr
    named = re.findall("`labledger ([^`]+)`", result.stderr)
    assert [words for words in COMMANDS.get(verb, ()) if words not in named] == []
    assert named or verb in WITHOUT
    for words in named:
        path = tuple(words.split())
        leaf = next((path[:length] for length in (2, 1) if path[:length] in LEAVES), None)
        assert leaf is not None, f"{words} is no command"
        options = {option for param in command_at(leaf).params for option in param.opts}
        assert {word for word in path if word.startswith("--")} <= options


def test_commands__of_beaker__none_exists_here() -> None:
    assert not {*COMMANDS, *WITHOUT} & {path[0] for path in LEAVES}
    assert not COMMANDS.keys() & WITHOUT.keys()
