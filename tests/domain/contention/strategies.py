"""Generated locks: few names, so that locks often have a name in common."""

from __future__ import annotations

from hypothesis import strategies as st

from domain.contention.locks import ALL, LEVELS, NO_LOCK, UNKNOWN, LevelLock, Locks, Part
from tests.domain.contention.model import is_normal

PARTS: tuple[Part, ...] = (
    *((), ("a",), ("b",), ("c",)),
    *(("a", "b"), ("a", "c"), ("b", "c")),
    *(UNKNOWN, ALL),
)
LOCKS = [lock for shared in PARTS for exclusive in PARTS if is_normal(lock := LevelLock(shared, exclusive))]

# Many levels have no lock, and few locks have the whole lab, so that most weights depend on the levels.
level_locks = st.sampled_from([*LOCKS, *[NO_LOCK] * (len(LOCKS) // 3)])
many_levels = st.tuples(*(level_locks for _ in LEVELS))
locks = st.builds(Locks, many_levels, st.sampled_from((False,) * 9 + (True,)))
held_locks = st.lists(locks, max_size=6)
