"""The provisioning failures of a system since its last success, which separate bad systems from bad jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")

BROKEN_AFTER: Final = 2
"""The limit of a lab controller whose document names none."""

MAX_BROKEN_AFTER: Final = 20


@dataclass(frozen=True, slots=True)
class Failures:
    """`jobs` and `distros` are those of the failures in a row, each once, oldest first."""

    jobs: tuple[int, ...] = ()
    distros: tuple[str, ...] = ()

    def one_more(self, job_id: int, distro: str) -> Failures:
        """Return the failures with one more. No limit needs more than `MAX_BROKEN_AFTER` of a kind."""
        return Failures(_with(self.jobs, job_id), _with(self.distros, distro))

    def reach(self, broken_after: int) -> bool:
        """Return whether they come from this many jobs and from this many distros; never with a limit of 0.

        A bad job or a bad distro tree fails on every system, so a single one does not show a bad system.
        """
        return 0 < broken_after <= min(len(self.jobs), len(self.distros))


NO_FAILURES: Final = Failures()


def distro_name(distro_tree_id: int | None, own: Mapping[str, Any] | None) -> str:
    """Return the name of a failed distro: its tree, or the version and arch of a custom distro."""
    if own is None:
        return f"tree {distro_tree_id}"
    return f"{own['osmajor']}.{own.get('osminor') or '0'} {own['arch']}"


def _with(values: tuple[T, ...], one: T) -> tuple[T, ...]:
    return values if one in values or len(values) == MAX_BROKEN_AFTER else (*values, one)
