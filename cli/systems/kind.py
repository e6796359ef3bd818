"""The argument that names a system, and the path of systems in the API."""

from __future__ import annotations

import click

from cli.directory.named import Kind
from cli.lists import completing

SYSTEM = Kind("system", "systems", click.argument("fqdn", shell_complete=completing.systems))
