"""The commands of the command line, by their paths such as ("system", "show")."""

from __future__ import annotations

from collections.abc import Iterator

import click

from cli import main


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield path
    if not isinstance(command, click.Group):
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from leaves(found, (*path, name))


def command_at(path: tuple[str, ...]) -> click.Command:
    found: click.Command | None = main
    for name in path:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), name)
    assert found is not None
    return found


LEAVES = sorted(leaves(main))
