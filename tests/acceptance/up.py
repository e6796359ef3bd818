"""`labledger up` as a person runs it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.harness.waiting import wait_until

LABLEDGER = [sys.executable, "-m", "cli"]
START_SECONDS = 120.0


class Up:
    """One `labledger up` and its output."""

    def __init__(
        self,
        data: Path,
        *flags: str,
        printed: Path | None = None,
        program: Sequence[str] = LABLEDGER,
        **settings: str,
    ) -> None:
        """Start it with `settings`, which are LABLEDGER_* variables; write its output to `printed`.

        Another `program` than that of the checkout runs in the folder of `data`.
        """
        self.data = data
        self._program = program
        self._folder = None if program is LABLEDGER else data.parent
        self.printed = printed or data.with_suffix(".out")
        with self.printed.open("wb") as out:
            command = [*program, "up", "--data", str(data), "--port", "0", *flags]
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self._folder,
                env={**_environment(), **settings},
            )

    def text(self) -> str:
        return self.printed.read_text("utf-8")

    def wait_ready(self) -> None:
        def ready() -> bool:
            assert self.process.poll() is None, self.text()
            return "Ctrl-C stops everything" in self.text()

        wait_until(ready, "up to be ready", START_SECONDS)

    @property
    def url(self) -> str:
        """Return the address that it printed."""
        found = re.search(r"^Labledger is ready at (\S+)$", self.text(), re.MULTILINE)
        assert found is not None, self.text()
        return found[1]

    def labledger(self, *arguments: str) -> str:
        command = [*self._program, *arguments, "--data", str(self.data)]
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=_environment(),
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def up(
    data: Path, *flags: str, printed: Path | None = None, program: Sequence[str] = LABLEDGER, **settings: str
) -> Iterator[Up]:
    started = Up(data, *flags, printed=printed, program=program, **settings)
    try:
        started.wait_ready()
        yield started
    finally:
        if started.process.poll() is None:
            started.stop()


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("LABLEDGER_")}
