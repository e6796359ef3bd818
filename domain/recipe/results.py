"""The results of a recipe, reduced to counts, kinds and digests, on which later decisions depend."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from domain.fast_dataclasses import maker
from domain.recipe.events import TaskResult
from domain.recipe.lifecycle import BAD_RESULTS

_DIGEST_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Results:
    """The numbers of results and logs, the kinds of results by first report, and the digests of all results.

    `failed_tasks` are the ids of the tasks with a result of Warn, Fail or Panic.

    `digests` are sets, each at least twice as large as the next. An added result merges the small sets:
    adding n results copies O(n log n) digests, and `has` looks into O(log n) sets.
    """

    result_count: int = 0
    log_count: int = 0
    kinds: tuple[str, ...] = ()
    digests: tuple[frozenset[str], ...] = ()
    failed_tasks: tuple[int, ...] = ()

    def has(self, result: TaskResult) -> bool:
        """Return whether an equal result was reported before."""
        digest = _digest(result)
        return any(digest in level for level in self.digests)

    def after(self, result: TaskResult) -> Results:
        kinds = self.kinds if result.result in self.kinds else (*self.kinds, result.result)
        digests = _with(self.digests, _digest(result))
        failed = self.failed_tasks
        if result.result in BAD_RESULTS and result.task_id not in failed:
            failed = (*failed, result.task_id)
        return _results(self.result_count + 1, self.log_count + log_count(result), kinds, digests, failed)


_results = maker(Results)
NO_RESULTS: Final = Results()


def log_count(result: TaskResult) -> int:
    return len(result.logs) + len(result.log_urls)


def _with(digests: tuple[frozenset[str], ...], digest: str) -> tuple[frozenset[str], ...]:
    level = frozenset((digest,))
    while digests and len(digests[-1]) < 2 * len(level):
        level |= digests[-1]
        digests = digests[:-1]
    return (*digests, level)


def _digest(result: TaskResult) -> str:
    score = None if result.score is None else float(result.score)
    logs = [(log["name"], log["url"], log["size_bytes"], log["sha256"]) for log in result.logs]
    content = (
        result.task_id,
        result.path,
        result.result,
        result.message,
        score,
        tuple(result.log_urls),
        logs,
    )
    return hashlib.blake2b(repr(content).encode(), digest_size=_DIGEST_BYTES).hexdigest()
