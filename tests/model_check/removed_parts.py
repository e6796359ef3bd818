"""Parts of the scheduler that can be removed, each with a small case that needs the part."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from domain.scheduling.world.trigger_rules import TriggerRule
from domain.scheduling.world.wake_ups import TRIGGER_RULES
from tests.domain.scheduling.rules import LETTING_GO, LOCKING, WAKING, rules
from tests.model_check import part_removal as parts
from tests.model_check.actions import Action
from tests.model_check.case import LabCase, case
from tests.model_check.explore import Exploration, explore
from tests.model_check.steps import Options
from tests.model_check.walk import Move, retrace

BASIC = ("submit", "finish", "cancel")

Removal = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class RemovedPart:
    """A part of the scheduler, and a case in which the exploration with `options` fails without the part.

    `expected` begins the text of the violation. `moves` is a violating history, if the search takes too long.
    `wakes`, `lets_go` and `locks` name the trigger rule that loses its wake-ups, let-go or locks triggers.
    """

    name: str
    needed_in: LabCase
    options: Options
    expected: str = "lost wake-up"
    removal: Removal = ExitStack
    wakes: str | None = None
    lets_go: str | None = None
    locks: str | None = None
    moves: tuple[Move, ...] = ()

    @property
    def rules(self) -> tuple[TriggerRule, ...]:
        return rules(WAKING - {self.wakes}, LETTING_GO - {self.lets_go}, LOCKING - {self.locks})

    def without(self) -> Exploration:
        """Return the exploration without the part."""
        with self.removal():
            return self._look(self.rules)

    def with_it(self) -> Exploration:
        """Return the same exploration with the part."""
        return self._look(TRIGGER_RULES)

    def _look(self, table: tuple[TriggerRule, ...]) -> Exploration:
        if self.moves:
            return retrace(self.needed_in, self.moves, table)
        return explore(self.needed_in, self.options, rules=table)


def _row(name: str, needed_in: LabCase, verbs: str, case_name: str = "") -> RemovedPart:
    options = Options((*BASIC, *verbs.split(", ")))
    return RemovedPart(f"wake-up: {case_name or name}", needed_in, options, wakes=name)


def _lock_row(name: str, needed_in: LabCase, verbs: str = "") -> RemovedPart:
    options = Options((*BASIC, *(verbs.split(", ") if verbs else ())))
    return RemovedPart(f"locks: {name}", needed_in, options, "lost locks", locks=name)


def _history(name: str, needed_in: LabCase, *moves: Move) -> RemovedPart:
    """Return a part with a given history: all jobs are submitted in order, then the moves follow."""
    submitted = [
        move
        for number in range(len(needed_in.jobs))
        for move in (Move("do", Action("submit", number)), Move("settle"))
    ]
    return RemovedPart(f"wake-up: {name}", needed_in, Options(()), wakes=name, moves=(*submitted, *moves))


def _do(verb: str, what: object) -> Move:
    return Move("do", Action(verb, what))


PARTS: tuple[RemovedPart, ...] = (
    # The smallest deadlock of design 4.3.
    RemovedPart(
        "the safety rule",
        case("a b c", "a b", "High:c a b", "a"),
        Options(BASIC),
        "unsafe grant",
        parts.without_safety,
    ),
    # A holder waits for a broken system, and others wait for its systems.
    RemovedPart(
        "let-go", case("a b", "a b", "b"), Options((*BASIC, "break")), "unsafe", parts.without_let_go
    ),
    RemovedPart("claims by force", case("a", "a", "!a"), Options(BASIC), "no claim", parts.without_claims),
    RemovedPart(
        "claimants asked first",
        case("a", "a", "Low:!a", "a"),
        Options(BASIC),
        "claim passed over",
        parts.without_asking_claimants,
    ),
    RemovedPart(
        "the end of a claim in its grant",
        case("a", "a", "!a"),
        Options(BASIC),
        "claim",
        parts.without_end_of_claims_in_grants,
    ),
    RemovedPart(
        "the check of occupied systems",
        case("a", "a"),
        Options((*BASIC, "occupy", "vacate")),
        "recipe 1 got a, which it may not have",
        parts.without_check_of_occupied_systems,
    ),
    RemovedPart(
        "the placement of the whole set at preemption",
        case("a b", "a @o &", "b a @o", "a b @k", queues="fair k=2g"),
        Options((*BASIC, "preempt")),
        "unsafe",
        parts.without_placement_of_all,
    ),
    RemovedPart(
        "the old place of victims",
        case("a", "a @o &", "a @o", "a @k", queues="fair k=1g"),
        Options((*BASIC, "preempt")),
        "queue jump",
        parts.without_place_of_victims,
    ),
    RemovedPart(
        "the next attempt after preemption",
        case("a", "a @o &", "a @k", queues="fair k=1g"),
        Options((*BASIC, "preempt", "run")),
        "attempt",
        parts.without_attempts,
    ),
    # A holder waits in a silent lab, and others wait for its systems.
    RemovedPart(
        "let-go of silent labs",
        case("a b", "a b", "b"),
        Options((*BASIC, "fall silent")),
        "unsafe",
        lets_go="lab silent",
    ),
    # A holder waits for a system that it has itself, as a person changed its other recipe.
    RemovedPart(
        "let-go of changed recipes",
        case("a b", "a b", "b"),
        Options((*BASIC, "change")),
        "unsafe",
        lets_go="recipe changed",
    ),
    RemovedPart(
        "effective priorities",
        case("a^Low", "Urgent: a", "Normal+: a", "a"),
        Options(BASIC),
        "queue jump",
        parts.without_maxima,
    ),
    RemovedPart(
        "access, as the queue is asked",
        case("a b", "ab", "b"),
        Options((*BASIC, "close", "open")),
        "recipe 1 got a, which it may not have",
        parts.without_access,
    ),
    RemovedPart(
        "assigned before queued",
        case("a b", "a b", "b", "b"),
        Options(BASIC),
        "queue jump",
        parts.without_assigned_first,
    ),
    RemovedPart(
        "priorities before assigned",
        case("a b", "b", "a b", "High:b"),
        Options(BASIC),
        "queue jump",
        parts.without_priorities_first,
    ),
    # Jobs 1 and 2 hold b and c in turn, and wait for a beside job 0.
    RemovedPart(
        "the bound on overtaking",
        case("a b c", "a", "a b", "a c", max_overtaken=1),
        Options(BASIC),
        "overtaken too often",
        parts.without_bound_on_overtaking,
    ),
    RemovedPart(
        "counting overtakings",
        case("a b c", "a", "a b", "a c", max_overtaken=1),
        Options(BASIC),
        "miscounted overtaking",
        parts.without_counting,
    ),
    RemovedPart(
        "dependencies",
        case("a b", "a", "b <0"),
        Options(BASIC),
        "held back",
        parts.without_dependencies,
    ),
    RemovedPart(
        "the pause",
        case("a", "Normal+: a"),
        Options((*BASIC, "pause", "resume")),
        "held back",
        parts.without_job_filters,
    ),
    RemovedPart(
        "held locks",
        case("a b", "a%X", "b%x"),
        Options(BASIC),
        "locks: set 2 got locks",
        parts.without_locks_at_once,
    ),
    RemovedPart(
        "owed locks",
        case("a b c d", "a%x", "b%X", "c%x", "d%x", max_overtaken=1),
        Options(BASIC),
        "locks: set",
        parts.without_owed_locks,
    ),
    RemovedPart(
        "scheduling the siblings again",
        case("a b c", "c%X", "a%X b"),
        Options((*BASIC, "break")),
        "let go: sets [2] did, and [] have to",
        parts.without_siblings_scheduled_again,
    ),
    RemovedPart("limits", case("a b", "a #1", "b #1"), Options(BASIC), "no room", parts.without_limits),
    RemovedPart(
        "charging the whole set",
        case("a b", "a b"),
        Options((*BASIC, "limit")),
        "no room",
        parts.without_charging_the_whole_set,
    ),
    RemovedPart(
        "the order of room",
        case("a b", "a #1", "a #1", "High:b #1"),
        Options(BASIC),
        "room jump",
        parts.without_order_of_room,
    ),
    RemovedPart(
        "room kept after ticks",
        case("a b", "a b", "a", "b", coefficient=1, max_placed=2),
        Options((*BASIC, "tick")),
        "room is kept",
        parts.without_kept_room,
    ),
    # Jobs 1 and 2 wait for a when job 0 gets the lock, or ends.
    RemovedPart(
        "weighing after a grant",
        case("a b", "b%X", "a%X", "a", coefficient=1),
        Options((*BASIC, "break", "repair")),
        "queue jump",
        parts.without_weighing_again,
    ),
    RemovedPart(
        "ageing",
        case("a b", "b%X", "a%X", "a", coefficient=1),
        Options((*BASIC, "break", "repair", "tick")),
        "queue jump",
        parts.without_ageing,
    ),
    # Queue x has a when b comes free, and y has nothing.
    RemovedPart(
        "fair shares",
        case("a b", "a @x", "b @x", "b @x", "b @y", queues="fair"),
        Options(BASIC),
        "queue jump",
        parts.without_shares,
    ),
    RemovedPart(
        "the departure of a lab",
        case("a", "a", other=""),
        Options((*BASIC, "move lab")),
        "another partition",
        parts.without_departures,
    ),
    RemovedPart(
        "grants that depend on the lab",
        case("a", "a", other=""),
        Options((*BASIC, "move lab"), races=1),
        "partitions: recipe 1",
        parts.without_dependence_on_labs,
    ),
    # Job 1 waits for b, which job 0 has; then idle a arrives.
    _row("partition of a lab changed", case("a b@2", "b /2", "ab /2", other="2"), "move lab"),
    # Room comes free, and an idle system is taken.
    _row("configuration changed", case("a b", "a", "b"), "limit, unlimit"),
    # The first set in a full queue ends or lets go; the other one waits for room, beside an idle system.
    _row("recipe completed", case("a b", "a @x", "b @x", queues="x=1"), "complete", "completed in a queue"),
    _row("recipe given up", case("a b", "a @k.x", "b @k.y", queues="k=1"), "complete", "given up in a queue"),
    _row(
        "recipe queued",
        case("a b c@2", "a b @x", "b", "c @x", queues="x=1j"),
        "break",
        "let go in a queue",
    ),
    _lock_row("recipe completed", case("a b", "a%X", "b%X"), "complete"),
    _lock_row("recipe given up", case("a b", "a%X", "b%X")),
    _lock_row("locks narrowed", case("a b", "a%X", "b%X"), "narrow"),
    _lock_row("recipe queued", case("a b c", "a%x", "b%X", "c%x", max_overtaken=0), "break"),
    _lock_row("recipe assigned", case("a b c d e", "a%x", "e", "be%X c", "d%x", max_overtaken=0), "break"),
    _lock_row("priority changed", case("a b c", "a%x", "High:b%X", "c%x", max_overtaken=0), "lower"),
    # The lab is enabled while a batch with two new jobs is answered; a queued recipe waits for a.
    RemovedPart(
        "the queue looks first",
        case("a b@2", "a", "b", "a"),
        Options(()),
        "queue jump",
        parts.without_looking_first,
        moves=(
            _do("disable", "lab-1"),
            _do("submit", 0),
            Move("settle"),
            _do("submit", 1),
            _do("submit", 2),
            Move("commit", limit=1),
            _do("enable", "lab-1"),
        ),
    ),
    RemovedPart(
        "pending systems before wake-ups",
        case("a b", "a b", "High:b"),
        Options((*BASIC, "break", "repair")),
        "out of order",
        parts.without_pending_first,
    ),
    # Both systems of job 0 come free in one commit.
    RemovedPart(
        "the order known at the basis",
        case("a b", "a b", "b", "a b"),
        Options(BASIC),
        "queue jump",
        parts.without_basis,
    ),
    RemovedPart(
        "the highest rank over all systems that a wake-up asks",
        case("a b", "b", "a b"),
        Options((*BASIC, "disable", "enable")),
        "queue jump",
        parts.without_ranks_over_all,
    ),
    RemovedPart(
        "rank order of new sets",
        case("a", "a", "High:a"),
        Options(BASIC, races=1),
        "queue jump",
        parts.without_rank_of_new_sets,
    ),
    # c is busy as soon as it is registered, but will come free: a is safe now.
    _row("system added", case("a b:Broken c:Absent", "a bc", "High:bc"), "add"),
    _row("condition changed", case("a b", "a b", "High:b"), "break, repair"),
    _row("system undrained", case("a b", "a b", "b a"), "drain, undrain"),
    _row("system returned by a person", case("a:Manual b", "!a b", "High:!a"), "reserve, give back"),
    _row("system free for forced recipes", case("a:Manual", "!a", "!a"), "break"),
    _row("condition changed", case("a", "!a", "!a"), "remove, make manual", "no longer removed"),
    _row("system undrained", case("a:Manual b", "!a b", "High:!a"), "drain, undrain", "forced one undrained"),
    # The set keeps its lab, because it holds another system; no other recipe is asked then.
    _row("recipe assigned", case("a b c d", "ab c d", "d"), "break"),
    _row("inventory changed", case("a b", "a~big", "ab"), "grow, shrink"),
    _row("pools changed", case("a b", "a~pool", "ab"), "join, leave"),
    _row("lab of a system changed", case("a b:Broken c@2", "a b"), "move, repair"),
    _row("distro tree changed", case("a b@2", "a", "ab"), "tree arrives, tree leaves"),
    _row("lab heard", case("a b@2", "a", "ab"), "fall silent, be heard"),
    _row("lab enabled", case("a b@2", "a", "ab"), "disable, enable"),
    # a is closed to job 0, which waits for b, until another change gives access.
    _row("access policy of a system changed", case("a b", "ab", "b"), "close, open"),
    _row("access policy of a pool changed", case("a b", "ab", "b"), "join, close pool, open pool"),
    _row("owner of a system changed", case("a b", "ab", "b"), "close, give"),
    _row("lent", case("a b", "ab", "b"), "close, lend"),
    _row("loan ended", case("a b", "ab", "b"), "lend away, end loan"),
    _row("set changed", case("a b:Broken", "b"), "change"),
    # The dependent waits for b, which stays idle as job 0 completes on a.
    _row("recipe completed", case("a b", "a", "b <0"), "complete"),
    _row("job filters changed", case("a", "Normal+: a"), "pause, resume"),
    _row("group changed", case("a b", "Normal+: ab", "b"), "close, leave group, join group"),
    # c comes free in the batch in which b breaks, and no recipe may have it while job 1 waits for b. Then
    # job 1 lets go.
    _history(
        "recipe queued",
        case("a b c d e", "b c d e", "a b", "c d"),
        _do("finish", (0, 3)),
        _do("finish", (0, 1)),
        Move("commit", limit=1),
        _do("break", "b"),
    ),
    _history(
        "recipe given up",
        case("a b c d e", "b c d e", "a b", "c d"),
        _do("finish", (0, 3)),
        _do("finish", (0, 1)),
        Move("commit", limit=1),
        _do("break", "b"),
        Move("race", Action("cancel", 1), limit=1),
    ),
    # Job 1 claims d and is cancelled as d comes free, so job 3 gets d before job 2 may claim it. Both wait
    # for each other as c breaks, and f comes free. Then d breaks: job 2, which forces it, starts.
    _history(
        "set got a system",
        case("a b c d e f g", "c d e f g", "!d", "b !d", "High:a de bc", "f e"),
        _do("cancel", 1),
        _do("finish", (0, 1)),
        Move("settle"),
        _do("finish", (0, 4)),
        _do("finish", (0, 3)),
        Move("commit", limit=1),
        _do("break", "c"),
        Move("race", Action("break", "d"), limit=1),
    ),
)

# Priorities decide only the order. A recipe that could take an idle system has it already, so a change of
# priorities allows no new grant.
NOT_NEEDED = _row("priority changed", case("a^Low b", "a b", "Normal+: ab b"), "raise, lower")

ALL_PARTS = {part.name: part for part in (*PARTS, NOT_NEEDED)}
