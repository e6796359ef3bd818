"""The audit: one pass over a log with every invariant.

The audit keeps two worlds: the state of the log, and the scheduler's view at the basis of its last decision.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from replay.audit.grants import Grant
from replay.audit.invariant import Found, Invariant, Violation
from replay.audit.known import Known
from replay.audit.record import Commit, Decision, Record, Recorded, commits, record_of
from replay.audit.rest import at_rest_in
from replay.audit.rules import EVERYTHING, JUDGED, OnDecisions, of_the_log
from replay.audit.tables import UNPLACED
from replay.audit.touched import Touched
from replay.audit.viable import Judge
from replay.audit.world import World, folded, is_folded


class Audit:
    """Checks the commits of one log, which are passed in order from the first. Mutable.

    `world` is the state of the log. `decisions` counts the decisions whose grants were checked.
    `other_policies` counts those of policy versions with other rules; their events are checked one by one
    only.
    """

    def __init__(self) -> None:
        self.world = World()
        self.commits = 0
        self.decisions = 0
        self.other_policies = Counter[int]()
        self._known = Known()
        self._judge = Judge(self._known)
        self._of_the_log = of_the_log()
        self._on_decisions = {
            judged: OnDecisions(
                self._judge
                if judged == EVERYTHING
                else Judge(self._known, judged.by_access, judged.by_contact),
                in_batches=judged.in_batches,
            )
            for judged in dict.fromkeys(JUDGED.values())
        }
        self._looking: dict[str, tuple[Invariant, ...]] = {}
        # Events that the scheduler has not read yet, by the end of their commit.
        self._unknown: deque[tuple[int, list[Record]]] = deque()
        # The last commit with decisions stays applied tentatively: mostly the next basis includes it.
        self._supposed: Commit | None = None

    def take(self, commit: Sequence[Recorded]) -> Iterator[Violation]:
        """Yield the violations of a commit. The caller must exhaust the iterator."""
        return self.judge(Commit(tuple(map(record_of, commit))))

    def at_rest(self) -> Iterator[Violation]:
        """Yield what is wrong at the end of the log, provided that nothing is left to decide."""
        self._learn(None)
        return at_rest_in(self._known, self._judge)

    def judge(self, commit: Commit) -> Found:
        """Yield the violations of a commit. The caller must exhaust the iterator."""
        self.commits += 1
        if commit.decisions:
            self._learn(commit.decisions[0].basis)
            self._known.suppose()
            self._supposed = commit
            for decision in commit.decisions:
                yield from self._decision(decision)
        for record in commit.records:
            for invariant in self._before(record):
                yield from invariant.event(self.world, record)
            self.world.apply(record)
        touched = Touched(self.world, commit)
        for invariant in self._of_the_log:
            yield from invariant.commit(self.world, commit, touched)
        self._unknown.append((commit.end, list(map(folded, filter(is_folded, commit.records)))))

    def _learn(self, basis: int | None) -> None:
        """Bring the scheduler's view up to a basis; None stands for the end of the log."""
        self._settle(basis)
        while self._unknown and (basis is None or self._unknown[0][0] <= basis):
            for record in self._unknown.popleft()[1]:
                self._known.apply(record)

    def _settle(self, basis: int | None) -> None:
        """Confirm the tentative commit if the basis includes it, else roll it back."""
        commit, self._supposed = self._supposed, None
        if commit is None:
            return
        if (basis is not None and basis < commit.end) or not self._is_apart(commit):
            self._known.take_back()
            return
        self._known.has_happened()
        for end, records in self._unknown:
            if end == commit.end:
                records[:] = [record for record in records if record.basis is None]

    def _is_apart(self, commit: Commit) -> bool:
        """Return whether the unread events before a commit have other subjects, so that order does not
        matter.
        """
        moved = {(record.kind, record.name) for record in commit.records}
        before = (records for end, records in self._unknown if end < commit.end)
        return not any((record.kind, record.name) in moved for records in before for record in records)

    def _before(self, record: Record) -> tuple[Invariant, ...]:
        """Return the invariants that check events of this topic."""
        if record.topic not in self._looking:
            self._looking[record.topic] = tuple(
                invariant
                for invariant in self._of_the_log
                if invariant.topics is None or record.topic in invariant.topics
            )
        return self._looking[record.topic]

    def _decision(self, decision: Decision) -> Found:
        """Yield the violations of a decision, given its basis and the decisions before it in its commit."""
        version = decision.policy_version
        judged = JUDGED.get(version)
        rules = None if judged is None else self._on_decisions[judged]
        if rules is None:
            self.other_policies[version or 0] += 1
        else:
            self.decisions += 1
        in_batches = judged is not None and judged.in_batches
        self._known.decides(decision, in_batches=in_batches)
        for record in decision.records:
            if rules is not None:
                yield from self._given(record, rules)
            self._known.ranks(record, in_batches=in_batches)
            self._known.apply(record)
        for invariant in () if rules is None else rules.decided:
            yield from invariant.decided(self._known, decision)

    def _given(self, record: Record, rules: OnDecisions) -> Found:
        if record.topic == "recipe.scheduled":
            yield from self._grant(record, rules)
        elif record.topic == "system.idle":
            yield from self._idle(record, rules)

    def _grant(self, record: Record, rules: OnDecisions) -> Found:
        """Check an event that gives a system to a recipe without one."""
        known = self._known
        recipe, system = known.recipes.get(int(record.name)), known.systems.get(record.data["system"])
        if recipe is None or system is None or recipe.set_id not in known.sets:
            return
        if recipe.state in UNPLACED and not recipe.is_guest:
            grant = Grant(recipe, system, record)
            for invariant in rules.at_grant:
                yield from invariant.grant(known, grant)

    def _idle(self, record: Record, rules: OnDecisions) -> Found:
        system = self._known.systems.get(record.name)
        if system is not None and system.usage == "pending":
            for invariant in rules.unwanted:
                yield from invariant.unwanted(self._known, system, record)


def check(records: Iterable[Record]) -> list[Violation]:
    """Return every violation of a log that is complete from its first event."""
    audit = Audit()
    return [violation for commit in commits(records) for violation in audit.judge(commit)]


def at_rest(records: Iterable[Record]) -> list[Violation]:
    """Return the violations at the end of a log, provided that every trigger in it is answered."""
    known = Known()
    for record in records:
        known.apply(record)
    return list(at_rest_in(known, Judge(known)))
