"""Commands of Beaker's client, `bkr`, and the commands that do the same here (docs/from-beaker.md)."""

from __future__ import annotations

from typing import Final

_NO_LIBRARY: Final = "there is no task library, jobs name their tasks and lab controllers fetch them"

COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    # Jobs.
    "job-submit": ("submit FILE",),
    "job-watch": ("watch JOB",),
    "job-cancel": ("cancel JOB", "cancel-set SET"),
    "job-clone": ("rerun JOB", "rerun JOB --failed"),
    "job-list": ("jobs",),
    "job-modify": (
        *("set-job JOB NAME=VALUE", "set-priority SET PRIORITY"),
        # --response ack and nak; what Beaker calls waived.
        *("review SET acknowledged --reason TEXT", "review SET rejected --reason TEXT"),
        "waive SET --reason TEXT",
    ),
    "job-results": ("results JOB", "results JOB --format junit"),
    "job-logs": ("logs RECIPE", "logs RECIPE --fetch FOLDER"),
    "watchdog-show": ("recipe RECIPE",),
    "watchdog-extend": ("extend RECIPE --by DURATION",),
    "watchdogs-extend": ("extend RECIPE --by DURATION",),
    "workflow-simple": ("workflow",),
    "workflow-installer-test": ("workflow",),
    "workflow-xslt": ("workflow",),
    "harness-test": ("workflow",),
    "machine-test": ("workflow",),
    # Systems, their loans and policies.
    "system-list": ("systems",),
    "system-details": ("system show FQDN",),
    "system-status": ("system show FQDN",),
    "system-create": ("system add FQDN NAME=VALUE",),
    "system-modify": ("system set FQDN NAME=VALUE", "system condition FQDN CONDITION"),
    "system-delete": ("system condition FQDN Removed",),
    "system-history-list": ("system history FQDN",),
    "system-reserve": ("system reserve FQDN",),
    "system-provision": ("system reserve FQDN --distro-tree ID",),
    "system-release": ("system return FQDN",),
    "loan-grant": ("system loan FQDN --user USER",),
    "loan-return": ("system end-loan FQDN",),
    "update-inventory": ("systems import FILE",),
    "policy-list": ("policy show --system FQDN",),
    "policy-grant": ("policy grant PERMISSION --system FQDN",),
    "policy-revoke": ("policy revoke PERMISSION --system FQDN",),
    # Pools, lab controllers and distros.
    "pool-list": ("pools",),
    "pool-systems": ("systems --pool POOL",),
    "pool-create": ("pool put POOL",),
    "pool-modify": ("pool put POOL",),
    "pool-delete": ("pool delete POOL",),
    "pool-add": ("pool add-system POOL FQDN",),
    "pool-remove": ("pool remove-system POOL FQDN",),
    "labcontroller-list": ("lab-controllers",),
    "labcontroller-create": ("lab-controller put FQDN",),
    "labcontroller-modify": ("lab-controller enable FQDN", "lab-controller disable FQDN"),
    "distros-list": ("distro-trees",),
    "distro-trees-list": ("distro-trees",),
    "distro-trees-verify": ("distro-trees",),
    "distros-tag": ("distro-tree put ID",),
    "distros-untag": ("distro-tree put ID",),
    "distros-edit-version": ("distro-tree put ID",),
    # People.
    "group-list": ("groups",),
    "group-members": ("group show GROUP",),
    "group-create": ("group put GROUP",),
    "group-modify": ("group add-member GROUP USER", "group remove-member GROUP USER"),
    "user-modify": ("user put USER",),
    "remove-account": ("user delete USER",),
    # What people call it who know the web pages of Beaker.
    "clone": ("rerun JOB",),
    "ack": ("review SET acknowledged --reason TEXT",),
    "nak": ("review SET rejected --reason TEXT",),
    "reserve": ("system reserve FQDN",),
    "search": ("systems", "jobs"),
}
"""Command of Beaker -> the commands here, the most likely one first. Capitals stand for arguments."""

WITHOUT: Final[dict[str, str]] = {
    **dict.fromkeys(("task-add", "task-delete", "task-details", "task-list"), _NO_LIBRARY),
    "system-power": "the lab controller does it",
    "job-comment": "a job has a whiteboard, which `labledger set-job` changes",
    "job-delete": "`labledger retention` shows when results are deleted; `labledger cancel` stops a job",
    "update-openstack-trust": "there is no OpenStack",
    "update-prefs": "there are no preferences",
}
"""Command of Beaker -> why there is none here."""


def answer_to(verb: str, program: str) -> str | None:
    """Return advice on a command of Beaker, None for other words. `program` is the name of this command."""
    if verb in WITHOUT:
        return f"Coming from Beaker? This has no command here: {WITHOUT[verb]}."
    if verb not in COMMANDS:
        return None
    return f"Coming from Beaker? Use {' or '.join(f'`{program} {words}`' for words in COMMANDS[verb])}."
