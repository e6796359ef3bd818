"""The audit of one partition: the scheduler's view at each of its decisions, and the rules for these."""

from __future__ import annotations

from collections import Counter, deque

from replay.audit.grants import Grant
from replay.audit.invariant import Violations
from replay.audit.policy_rules import RULES_BY_POLICY, DecisionInvariants
from replay.audit.quiescence import violations_at_rest
from replay.audit.record import Commit, EventRecord, RecordedDecision
from replay.audit.scheduler_view import SchedulerView
from replay.audit.system_matcher import SystemMatcher
from replay.audit.tables import CLAIM_ENDED, CLAIMED, UNPLACED
from replay.audit.world import FoldedWorld, folded


class PartitionAudit:
    """Checks the decisions of one partition, among all commits of a log. Mutable.

    `world` is the state of the log when the partition is first named. `decisions` counts the checked
    decisions, `other_policies` those of unknown policy versions.
    """

    def __init__(self, partition: int, world: FoldedWorld) -> None:
        self.decisions = 0
        self.other_policies = Counter[int]()
        self._view = SchedulerView(partition)
        self._view.adopt(world)
        self._matcher = SystemMatcher(self._view)
        self._decision_invariants = {
            rules_of_policy: DecisionInvariants(
                self._matcher
                if rules_of_policy.by_access and rules_of_policy.by_contact
                else SystemMatcher(self._view, rules_of_policy.by_access, rules_of_policy.by_contact),
                rules_of_policy,
            )
            for rules_of_policy in dict.fromkeys(RULES_BY_POLICY.values())
        }
        # Events that the scheduler has not read yet, by the end of their commit.
        self._unread: deque[tuple[int, list[EventRecord]]] = deque()
        # The last commit with decisions stays applied tentatively, because mostly the next basis includes it.
        self._tentative: Commit | None = None

    def at_rest(self) -> Violations:
        """Yield the violations at the end of the log, provided that nothing is left to decide."""
        self._catch_up(None)
        return violations_at_rest(self._view, self._matcher)

    def check_decisions(self, commit: Commit) -> Violations:
        """Yield the violations of the decisions of a commit. The caller must exhaust the iterator."""
        self._catch_up(commit.decisions[0].basis)
        self._view.begin_tentative()
        self._tentative = commit
        for decision in commit.decisions:
            yield from self._check_decision(decision)

    def add(self, commit: Commit) -> None:
        """Add a commit to the unread ones, after the check of its decisions."""
        if records := list(map(folded, filter(self._view.reads, commit.records))):
            self._unread.append((commit.end, records))

    def _catch_up(self, basis: int | None) -> None:
        """Bring the scheduler's view up to a basis; None stands for the end of the log."""
        self._settle_tentative(basis)
        while self._unread and (basis is None or self._unread[0][0] <= basis):
            for record in self._unread.popleft()[1]:
                self._view.apply(record)

    def _settle_tentative(self, basis: int | None) -> None:
        """Confirm the tentative commit if the basis includes it, else roll it back."""
        commit, self._tentative = self._tentative, None
        if commit is None:
            return
        if (basis is not None and basis < commit.end) or not self._is_independent(commit):
            self._view.rollback()
            return
        self._view.confirm()
        for end, records in self._unread:
            if end == commit.end:
                records[:] = [record for record in records if record.basis is None]

    def _is_independent(self, commit: Commit) -> bool:
        """Return whether a commit has the same effect before and after the unread events that precede it.

        They have other subjects. While sets wait for locks, the order also decides who overtakes whom.
        """
        subjects = {(record.kind, record.name) for record in commit.records}
        before = [record for end, records in self._unread if end < commit.end for record in records]
        if self._view.awaiting and before:
            return False
        return not any((record.kind, record.name) in subjects for record in before)

    def _check_decision(self, decision: RecordedDecision) -> Violations:
        """Apply a decision to the view, and yield its violations."""
        version = decision.policy_version
        rules_of_policy = RULES_BY_POLICY.get(version)
        rules = None if rules_of_policy is None else self._decision_invariants[rules_of_policy]
        if rules is None:
            self.other_policies[version or 0] += 1
        else:
            self.decisions += 1
        in_batches = rules_of_policy is not None and rules_of_policy.in_batches
        self._view.begin_decision(decision, in_batches=in_batches)
        for invariant in () if rules is None else rules.at_begin:
            yield from invariant.check_begin(self._view, decision)
        for record in decision.records:
            if rules is not None:
                yield from self._check_record(record, rules)
            self._view.before_event(record, in_batches=in_batches)
            self._view.apply(record)
        for invariant in () if rules is None else rules.at_decision:
            yield from invariant.check_decision(self._view, decision)

    def _check_record(self, record: EventRecord, rules: DecisionInvariants) -> Violations:
        if record.topic == "recipe.scheduled":
            yield from self._check_grant(record, rules)
        elif record.topic == "system.idle":
            yield from self._check_idle(record, rules)
        elif record.topic in (CLAIMED, CLAIM_ENDED):
            yield from self._check_claim(record, rules)
        elif record.gives_locks:
            yield from self._check_start(record, rules)

    def _check_grant(self, record: EventRecord, rules: DecisionInvariants) -> Violations:
        """Check an event that gives a system to a recipe without one."""
        view = self._view
        recipe, system = view.recipes.get(int(record.name)), view.systems.get(record.data["system"])
        if recipe is None or system is None or recipe.set_id not in view.sets:
            return
        if recipe.state in UNPLACED and not recipe.is_guest:
            grant = Grant(recipe, system, record)
            for invariant in rules.at_grant:
                yield from invariant.check_grant(view, grant)

    def _check_claim(self, record: EventRecord, rules: DecisionInvariants) -> Violations:
        recipe = self._view.recipes.get(int(record.name))
        if recipe is not None and recipe.set_id in self._view.sets:
            for invariant in rules.at_claim:
                yield from invariant.check_claim(self._view, recipe, record)

    def _check_start(self, record: EventRecord, rules: DecisionInvariants) -> Violations:
        recipe = self._view.recipes.get(int(record.name))
        if recipe is not None and recipe.set_id in self._view.sets:
            for invariant in rules.at_start:
                yield from invariant.check_start(self._view, recipe, record)

    def _check_idle(self, record: EventRecord, rules: DecisionInvariants) -> Violations:
        system = self._view.systems.get(record.name)
        if system is not None and system.usage == "pending":
            for invariant in rules.at_idle:
                yield from invariant.check_idle(self._view, system, record)
