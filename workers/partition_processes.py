"""The scheduler processes of a parent: one for each of its partitions that exists."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable

from domain.partition_numbers import PartitionIdentity
from runtime.processes.forked import ForkedProgram
from runtime.processes.supervisor import Supervisor

logger = logging.getLogger(__name__)


class PartitionProcesses:
    """The processes of the partitions with these names; of all partitions if there are no names.

    `run` runs the scheduler of a partition in its process.
    """

    def __init__(
        self, supervisor: Supervisor, names: Collection[str], run: Callable[[PartitionIdentity], None]
    ) -> None:
        self._supervisor = supervisor
        self._names = names
        self._run = run
        self._programs: dict[PartitionIdentity, ForkedProgram] = {}

    def follow(self, existing: Iterable[PartitionIdentity]) -> None:
        """Start the processes of new partitions, and stop those of removed ones. Does not wait for them."""
        wanted = [each for each in existing if not self._names or each.name in self._names]
        # First, because a new partition may have the name of a removed one.
        for removed in self._programs.keys() - set(wanted):
            self._supervisor.request_stop(self._programs.pop(removed))
        for identity in wanted:
            if identity not in self._programs:
                self._start(identity)

    def _start(self, identity: PartitionIdentity) -> None:
        program = ForkedProgram(f"scheduler of {identity.name}", lambda: self._run(identity))
        try:
            self._supervisor.start(program)
        except OSError as error:
            # The limit of processes or memory is reached. The next call tries again.
            logger.error("%s cannot be started: %s", program.name, error)
        else:
            self._programs[identity] = program
