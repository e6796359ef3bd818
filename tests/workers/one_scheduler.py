"""The scheduler process of `default` without its parent, for tests that send signals to it."""

from __future__ import annotations

from api.root_scheduler import run_scheduler
from domain.partition_numbers import DEFAULT_PARTITION
from runtime.processes.logs import set_up_logging
from runtime.settings import SCHEDULER, Settings

if __name__ == "__main__":
    settings = Settings.read()
    set_up_logging(settings, SCHEDULER)
    run_scheduler(settings, DEFAULT_PARTITION)
