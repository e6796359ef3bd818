"""The processes that fold the parts of the log, and the rows that they send."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress

from postgres.binary_copy import CopyData
from postgres.errors import DatabaseAway, DatabaseFull
from projections.rebuild.parts import PARTS
from projections.rebuild.rebuild import Rebuild
from runtime.processes.child import Child, ChildEnded
from workers.progress import ProgressCallback
from workers.rebuilding.steps import Steps


class PartProcess:
    """The process of one part, and what the steps need of it."""

    def __init__(self, url: str, name: str) -> None:
        errors = (DatabaseAway, DatabaseFull)
        self._child = Child(f"folds {name}", url, "workers.rebuilding.child", name, errors=errors)

    def go_on(self, position: int) -> None:
        # `rows` raises the error of a process that has ended.
        with suppress(ChildEnded):
            self._child.send({"position": position})

    def end(self) -> None:
        self._child.end_input()

    def stop(self) -> None:
        self._child.kill()

    def close(self) -> None:
        self._child.close()

    def rows(self, on_reached: Callable[[int, int], None]) -> Iterator[CopyData]:
        """Yield rows as they come. Raises DatabaseAway and ChildFailed."""
        while "is_done" not in (message := self._child.receive()).content:
            if "statement" in message.content:
                yield CopyData(message.content["statement"].encode(), message.payload)
            else:
                on_reached(message.content["reached"], message.content["kept"])


def fill(fresh: Rebuild, owner_url: str, end: Callable[[], int], on_progress: ProgressCallback) -> int:
    """Fold the log from its beginning into the empty tables, and return the position reached."""
    with ExitStack() as stack:
        processes = [stack.enter_context(closing(PartProcess(owner_url, name))) for name in PARTS]
        steps = Steps(processes, end, on_progress)

        def of(number: int) -> Generator[CopyData]:
            try:
                yield from processes[number].rows(lambda *so_far: steps.reached(number, *so_far))
            except BaseException:
                # Otherwise the other processes would wait for their next step for ever.
                for each in processes:
                    each.stop()
                raise

        steps.begin()
        fresh.fill([of(number) for number in range(len(PARTS))])
    return steps.position
