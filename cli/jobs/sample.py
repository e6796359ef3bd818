"""`labledger sample`: the sample jobs and the sample lab of the package."""

from __future__ import annotations

from importlib.resources import files

import click

from cli.arguments.params import WordChoice

# Name of a file in the package -> its description.
SAMPLES = {
    "kernel-smoke": "a job of one recipe",
    "guests": "a job of a host with two guests",
    "nfs-multihost": "a job of two recipes in one lab",
    "pinned": "a job of two sets: one forces a Broken system, one is Urgent",
    "lab": "a small lab, for `labledger lab load`",
}


@click.command(epilog="\b\n" + "\n".join(f"{name:<15}{what}" for name, what in SAMPLES.items()))
@click.argument("name", metavar="NAME", type=WordChoice(tuple(SAMPLES)))
def sample(name: str) -> None:
    """Print the sample NAME. To submit a job: `labledger sample kernel-smoke | labledger submit -`."""
    folder = files("replay") / "samples"
    job = folder / f"{name}.xml"
    file = job if job.is_file() else folder / f"{name}.json"
    click.echo(file.read_text(encoding="utf-8").rstrip())
