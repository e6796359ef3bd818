"""Parts of the scheduler that can be taken out, and a small case in which each is missed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

from domain.scheduling.world.wake_ups import TRIGGER_RULES, TriggerRule
from tests.domain.scheduling.rules import LETTING_GO, WAKING, rules
from tests.model_check import part_removal as parts
from tests.model_check.actions import Action
from tests.model_check.case import Case, case
from tests.model_check.explore import Found, explore
from tests.model_check.steps import Manner
from tests.model_check.walk import Move, retrace

BASIC = ("submit", "finish", "cancel")

Taking = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True)
class TakenOut:
    """`missed_in` is a case that goes wrong without the part, if it is explored in this `manner`.

    `says` is what is found then. `moves` are one history that goes wrong, where finding one takes too long.
    `wakes` and `lets_go` name the trigger rule that loses its wake-ups, or its let-go triggers.
    """

    name: str
    missed_in: Case
    manner: Manner
    says: str = "lost wake-up"
    taking: Taking = ExitStack
    wakes: str | None = None
    lets_go: str | None = None
    moves: tuple[Move, ...] = ()

    @property
    def rules(self) -> tuple[TriggerRule, ...]:
        return rules(WAKING - {self.wakes}, LETTING_GO - {self.lets_go})

    def without(self) -> Found:
        """What is found when it is taken out."""
        with self.taking():
            return self._look(self.rules)

    def with_it(self) -> Found:
        """What is found in the same place when all is there."""
        return self._look(TRIGGER_RULES)

    def _look(self, table: tuple[TriggerRule, ...]) -> Found:
        if self.moves:
            return retrace(self.missed_in, self.moves, table)
        return explore(self.missed_in, self.manner, rules=table)


def _row(name: str, missed_in: Case, verbs: str, case_name: str = "") -> TakenOut:
    manner = Manner((*BASIC, *verbs.split(", ")))
    return TakenOut(f"wake-up: {case_name or name}", missed_in, manner, wakes=name)


def _history(name: str, missed_in: Case, *moves: Move) -> TakenOut:
    """All jobs are submitted in order; then that is what happens."""
    submitted = [
        move
        for number in range(len(missed_in.jobs))
        for move in (Move("do", Action("submit", number)), Move("settle"))
    ]
    return TakenOut(f"wake-up: {name}", missed_in, Manner(()), wakes=name, moves=(*submitted, *moves))


def _do(verb: str, what: object) -> Move:
    return Move("do", Action(verb, what))


PARTS: tuple[TakenOut, ...] = (
    # The smallest deadlock of design 4.3.
    TakenOut(
        "the safety rule",
        case("a b c", "a b", "High:c a b", "a"),
        Manner(BASIC),
        "unsafe grant",
        parts.without_safety,
    ),
    # A holder waits for what is broken, and others for what it holds.
    TakenOut("let-go", case("a b", "a b", "b"), Manner((*BASIC, "break")), "unsafe", parts.without_let_go),
    # A holder waits in a lab that nobody hears, and others for what it holds.
    TakenOut(
        "let-go of silent labs",
        case("a b", "a b", "b"),
        Manner((*BASIC, "fall silent")),
        "unsafe",
        lets_go="lab silent",
    ),
    TakenOut(
        "effective priorities",
        case("a^Low", "Urgent: a", "Normal+: a", "a"),
        Manner(BASIC),
        "queue jump",
        parts.without_maxima,
    ),
    TakenOut(
        "access, as the queue is asked",
        case("a b", "ab", "b"),
        Manner((*BASIC, "close", "open")),
        "recipe 1 got a, which it may not have",
        parts.without_access,
    ),
    TakenOut(
        "assigned before queued",
        case("a b", "a b", "b", "b"),
        Manner(BASIC),
        "queue jump",
        parts.without_assigned_first,
    ),
    # The lab is enabled while a batch with two new jobs is answered; somebody in the queue waits for a.
    TakenOut(
        "the queue looks first",
        case("a b@2", "a", "b", "a"),
        Manner(()),
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
    TakenOut(
        "pending systems before wake-ups",
        case("a b", "a b", "High:b"),
        Manner((*BASIC, "break", "repair")),
        "out of order",
        parts.without_pending_first,
    ),
    # Both systems of job 0 come free in one commit.
    TakenOut(
        "the order known at the basis",
        case("a b", "a b", "a b", "High:b"),
        Manner(BASIC),
        "queue jump",
        parts.without_basis,
    ),
    TakenOut(
        "the highest rank over all systems that a wake-up asks",
        case("a b", "a b", "High:b"),
        Manner((*BASIC, "disable", "enable")),
        "queue jump",
        parts.without_ranks_over_all,
    ),
    TakenOut(
        "rank order of new sets",
        case("a", "a", "High:a"),
        Manner(BASIC, races=1),
        "queue jump",
        parts.without_rank_of_new_sets,
    ),
    # c is busy as soon as it is there, but comes free some day: a is safe now.
    _row("system added", case("a b:Broken c:Absent", "a bc", "High:bc"), "add"),
    _row("condition changed", case("a b", "a b", "High:b"), "break, repair"),
    _row("system undrained", case("a b", "a b", "b a"), "drain, undrain"),
    _row("system returned by a person", case("a:Manual b", "!a b", "High:!a"), "reserve, give back"),
    _row("system free for who forces it", case("a:Manual", "!a", "!a"), "break"),
    _row("condition changed", case("a", "!a", "!a"), "remove, make manual", "no longer removed"),
    _row("system undrained", case("a:Manual b", "!a b", "High:!a"), "drain, undrain", "forced one undrained"),
    # The set keeps its lab, since it holds another system; nobody else is asked then.
    _row("recipe assigned", case("a b c d", "ab c d", "d"), "break"),
    _row("inventory changed", case("a b", "a~big", "ab"), "grow, shrink"),
    _row("pools changed", case("a b", "a~pool", "ab"), "join, leave"),
    _row("lab of a system changed", case("a b:Broken c@2", "a b"), "move, repair"),
    _row("distro tree changed", case("a b@2", "a", "ab"), "tree arrives, tree leaves"),
    _row("lab heard", case("a b@2", "a", "ab"), "fall silent, be heard"),
    _row("lab enabled", case("a b@2", "a", "ab"), "disable, enable"),
    # a is closed to job 0, which waits for b, until something else lets it in.
    _row("access policy of a system changed", case("a b", "ab", "b"), "close, open"),
    _row("access policy of a pool changed", case("a b", "ab", "b"), "join, close pool, open pool"),
    _row("owner of a system changed", case("a b", "ab", "b"), "close, give"),
    _row("lent", case("a b", "ab", "b"), "close, lend"),
    _row("loan ended", case("a b", "ab", "b"), "lend away, end loan"),
    _row("group changed", case("a b", "Normal+: ab", "b"), "close, leave group, join group"),
    # c comes free in the batch that is being answered as b breaks, and nobody may have it while job 1 waits
    # for b. Then that holds nothing.
    _history(
        "recipe queued",
        case("a b c d e", "b c d e", "a b", "c d"),
        _do("finish", (0, 3)),
        _do("finish", (0, 1)),
        Move("commit", limit=1),
        _do("break", "b"),
    ),
    _history(
        "holder ended",
        case("a b c d e", "b c d e", "a b", "c d"),
        _do("finish", (0, 3)),
        _do("finish", (0, 1)),
        Move("commit", limit=1),
        _do("break", "b"),
        Move("race", Action("cancel", 1), limit=1),
    ),
    # Jobs 1 and 2 wait for each other as c breaks, and f comes free. Then d breaks: job 1, which forces it,
    # starts.
    _history(
        "set got a system",
        case("a b c d e f g", "c d e f g", "b !d", "High:a de bc", "f e"),
        _do("finish", (0, 1)),
        Move("settle"),
        _do("finish", (0, 4)),
        _do("finish", (0, 3)),
        Move("commit", limit=1),
        _do("break", "c"),
        Move("race", Action("break", "d"), limit=1),
    ),
)

# Priorities, effective or nominal, say who is asked first. Whoever could take an idle system has it: so a
# change of them eases nothing.
NOT_MISSED = _row("priority changed", case("a^Low b", "a b", "Normal+: ab b"), "raise, lower")

ALL_PARTS = {part.name: part for part in (*PARTS, NOT_MISSED)}
