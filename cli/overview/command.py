"""`labledger overview`: the state of the labs on one screen."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from cli.remote import remote
from cli.terminal.output import Output, console, show

if TYPE_CHECKING:
    from api.client import Client
    from cli.overview.reading import OverviewReader


@click.command
@click.option("--watch", "watched", is_flag=True, help="Redraw the screen repeatedly, until Ctrl-C.")
@click.option(
    "--every",
    "every_seconds",
    type=click.FloatRange(0.2),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Interval of --watch.",
)
@remote
def overview(client: Client, output: Output, watched: bool, every_seconds: float) -> None:
    """Show the state of the service, the systems of each lab, the queue, placed recipes and recent problems.

    Exit status 0 if the service is ready, else 1. With --watch and --json, print a line each time.
    """
    from cli.overview.reading import OverviewReader

    with closing(OverviewReader(client)) as reading:
        if watched:
            _watch(reading, output, every_seconds)
            return
        document = reading.document()
    _show(document, output)
    if not document["ready"]:
        raise click.exceptions.Exit(1)


def _show(document: dict[str, Any], output: Output) -> None:
    from cli.overview.screen import OverviewScreen

    if output.as_json:
        output.document(document)
    else:
        show(console(), OverviewScreen(document))


def _watch(reading: OverviewReader, output: Output, every_seconds: float) -> None:
    """Redraw until Ctrl-C. Keep the last answer while the server cannot be reached."""
    from api.client import Unreachable
    from cli.overview.screen import OverviewScreen

    shown = None if output.as_json else console()
    if shown is None or not shown.is_terminal:
        while True:
            _show(reading.document(), output)
            time.sleep(every_seconds)
    from rich.live import Live

    document = reading.document()
    widest: dict[str, dict[str, int]] = {}
    with Live(
        OverviewScreen(document, widest), console=shown, auto_refresh=False, vertical_overflow="crop"
    ) as live:
        while True:
            time.sleep(every_seconds)
            try:
                document = reading.document()
            except Unreachable as error:
                document = {**document, "ready": False, "checks": {}, "detail": str(error)}
            live.update(OverviewScreen(document, widest), refresh=True)
