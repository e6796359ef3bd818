"""Random jobs: sets of one to four recipes with guests, with weak or strong requirements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from domain.requirements.host import HOST
from tests.random_histories.labs import POOLS

_NET = {"element": "pool", "op": "==", "value": "net"}
_BIG = {"element": "memory", "op": ">=", "value": 8192}


def named(*fqdns: str) -> dict[str, Any]:
    """Return a requirement for any of these systems."""
    return {"or": [{"element": "hostname", "op": "==", "value": fqdn} for fqdn in fqdns]}


def host_requires(form: Any) -> str:
    reading = HOST.examine(form)
    assert not reading.findings, reading.findings
    return reading.text


def distro_requires(tree: str) -> str:
    return DISTRO.examine({"element": "name", "op": "==", "value": tree}).text


# Most recipes should be placeable: the others are aborted at once.
TREES = ("tree-1",) * 36 + ("tree-2", "tree-2", "tree-3", "tree-9")
# Fields of a recipe that no change concerns.
KEPT_FIELDS = ("reservesys", "autopick_random", "autopick_pools", "guestname", "guestargs")
KEPT = (None,) * 6 + ({"when": "always", "duration_seconds": 600}, {"when": "onfail", "duration_seconds": 60})
# Requirements that may fit only another lab, and so cannot be met together with the others.
ELSEWHERE = (_BIG, _NET, {"or": [_BIG, _NET]}, {"not": [_NET]})


def recipe(want: Any, tree: str = "tree-1", **more: Any) -> RecipeSpec:
    plain: dict[str, Any] = {
        "whiteboard": "",
        "role": None,
        "kernel_options": "",
        "kernel_options_post": "",
        "ks_meta": "",
        "autopick_random": False,
        "autopick_pools": (),
        "tasks": (TaskSpec("/one", None, ()), TaskSpec("/two", None, ())),
    }
    asked = {"host_requires": host_requires(want), "distro_requires": distro_requires(tree)}
    return RecipeSpec(**{**plain, **asked, **more})


def job(recipe_sets: Sequence[RecipeSetSpec], *, is_open: bool = False) -> JobSpec:
    return JobSpec(
        whiteboard="",
        owner=None,
        group=None,
        retention_tag="scratch",
        product=None,
        recipe_sets=tuple(recipe_sets),
        document={"recipe_sets": [set_document(each) for each in recipe_sets]},
        is_open=is_open,
    )


def set_document(recipe_set: RecipeSetSpec) -> dict[str, Any]:
    """Return a document of a set from which `set_of` returns it again."""
    recipes = [_recipe_document(each) for each in recipe_set.recipes]
    return {"priority": recipe_set.priority.name, "recipes": recipes}


def _recipe_document(spec: RecipeSpec) -> dict[str, Any]:
    kept = {name: getattr(spec, name) for name in KEPT_FIELDS if getattr(spec, name)}
    document = {
        "host_requires": spec.host_requires,
        "distro_requires": spec.distro_requires,
        "tasks": [task.name for task in spec.tasks],
        "kept": {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()},
    }
    guests = [_recipe_document(guest) for guest in spec.guests]
    return {**document, "guests": guests} if guests else document


def set_of(document: Mapping[str, Any]) -> RecipeSetSpec:
    """Return the set with this document."""
    recipes = tuple(_recipe_of(each) for each in document["recipes"])
    return RecipeSetSpec(Priority[document["priority"]], recipes)


def _recipe_of(document: Mapping[str, Any]) -> RecipeSpec:
    kept = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document["kept"].items()
    }
    return replace(
        recipe({"and": []}, **kept),
        host_requires=document["host_requires"],
        distro_requires=document["distro_requires"],
        tasks=tuple(TaskSpec(name, None, ()) for name in document["tasks"]),
        guests=tuple(_recipe_of(guest) for guest in document.get("guests", ())),
    )


def _tasks(number: int) -> tuple[TaskSpec, ...]:
    return tuple(TaskSpec(f"/task-{place}", None, ()) for place in range(number))


def _guests(*trees: str) -> tuple[RecipeSpec, ...]:
    return tuple(recipe({"and": []}, tree, guestname="guest", guestargs="--ram=1") for tree in trees)


trees = st.sampled_from(TREES)
kept = st.sampled_from(KEPT)
guests = st.sampled_from(
    (_guests(),) * 8
    + (
        _guests("tree-1"),
        _guests("tree-1"),
        _guests("tree-1", "tree-1"),
        _guests("tree-1", "tree-2"),
        _guests("tree-3"),
    )
)
tasks = st.sampled_from((_tasks(1), _tasks(1), _tasks(2)))
autopick_pools = st.sampled_from(((), (), *((pool,) for pool in POOLS)))
priorities = st.sampled_from(list(Priority))
sizes = st.sampled_from((1, 1, 2, 2, 2, 3, 3, 4))


def _wants(own: str, others: Sequence[str]) -> list[Any]:
    """Return requirements, mostly for a few systems by name, so that recipes compete."""
    narrow = [named(own), *(named(own, other) for other in others)]
    return [*narrow * 4, {"force": own}, {"force": own}, {"and": []}, *ELSEWHERE]


@st.composite
def jobs(draw: Any, labs: Sequence[Sequence[str]]) -> JobSpec:
    """Return a job of one or two sets, each for the systems of one of the labs; some jobs are open."""
    return job(
        [_recipe_set(draw, draw(st.sampled_from(labs))) for _ in range(draw(st.sampled_from((1, 1, 2))))],
        is_open=draw(st.sampled_from((False, False, True))),
    )


@st.composite
def changed_sets(draw: Any, document: Mapping[str, Any], names: Sequence[str]) -> JobSpec:
    """Return a job with only a set that differs from a document in the requirement or tasks of a host."""
    hosts = list(document["recipes"])
    place = draw(st.integers(0, len(hosts) - 1))
    want = draw(st.sampled_from(_wants(draw(st.sampled_from(names)), names)))
    asked = {"host_requires": host_requires(want), "distro_requires": distro_requires(draw(trees))}
    fields = draw(st.sampled_from((asked, {"tasks": [task.name for task in draw(tasks)]})))
    hosts[place] = {**hosts[place], **fields}
    return job([set_of({**document, "recipes": hosts})])


def _recipe_set(draw: Any, names: Sequence[str]) -> RecipeSetSpec:
    """Return a set in which each recipe wants a different system, and may accept others."""
    owns = draw(st.permutations(names))[: draw(sizes)]
    return RecipeSetSpec(draw(priorities), tuple(_recipe(draw, own, names) for own in owns))


def _recipe(draw: Any, own: str, names: Sequence[str]) -> RecipeSpec:
    return recipe(
        draw(st.sampled_from(_wants(own, names))),
        draw(trees),
        guests=draw(guests),
        reservesys=draw(kept),
        tasks=draw(tasks),
        autopick_random=draw(st.booleans()),
        autopick_pools=draw(autopick_pools),
    )
