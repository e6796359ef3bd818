"""Logs made by hand for the tests of the checker: commit by commit, with the real events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from domain.directory import events as directory
from domain.events import Basis, Event, Recorded, Stamp
from domain.recipe import events as recipe
from domain.recipe_set.events import RecipeSetPriorityChanged, RecipeSetSubmitted
from domain.system import events as system
from tests.checker import Violation, at_rest, check, from_recorded

Pair = tuple[str, Event]

AT = datetime(2024, 1, 1, tzinfo=UTC)
LAB = "lab-1"
WHY = "no idle system is viable"
MACHINE = {"element": "system_type", "op": "==", "value": "Machine"}


def only(*names: str) -> dict[str, Any]:
    """A requirement that these systems fulfil."""
    named = [{"element": "hostname", "op": "==", "value": name} for name in names]
    return {"and": [{"or": named}, MACHINE]}


class Story:
    """Mutable. Positions have gaps, as those of the real log have."""

    def __init__(self) -> None:
        self.log: list[Recorded] = []
        self._versions: dict[str, int] = {}

    @property
    def end(self) -> int:
        return self.log[-1].position if self.log else 0

    def commit(self, *pairs: Pair, stamps: Iterable[Stamp] = ()) -> None:
        told = list(stamps) or [Stamp(AT, "ada", "request/1")] * len(pairs)
        first = self.end + 1 + len(self.log) % 2
        for offset, ((subject, event), stamp) in enumerate(zip(pairs, told, strict=True)):
            version = self._versions[subject] = self._versions.get(subject, 0) + 1
            end = first + len(pairs) - 1
            self.log.append(Recorded(first + offset, end, AT, subject, version, event, stamp))

    def decide(self, *decisions: list[Pair], basis: int | None = None, cause: str | None = None) -> None:
        """One commit of decisions, numbered, by the scheduler that has read everything."""
        known = Basis(self.end if basis is None else basis, AT, epoch=1, policy_version=1)
        why = cause or f"event/{known.position}"
        stamps = [
            Stamp(AT, "scheduler", why, known, number)
            for number, decision in enumerate(decisions)
            for _ in decision
        ]
        self.commit(*(pair for decision in decisions for pair in decision), stamps=stamps)

    # Labs and systems

    def labs(self, *names: str) -> None:
        for name in names:
            self.commit((f"lab-controller/{name}", directory.LabControllerRegistered(enabled=True)))

    def tree(self, number: int, *labs: str) -> None:
        urls = {lab: [f"http://{lab}/"] for lab in labs}
        registered = directory.DistroTreeRegistered(
            "tree", "Fedora", "40", "x86_64", "Server", (), urls, "2024-01-01T00:00:00Z"
        )
        self.commit((f"distro-tree/{number}", registered))

    def system(self, fqdn: str, lab: str = LAB, condition: str = "Automated", **inventory: Any) -> None:
        plain = {"type": "Machine", "arches": ["x86_64"], **inventory}
        pairs = [(f"system/{fqdn}", system.SystemRegistered(lab, "ada", condition, plain))]
        self.commit(*pairs, *([pending(fqdn)] if condition == "Automated" else []))

    def idle(self, *names: str, lab: str = LAB) -> None:
        """New systems that nobody wants."""
        for fqdn in names:
            self.system(fqdn, lab)
        self.decide(*([idle(fqdn)] for fqdn in names))

    # Jobs

    def job(
        self,
        set_id: int,
        wants: Mapping[int, Mapping[str, Any]],
        priority: str = "Normal",
        guests: Mapping[int, int] | None = None,
        trees: Mapping[int, int] | None = None,
    ) -> None:
        """A set of recipes with what they want, guests with their hosts, and trees other than the first."""
        hosts = {number: number for number in wants} | dict(guests or {})
        members = sorted(hosts)
        pairs: list[Pair] = [
            (f"recipe-set/{set_id}", RecipeSetSubmitted(set_id, priority, members)),
        ]
        for number in members:
            form = wants.get(number, {"and": []})
            host = hosts[number] if hosts[number] != number else None
            tree_id = (trees or {}).get(number, 1)
            event = new(set_id, number, form, priority, host_recipe_id=host, distro_tree_id=tree_id)
            pairs.append((f"recipe/{number}", event))
        self.commit(*pairs)

    def queue(self, set_id: int, wants: Mapping[int, Mapping[str, Any]], priority: str = "Normal") -> None:
        """A job that gets nothing."""
        self.job(set_id, wants, priority)
        self.decide([queued(number) for number in wants])

    def priority(self, set_id: int, priority: str) -> None:
        self.commit((f"recipe-set/{set_id}", RecipeSetPriorityChanged(priority)))

    def progress(self, number: int, fqdn: str, *states: str) -> None:
        """Recipe and system move together, one commit for each state."""
        for state in states:
            self.commit(*step(number, fqdn, state))

    def complete(self, number: int, fqdn: str) -> None:
        self.progress(number, fqdn, "installing", "running")
        self.commit((f"recipe/{number}", recipe.RecipeCompleted()), pending(fqdn))

    # Asking the checker

    def violations(self) -> list[Violation]:
        return check(from_recorded(self.log))

    def at_rest(self) -> list[Violation]:
        return at_rest(from_recorded(self.log))


def new(set_id: int, number: int, form: Mapping[str, Any], priority: str, **fields: Any) -> recipe.RecipeNew:
    plain: dict[str, Any] = {
        "whiteboard": "",
        "role": None,
        "host_requires": json.dumps(form, sort_keys=True, separators=(",", ":")),
        "distro_requires": "",
        "autopick_random": False,
        "autopick_pools": (),
        "kernel_options": "",
        "kernel_options_post": "",
        "ks_meta": "",
        "tasks": ({"task_id": number, "name": "/check", "role": None, "params": {}},),
    }
    beside = {"job_id": set_id, "recipe_set_id": set_id, "owner": "ada", "group": None, "priority": priority}
    return recipe.RecipeNew(**{**beside, **plain, **fields})


# One move of a recipe or system


def queued(number: int, reason: str = WHY) -> Pair:
    return f"recipe/{number}", recipe.RecipeQueued(reason=reason)


def assigned(number: int, lab: str = LAB, reason: str | None = None) -> Pair:
    return f"recipe/{number}", recipe.RecipeAssigned(lab_controller=lab, reason=reason)


def cancelled(number: int, reason: str = "not needed") -> Pair:
    return f"recipe/{number}", recipe.RecipeCancelled(reason=reason)


def aborted(number: int, reason: str = "no power") -> Pair:
    return f"recipe/{number}", recipe.RecipeAborted(reason=reason)


def scheduled(number: int, fqdn: str, lab: str = LAB) -> Pair:
    return f"recipe/{number}", recipe.RecipeScheduled(system=fqdn, lab_controller=lab)


def waiting(number: int, fqdn: str) -> Pair:
    return f"recipe/{number}", recipe.RecipeWaiting(system=fqdn)


def idle(fqdn: str) -> Pair:
    return f"system/{fqdn}", system.SystemIdle()


def pending(fqdn: str) -> Pair:
    return f"system/{fqdn}", system.SystemPending()


def condition(fqdn: str, condition: str, reason: str = "fan") -> Pair:
    return f"system/{fqdn}", system.SystemConditionChanged(condition=condition, reason=reason)


# Both sides


def grant(number: int, fqdn: str, lab: str = LAB) -> list[Pair]:
    return [scheduled(number, fqdn, lab), (f"system/{fqdn}", system.SystemScheduled(recipe_id=number))]


def start(number: int, fqdn: str) -> list[Pair]:
    return [waiting(number, fqdn), (f"system/{fqdn}", system.SystemWaiting(recipe_id=number))]


def place(number: int, fqdn: str, lab: str = LAB) -> list[Pair]:
    """All that a set of one recipe needs."""
    return [*grant(number, fqdn, lab), *start(number, fqdn)]


def step(number: int, fqdn: str, state: str) -> list[Pair]:
    recipe_event = {"installing": recipe.RecipeInstalling, "running": recipe.RecipeRunning}[state]
    usage = {"installing": system.SystemInstalling, "running": system.SystemRunning}[state]
    return [(f"recipe/{number}", recipe_event(system=fqdn)), (f"system/{fqdn}", usage(recipe_id=number))]


# Beginnings and ends of tests


def opening() -> Story:
    """Idle are b and, in lab-2, c; m is Manual. Recipe 1 waits on a, and recipe 2 for it."""
    story = Story()
    story.labs("lab-1", "lab-2")
    story.tree(1, "lab-1", "lab-2")
    story.idle("a", "b")
    story.idle("c", lab="lab-2")
    story.system("m", condition="Manual")
    story.job(1, {1: only("a")})
    story.decide(place(1, "a"))
    story.queue(2, {2: only("a")})
    return story


def caught(story: Story, invariant: str, *subjects: str, beside: Iterable[str] | None = ()) -> None:
    """The invariant is broken by these subjects, and no other is but those named (None: any)."""
    found = story.violations()
    about = [one for one in found if one.invariant == invariant and set(subjects) <= set(one.subjects)]
    assert about, f"{invariant} is not found broken by {subjects}, but: {[str(one) for one in found]}"
    known = {recorded.position for recorded in story.log}
    for one in about:
        assert one.positions, f"{one} names no position"
        assert set(one.positions) <= known, f"{one} names positions that are not in the log"
    if beside is not None:
        others = [str(one) for one in found if one.invariant not in {invariant, *beside}]
        assert not others, f"more is found broken: {others}"
