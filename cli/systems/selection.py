"""The systems of a command that changes many: named ones, those in a file, or those with properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.option_names import faults_changed
from cli.arguments.params import Command
from cli.arguments.utf8 import text_of
from cli.lists import completing
from cli.lists.suggesting import with_similar_name
from domain.errors import Fault

if TYPE_CHECKING:
    from api.client import Client

COMMENT = "#"
_PLACE = re.compile(r"systems\[([0-9]+)\]")

_SELECTING = (
    click.option("--pool", metavar="POOL", shell_complete=completing.pools, help="All systems in this pool."),
    click.option(
        *("--lab", "--lab-controller", "lab_controller"),
        metavar="FQDN",
        shell_complete=completing.lab_controllers,
        help="All systems of this lab controller.",
    ),
    click.option("--location", metavar="TEXT", help="All systems at this location."),
    click.option(
        "--file",
        type=click.File("rb", lazy=False),
        help="The systems in this file, one on each line; - reads standard input.",
    ),
)
_dry_run = click.option("--dry-run", is_flag=True, help="Change nothing; show the systems that would change.")
fqdns_argument = click.argument("fqdns", metavar="[FQDN]…", nargs=-1, shell_complete=completing.systems)


@dataclass(frozen=True)
class NamedSystems:
    """The named systems, each once, with its place: the line of the file, or the name as an argument."""

    places: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        return [*self.places]

    @contextmanager
    def located(self, client: Client) -> Iterator[None]:
        """Give the faults of a refused request their places, and unknown systems a similar name."""
        names = self.names

        def change(fault: Fault) -> Fault:
            found = _PLACE.fullmatch(fault.where)
            if found is None or int(found[1]) >= len(names):
                return fault
            name = names[int(found[1])]
            return with_similar_name(client, "system", name)(Fault(self.places[name], fault.message))

        with faults_changed(change):
            yield


def selecting(command: Command) -> Command:
    """Add the options that select many systems."""
    for option in reversed((*_SELECTING, _dry_run)):
        command = option(command)
    return command


def named_systems(fqdns: Sequence[str], file: IO[bytes] | None, wanted: Mapping[str, str]) -> NamedSystems:
    """Return the named systems, none if some are selected by properties. Raises UsageError without either."""
    if bool(wanted) == bool(fqdns or file is not None):
        raise click.UsageError("Name systems (FQDN, --file), or select them (--pool, --lab, --location).")
    places = {fqdn: fqdn for fqdn in fqdns}
    for number, line in enumerate(text_of(file).splitlines() if file is not None else (), 1):
        if name := line.partition(COMMENT)[0].strip():
            places.setdefault(name, f"{getattr(file, 'name', '<stdin>')}, line {number}")
    return NamedSystems(places)


def selected_systems(
    client: Client,
    fqdns: Sequence[str],
    file: IO[bytes] | None,
    pool: str | None,
    lab_controller: str | None,
    location: str | None,
) -> NamedSystems:
    """Return the named systems, or those with all of the properties. Raises UsageError without either."""
    filters = {"pool": pool, "lab_controller": lab_controller, "location": location}
    wanted: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    named = named_systems(fqdns, file, wanted)
    if not wanted:
        return named
    from cli.lists.listing import require_existing

    require_existing(client, None, wanted)
    rows = client.pages("/systems", "systems", min_position=client.position, **wanted)["systems"]
    return NamedSystems({row["fqdn"]: row["fqdn"] for row in rows})
