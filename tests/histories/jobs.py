"""Random jobs: sets of one to four recipes with guests, that ask for anything, or for very little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from domain.job.spec import JobSpec, RecipeSetSpec, RecipeSpec, TaskSpec
from domain.priority import Priority
from domain.requirements.distro import DISTRO
from domain.requirements.host import HOST
from tests.histories.labs import POOLS

_NET = {"element": "pool", "op": "==", "value": "net"}
_BIG = {"element": "memory", "op": ">=", "value": 8192}


def named(*fqdns: str) -> dict[str, Any]:
    """Any of these systems."""
    return {"or": [{"element": "hostname", "op": "==", "value": fqdn} for fqdn in fqdns]}


def host_requires(form: Any) -> str:
    reading = HOST.examine(form)
    assert not reading.findings, reading.findings
    return reading.text


def distro_requires(tree: str) -> str:
    return DISTRO.examine({"element": "name", "op": "==", "value": tree}).text


def _seldom(strategy: st.SearchStrategy[Any], usual: Any, one_in: int) -> st.SearchStrategy[Any]:
    return st.integers(1, one_in).flatmap(lambda dice: strategy if dice == one_in else st.just(usual))


trees = _seldom(st.sampled_from(("tree-1", "tree-2", "tree-3", "tree-9")), "tree-1", 8)
keeping = st.sampled_from(
    ({"when": "always", "duration_seconds": 600}, {"when": "onfail", "duration_seconds": 60})
)
anything = st.sampled_from(({"and": []}, _BIG, _NET, {"or": [_BIG, _NET]}, {"not": [_NET]}))


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


def job(recipe_sets: Sequence[RecipeSetSpec]) -> JobSpec:
    return JobSpec(
        whiteboard="",
        owner=None,
        group=None,
        retention_tag="scratch",
        product=None,
        recipe_sets=tuple(recipe_sets),
        document={},
    )


def _guest(tree: str) -> RecipeSpec:
    return recipe({"and": []}, tree, guestname="guest", guestargs="--ram=1")


def _recipes(want: Any) -> st.SearchStrategy[RecipeSpec]:
    return st.builds(
        recipe,
        st.just(want),
        trees,
        guests=_seldom(st.lists(trees.map(_guest), min_size=1, max_size=2).map(tuple), (), 4),
        reservesys=_seldom(keeping, None, 4),
        autopick_random=st.booleans(),
        autopick_pools=st.lists(st.sampled_from(POOLS), unique=True, max_size=1).map(tuple),
        tasks=st.sampled_from((_tasks(1), _tasks(1), _tasks(2))),
    )


def _tasks(number: int) -> tuple[TaskSpec, ...]:
    return tuple(TaskSpec(f"/task-{place}", None, ()) for place in range(number))


def _wants(own: str, others: Sequence[str]) -> st.SearchStrategy[Any]:
    """Mostly a few systems, by name: who wants the same ones is in the way of others."""
    narrow = st.lists(st.sampled_from(others), max_size=1).map(lambda more: named(own, *more))
    return st.integers(0, 9).flatmap(
        lambda dice: anything if dice == 8 else st.just({"force": own}) if dice == 9 else narrow
    )


@st.composite
def _recipe_sets(draw: Any, names: Sequence[str]) -> RecipeSetSpec:
    size = draw(st.sampled_from((1, 1, 2, 2, 2, 3, 3, 4)))
    owns = draw(st.permutations(names))[:size]
    recipes = tuple(draw(_recipes(draw(_wants(own, names)))) for own in owns)
    return RecipeSetSpec(draw(priorities), recipes)


def jobs(labs: Sequence[Sequence[str]]) -> st.SearchStrategy[JobSpec]:
    """Of one or two sets, each for the systems of one of the labs."""
    recipe_sets = st.sampled_from(labs).flatmap(_recipe_sets)
    return st.lists(recipe_sets, min_size=1, max_size=2).map(job)


priorities = st.sampled_from(list(Priority))
