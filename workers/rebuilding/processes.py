"""The processes that fold the halves of a rebuild."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, suppress

from postgres.binary_copy import CopyData
from postgres.errors import DatabaseAway, DatabaseFull
from projections.rebuild.halves import HALVES
from projections.rebuild.rebuild import Rebuild
from runtime.processes.child import Child, ChildEnded
from workers.progress import ProgressCallback
from workers.rebuilding.steps import Steps


class HalfProcess:
    """The process that folds one half of a rebuild."""

    def __init__(self, url: str, name: str) -> None:
        errors = (DatabaseAway, DatabaseFull)
        self._child = Child(f"folds {name}", url, "workers.rebuilding.child", name, errors=errors)

    def fold_up_to(self, position: int) -> None:
        # If the process has ended, `rows` raises its error.
        with suppress(ChildEnded):
            self._child.send({"position": position})

    def finish(self) -> None:
        self._child.end_input()

    def stop(self) -> None:
        self._child.kill()

    def close(self) -> None:
        self._child.close()

    def rows(self, on_reached: Callable[[int, int], None]) -> Iterator[CopyData]:
        """Yield the rows that the process sends. Raises DatabaseAway and ChildFailed."""
        while "is_done" not in (message := self._child.receive()).content:
            if "statement" in message.content:
                yield CopyData(message.content["statement"].encode(), message.payload)
            else:
                on_reached(message.content["reached"], message.content["kept"])


def fill(fresh: Rebuild, owner_url: str, find_end: Callable[[], int], on_progress: ProgressCallback) -> int:
    """Fold the log from its beginning into the empty tables; return the end of the last folded commit."""
    with ExitStack() as stack:
        processes = [stack.enter_context(closing(HalfProcess(owner_url, name))) for name in HALVES]
        steps = Steps(processes, find_end, fresh.commit_end, on_progress)

        def rows_of(number: int) -> Generator[CopyData]:
            try:
                yield from processes[number].rows(lambda *progress: steps.reached(number, *progress))
            except BaseException:
                # Otherwise the other processes would wait for their next step for ever.
                for process in processes:
                    process.stop()
                raise

        steps.begin()
        fresh.fill([rows_of(number) for number in range(len(HALVES))])
    return steps.position
