"""Generated labs and jobs: the same for the same seed, and jobs that their lab can run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.requirements.columns import Columns
from domain.requirements.distro import DISTRO, NewestFirst
from domain.requirements.evaluate import matching
from domain.requirements.host import HOST
from domain.requirements.vocabulary import DISK, SYSTEM
from replay.workload.generated_jobs import KINDS, MAX_SET_SIZE, PRIORITIES, generate_jobs
from replay.workload.generated_lab import generate_lab
from replay.workload.generated_requirements import host_requires
from tests.domain.requirements.reference import judge
from tests.intake.jobs import SAMPLES
from tests.replay.commands import seeds

LABS = st.tuples(seeds, st.integers(1, 5), st.integers(1, 60))
BIG = generate_lab(7, 3, 200)
SAMPLE = json.loads((SAMPLES / "lab.json").read_text(encoding="utf-8"))


@given(LABS)
def test_lab__same_seed__same_lab(asked: tuple[int, int, int]) -> None:
    assert json.dumps(generate_lab(*asked)) == json.dumps(generate_lab(*asked))


@given(LABS)
def test_lab__any__names_differ_and_all_exist(asked: tuple[int, int, int]) -> None:
    lab = generate_lab(*asked)
    _, labs, systems = asked
    fqdns = {system["fqdn"] for system in lab["systems"]}
    assert (len(fqdns), len(lab["lab_controllers"])) == (systems, labs)
    users = {user["name"] for user in lab["users"]}
    pools = {pool["name"] for pool in lab["pools"]}
    controllers = {each["fqdn"] for each in lab["lab_controllers"]}
    for system in lab["systems"]:
        assert system["lab_controller"] in controllers
        assert system["owner"] in users
        assert set(system["pools"]) <= pools
    assert {pool["owner_group"] for pool in lab["pools"]} <= {group["name"] for group in lab["groups"]}
    assert {name for group in lab["groups"] for name in group["members"]} <= users


def names(lab: dict[str, Any], section: str) -> set[str]:
    """Return the identities of a section's items; for distro trees also the names that jobs require."""
    keys = ("id", "name") if section == "distro_trees" else ("name", "fqdn")
    return {str(item[key]) for item in lab[section] for key in keys if key in item}


@pytest.mark.parametrize("section", ["groups", "pools", "lab_controllers", "distro_trees", "systems"])
def test_lab__loaded_after_other_labs__has_no_name_of_another(section: str) -> None:
    others = [names(lab, section) for lab in (SAMPLE, generate_lab(8, 3, 200))]
    assert all(names(BIG, section).isdisjoint(other) for other in others)


def test_jobs__of_the_samples__never_get_a_made_up_tree() -> None:
    tags = {tag for tree in BIG["distro_trees"] for tag in tree["tags"]}
    assert tags.isdisjoint(tag for tree in SAMPLE["distro_trees"] for tag in tree["tags"])


def test_lab__any__has_the_shape_of_the_sample() -> None:
    assert set(BIG) == set(SAMPLE)
    for section in SAMPLE:
        beside = {"excluded_families", "serial", "location", "lender"}
        allowed = {name for item in SAMPLE[section] for name in item} | beside
        assert {name for item in BIG[section] for name in item} <= allowed


def test_lab__big__is_varied() -> None:
    systems = BIG["systems"]
    assert {system["condition"] for system in systems} == {"Automated", "Manual", "Broken"}
    assert Counter(system["condition"] for system in systems)["Automated"] > 160
    assert len({system["arches"][0] for system in systems}) == 4
    assert len({system["memory_mb"] for system in systems}) > 4
    assert len({system["cpu"]["processors"] for system in systems}) > 4
    assert {pool for system in systems for pool in system["pools"]} == {pool["name"] for pool in BIG["pools"]}


@given(LABS, seeds)
@settings(max_examples=25)
def test_jobs__same_seed__same_jobs(asked: tuple[int, int, int], seed: int) -> None:
    lab = generate_lab(*asked)
    assert list(generate_jobs(lab, seed, 5)) == list(generate_jobs(lab, seed, 5))


def test_jobs__many__have_everything() -> None:
    jobs = list(generate_jobs(BIG, 1, 300))
    assert {job["whiteboard"].split(": ")[1] for job in jobs} == set(KINDS)
    sets = [recipe_set for job in jobs for recipe_set in job["recipe_sets"]]
    assert {recipe_set["priority"] for recipe_set in sets} == set(PRIORITIES)
    assert {len(recipe_set["recipes"]) for recipe_set in sets} == set(range(1, MAX_SET_SIZE + 1))
    recipes = [recipe for recipe_set in sets for recipe in recipe_set["recipes"]]
    assert {recipe["autopick"]["random"] for recipe in recipes} == {True, False}
    assert any(recipe["autopick"]["pools"] for recipe in recipes)
    assert any("guests" in recipe for recipe in recipes)
    assert any("reservesys" in recipe for recipe in recipes)


@given(LABS, seeds)
@settings(max_examples=40, deadline=None)
def test_jobs__any_lab__could_run_in_it(asked: tuple[int, int, int], seed: int) -> None:
    lab = generate_lab(*asked)
    for job in generate_jobs(lab, seed, 6):
        for recipe_set in job["recipe_sets"]:
            assert any(could_start(recipe_set["recipes"], lab, one["fqdn"]) for one in lab["lab_controllers"])


def test_requirements__of_a_lab__ask_for_everything_and_are_met() -> None:
    asked = set[str]()
    for number, system in enumerate(BIG["systems"] * 10):
        form = host_requires(system, Random(number))
        assert judge(checked_form(form), system) is True, form
        asked.update(elements(form))
    whole = {*SYSTEM.elements.values(), *DISK.elements.values()}
    assert asked <= {*SYSTEM.elements, *DISK.elements}
    assert {element.spellings for element in whole if asked.isdisjoint(element.spellings)} == set()


def checked_form(form: Any) -> Any:
    checked(HOST, form)
    return form


def elements(form: Any) -> Iterator[str]:
    if "element" in form:
        yield form["element"]
        return
    for children in form.values():
        for child in children:
            yield from elements(child)


def could_start(recipes: list[Any], lab: dict[str, Any], lab_controller: str) -> bool:
    """Return whether the lab has the distro trees and a system for each recipe, all at the same time."""
    systems = [system for system in lab["systems"] if system["lab_controller"] == lab_controller]
    trees = [tree for tree in lab["distro_trees"] if lab_controller in tree["urls"]]
    installed = [guest for recipe in recipes for guest in recipe.get("guests", ())]
    ordered = NewestFirst(trees)
    for each in (*recipes, *installed):
        if not ordered.fitting(checked(DISTRO, each["distro_requires"])):
            return False
    return matched([fitting(recipe, systems) for recipe in recipes])


def matched(fits: list[set[int]]) -> bool:
    """Return whether each recipe can have a system of its own."""
    holder = dict[int, int]()

    def place(recipe: int, tried: set[int]) -> bool:
        for system in fits[recipe] - tried:
            tried.add(system)
            if system not in holder or place(holder[system], tried):
                holder[system] = recipe
                return True
        return False

    return all(place(recipe, set()) for recipe in range(len(fits)))


def fitting(recipe: Any, systems: list[Any]) -> set[int]:
    columns = Columns(SYSTEM)
    for number, system in enumerate(systems):
        columns.put(number, system)
    found = matching(checked(HOST, recipe["host_requires"]), columns)
    return {number for number in range(len(systems)) if found >> number & 1}


def checked(language: Any, form: Any) -> Any:
    reading = language.examine(form)
    assert reading.findings == ()
    return reading.node


@pytest.mark.parametrize("condition", ["Manual", "Broken"])
def test_jobs__nothing_automated__there_are_none(condition: str) -> None:
    lab = generate_lab(1, 1, 3)
    broken = [{**system, "condition": condition} for system in lab["systems"]]
    assert list(generate_jobs({**lab, "systems": broken}, 1, 5)) == []
