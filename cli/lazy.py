"""Groups of commands that import a command only when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from cli.failures import AS_JSON, failures_shown
from runtime.processes.garbage_collection import gc_paused

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


CommandEntry = tuple[str, str]
"""A command as `module:name`, and its line in the list of commands."""


# Commands of other programs that create an object; here `put` does.
CREATING = ("create", "add", "new")
# Commands of other programs that delete an object. A system gets the condition Removed instead.
DELETING = ("remove", "delete", "rm")
REMOVED = "condition FQDN Removed"
# Commands of other programs -> the page about what they do.
PAGES = {"backup": "docs/backup.md", "restore": "docs/backup.md"}


class SuggestingGroup(click.Group):
    """A group that suggests a command after a typing error."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(self._no_such_command(ctx, args[0]), ctx)
        return super().resolve_command(ctx, args)

    def _no_such_command(self, ctx: click.Context, name: str) -> str:
        """Return the message for an unknown command, with suggestions."""
        names = self.list_commands(ctx)
        options = {option for param in self.get_params(ctx) for option in param.opts}
        # Other programs have commands named `help` and `version`; here they are options.
        close = [f"--{name}"] if f"--{name}" in options else get_close_matches(name, names)
        if name in CREATING and (creating := {"put", "add"}.intersection(names)):
            parts = [each for each in names if name == "add" and each.startswith("add-")]
            close = [*parts, *sorted(creating)[-1:]]
        elif name in DELETING and "condition" in names:
            close = [REMOVED]
        elif not close and "show" in names and not name.startswith("-"):
            # The user probably typed the name of an object and omitted the command.
            close = [f"show {name}"]
        suggestions = " or ".join(f"`{ctx.command_path} {words}`" for words in close)
        return f"No such command: {name!r}." + (f" Did you mean {suggestions}?" if suggestions else "")


class LazyGroup(SuggestingGroup):
    """The group of all commands, which turns every failure into a message and an exit status."""

    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, CommandEntry]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections
        self._entries = {name: entry for entries in sections.values() for name, entry in entries.items()}

    def _no_such_command(self, ctx: click.Context, name: str) -> str:
        from cli.beaker_verbs import answer_to

        if name in PAGES:
            return f"No such command: {name!r}. See {PAGES[name]}."
        advice = answer_to(name, ctx.command_path)
        return f"No such command: {name!r}. {advice}" if advice else super()._no_such_command(ctx, name)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._entries:
            return None
        module, _, name = self._entries[cmd_name][0].partition(":")
        with gc_paused():
            command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, entries in self._sections.items():
            with formatter.section(section):
                formatter.write_dl([(name, line) for name, (_, line) in entries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete from the table of commands, because click would import every command for its help."""
        from click.shell_completion import CompletionItem

        lines = {name: line for name, (_, line) in self._entries.items() if name.startswith(incomplete)}
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in lines.items()] + options

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Read from the arguments, because errors in them are reported before any option is parsed.
        ctx.meta[AS_JSON] = "--json" in args
        with failures_shown(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with failures_shown(ctx):
            return super().invoke(ctx)


def version(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the version and exit, if the option is given."""
    if is_given and not ctx.resilient_parsing:
        # Imported here, because reading package metadata takes longer than most commands need to start.
        from importlib.metadata import version as version_of

        click.echo(f"labledger {version_of('labledger')}")
        ctx.exit()
