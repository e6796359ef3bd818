"""Acknowledgements to a writer, compared with the log."""

from __future__ import annotations

from store.event_log import EventLog
from tests.harness.appends import whole_log
from tests.harness.programs import Program, read_line

Acknowledged = dict[int, int]
"""Number of a command -> first position of its commit."""


def listen(writer: Program, commands: int) -> Acknowledged:
    """Return the next acknowledgements, fewer if the writer has ended."""
    lines = [line for line in (read_line(writer) for _ in range(commands)) if line]
    return {int(number): int(position) for number, position in map(str.split, lines)}


def listen_to_the_end(writer: Program) -> Acknowledged:
    assert writer.stdout is not None
    whole = [line.split() for line in writer.stdout if line.endswith("\n")]
    return {int(number): int(position) for number, position in whole}


def assert_there_once_and_in_order(log: EventLog, acknowledged: Acknowledged) -> None:
    written = whole_log(log)
    assert [recorded.position for recorded in written] == list(range(1, len(written) + 1))
    numbers = [int(recorded.subject.partition("/")[2]) for recorded in written]
    # Whole commits of two events, each command once, in the order of submission.
    assert numbers == [number for number in range(len(written) // 2) for _ in range(2)]
    first = {number: written[2 * number].position for number in range(len(written) // 2)}
    assert acknowledged.items() <= first.items()
