"""A case: systems in labs, and the jobs that may be submitted, of one recipe set each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from domain.partition_numbers import DEFAULT_NUMBER
from domain.requirements.host import HOST

BIG_MB = 8_192
POOL = "net"
# The submitter, and the group on whose behalf some jobs are.
SUBMITTER = "eve"
GROUP = "qe"


@dataclass(frozen=True, order=True)
class RecipeWant:
    """The systems that one recipe fits, by name; with `needs` ("big", "pool") only while they have it.

    With `force` the recipe forces its only system. `locks` are network locks by name: exclusive for capital
    letters, shared for others; "*" is the lock on the whole lab.
    """

    names: tuple[str, ...]
    force: bool = False
    needs: str = ""
    locks: str = ""

    @property
    def text(self) -> str:
        return _canonical(self)

    def __str__(self) -> str:
        text = "".join(self.names) if all(len(name) == 1 for name in self.names) else ",".join(self.names)
        locks = f" with locks {self.locks}" if self.locks else ""
        return ("force " if self.force else "") + text + (f" if {self.needs}" if self.needs else "") + locks

    @property
    def declared(self) -> dict[str, Any]:
        """Return the document of the locks."""
        shared = [name for name in self.locks if name.islower()]
        exclusive = [name.lower() for name in self.locks if name.isupper()]
        kinds = [{"Shared": shared}] * bool(shared) + [{"Exclusive": exclusive}] * bool(exclusive)
        network: dict[str, Any] = {"network": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
        return network | ({"whole_lab": True} if "*" in self.locks else {})


@dataclass(frozen=True, order=True)
class CaseJob:
    """A job: a recipe set with a recipe for each want, submitted on behalf of the group or not.

    `after` is the number of the job whose end it awaits, in any final state. `bucket` is the limit of the
    one bucket in which the set takes a place. `queue` is the path of its queue below root, `partition` the
    number of its partition.
    """

    wants: tuple[RecipeWant, ...]
    priority: str = "Normal"
    for_group: bool = False
    after: int | None = None
    bucket: int | None = None
    queue: str = "default"
    partition: int = DEFAULT_NUMBER
    preemptible: bool = False

    def __str__(self) -> str:
        text = " + ".join(f"{{{want}}}" for want in self.wants)
        whose = f" for {GROUP}" if self.for_group else ""
        whose += "" if self.after is None else f" after job {self.after}"
        whose += "" if self.bucket is None else f" in a bucket of {self.bucket}"
        whose += "" if self.queue == "default" else f" in queue {self.queue}"
        whose += ", preemptible" if self.preemptible else ""
        whose += "" if self.partition == DEFAULT_NUMBER else f" in partition {self.partition}"
        return text + whose if self.priority == "Normal" else f"{text}{whose} ({self.priority})"


@dataclass(frozen=True, order=True)
class LabCase:
    """A lab; `systems` are (name, lab controller, first condition); an Absent system is not registered yet.

    `maxima` are the maximum effective priorities by system, for all jobs except those of the group. With
    `max_overtaken` None, the default bound on overtakings holds, which small labs do not reach. The same is
    the bound for sets that wait for locks. A set that has waited `coefficient` ticks weighs 0; with None, no
    time passes, and locks have no weight. `max_placed` is the first maximum of placed recipes. `queues` are
    the maxima of queues: the path below root, the unit and the capacity. With `shares`, all parents are fair,
    with what is guaranteed to each queue. `labs_of_other` are the labs that are in the second partition at
    first; with None, there is one partition.
    """

    systems: tuple[tuple[str, str, str], ...]
    jobs: tuple[CaseJob, ...]
    maxima: tuple[tuple[str, str], ...] = ()
    max_overtaken: int | None = None
    coefficient: int | None = None
    max_placed: int | None = None
    queues: tuple[tuple[str, str, int], ...] = ()
    shares: tuple[tuple[str, int], ...] | None = None
    labs_of_other: tuple[str, ...] | None = None

    @property
    def has_locks(self) -> bool:
        return any(want.locks for job in self.jobs for want in job.wants)

    @property
    def labs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(lab for _, lab, _ in self.systems))

    def __str__(self) -> str:
        systems = " ".join(
            f"{name}@{lab}" + ("" if condition == "Automated" else f"[{condition}]") + _capped(self, name)
            for name, lab, condition in self.systems
        )
        jobs = "; ".join(f"job {number}: {job}" for number, job in enumerate(self.jobs))
        bound = "" if self.max_overtaken is None else f"; overtaken at most {self.max_overtaken} times"
        bound += "" if self.coefficient is None else f"; sets weigh 0 after {self.coefficient} ticks"
        bound += "" if self.max_placed is None else f"; at most {self.max_placed} placed recipes"
        bound += "".join(
            f"; at most {capacity} {unit} in queue {path}" for path, unit, capacity in self.queues
        )
        if self.shares is not None:
            bound += "; fair" + "".join(f", {count} guaranteed to {path}" for path, count in self.shares)
        if self.labs_of_other is not None:
            bound += f"; two partitions, the second one with {', '.join(self.labs_of_other) or 'no lab'}"
        return f"{systems}; {jobs}{bound}"


def _capped(case: LabCase, name: str) -> str:
    maximum = dict(case.maxima).get(name)
    return "" if maximum is None else f"[{maximum} but for {GROUP}]"


def case(
    systems: str,
    *jobs: str,
    max_overtaken: int | None = None,
    coefficient: int | None = None,
    max_placed: int | None = None,
    queues: str = "",
    other: str | None = None,
) -> LabCase:
    """Return a case from text: `case("a@1 b@1^Low c@2:Manual", "ab b", "High: !c a~big", "Normal+: b")`.

    ! forces, ~ is a needed property, ^ the maximum effective priority, + a job for the group, which has none.
    "a%Xy" has an exclusive lock on x and a shared one on y, "a%*" the lock on the whole lab. "<0" is a
    dependency on job 0, "#2" a place in a bucket of 2, "@k.x" the queue root.k.x. In `queues`, "k=2 k.x=1j"
    are a maximum of two systems in root.k, and one of one job in root.k.x. With "fair", queues are served by
    fair shares, and "k=2g" guarantees two systems to root.k, also by preemption. "a &" is preemptible. "a /2"
    is in the second partition, which exists with `other`, the numbers of its first labs.
    """
    texts = [text.partition("^") for text in systems.split()]
    maxima = tuple((_system(text)[0], maximum) for text, _, maximum in texts if maximum)
    placed = tuple(_system(text) for text, _, _ in texts)
    wanted = tuple(_job(text) for text in jobs)
    words = queues.split()
    limits = tuple(_maximum(*text.split("=")) for text in words if text[-1].isdigit() or text[-1] == "j")
    guaranteed = (text.removesuffix("g").split("=") for text in words if text.endswith("g"))
    shares = tuple((path, int(count)) for path, count in guaranteed) if "fair" in words else None
    labs = None if other is None else tuple(f"lab-{number}" for number in other.split())
    return LabCase(placed, wanted, maxima, max_overtaken, coefficient, max_placed, limits, shares, labs)


def _maximum(path: str, number: str) -> tuple[str, str, int]:
    unit = "jobs" if number.endswith("j") else "systems"
    return path, unit, int(number.removesuffix("j"))


def _system(text: str) -> tuple[str, str, str]:
    place, _, condition = text.partition(":")
    name, _, lab = place.partition("@")
    return name, f"lab-{lab or 1}", condition or "Automated"


def _job(text: str) -> CaseJob:
    preemptible = text.endswith("&")
    priority, _, rest = text.removesuffix("&").rpartition(":")
    rest, _, number = rest.partition("/")
    rest, _, queue = rest.partition("@")
    rest, _, bucket = rest.partition("#")
    wants, _, after = rest.partition("<")
    parsed = tuple(_want(want) for want in wants.split())
    numbers = [int(text) if text else None for text in (after, bucket)]
    whose = priority.removesuffix("+") or "Normal", priority.endswith("+")
    where = queue.strip() or "default", int(number or DEFAULT_NUMBER)
    return CaseJob(parsed, *whose, *numbers, *where, preemptible)


def _want(text: str) -> RecipeWant:
    text, _, locks = text.partition("%")
    names, _, needs = text.removeprefix("!").partition("~")
    return RecipeWant(tuple(names), text.startswith("!"), needs, locks)


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
