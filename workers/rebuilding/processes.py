"""The processes that fold the parts of the log, and the rows that come from them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress

from domain.errors import LabledgerError
from postgres.binary_copy import Copied
from postgres.errors import DatabaseAway
from projections.rebuild.parts import PARTS
from projections.rebuild.rebuild import Rebuild
from runtime.settings import variable
from workers.rebuilding.message import Done, Failed, Reached, said
from workers.rebuilding.steps import Steps


class Process:
    """Ended with the `with` it is entered by."""

    def __init__(self, url: str, name: str, stack: ExitStack) -> None:
        environment = {**os.environ, variable("database_url"): url}
        command = [sys.executable, "-m", "workers.rebuilding.part", name]
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None and process.stdout is not None, "they were asked for"
        self._in, self._out = process.stdin, process.stdout
        self._process, self._name = process, name
        for callback in (process.wait, self.stop, self._out.close, self.end):
            stack.callback(callback)

    def go_on(self, position: int) -> None:
        # What became of it is said where its rows are awaited.
        with suppress(BrokenPipeError):
            self._in.write(b"%d\n" % position)
            self._in.flush()

    def end(self) -> None:
        with suppress(BrokenPipeError):
            self._in.close()

    def stop(self) -> None:
        self._process.terminate()

    def rows(self, reached: Callable[[int, int], None]) -> Iterator[Copied]:
        """As they come. Raises DatabaseAway and PartFailed."""
        for message in said(self._out):
            if isinstance(message, Copied):
                yield message
            elif isinstance(message, Reached):
                reached(message.position, message.kept)
            elif isinstance(message, Failed):
                raise DatabaseAway(message.why) if message.is_away else PartFailed(message.why)
            elif isinstance(message, Done):
                return
        raise PartFailed(f"the process that folds {self._name} ended before it was done")


def fill(fresh: Rebuild, owner_url: str, end: Callable[[], int], told: Callable[[int, int], None]) -> int:
    """Fill the empty tables from the beginning of the log; the position up to which that was done."""
    with ExitStack() as stack:
        processes = [Process(owner_url, name, stack) for name in PARTS]
        steps = Steps(processes, end, told)

        def of(number: int) -> Generator[Copied]:
            try:
                yield from processes[number].rows(lambda *so_far: steps.reached(number, *so_far))
            except BaseException:
                # Without it the others would wait for their next step for ever.
                for each in processes:
                    each.stop()
                raise

        steps.begin()
        fresh.fill([of(number) for number in range(len(PARTS))])
    return steps.position


class PartFailed(LabledgerError):
    """A part of the log could not be folded."""
