"""`NAME=VALUE` on the command line: new values of properties."""

from __future__ import annotations

import json
from typing import Any

import click

assignments_argument = click.argument("changes", metavar="NAME=VALUE…", nargs=-1, required=True)


def assigned(changes: tuple[str, ...]) -> dict[str, Any]:
    """Return the values by name: JSON, or text if not valid JSON. `cpu.cores=8` is `cpu={"cores": 8}`."""
    values: dict[str, Any] = {}
    for name, value in map(_assigned, changes):
        whole, dot, part = name.partition(".")
        if not dot:
            values[name] = value
        elif isinstance(values.setdefault(whole, {}), dict):
            values[whole][part] = value
        else:
            raise click.UsageError(f"{name}: another argument already sets all of {whole}")
    return values


def _assigned(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"{text!r} must be NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
