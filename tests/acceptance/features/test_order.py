"""Order of decisions: pending systems, wake-ups, new sets, each by rank (design 4.2)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.observer import LABS
from tests.acceptance.stage import Stage


def test_repaired__set_that_wants_another_idle_system_too__does_not_jump_the_queue(stage: Stage) -> None:
    stage.machine("a")
    stage.machine("d")
    stage.change("d", condition="Broken", reason="fan")
    stage.begin()
    low = stage.submit(stage.recipe("a"), stage.recipe("d"), priority="Low")
    stage.assert_log("""
        admin submits job/1: Low recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued   recipe/1    reason='no lab has usable systems for its whole set n…'
            recipe.queued   recipe/2    reason='every viable system is broken'
    """)
    (urgent,) = stage.submit(stage.recipe("d"), priority="Urgent")
    stage.assert_log("""
        admin submits job/2: Urgent recipe-set/2 of recipe/3
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued   recipe/3    reason='every viable system is broken'
    """)
    stage.change("d", condition="Automated", reason="repaired")
    stage.assert_log("""
        admin:
            system.condition-changed    system/d    condition=Automated reason=repaired
            system.pending              system/d
        scheduler, on system.pending system/d:
            recipe.scheduled    recipe/3    system=d lab_controller=lab.east
            system.scheduled    system/d    recipe_id=3
            recipe.waiting      recipe/3    system=d
            system.waiting      system/d    recipe_id=3
        and on system.condition-changed system/d:
            recipe.scheduled    recipe/1    system=a lab_controller=lab.east
            system.scheduled    system/a    recipe_id=1
            recipe.assigned     recipe/2    lab_controller=lab.east
    """)
    _complete(stage, low, urgent)


def test_lab_enabled__several_idle_systems__highest_rank_over_all_of_them_is_first(stage: Stage) -> None:
    stage.machine("a")
    stage.machine("d")
    stage.write("PATCH", f"/lab-controllers/{LABS['east']}", {"enabled": False})
    stage.begin()
    low = stage.submit(stage.recipe("a"), stage.recipe("d"), priority="Low")
    stage.assert_log("""
        admin submits job/1: Low recipe-set/1 of recipe/1, recipe/2
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued   recipe/1    reason='no viable system is usable now, busy ones inc…'
            recipe.queued   recipe/2    reason='no viable system is usable now, busy ones inc…'
    """)
    (urgent,) = stage.submit(stage.recipe("d"), priority="Urgent")
    stage.assert_log("""
        admin submits job/2: Urgent recipe-set/2 of recipe/3
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued   recipe/3    reason='no viable system is usable now, busy ones inc…'
    """)
    stage.write("PATCH", f"/lab-controllers/{LABS['east']}", {"enabled": True})
    stage.assert_log("""
        admin:
            lab-controller.enabled  lab-controller/lab.east
        scheduler, on lab-controller.enabled lab-controller/lab.east:
            recipe.scheduled    recipe/3    system=d lab_controller=lab.east
            system.scheduled    system/d    recipe_id=3
            recipe.waiting      recipe/3    system=d
            system.waiting      system/d    recipe_id=3
        and on lab-controller.enabled lab-controller/lab.east:
            recipe.scheduled    recipe/1    system=a lab_controller=lab.east
            system.scheduled    system/a    recipe_id=1
            recipe.assigned     recipe/2    lab_controller=lab.east
    """)
    _complete(stage, low, urgent)


def test_new_sets__of_one_job__are_served_in_rank_order(stage: Stage) -> None:
    stage.machine("a")
    stage.begin()
    low, urgent = stage.submit_ranked(("Low", stage.recipe("a")), ("Urgent", stage.recipe("a")))
    stage.assert_log("""
        admin:
            job.submitted           job/1           owner=admin
            recipe-set.submitted    recipe-set/1    job_id=1 priority=Low recipe_ids=1
            recipe.new              recipe/1        recipe_set_id=1 distro_tree_id=1
            recipe-set.submitted    recipe-set/2    job_id=1 priority=Urgent recipe_ids=2
            recipe.new              recipe/2        recipe_set_id=2 distro_tree_id=1
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.scheduled        recipe/2        system=a lab_controller=lab.east
            system.scheduled        system/a        recipe_id=2
            recipe.waiting          recipe/2        system=a
            system.waiting          system/a        recipe_id=2
        and on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no idle system is viable'
    """)
    stage.end_started(urgent)
    stage.assert_log("""
        lab-ops gives up recipe/2 on a
        scheduler, on system.pending system/a:
            recipe.scheduled        recipe/1        system=a lab_controller=lab.east
            system.scheduled        system/a        recipe_id=1
            recipe.waiting          recipe/1        system=a
            system.waiting          system/a        recipe_id=1
    """)
    _end(stage, [low], "a")


def _complete(stage: Stage, low: list[int], urgent: int) -> None:
    """End the urgent recipe on d; the low set, which holds a, gets d and ends."""
    stage.end_started(urgent)
    stage.assert_log("""
        lab-ops gives up recipe/3 on d
        scheduler, on system.pending system/d:
            recipe.scheduled    recipe/2    system=d lab_controller=lab.east
            system.scheduled    system/d    recipe_id=2
            recipe.waiting      recipe/1    system=a
            system.waiting      system/a    recipe_id=1
            recipe.waiting      recipe/2    system=d
            system.waiting      system/d    recipe_id=2
    """)
    _end(stage, low, "ad")


def _end(stage: Stage, recipe_ids: list[int], names: str) -> None:
    """End the recipes one after the other; no recipe takes their systems."""
    for number, (recipe_id, name) in enumerate(zip(recipe_ids, names, strict=True), 1):
        stage.end_started(recipe_id)
        stage.assert_log(f"""
            lab-ops gives up recipe/{number} on {name}
            scheduler, on system.pending system/{name}:
                system.idle     system/{name}
        """)


def test_priority__raised_while_waiting__gets_the_system_before_an_earlier_recipe(stage: Stage) -> None:
    stage.machine("m1")
    (busy,) = stage.submit(stage.recipe())
    stage.start_all(busy)
    stage.begin()
    (early,) = stage.submit(stage.recipe(), priority="Normal")
    stage.assert_log("""
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no idle system is viable'
    """)
    (late,) = stage.submit(stage.recipe(), priority="Low")
    stage.assert_log("""
        admin submits job/2: Low recipe-set/2 of recipe/2
        scheduler, on recipe-set.submitted recipe-set/2:
            recipe.queued           recipe/2        reason='no idle system is viable'
    """)
    stage.write("PATCH", f"/recipe-sets/{stage.set_of(late)}", {"priority": "Urgent"})
    stage.assert_log("""
        admin:
            recipe-set.priority-changed recipe-set/2    priority=Urgent
    """)
    stage.finish(busy)
    stage.assert_log("""
        lab-ops completes recipe/3 on m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/2        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=2
            recipe.waiting          recipe/2        system=m1
            system.waiting          system/m1       recipe_id=2
    """)
    stage.end_started(late)
    stage.assert_log("""
        lab-ops gives up recipe/2 on m1
        scheduler, on system.pending system/m1:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.east
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(early)
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)


@pytest.fixture
def west(stage: Stage) -> Iterator[str]:
    """A lab controller that the test may disable."""
    path = f"/lab-controllers/{LABS['west']}"
    yield path
    stage.admin.patch(path, json={"enabled": True})


def test_lab__disabled_and_enabled_again__waiting_recipe_gets_its_idle_system(
    stage: Stage, west: str
) -> None:
    stage.machine("m1", lab="west")
    stage.begin()
    stage.write("PATCH", west, {"enabled": False})
    (recipe,) = stage.submit(stage.recipe())
    stage.assert_log("""
        admin:
            lab-controller.disabled lab-controller/lab.west
        admin submits job/1: recipe-set/1 of recipe/1
        scheduler, on recipe-set.submitted recipe-set/1:
            recipe.queued           recipe/1        reason='no viable system is usable now, busy ones inc…'
    """)
    stage.write("PATCH", west, {"enabled": True})
    stage.assert_log("""
        admin:
            lab-controller.enabled  lab-controller/lab.west
        scheduler, on lab-controller.enabled lab-controller/lab.west:
            recipe.scheduled        recipe/1        system=m1 lab_controller=lab.west
            system.scheduled        system/m1       recipe_id=1
            recipe.waiting          recipe/1        system=m1
            system.waiting          system/m1       recipe_id=1
    """)
    stage.end_started(recipe, by="west")
    stage.assert_log("""
        lab-ops gives up recipe/1 on m1
        scheduler, on system.pending system/m1:
            system.idle             system/m1
    """)
