"""Suggestions for unknown commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("arguments", "suggested"),
    [
        ("partition create x", "labledger partition put"),
        ("user add x", "labledger user put"),
        ("group new x", "labledger group put"),
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
