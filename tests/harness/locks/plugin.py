"""The part of pytest, which begins the records of a run, and prints and checks those of all processes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.harness.locks import report
from tests.harness.locks.installing import FOLDER, install, recorder

AT_START = Path(__file__).parent / "at_start"
PATH = "PYTHONPATH"


class LockRecords:
    """Records of the locks of one run."""

    def __init__(self, config: pytest.Config) -> None:
        self._is_worker = hasattr(config, "workerinput")
        self._findings: list[str] = []
        self._tables: list[str] = []
        if not self._is_worker:
            folder = tempfile.TemporaryDirectory(prefix="labledger-locks-")
            # Processes that change their user write there, too.
            Path(folder.name).chmod(0o777)
            config.add_cleanup(folder.cleanup)
            os.environ[FOLDER] = folder.name
            os.environ[PATH] = os.pathsep.join([str(AT_START), *_others()])
        install()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        recorder().flush()
        if self._is_worker:
            return
        records = report.read(Path(os.environ[FOLDER]))
        if records.nestings or records.holds:
            # Imported here, because runs of pure tests take no lock.
            from runtime.locks import LockClass

            order = [each.name for each in LockClass]
            self._findings = report.findings(records, order)
            self._tables = [*report.tables(records, order)]
        if self._findings and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._tables:
            terminalreporter.section("locks")
            for line in self._tables:
                terminalreporter.write_line(line)
        for finding in self._findings:
            terminalreporter.write_line("")
            terminalreporter.write_line(finding, red=True)
        if self._findings:
            terminalreporter.write_line("")
            terminalreporter.write_line("FAILED: docs/lock-order.md has the order of locks", red=True)


def _others() -> list[str]:
    """Return the further folders of the variable."""
    paths = os.environ.get(PATH, "").split(os.pathsep)
    return [path for path in paths if path and path != str(AT_START)]
