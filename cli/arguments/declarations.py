"""`--lock`, `--depends-on` and `--reason`: the parts of a job that admission reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from cli.arguments.locks import lock_option, locks_document
from cli.arguments.params import MAX_ID, Command, ParsedText, Words
from domain.admission.dependencies import DEFAULT_STATES, FINAL_STATES
from domain.contention.locks import Locks

METAVAR = "job|set=ID[:STATE,…]"
_FORM = "must be job=ID or set=ID, with final states as in job=17:completed,cancelled"
_COUNTS_BACK = re.compile(r"(job|set)=-[0-9]")
# The word in the option -> the field in a document.
_KINDS = {"job": "job", "set": "recipe_set"}
_DEPENDENCY = re.compile(r"(?P<kind>job|set)=(?P<id>[0-9]{1,10})(:(?P<states>.*))?", re.DOTALL)

Document = dict[str, Any]


def _dependency(text: str) -> Document:
    """Return the document of a job or recipe set that must end first."""
    match = _DEPENDENCY.fullmatch(text)
    if match is None:
        only_in_files = "; only a file can count back" if _COUNTS_BACK.match(text) else ""
        raise ValueError(f"{_FORM}{only_in_files}")
    number, states = int(match["id"]), match["states"]
    if not 1 <= number <= MAX_ID:
        raise ValueError(f"the id must be from 1 to {MAX_ID}")
    named = DEFAULT_STATES if states is None else [state.strip().lower() for state in states.split(",")]
    for state in named:
        if state not in FINAL_STATES:
            raise ValueError(f"unknown state {state!r}; must be one of {', '.join(FINAL_STATES)}")
    return {_KINDS[match["kind"]]: number, "states": [state for state in FINAL_STATES if state in named]}


DEPENDENCY = ParsedText("dependency", _dependency)

depends_on_option = click.option(
    "--depends-on",
    "depends_on",
    type=DEPENDENCY,
    metavar=METAVAR,
    multiple=True,
    help="Start only after this job or recipe set has ended in one of these states"
    f" [default: {' or '.join(DEFAULT_STATES)}]. Repeatable.",
)
reason_option = click.option(
    "--reason",
    "reasons",
    type=Words(),
    metavar="TEXT",
    multiple=True,
    help="Note, or rate-limit:N:LABEL: at most N recipe sets with it are placed at once. Repeatable.",
)


def declaration_options(command: Command) -> Command:
    """Add the options to a command, as `locks`, `depends_on` and `reasons`."""
    return lock_option(depends_on_option(reason_option(command)))


class DeclarationOptions(NamedTuple):
    """The declarations of the options: locks of every recipe, all others of the job.

    `cli.lists.placement` has the options of queue and partition.
    """

    locks: Sequence[Locks] = ()
    depends_on: Sequence[Document] = ()
    reasons: Sequence[str] = ()
    queue: str | None = None
    partition: str | None = None

    def of_job(self) -> Document:
        """Return the fields that a job gets, without empty ones."""
        lists = {"depends_on": [*self.depends_on], "reasons": [*self.reasons]}
        return {name: value for name, value in {**lists, **self.replacing()}.items() if value}

    def replacing(self) -> dict[str, str]:
        """Return the given fields of a job that replace what a file says: queue and partition."""
        fields = {"queue": self.queue, "partition": self.partition}
        return {name: value for name, value in fields.items() if value is not None}

    def of_recipe(self) -> Document:
        return {"locks": locks_document(self.locks)} if self.locks else {}
