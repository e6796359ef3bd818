"""`labledger completion`: scripts for the completion of commands, options, names and ids."""

from __future__ import annotations

import click

from cli.arguments.params import WordChoice

COMPLETE_VARIABLE = "_LABLEDGER_COMPLETE"

# Commands that install the completion: in the current shell, and in all new shells.
INSTALL = {
    "bash": (
        'eval "$(labledger completion bash)"',
        "labledger completion bash > ~/.local/share/bash-completion/completions/labledger",
    ),
    "zsh": (
        'eval "$(labledger completion zsh)"',
        "labledger completion zsh > ~/.zfunc/_labledger, and fpath+=~/.zfunc before compinit in ~/.zshrc",
    ),
    "fish": (
        "labledger completion fish | source",
        "labledger completion fish > ~/.config/fish/completions/labledger.fish",
    ),
}


@click.command
@click.argument("shell", type=WordChoice(tuple(INSTALL)))
def completion(shell: str) -> None:
    """Print the completion script for SHELL. The last lines of the script show how to install it.

    Completion works only for a command named `labledger` in PATH, not for an alias.
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    root = click.get_current_context().find_root().command
    click.echo(completion_class(root, {}, "labledger", COMPLETE_VARIABLE).source().rstrip())
    at_once, for_ever = INSTALL[shell]
    click.echo(f"\n# In this shell: {at_once}\n# In every new shell: {for_ever}")
