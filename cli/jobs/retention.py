"""`labledger keep`, `retention`: how long the results and logs of jobs are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.numbered import JOB_ID
from cli.arguments.params import Words, limit_option, required_reason_option
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from cli.terminal.tables import Column
from cli.terminal.wording import clock, counted, plain, zone

if TYPE_CHECKING:
    from api.client import Client

TAG_COLUMNS = (
    Column("tag", "name", "name", 0),
    Column("days", lambda tag: tag["days"] or "for ever", "number", 0),
    Column("product", lambda tag: "needed" if tag["needs_product"] else "none", rank=2),
    Column("jobs to delete now", "due_job_count", "number", 1),
)
DUE_COLUMNS = (
    Column("job", "job_id", "number", 0),
    Column("owner", "owner", "name", 1),
    Column("tag", "tag", "name", 1),
    Column("days", "days", "number", 2),
    Column(f"ended ({zone()})", lambda job: clock(job["ended_at"]), rank=0),
    Column("results", "result_count", "number", 0),
    Column("logs", "log_count", "number", 0),
    Column("bytes of logs", "log_bytes", "number", 0),
    Column("lab controllers", lambda job: plain(", ".join(job["lab_controllers"])), rank=2),
)


@click.command
@click.argument("job_id", metavar="JOB", type=JOB_ID, shell_complete=completing.jobs)
@required_reason_option
@click.option("--revoke", is_flag=True, help="Do not keep them: the retention tag of the job applies again.")
@remote
def keep(client: Client, output: Output, job_id: int, reason: str, revoke: bool) -> None:
    """Keep the results and logs of a job, whatever its retention tag says."""
    answer = client.post(f"/jobs/{job_id}/keep", {"kept": not revoke, "reason": reason})
    outcome = "is now" if answer.get("changed", True) else "was already"
    output.line(answer, f"job {job_id} {outcome} {'not kept' if revoke else 'kept'}")


@click.command
@click.option("--dry-run", is_flag=True, help="List the jobs whose results and logs are deleted next.")
@click.option(
    "--tags",
    metavar="TAG:DAYS,…",
    type=Words(),
    help="Tags with numbers of days, such as scratch:30, in place of the configured ones.",
)
@limit_option(100, "Maximum number of jobs of --dry-run.")
@wide
@remote
def retention(client: Client, output: Output, dry_run: bool, tags: str | None, limit: int) -> None:
    """Show the retention tags with their days, or with --dry-run the jobs that lose results and logs.

    The service deletes them by itself, some minutes after they are due. Tags without a number of days delete
    nothing. To see what a change of LABLEDGER_RETENTION_TAGS would delete, give it as --tags. This command
    deletes nothing.
    """
    found = client.get("/retention", tags=tags, limit=limit)
    if not dry_run:
        output.rows(found, "tags", TAG_COLUMNS, empty="no retention tags")
        if not output.as_json:
            _note_log_deletions(found.get("log_deletions", ()))
        return
    output.rows(found, "jobs", DUE_COLUMNS, empty="nothing is due")
    due_count = sum(tag["due_job_count"] for tag in found["tags"])
    if not output.as_json and due_count > len(found["jobs"]):
        note(f"the first {len(found['jobs'])} of {counted(due_count, 'job')}")


def _note_log_deletions(log_deletions: Iterable[dict[str, Any]]) -> None:
    for each in log_deletions:
        waiting, failed = (counted(each[name], "job") for name in ("waiting_count", "failed_count"))
        note(f"logs at {plain(each['lab_controller'])}: of {waiting} to be deleted, of {failed} not deleted")
