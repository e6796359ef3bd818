"""A request in several commits, one for each partition, each found again by the Idempotency-Key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from api.use_cases.commit import commit, reflected_if_soon
from api.use_cases.idempotency import item_request, items_done_before, require_same
from api.use_cases.ports import RequestContext, WriteParts
from domain.errors import LabledgerError, Refused
from domain.partition_numbers import EVERYBODY
from postgres.errors import DatabaseAway
from store.requests import AppendRequest, Committed

T = TypeVar("T")
Decode: TypeAlias = Callable[[bytes], Mapping[str, T]]
"""The answers by name, from the stored answer of a commit."""


class ItemDecision(NamedTuple, Generic[T]):
    """The answers by name, and the append, None if nothing changes."""

    answers: Mapping[str, T]
    append: AppendRequest | None


class Item(NamedTuple, Generic[T]):
    """The names that one commit answers for, and its blocking decision."""

    names: Collection[str]
    decide: Callable[[], ItemDecision[T]]


@dataclass(frozen=True)
class DoneCommit(Generic[T]):
    """The answers of a commit by name, or its error; `position` is None if it changed nothing."""

    answers: Mapping[str, T | LabledgerError]
    position: int | None = None

    def after(self, earlier: DoneCommit[T] | None) -> DoneCommit[T]:
        """Return this commit with the answers that only the earlier one has."""
        if earlier is None:
            return self
        position = earlier.position if self.position is None else self.position
        return DoneCommit({**earlier.answers, **self.answers}, position)


DoneCommits: TypeAlias = dict[int, DoneCommit[T]]
"""Commits by the number of their partition."""


async def done_before(
    parts: WriteParts, request: RequestContext, decode: Decode[T], also: Collection[int] = ()
) -> DoneCommits[T]:
    """Return the commits of earlier requests with the key, in partitions and under the numbers `also`.

    Raises FaultyInput as `require_same` does.
    """
    numbers = (EVERYBODY, *parts.feed.directory.partition_names, *also)
    found = await items_done_before(parts.log, request, numbers)
    # In threads: reading the answer of thousands of systems takes longer than other requests may wait.
    return {
        number: DoneCommit(await asyncio.to_thread(_stored_answers, done, decode), done.position)
        for number, done in found.items()
    }


async def commit_item(
    parts: WriteParts,
    request: RequestContext,
    number: int,
    decide: Callable[[], ItemDecision[T]],
    decode: Decode[T],
) -> DoneCommit[T]:
    """Commit one item. If the key has committed it before, return its first answers.

    Raises the errors of `decide` and `commit`.
    """
    item = item_request(request, number)
    answers: Mapping[str, T] = {}

    def attempt() -> AppendRequest | None:
        nonlocal answers
        answers, append = decide()
        return append

    done = await reflected_if_soon(parts, await commit(parts, lambda: asyncio.to_thread(attempt)))
    if done is None:
        return DoneCommit(answers)
    if not done.repeated:
        return DoneCommit(answers, done.position)
    require_same(item, done)
    moved = Refused("its lab has moved to another partition since the first request; use another key")
    stored = await asyncio.to_thread(_stored_answers, done, decode)
    return DoneCommit({**dict.fromkeys(answers, moved), **stored}, done.position)


async def commit_items(
    parts: WriteParts,
    request: RequestContext,
    done: DoneCommits[T],
    items: Mapping[int, Item[T]],
    decode: Decode[T],
    also: Collection[int] = (),
) -> DoneCommits[T]:
    """Commit all items; return `done` with these commits. An error is the answer of its item.

    `also` are the numbers of `done` that are not of partitions.
    """
    commits: DoneCommits[T] = {}
    # One at a time: several decisions on thousands of systems at once would delay all other requests.
    for number, item in items.items():
        try:
            commits[number] = await commit_item(parts, request, number, item.decide, decode)
        except LabledgerError as error:
            commits[number] = DoneCommit(dict.fromkeys(item.names, error))
    found = _merged(done, commits)
    if any(each.position is None for each in found.values()):
        # The same request may have arrived twice concurrently, and the other one may have made the changes;
        # or this process had not read of a partition before.
        # If the database is away, the answer still says which commits succeeded.
        with suppress(DatabaseAway):
            found = _merged(found, await done_before(parts, request, decode, also))
    return found


def merged_answers(commits: Iterable[DoneCommit[T]]) -> dict[str, T | LabledgerError]:
    return {name: answer for done in commits for name, answer in done.answers.items()}


def last_position(commits: Iterable[DoneCommit[T]]) -> int | None:
    """Return the position of the last commit, None if nothing changed."""
    return max((done.position for done in commits if done.position is not None), default=None)


def require_a_success(answers: Mapping[str, T | LabledgerError]) -> None:
    """Raise the first error if there are only errors."""
    errors = [answer for answer in answers.values() if isinstance(answer, LabledgerError)]
    if errors and len(errors) == len(answers):
        raise errors[0]


def _merged(earlier: DoneCommits[T], later: DoneCommits[T]) -> DoneCommits[T]:
    return {**earlier, **{number: done.after(earlier.get(number)) for number, done in later.items()}}


def _stored_answers(done: Committed, decode: Decode[T]) -> Mapping[str, T]:
    assert done.answer is not None, "commits of items have an answer"
    return decode(done.answer)
