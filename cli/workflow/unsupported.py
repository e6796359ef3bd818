"""Unsupported options of `bkr workflow-simple`, with the reasons of their refusal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

NO_LIBRARY: Final = "there is no task library: name the tasks with --task or --taskfile"
NOT_A_LOGIN: Final = "use --url and --token, or `labledger login`"
NOT_SUBMITTED: Final = "this command does not submit: use `labledger workflow … | labledger submit - --wait`"

WITH_VALUE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("--package", "--task-type", "--type"), NO_LIBRARY),
    **dict.fromkeys(("--hub", "--username", "--password", "--proxy-user"), NOT_A_LOGIN),
}
FLAGS: Final[Mapping[str, str]] = {"--insecure": NOT_A_LOGIN, "--wait": NOT_SUBMITTED}

# Options for the default behaviour, which prints the XML and nothing else.
DONE_ANYWAY: Final = (
    ("--dry-run", "--dryrun"),
    ("--debug",),
    ("--pretty-xml", "--prettyxml"),
    ("--no-wait", "--nowait"),
)


def refused(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each given option that is not supported."""
    for option, reason in {**WITH_VALUE, **FLAGS}.items():
        if options[option.removeprefix("--").replace("-", "_")]:
            yield f"{option}: {reason}"
