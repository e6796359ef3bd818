"""A case: systems in labs, and the jobs that may be submitted, of one recipe set each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from domain.requirements.host import HOST

BIG_MB = 8_192
POOL = "net"
# The submitter, and the group on whose behalf some jobs are.
SUBMITTER = "eve"
GROUP = "qe"


@dataclass(frozen=True, order=True)
class RecipeWant:
    """The systems that one recipe fits, by name; with `needs` ("big", "pool") only while they have it.

    With `force` the recipe forces its only system.
    """

    names: tuple[str, ...]
    force: bool = False
    needs: str = ""

    @property
    def text(self) -> str:
        return _canonical(self)

    def __str__(self) -> str:
        text = "".join(self.names) if all(len(name) == 1 for name in self.names) else ",".join(self.names)
        return ("force " if self.force else "") + text + (f" if {self.needs}" if self.needs else "")


@dataclass(frozen=True, order=True)
class CaseJob:
    """A job: a recipe set with a recipe for each want, submitted on behalf of the group or not."""

    wants: tuple[RecipeWant, ...]
    priority: str = "Normal"
    for_group: bool = False

    def __str__(self) -> str:
        text = " + ".join(f"{{{want}}}" for want in self.wants)
        whose = f" for {GROUP}" if self.for_group else ""
        return text + whose if self.priority == "Normal" else f"{text}{whose} ({self.priority})"


@dataclass(frozen=True, order=True)
class LabCase:
    """A lab; `systems` are (name, lab controller, first condition); an Absent system is not registered yet.

    `maxima` are the maximum effective priorities by system, for all jobs except those of the group.
    """

    systems: tuple[tuple[str, str, str], ...]
    jobs: tuple[CaseJob, ...]
    maxima: tuple[tuple[str, str], ...] = ()

    @property
    def labs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lab for _, lab, _ in self.systems))

    def __str__(self) -> str:
        systems = " ".join(
            f"{name}@{lab}" + ("" if condition == "Automated" else f"[{condition}]") + _capped(self, name)
            for name, lab, condition in self.systems
        )
        return f"{systems}; " + "; ".join(f"job {number}: {job}" for number, job in enumerate(self.jobs))


def _capped(case: LabCase, name: str) -> str:
    maximum = dict(case.maxima).get(name)
    return "" if maximum is None else f"[{maximum} but for {GROUP}]"


def case(systems: str, *jobs: str) -> LabCase:
    """Return a case from text: `case("a@1 b@1^Low c@2:Manual", "ab b", "High: !c a~big", "Normal+: b")`.

    ! forces, ~ is a needed property, ^ the maximum effective priority, + a job for the group, which has none.
    """
    texts = [text.partition("^") for text in systems.split()]
    maxima = tuple((_system(text)[0], maximum) for text, _, maximum in texts if maximum)
    return LabCase(tuple(_system(text) for text, _, _ in texts), tuple(_job(text) for text in jobs), maxima)


def _system(text: str) -> tuple[str, str, str]:
    place, _, condition = text.partition(":")
    name, _, lab = place.partition("@")
    return name, f"lab-{lab or 1}", condition or "Automated"


def _job(text: str) -> CaseJob:
    priority, _, wants = text.rpartition(":")
    parsed = tuple(_want(want) for want in wants.split())
    return CaseJob(parsed, priority.removesuffix("+") or "Normal", priority.endswith("+"))


def _want(text: str) -> RecipeWant:
    names, _, needs = text.removeprefix("!").partition("~")
    return RecipeWant(tuple(names), text.startswith("!"), needs)


@lru_cache(None)
def _canonical(want: RecipeWant) -> str:
    form: dict[str, Any] = {"force": want.names[0]}
    if not want.force:
        form = {"or": [{"element": "hostname", "op": "==", "value": name} for name in want.names]}
        form = {"and": [form, *_NEEDS[want.needs]]}
    reading = HOST.examine(form)
    assert not reading.findings, reading.findings
    return reading.text


_NEEDS: dict[str, list[dict[str, Any]]] = {
    "": [],
    "big": [{"element": "memory", "op": ">=", "value": BIG_MB}],
    "pool": [{"element": "pool", "op": "==", "value": POOL}],
}
