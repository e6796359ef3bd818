"""The provisioning failures of a system in a row, which show whether the system is bad or only a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

BROKEN_AFTER: Final = 2
"""The default limit of a lab controller."""

MAX_BROKEN_AFTER: Final = 20


@dataclass(frozen=True, slots=True)
class Failures:
    """The distinct jobs and distros of consecutive failures, oldest first, up to MAX_BROKEN_AFTER of each."""

    jobs: tuple[int, ...] = ()
    distros: tuple[str, ...] = ()

    def one_more(self, job_id: int, distro: str) -> Failures:
        """Return the failures after one more failure."""
        return Failures(_with(self.jobs, job_id), _with(self.distros, distro))

    def reach(self, broken_after: int) -> bool:
        """Return whether this many jobs and this many distros have failed; False for a limit of 0.

        Both must be different, because a bad job or a bad distro fails on every system.
        """
        return 0 < broken_after <= min(len(self.jobs), len(self.distros))


NO_FAILURES: Final = Failures()


def distro_name(distro_tree_id: int | None, own: Mapping[str, Any] | None) -> str:
    """Return the name of a distro for `Failures.distros`: `tree 3`, or `RHEL9.2 x86_64` for a custom one."""
    if own is None:
        return f"tree {distro_tree_id}"
    return f"{own['osmajor']}.{own.get('osminor') or '0'} {own['arch']}"


def _with(values: tuple[T, ...], value: T) -> tuple[T, ...]:
    return values if value in values or len(values) == MAX_BROKEN_AFTER else (*values, value)
