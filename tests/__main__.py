"""Checks and tests.

    script/test             all checks, then all tests but the soaks; stops at the first check that fails
    script/test --fast      the checks, then tests/domain and tests/intake without the slowest files
    script/test PATH...     only these tests, without the checks
    script/test --help      this text

A PATH is a file or folder below tests/, or FILE::TEST. All other arguments go to pytest: `-x`, `-k NAME`,
`-m soak`. Soaks run only with `-m`, or if a PATH names one as FILE::TEST. CONTRIBUTING.md has the run times.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent

FAST = "--fast"
HELP = ("-h", "--help")
USAGE_ERROR = 2

# import-linter has no `__main__`, and the script it installs is not found from a moved checkout.
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"

Commands = Mapping[str, Sequence[str]]
"""Arguments of Python by heading, cheapest first."""

STATIC: Commands = {
    "ruff check": ("-m", "ruff", "check"),
    "ruff format --check": ("-m", "ruff", "format", "--check"),
    "mypy": ("-m", "mypy"),
    "lint-imports": ("-c", LINT_IMPORTS),
}
PYTEST = ("-m", "pytest")
# Three processes on two cores, because tests spend half of their time waiting for other processes. Files run
# in their order instead of largest first, so that one process sets up what the tests of a folder share.
PARALLEL = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")

FAST_TESTS = ("tests/domain", "tests/intake")
# These files take half of the time of their folders: they go through large labs and long histories.
SLOW_FILES = (
    "tests/domain/scheduling/test_determinism.py",
    "tests/domain/scheduling/test_effort.py",
    "tests/domain/scheduling/test_safety_histories.py",
)


class UsageError(Exception):
    """The arguments contradict each other, or name a test that does not exist."""


def main(arguments: Sequence[str]) -> int:
    if any(option in arguments for option in HELP):
        print(__doc__.strip())
        return 0
    try:
        commands = commands_for(arguments)
    except UsageError as error:
        print(f"script/test: {error}", file=sys.stderr)
        return USAGE_ERROR
    for heading, command in commands.items():
        print(f"== {heading}", flush=True)
        started = time.monotonic()
        status = _status([sys.executable, *command])
        print(f"== {heading}: {_verdict(status)} ({time.monotonic() - started:.1f} s)\n", flush=True)
        if status != 0:
            return status
    return 0


def commands_for(arguments: Sequence[str]) -> Commands:
    """Return the commands for the arguments of `script/test`."""
    others = [argument for argument in arguments if argument != FAST]
    paths = _paths(others)
    if FAST in arguments:
        if paths:
            raise UsageError(f"{FAST} and {paths[0]} exclude each other: give one of them")
        ignored = [f"--ignore={file}" for file in SLOW_FILES]
        return {**STATIC, "pytest": (*PYTEST, *PARALLEL, *ignored, *_without_soaks(others), *FAST_TESTS)}
    if paths:
        # A single file runs in this one process, where `--pdb` works.
        spread = PARALLEL if any((TOP / path).is_dir() for path in paths) else ()
        is_named = any("::" in path for path in paths)
        return {"pytest": (*PYTEST, *spread, *(others if is_named else _without_soaks(others)))}
    return {**STATIC, "pytest": (*PYTEST, *PARALLEL, *_without_soaks(others))}


def _paths(arguments: Sequence[str]) -> list[str]:
    """Return the tests among the arguments. Raises UsageError if the first is neither test nor option."""
    if arguments and not arguments[0].startswith("-") and not _is_test(arguments[0]):
        raise UsageError(
            f"no test {arguments[0]}: give a path from the top of the checkout, such as tests/domain"
        )
    return [argument for argument in arguments if _is_test(argument)]


def _is_test(argument: str) -> bool:
    """Return whether the argument is a file or folder of the tests; the value of `-k` is none by chance."""
    file = (TOP / argument.partition("::")[0]).resolve()
    return file.is_relative_to(TOP / "tests") and file.exists()


def _without_soaks(arguments: Sequence[str]) -> list[str]:
    return [*arguments] if "-m" in arguments else ["-m", "not soak", *arguments]


def _status(command: Sequence[str]) -> int:
    """Run a command and return its exit status.

    Ctrl-C reaches the command as well. The command has servers to stop, so this process waits for it, however
    often Ctrl-C is pressed.
    """
    early: list[int] = []
    # By default, a signal that comes before the handler below would end this process alone.
    signal.signal(signal.SIGTERM, lambda number, _: early.append(number))
    with subprocess.Popen(command, cwd=TOP) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        if early:
            process.terminate()
        while True:
            # A signal just before a wait without a timeout would be handled only after the wait.
            with suppress(KeyboardInterrupt, subprocess.TimeoutExpired):
                return process.wait(timeout=1.0)


def _verdict(status: int) -> str:
    return "passed" if status == 0 else f"failed with exit status {status}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
