"""The options of the settings, derived from their declarations."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

import click

from cli.arguments.params import Command, Decorator
from runtime import setting_values as values
from runtime.settings import Settings, flag, variable


def flags(process: str) -> Decorator:
    """Add an option for each setting of the process, except secrets: all users can see command lines."""

    def add(command: Command) -> Command:
        for setting in reversed(fields(Settings)):
            if process in setting.metadata["readers"] and not setting.metadata["secret"]:
                command = _option(setting)(command)
        return command

    return add


def _option(setting: Field[Any]) -> Decorator:
    about = f"{setting.metadata['about']} ({variable(setting.name)})"
    parse = setting.metadata["parse"]
    # The setting itself validates the value; the type only lets a shell complete folders.
    kind = click.Path() if parse is values.path else click.STRING
    bounds = f"  [{parse.minimum} to {parse.maximum}]" if isinstance(parse, values.Integer) else ""
    return click.option(
        flag(setting.name), type=kind, metavar=_metavar(setting), help=about[0].upper() + about[1:] + bounds
    )


def _metavar(setting: Field[Any]) -> str | None:
    if isinstance(setting.metadata["parse"], values.Integer):
        return "INTEGER"
    return "SECONDS" if setting.name.endswith("_seconds") else None


data_option = _option(Settings.__dataclass_fields__["data"])
