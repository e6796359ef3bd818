"""Every check in order, cheapest first, up to the first that fails. Arguments go to pytest."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

# import-linter has no `__main__`, and the script it installs is not found from a moved checkout.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"

CHECKS = {
    "ruff check": ("-m", "ruff", "check"),
    "ruff format --check": ("-m", "ruff", "format", "--check"),
    "mypy": ("-m", "mypy"),
    "lint-imports": ("-c", LINT_IMPORTS),
    # Three at a time: half of what tests do is waiting for processes, so that two cores have enough to do.
    # Files in their order, not those with many tests first: so a process makes once what a folder shares.
    "pytest": ("-m", "pytest", "-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"),
}


def main(pytest_arguments: list[str]) -> int:
    for heading, arguments in CHECKS.items():
        extra = _for_pytest(pytest_arguments) if heading == "pytest" else []
        print(f"== {heading}", flush=True)
        started = time.monotonic()
        status = _status([sys.executable, *arguments, *extra])
        print(f"== {heading}: {_verdict(status)} ({time.monotonic() - started:.1f} s)\n", flush=True)
        if status != 0:
            return status
    return 0


def _status(command: list[str]) -> int:
    """Ctrl-C is for what runs, too; it has servers to stop, so that it is waited for however often."""
    with subprocess.Popen(command, cwd=TOP) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def _for_pytest(arguments: list[str]) -> list[str]:
    """Soaks take longer than a person waits: they run when asked for by `-m soak`."""
    return arguments if "-m" in arguments else ["-m", "not soak", *arguments]


def _verdict(status: int) -> str:
    return "passed" if status == 0 else f"failed with exit status {status}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
