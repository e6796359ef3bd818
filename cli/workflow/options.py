"""The given options, and the messages about them and about unsupported ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any, Final

from cli.terminal.output import note

Document = dict[str, Any]
Options = Mapping[str, Any]
"""Options by their names in Python."""


class InvalidOptions(Exception):
    """All errors of the options, one per line."""


def text_of(option: str, file: IO[bytes]) -> str:
    """Return the text of a file. Raise `InvalidOptions` if it is not UTF-8."""
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidOptions(f"{option} {file.name}: is not UTF-8, at byte {error.start}") from None


def warn(options: Options, message: str) -> None:
    """Print a warning to standard error, unless the user asked for quiet."""
    if not options["quiet"]:
        note(f"warning: {message}")


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
