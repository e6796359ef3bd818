"""`labledger cancel`: end a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from api.cli.output import Output
from api.cli.remote import remote

if TYPE_CHECKING:
    from api.client import Client


@click.command
@click.argument("job_id", metavar="JOB", type=click.IntRange(1))
@click.option("--reason", default="cancelled on the command line", show_default=True, help="Kept in the log.")
@remote
def cancel(client: Client, output: Output, job_id: int, reason: str) -> None:
    """Cancel a job: whatever of it has not finished yet."""
    answer = client.post(f"/jobs/{job_id}/cancel", {"reason": reason})
    said = "cancelled" if answer.get("cancelled", True) else "was finished already: nothing to cancel"
    output.line(answer, f"job {job_id} {said}")
