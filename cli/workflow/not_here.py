"""Options of `bkr workflow-simple` that nothing here can serve: each is refused by name, with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

NO_LIBRARY: Final = "there is no library of tasks here to find them in: name them by --task or --taskfile"
NOT_SENT: Final = "use --url and --token, or `labledger login`"
NOT_SUBMITTED: Final = "nothing is submitted here: `labledger workflow … | labledger submit - --wait`"

WITH_VALUE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("--package", "--task-type", "--type"), NO_LIBRARY),
    **dict.fromkeys(("--hub", "--username", "--password", "--proxy-user"), NOT_SENT),
}
FLAGS: Final[Mapping[str, str]] = {"--insecure": NOT_SENT, "--wait": NOT_SUBMITTED}

# They ask for what is done anyway: the XML is printed, and nothing else happens.
DONE_ANYWAY: Final = (
    ("--dry-run", "--dryrun"),
    ("--debug",),
    ("--pretty-xml", "--prettyxml"),
    ("--no-wait", "--nowait"),
)


def refused(told: Mapping[str, Any]) -> Iterator[str]:
    """What is said of those of them that were given."""
    for option, reason in {**WITH_VALUE, **FLAGS}.items():
        if told[option.removeprefix("--").replace("-", "_")]:
            yield f"{option}: {reason}"
