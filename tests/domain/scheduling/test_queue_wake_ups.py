"""Wake-ups of many systems while queues have turns."""

from __future__ import annotations

import pytest

from domain.queues.tree import FAIR, FIFO
from tests.domain.scheduling.policies import everybody
from tests.domain.scheduling.queue_labs import NAMES, close, queues, submit, wake
from tests.domain.scheduling.world import World


def test_wake_up__many_idle_systems__are_shared_fairly(lab: World) -> None:
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    close(lab, *NAMES)
    submit(lab, "root.a", count=9)
    submit(lab, "root.b", count=9)
    lab.settle()
    assert wake(lab, *NAMES) == [1, 10, 2, 11, 3, 12, 4, 13]


def test_wake_up__queue_that_is_next_depends_on_other_systems__each_system_asks_its_own_order(
    lab: World,
) -> None:
    inner = {"name": "k", "order": FAIR, "queues": [{"name": "x"}, {"name": "y"}]}
    queues(lab, inner, {"name": "b"})
    submit(lab, "root.k.y", "h")
    close(lab, "a", "b")
    (of_y,), (of_b,), (of_x,) = (
        submit(lab, "root.k.y", "a"),
        submit(lab, "root.b", "ab"),
        submit(lab, "root.k.x", "b"),
    )
    lab.settle()
    # On both systems together x is next in k, and b stands before x. On `a` alone y is next, before b.
    assert wake(lab, "a", "b") == [of_y, of_b]
    assert (lab.system_of(of_y), lab.system_of(of_b), lab.system_of(of_x)) == ("a", "b", None)


def test_wake_up__systems_of_several_access_classes__queue_with_the_smaller_share_is_served_first(
    lab: World,
) -> None:
    lab.open_system("b", everybody("High"))
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    submit(lab, "root.a", "h")
    close(lab, "a", "b")
    (of_a,), (of_b,) = submit(lab, "root.a", "a"), submit(lab, "root.b", "b")
    lab.settle()
    assert wake(lab, "a", "b") == [of_b, of_a]


def test_wake_up__share_rises_with_a_grant__queue_comes_later_on_systems_of_other_classes(lab: World) -> None:
    lab.open_system("b", everybody("High"))
    lab.open_system("c", everybody("Urgent"))
    queues(lab, {"name": "a"}, {"name": "b"}, order=FAIR)
    close(lab, "a", "b", "c")
    (first,), (second,) = submit(lab, "root.a", "a"), submit(lab, "root.a", "b")
    (third,), (fourth,) = submit(lab, "root.b", "b"), submit(lab, "root.b", "c")
    lab.settle()
    assert wake(lab, "a", "b", "c") == [first, third, fourth]
    assert lab.states(second) == ["queued"]


def test_wake_up__job_of_a_fair_leaf_gets_a_system__comes_later_on_systems_of_other_classes(
    lab: World,
) -> None:
    lab.open_system("b", everybody("High"))
    queues(lab, {"name": "a", "order": FAIR})
    close(lab, "a", "b")
    (first,), (second,) = (submit(lab, "root.a", fqdn, job_id=1_001) for fqdn in "ab")
    (other,) = submit(lab, "root.a", "b", job_id=1_002)
    lab.settle()
    assert wake(lab, "a", "b") == [first, other]
    assert lab.states(second) == ["queued"]


@pytest.mark.parametrize("order", [FIFO, FAIR])
def test_wake_up__first_set_of_a_job_with_a_maximum_of_jobs__its_other_set_is_asked_for_in_the_same_wake_up(
    lab: World, order: str
) -> None:
    queues(lab, {"name": "a", "max_jobs": 1}, {"name": "b"}, order=order)
    close(lab, *NAMES)
    sets = submit(lab, "root.a", "ab", count=2, job_id=900)
    lab.settle()
    assert wake(lab, "a", "b") == sets


def test_wake_up__one_fair_leaf_over_access_classes__job_with_fewer_systems_is_first(lab: World) -> None:
    lab.open_system("b", everybody("High"))
    queues(lab, {"name": "x", "order": FAIR})
    submit(lab, "root.x", "h", job_id=1_001)
    lab.settle()
    close(lab, "a", "b")
    late, first = submit(lab, "root.x", "a", job_id=1_001), submit(lab, "root.x", "b", job_id=1_002)
    lab.settle()
    assert wake(lab, "a", "b") == [*first, *late]
