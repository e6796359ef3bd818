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
@click.option("--watch", "is_watching", is_flag=True, help="Redraw the screen repeatedly, until Ctrl-C.")
@click.option(
    "--every",
    "every_seconds",
    type=click.FloatRange(0.2),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="With --watch: seconds between two redraws.",
)
@remote
def overview(client: Client, output: Output, is_watching: bool, every_seconds: float) -> None:
    """Show the state of the service, the systems of each lab, the queue, placed recipes and recent problems.

    With --watch and --json, print a line instead of each redraw. Without --watch, the exit status is 0 if the
    service is ready, otherwise 1.
    """
    from cli.overview.reading import OverviewReader

    with closing(OverviewReader(client)) as reader:
        if is_watching:
            _watch(reader, output, every_seconds)
            return
        document = reader.document()
    _show(document, output)
    if not document["ready"]:
        raise click.exceptions.Exit(1)


def _show(document: dict[str, Any], output: Output) -> None:
    if output.as_json:
        output.document(document)
    else:
        from cli.overview.screen import OverviewScreen

        show(console(), OverviewScreen(document))


def _watch(reader: OverviewReader, output: Output, every_seconds: float) -> None:
    """Redraw until Ctrl-C. While the server is unreachable, show the last answer and the error."""
    from api.client import Unreachable

    screen = None if output.as_json else console()
    if screen is None or not screen.is_terminal:
        while True:
            _show(reader.document(), output)
            time.sleep(every_seconds)
    from rich.live import Live

    from cli.overview.screen import OverviewScreen

    document = reader.document()
    widest: dict[str, dict[str, int]] = {}
    with Live(
        OverviewScreen(document, widest), console=screen, auto_refresh=False, vertical_overflow="crop"
    ) as live:
        while True:
            time.sleep(every_seconds)
            try:
                document = reader.document()
            except Unreachable as error:
                document = {**document, "ready": False, "checks": {}, "detail": str(error)}
            live.update(OverviewScreen(document, widest), refresh=True)
