"""Read models of recipes, and durations of their states."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest

from api.rest.resources.shapes import seconds_document
from domain.directory.events import PartitionCreated
from domain.events import Event
from domain.job.events import JobSubmitted
from domain.recipe import events as recipe_events
from domain.recipe_set.events import (
    RecipeSetPriorityChanged,
    RecipeSetReviewed,
    RecipeSetSubmitted,
    RecipeSetWaived,
    RecipeSetWaiverEnded,
)
from domain.roll_up import BAD_RESULTS, RESULT_ORDER
from projections.durations import BOUNDS, bucket_of
from tests.domain.recipe.samples import recipe_new
from tests.projections.happened import (
    Happened,
    assigned,
    guest,
    host,
    locked,
    of,
    queued,
    running,
    scheduled,
    submitted,
    waiting,
)
from tests.projections.projected_log import ProjectedLog
from tests.projections.timed_commits import BEGINNING, commit_at


@pytest.fixture
def two(models: ProjectedLog) -> ProjectedLog:
    """Queue recipes 1 and 2, each for a system, and 3, a guest of 2."""
    models.commit(*submitted(host(1), host(2), guest(3, host_id=2)), *queued(1, 2, 3))
    return models


def in_queue(models: ProjectedLog) -> list[int]:
    return [row["recipe_id"] for row in models.queue()]


def test_queue__set_with_a_guest__has_the_hosts_only(two: ProjectedLog) -> None:
    assert in_queue(two) == [1, 2]


def test_queue__recipe_of_another_partition__stays_in_it_after_a_restart(models: ProjectedLog) -> None:
    models.commit(*submitted(host(1)), partition=2)
    models.begin_again()
    models.commit(*queued(1), partition=2)
    assert in_queue(models) == []
    for partitions in ([2], [1, 2]):
        (row,) = models.queue(partitions=partitions)
        assert (row["recipe_id"], row["state"], row["partition"]) == (1, "queued", 2)
    assert models.recipe(1)["partition"] == 2


def test_oldest_unplaced__only_another_partition_has_recipes__is_theirs(models: ProjectedLog) -> None:
    models.commit(("partition/other", PartitionCreated(2)))
    assert models.rows("oldest_unplaced") == []
    models.commit(*submitted(host(1)), partition=2)
    assert models.row("oldest_unplaced")["seconds"] > 0


def test_oldest_unplaced__of_two_priorities__is_one_of_each(models: ProjectedLog) -> None:
    first, second = recipe_new(1, "Low"), recipe_new(2, "High")
    for number, recipe in enumerate((first, second), start=1):
        sets = RecipeSetSubmitted(number, recipe.priority, (number,))
        models.commit(
            *of("job", number, JobSubmitted("ada", "ada", None, "", (number,), {})),
            *of("recipe-set", number, sets),
            *of("recipe", number, recipe),
        )
    low, high = models.rows("oldest_unplaced")[::-1]
    assert (low["priority"], high["priority"]) == ("Low", "High")
    assert low["seconds"] > high["seconds"] > 0


def test_recipe__guest__is_shown_with_its_host_and_the_host_with_it(two: ProjectedLog) -> None:
    shown = ("host_recipe_id", "guestname", "guestargs", "guests", "state", "reason")
    assert [two.recipe(3)[name] for name in shown] == [2, "g3", "--ram=1024", [], "queued", "busy"]
    assert [two.recipe(2)[name] for name in shown] == [None, None, None, [3], "queued", "busy"]


def test_recipe__distro_of_its_own_and_reservesys__are_shown(models: ProjectedLog) -> None:
    own, kept = {"arch": "x86_64", "osmajor": "Linux1"}, {"duration_seconds": 60, "when": "always"}
    models.commit(*submitted(host(1, distro_tree_id=None, distro=own, reservesys=kept)))
    row = models.recipe(1)
    assert (row["distro_tree_id"], row["distro"], row["reservesys"]) == (None, own, kept)


def test_recipe__assigned_and_back__lab_controller_and_reason_follow(two: ProjectedLog) -> None:
    two.commit(*scheduled("a", 1), assigned(2), assigned(3))
    (first,) = two.queue()
    assert (first["recipe_id"], first["state"], first["lab_controller"]) == (2, "assigned", "lab-1")
    assert two.recipe(2)["reason"] is None

    two.commit(assigned(1, reason="a is Broken"))
    assert in_queue(two) == [1, 2]
    row = two.recipe(1)
    assert (row["system"], row["lab_controller"], row["reason"]) == (None, "lab-1", "a is Broken")

    two.commit(*queued(1, 2, 3, reason="let go"))
    row = two.recipe(2)
    assert (row["system"], row["lab_controller"], row["reason"]) == (None, None, "let go")


def test_priority_changed__set_in_the_queue__its_recipes_move_and_wait_as_long(two: ProjectedLog) -> None:
    two.commit(*scheduled("a", 1))
    before = {row["recipe_id"]: row["since_position"] for row in two.queue()}
    (at,) = two.commit(("recipe-set/1", RecipeSetPriorityChanged("Urgent")))
    assert [(row["recipe_id"], row["priority"], row["since_position"]) for row in two.queue()] == [
        (2, 5, before[2])
    ]
    assert [row["priority"] for row in two.queue(at=at - 1)] == [3]

    found = two.row("recipe_set", recipe_set_id=1)
    assert (found["priority"], found["job_id"], found["owner"]) == ("Urgent", 1, "ada")
    assert two.row("version", subject="recipe-set/1")["version"] == 2
    # A recipe returns to the queue with the present priority.
    two.commit(*queued(1))
    assert {row["recipe_id"]: row["priority"] for row in two.queue()} == {1: 5, 2: 5}


def test_recipe__reserved__keeps_its_system_and_is_in_the_middle_of_its_job(two: ProjectedLog) -> None:
    two.commit(*scheduled("a", 1), *scheduled("b", 2, 3), *waiting("a", 1), *waiting("b", 2, 3))
    two.commit(*running("a", 1), *running("b", 2, 3))
    two.commit(
        *of("recipe", 2, recipe_events.RecipeCompleted()),
        *of("recipe", 3, recipe_events.RecipeAborted("host")),
    )
    two.commit(*of("recipe", 1, recipe_events.RecipeReserved("a", 3_600), recipe_events.WatchdogSet(7_200)))
    assert (two.recipe(1)["state"], two.recipe(1)["system"]) == ("reserved", "a")
    assert two.row("recipe_set", recipe_set_id=1)["state"] == "reserved"
    assert in_queue(two) == []


def test_roll_up__guest_fails__its_set_and_job_fail_with_it(two: ProjectedLog) -> None:
    two.commit(*scheduled("a", 1), *scheduled("b", 2, 3), *waiting("a", 1), *waiting("b", 2, 3))
    two.commit(*running("b", 2, 3))
    assert two.row("recipe_set", recipe_set_id=1)["state"] == "running"

    failed = recipe_events.TaskResult(31, "Fail", "", None, ())
    two.commit(
        *of("recipe", 3, recipe_events.TaskStarted(31), failed, recipe_events.RecipeAborted("it died"))
    )
    two.commit(
        *of("recipe", 1, recipe_events.RecipeCompleted()), *of("recipe", 2, recipe_events.RecipeCompleted())
    )
    found = two.row("recipe_set", recipe_set_id=1)
    assert (found["state"], found["result"]) == ("aborted", "Fail")
    job = two.row("job", job_id=1)
    assert (job["state"], job["result"]) == ("aborted", "Fail")
    tasks = [task for recipe in shown_of_set(two, 1) for task in recipe["tasks"]]
    assert {task["task_id"]: task["state"] for task in tasks} == {11: "new", 21: "new", 31: "aborted"}
    assert [recipe["result"] for recipe in shown_of_set(two, 1)] == ["New", "New", "Fail"]


@pytest.mark.parametrize(
    "end", [recipe_events.RecipeCancelled("enough"), recipe_events.RecipeAborted("watchdog")]
)
def test_roll_up__given_up_after_its_task_passed__recipe_set_and_job_have_at_least_warn(
    two: ProjectedLog, end: Event
) -> None:
    two.commit(*scheduled("a", 1), *scheduled("b", 2, 3), *waiting("a", 1), *waiting("b", 2, 3))
    two.commit(*running("a", 1))
    passed = recipe_events.TaskResult(11, "Pass", "", None, ())
    two.commit(*of("recipe", 1, recipe_events.TaskStarted(11), passed, recipe_events.TaskCompleted(11), end))
    recipes = shown_of_set(two, 1)
    assert [recipe["result"] for recipe in recipes] == ["Warn", "New", "New"]
    assert [recipe["tasks"][0]["result"] for recipe in recipes] == ["Pass", "New", "New"]
    assert two.row("recipe_set", recipe_set_id=1)["result"] == "Warn"
    assert two.row("job", job_id=1)["result"] == "Warn"


def test_roll_up__task_aborted__has_at_least_warn_and_so_has_all_that_it_is_part_of(
    two: ProjectedLog,
) -> None:
    two.commit(*scheduled("a", 1), *scheduled("b", 2, 3), *waiting("a", 1), *waiting("b", 2, 3))
    two.commit(
        *running("a", 1), *of("recipe", 1, recipe_events.TaskAborted(11), recipe_events.RecipeCompleted())
    )
    (recipe, *_) = shown_of_set(two, 1)
    assert (recipe["state"], recipe["result"], recipe["tasks"][0]["result"]) == ("completed", "Warn", "Warn")
    assert two.row("job", job_id=1)["result"] == "Warn"


def test_roll_up__given_up_with_open_tasks__those_have_warn(two: ProjectedLog) -> None:
    two.commit(*(of("recipe", 1, recipe_events.RecipeAborted("no lab"))))
    (recipe, *_) = shown_of_set(two, 1)
    assert [(task["state"], task["result"]) for task in recipe["tasks"]] == [("aborted", "Warn")]


def shown_set(models: ProjectedLog, recipe_set_id: int, **more: Any) -> dict[str, Any]:
    asked = {"job_id": None, "recipe_set_id": recipe_set_id, "bad_results": sorted(BAD_RESULTS)}
    found = models.row("recipe_sets", **asked, result_order=list(RESULT_ORDER), **more)
    (recipe_set,) = orjson.loads(found["recipe_sets"])
    return dict(recipe_set)


def shown_of_set(models: ProjectedLog, recipe_set_id: int) -> list[dict[str, Any]]:
    recipes: list[dict[str, Any]] = shown_set(models, recipe_set_id)["recipes"]
    return recipes


def test_waiver__after_a_restart__is_that_of_the_task_or_else_of_the_set(two: ProjectedLog) -> None:
    two.commit(*[(f"recipe/{number}", recipe_events.RecipeAborted("no lab")) for number in (1, 2, 3)])
    two.begin_again()
    of_task, of_set = RecipeSetWaived(2, 21, "known"), RecipeSetWaived(None, None, "all of it")
    (waived, *_, before) = two.commit(
        *of("recipe-set", 1, of_task, RecipeSetReviewed("rejected", "why"), of_set)
    )
    ended = RecipeSetWaiverEnded(2, 21, "new"), RecipeSetReviewed("none", "again")
    two.commit(*of("recipe-set", 1, *ended))

    def waivers(at: int | None = None) -> tuple[object, ...]:
        shown = shown_set(two, 1, **({} if at is None else {"at": at}))
        units = [task["waiver"] and task["waiver"]["of"] for one in shown["recipes"] for task in one["tasks"]]
        review = shown["review"] and shown["review"]["review"]
        return (units, shown["failed_task_count"], shown["waived_task_count"], review, shown["result"])

    assert waivers() == (["recipe-set"] * 3, 0, 3, None, "Warn")
    assert waivers(before) == (["recipe-set", "task", "recipe-set"], 0, 3, "rejected", "Warn")
    assert waivers(waived) == ([None, "task", None], 2, 1, None, "Warn")
    assert waivers(waived - 1) == ([None] * 3, 3, 0, None, "Warn")


def test_recipe_sets__asked_for_one__has_the_recipes_of_that(two: ProjectedLog) -> None:
    assert [recipe["recipe_id"] for recipe in shown_of_set(two, 1)] == [1, 2, 3]


HOUR, DAY = 3_600, 86_400
Commits = list[tuple[float, list[Happened]]]

PLACED: Commits = [
    (0, submitted(host(1))),
    (1, queued(1)),
    (2 * HOUR, scheduled("a", 1)),
    (2 * HOUR + 30, waiting("a", 1)),
]
RUNS: Commits = [
    *PLACED,
    (3 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("a"))),
    (4 * HOUR, of("recipe", 1, recipe_events.RecipeRunning("a"))),
]
COMPLETED: Commits = [*RUNS, (20 * DAY, of("recipe", 1, recipe_events.RecipeCompleted()))]


def counted(models: ProjectedLog) -> dict[str, list[tuple[int, int, float]]]:
    """Return measure -> (bucket, count, seconds)."""
    found: dict[str, list[tuple[int, int, float]]] = {}
    for row in models.rows("durations"):
        found.setdefault(row["measure"], []).append((row["bucket"], row["count"], row["seconds"]))
    return found


def in_bucket(measure: str, *seconds: float) -> list[tuple[int, int, float]]:
    return [(bucket_of(measure, seconds[0]), len(seconds), sum(seconds))]


def test_bucket_of__bound_itself__is_inside() -> None:
    assert [bucket_of("wait", seconds) for seconds in (0, 1, 1.001, 14 * DAY, 15 * DAY)] == [0, 0, 1, 18, 19]


@pytest.mark.parametrize("measure", BOUNDS)
def test_bounds__of_a_measure__ascend(measure: str) -> None:
    assert list(BOUNDS[measure]) == sorted(set(BOUNDS[measure]))


@pytest.mark.parametrize("page", [1, 2, 99])
def test_durations__recipe_completed__each_has_one_entry(models: ProjectedLog, page: int) -> None:
    commit_at(models, COMPLETED, page)
    assert counted(models) == {
        "wait": in_bucket("wait", 2 * HOUR + 30),
        "provisioning": in_bucket("provisioning", 2 * HOUR - 30),
        "execution": in_bucket("execution", 20 * DAY - 4 * HOUR),
    }
    assert counted(models)["execution"][0][0] == len(BOUNDS["execution"]), "longer than any bound"


LOCKED: Commits = [
    *PLACED[:-1],
    (2 * HOUR + 30, waiting("a", 1, locks=None)),
    (2 * HOUR + 90, [locked(1)]),
    (3 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("a"))),
    (4 * HOUR, of("recipe", 1, recipe_events.RecipeRunning("a"))),
]


@pytest.mark.parametrize("page", [1, 2, 99])
def test_durations__locks_got_later__are_neither_wait_nor_provisioning(
    models: ProjectedLog, page: int
) -> None:
    commit_at(models, LOCKED, page)
    assert counted(models) == {
        "wait": in_bucket("wait", 2 * HOUR + 30),
        "locking": in_bucket("locking", 60),
        "provisioning": in_bucket("provisioning", 2 * HOUR - 90),
    }


def test_durations__projector_restarted_before_each_commit__are_the_same(models: ProjectedLog) -> None:
    lost: Commits = [
        (6, waiting("a", 1, locks=None)),
        (10, queued(1, reason="a is Broken")),
        (20, scheduled("b", 1)),
        (30, waiting("b", 1, locks=None)),
        (35, [locked(1)]),
        (50, of("recipe", 1, recipe_events.RecipeInstalling("b"))),
        (70, of("recipe", 1, recipe_events.RecipeRunning("b"))),
    ]
    for commit in [(0, submitted(host(1))), (5, scheduled("a", 1)), *lost]:
        models.begin_again()
        commit_at(models, [commit])
    assert counted(models) == {
        "wait": in_bucket("wait", 30),
        "locking": in_bucket("locking", 5),
        "provisioning": in_bucket("provisioning", 35),
    }


@pytest.mark.parametrize("page", [1, 2, 99])
def test_durations__system_lost_before_the_locks__the_last_waiting_counts(
    models: ProjectedLog, page: int
) -> None:
    again: Commits = [
        (3 * HOUR, queued(1, reason="a is Broken")),
        (5 * HOUR, [*scheduled("b", 1), *waiting("b", 1)]),
        (6 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("b"), recipe_events.RecipeRunning("b"))),
    ]
    commit_at(models, LOCKED[:4] + again, page)
    assert counted(models) == {
        "wait": in_bucket("wait", 5 * HOUR),
        "provisioning": in_bucket("provisioning", HOUR),
    }


def test_seconds__set_waits_for_its_locks__in_a_phase_of_its_own(models: ProjectedLog) -> None:
    commit_at(models, LOCKED)
    asked = {"job_id": None, "recipe_set_id": None, "recipe_id": 1, "moment": BEGINNING + timedelta(hours=5)}
    seconds = seconds_document(models.rows("seconds_in_states", **asked))
    assert seconds["by_state"] == {
        "new": 1,
        "queued": 2 * HOUR - 1,
        "scheduled": 30,
        "waiting": HOUR - 30,
        "installing": HOUR,
        "running": HOUR,
    }
    phases = {"queueing": 2 * HOUR + 30, "locking": 60, "provisioning": 2 * HOUR - 90, "execution": HOUR}
    assert {phase: seconds[phase] for phase in phases} == phases


@pytest.mark.parametrize("page", [1, 99])
def test_wait__withdrawn_while_waiting__is_one_wait_until_the_final_placement(
    models: ProjectedLog, page: int
) -> None:
    again: Commits = [
        (3 * HOUR, queued(1, reason="a is Broken")),
        (5 * HOUR, [*scheduled("b", 1), *waiting("b", 1)]),
    ]
    awaiting = (2 * HOUR + 30, waiting("a", 1, locks=None))
    commit_at(models, [*PLACED[:-1], awaiting, *again], page)
    assert counted(models) == {}
    commit_at(models, [(6 * HOUR, of("recipe", 1, recipe_events.RecipeInstalling("b")))], page)
    assert counted(models) == {"wait": in_bucket("wait", 5 * HOUR)}


# Commits, the event that ends the recipe, and the measures that are counted.
ENDED = [
    # The recipe never had a system.
    (PLACED[:2], recipe_events.RecipeCancelled("enough"), set()),
    # The system was placed for good.
    (PLACED, recipe_events.RecipeAborted("watchdog"), {"wait", "failure"}),
    # The provisioning was not finished.
    (RUNS[:-1], recipe_events.RecipeAborted("watchdog"), {"wait", "failure"}),
    (RUNS[:-1], recipe_events.RecipeReserved("a", 60, "watchdog"), {"wait", "failure"}),
    # A person ended it, which is no failure.
    (RUNS[:-1], recipe_events.RecipeCancelled("enough"), {"wait"}),
    (RUNS, recipe_events.RecipeAborted("watchdog"), {"wait", "provisioning", "execution"}),
    # Reserved time is no execution.
    (RUNS, recipe_events.RecipeReserved("a", 60), {"wait", "provisioning", "execution"}),
    # Preempted, without execution.
    (RUNS, recipe_events.RecipeQueued("preempted"), {"wait", "provisioning"}),
]


@pytest.mark.parametrize(("commits", "event", "measures"), ENDED)
def test_durations__recipe_ends__complete_phases_are_counted(
    models: ProjectedLog, commits: Commits, event: Event, measures: set[str]
) -> None:
    commit_at(models, [*commits, (5 * HOUR, of("recipe", 1, event))])
    assert set(counted(models)) == measures


@pytest.mark.parametrize(("commits", "stage"), [(PLACED, "waiting"), (RUNS[:-1], "installing")])
def test_durations__given_up_before_the_first_task__failed_in_its_stage(
    models: ProjectedLog, commits: Commits, stage: str
) -> None:
    commit_at(models, [*commits, (5 * HOUR, of("recipe", 1, recipe_events.RecipeAborted("watchdog")))])
    labels = {(row["measure"], row["label"]): row["seconds"] for row in models.rows("durations")}
    assert labels.keys() == {("wait", "Normal"), ("failure", stage)}
    assert labels["failure", stage] == 5 * HOUR - (2 * HOUR + 30)


def test_wait__priority_changed__counts_under_the_last_one(models: ProjectedLog) -> None:
    raised = (60, [("recipe-set/1", RecipeSetPriorityChanged("Urgent"))])
    commit_at(models, [*COMPLETED[:1], raised, *COMPLETED[1:]])
    labels = [row["label"] for row in models.rows("durations") if row["measure"] == "wait"]
    assert labels == ["Urgent"]


def test_execution__kept_and_returned__is_counted_once(models: ProjectedLog) -> None:
    kept: Commits = [
        (5 * HOUR, of("recipe", 1, recipe_events.RecipeReserved("a", 60))),
        (9 * HOUR, of("recipe", 1, recipe_events.RecipeCompleted())),
    ]
    commit_at(models, RUNS + kept)
    assert counted(models)["execution"] == in_bucket("execution", HOUR)


def test_durations__guest__adds_nothing_to_those_of_its_host(models: ProjectedLog) -> None:
    both: Commits = [
        (0, [*submitted(host(1), guest(2, host_id=1)), *queued(1, 2)]),
        (60, [*scheduled("a", 1, 2), *waiting("a", 1, 2, locks=None)]),
        (61, [locked(1), locked(2)]),
    ]
    commit_at(models, both)
    for number in (2, 1):
        moves = (
            recipe_events.RecipeInstalling("a"),
            recipe_events.RecipeRunning("a"),
            recipe_events.RecipeCompleted(),
        )
        commit_at(models, [(180, of("recipe", number, *moves))])
    assert {measure: rows[0][1] for measure, rows in counted(models).items()} == dict.fromkeys(
        set(BOUNDS) - {"failure"}, 1
    )


def test_durations__several_in_a_bucket__are_counted_and_summed(models: ProjectedLog) -> None:
    every = (1, 2, 3)
    hosts = [host(number) for number in every]
    commit_at(models, [(0, submitted(*hosts)), (10, [*scheduled("a", *every), *waiting("a", *every)])])
    commit_at(models, [(20, [(f"recipe/{number}", recipe_events.RecipeInstalling("a")) for number in every])])
    assert counted(models) == {"wait": in_bucket("wait", 10, 10, 10)}


def test_durations__whole_life_in_one_page__adds_to_stored_counts(models: ProjectedLog) -> None:
    """The page changes no stored row except the count."""
    for number in (1, 2):
        models.commit(*whole_life(number))
    assert [row["count"] for row in models.rows("durations")] == [2, 2, 2]


def whole_life(number: int) -> list[Happened]:
    return [
        (f"job/{number}", JobSubmitted("ada", "ada", None, "", (number,), {})),
        (f"recipe-set/{number}", RecipeSetSubmitted(number, "Normal", (number,))),
        (f"recipe/{number}", recipe_new(number)),
        *(*scheduled("a", number), *waiting("a", number), *running("a", number)),
        *of("recipe", number, recipe_events.RecipeCompleted()),
    ]
