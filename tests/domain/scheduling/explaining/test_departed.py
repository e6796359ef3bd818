"""Explanations of recipes that only systems of another partition, or of none, could run."""

from __future__ import annotations

from domain.recipe.events import RecipeAborted
from domain.scheduling.explaining.waiting import WaitingOptions, why_it_waits
from tests.domain.scheduling.host_requirements import named
from tests.domain.scheduling.two_partitions import DEFAULT, NOBODYS, OTHER, TwoPartitions

EXCLUDED = "no system could run it: the rule requirement excludes all that remained"
DEPARTED = "systems that left the partition matched its requirement"


def with_waiting_recipe(*names: str) -> tuple[TwoPartitions, int]:
    """Return a world of lab-1 with a and b and lab-2 with c and d, and a recipe that waits for systems."""
    world = TwoPartitions()
    world.put_tree(1, "x86_64", ["lab-1", "lab-2"])
    world.turn_to(DEFAULT)
    for lab, systems in {"lab-1": "ab", "lab-2": "cd"}.items():
        world.add_lab(lab)
        for fqdn in systems:
            world.add_system(fqdn, lab)
        world.enable(lab, False)
    recipe_id = world.submit(named(*names))
    world.settle_both()
    world.turn_to(DEFAULT)
    return world, recipe_id


def summary(world: TwoPartitions, recipe_id: int, *hidden: str) -> str:
    host = world.partition.sets.recipes[recipe_id]
    return why_it_waits(world.partition, host, WaitingOptions(10, hidden=frozenset(hidden))).summary


def test_waiting__its_only_lab_moved__summary_names_the_system_until_it_returns() -> None:
    world, recipe_id = with_waiting_recipe("a")
    for number in (OTHER.number, NOBODYS):
        world.move_lab("lab-1", number)
        assert summary(world, recipe_id) == f"{EXCLUDED}; {DEPARTED}: a"
    assert summary(world, recipe_id, "a") == EXCLUDED
    world.move_lab("lab-1", DEFAULT)
    assert summary(world, recipe_id) == "1 system could run it, which is not usable now"


def test_waiting__several_labs_moved__summary_names_all_that_matched() -> None:
    world, recipe_id = with_waiting_recipe("a", "c", "d")
    world.move_lab("lab-1", NOBODYS)
    assert summary(world, recipe_id).startswith("2 systems could run it")
    world.move_lab("lab-2", OTHER.number)
    assert summary(world, recipe_id).endswith(f"excludes all that remained; {DEPARTED}: a, c, d")


def test_lab__in_no_partition__waiting_recipes_stay_and_new_jobs_for_it_are_aborted() -> None:
    world, recipe_id = with_waiting_recipe("a")
    world.move_lab("lab-1", NOBODYS)
    new = world.submit(named("a"))
    decided = [each for decision in world.settle() for each in decision.events]
    assert [(subject, type(event)) for subject, event in decided] == [(f"recipe/{new}", RecipeAborted)]
    assert world.recipes[recipe_id].state == "queued"
