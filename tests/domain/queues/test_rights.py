"""The rights on queues, which hold for all queues below."""

from __future__ import annotations

import pytest

from domain.queues.tree import EACH, ROOT, Grantees, Queue, QueueTree, Template

NET = Queue("root.kernel.net", submit=Grantees(("cem",)), admin=Grantees(groups=("qa",)))
KERNEL = Queue("root.kernel", admin=Grantees(("bob",)), template=Template(), children=(NET,))
GONE = Queue("root.old.net", admin=Grantees(("ada",)))
TREE = QueueTree(Queue(ROOT, children=(KERNEL, Queue("root.free", admin=Grantees((EACH,))))), (GONE,))
MEMBERS = {"qa": ("dan",)}

# A queue, and the users who administer it.
ADMINS = [
    (ROOT, []),
    ("root.kernel", ["bob"]),
    ("root.kernel.net", ["bob", "dan"]),
    # A dynamic queue, a vanished one, and one that never was.
    ("root.kernel.dyn", ["bob"]),
    ("root.old.net", ["ada"]),
    ("root.nosuch", []),
    ("root.free", ["ada", "bob", "cem", "dan"]),
]


@pytest.mark.parametrize(("path", "admins"), ADMINS)
def test_admins__of_a_queue__are_its_own_and_those_above(path: str, admins: list[str]) -> None:
    def may(user: str) -> bool:
        return TREE.may_administer(path, user, lambda group: user in MEMBERS[group])

    assert [user for user in ("ada", "bob", "cem", "dan") if may(user)] == admins


def test_admins__may_submit__but_submitters_do_not_administer() -> None:
    def is_member(_: str) -> bool:
        return False

    assert TREE.may_submit("root.kernel.net", "bob", is_member)
    assert TREE.may_submit("root.kernel.net", "cem", is_member)
    assert not TREE.may_administer("root.kernel.net", "cem", is_member)
