"""A group of commands known by name and one line of help, so that none is imported before it is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from api.cli.failures import failures_shown


@dataclass(frozen=True)
class Entry:
    """Where a command is defined, `module:name`, and its line in the list of commands."""

    target: str
    help: str


class LazyGroup(click.Group):
    """Also the place where every failure becomes a message and an exit status."""

    def __init__(self, *args: Any, entries: Mapping[str, Entry], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._entries = entries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        module, _, name = entry.target.partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self._entries.items()])

    def invoke(self, ctx: click.Context) -> Any:
        with failures_shown(ctx):
            return super().invoke(ctx)


def version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        # Only here: reading package metadata takes longer than most commands need to start.
        from importlib.metadata import version as version_of

        click.echo(f"labledger {version_of('labledger')}")
        ctx.exit()
