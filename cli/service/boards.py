"""`labledger boards`: the boards of Grafana and their provisioning, as files."""

from __future__ import annotations

from pathlib import Path

import click

from projections.boards.files import DEFAULT_URL, write_files


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--address",
    metavar="URL",
    default=DEFAULT_URL,
    show_default=True,
    help="Address of Labledger, to which links of panels lead",
)
def boards(folder: Path, address: str) -> None:
    """Write the boards of Grafana, and the provisioning of them and their data sources, below DIR.

    Files of these names that exist are replaced.
    """
    try:
        written = write_files(folder, address.rstrip("/"))
    except OSError as error:
        raise click.ClickException(f"cannot write the boards: {error}") from error
    for path in written:
        click.echo(path)
