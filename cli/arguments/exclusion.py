"""Options and arguments that exclude each other."""

from __future__ import annotations

from collections.abc import Mapping

import click


def require_exclusive(given: Mapping[str, object]) -> None:
    """Raise UsageError if more than one of these options or arguments is given. The message names all."""
    if sum(value is not None and value is not False and value != () for value in given.values()) > 1:
        *names, last = given
        raise click.UsageError(f"{', '.join(names)} and {last} exclude each other.")
