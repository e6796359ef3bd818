"""The weights of recipes in the order of a system (design 5.3), kept for profiles instead of recipes.

A profile is the merged locks of a set. Its static weight follows from sums of what placed recipes hold, so a
grant or an end changes a few sums, and the weights of the profiles that depend on these. Age is applied when
two recipes are compared.

Recipes of a set do not count against the set itself. So a set that holds systems and declares locks has a
profile of its own, which is weighed when a search meets it. So has each job in a leaf with the order `fair`:
there the number of systems that the job has comes before the weight (design 6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Final, NamedTuple

from domain.contention.held_sums import HeldSums, SumKey, keys_of
from domain.contention.locks import NO_LOCKS, Locks
from domain.contention.weights import NO_CONTENTION, Cells, WeightSettings, aged_weight, static_weight, ticks

NO_PROFILE: Final = 0
"""The number of the profile of sets that declare no locks."""
WEIGHTLESS_PROFILE: Final = 1
"""The number of the profile of sets that weigh nothing."""

_NOBODY: Final = -1
"""The holder of the profiles of sets that weigh nothing."""


class Profile(NamedTuple):
    """The locks of sets; `holder` is the one set of a profile of its own, otherwise None.

    `job` is the job of the sets in a fair leaf, otherwise None.
    """

    locks: Locks
    holder: int | None = None
    job: int | None = None

    @property
    def is_weightless(self) -> bool:
        """Return whether the sets weigh nothing, whatever they declare."""
        return self.holder == _NOBODY

    @property
    def is_of_holder(self) -> bool:
        return self.holder is not None and self.holder != _NOBODY


class WeightClass(NamedTuple):
    """Profiles that weigh the same, and whose jobs have the same number of systems.

    `systems` is 0 outside of fair leaves. `static` is the static weight; a profile of its own has a class of
    its own, with the negative number of the profile.
    """

    systems: int
    static: int


WITHOUT_LOCKS: Final = Profile(NO_LOCKS)
WEIGHTLESS: Final = Profile(NO_LOCKS, holder=_NOBODY)
"""The profile of all sets that weigh nothing, whatever they declare."""


class Placed(NamedTuple):
    """A placed recipe: the locks with which it counts, and its set."""

    locks: Locks
    recipe_set_id: int


class OwnSums(NamedTuple):
    """The sums of the placed recipes of one set that have locks, and the number of the others."""

    locked: HeldSums
    unlocked_count: int


class Weighing:
    """The profiles of one partition, and what its placed recipes hold. Mutable.

    `classes` has the weight class of each profile by number. `changed` is called with a profile and its class
    before, when its class has changed. `version` grows with every change of a class.
    `submitted_at` and `recipe_ids_of` return the time of submission of a recipe and the recipes of a set,
    `systems_of_job` the number of systems that a job has.
    """

    def __init__(self, changed: Callable[[int, WeightClass], None]) -> None:
        self.settings = WeightSettings()
        self.version = 0
        # The time of the decisions or of the question.
        self.now: datetime | None = None
        # The unfinished sets that declare locks.
        self.declaring: dict[int, None] = {}
        self.submitted_at: Callable[[int], datetime | None] = lambda _: None
        self.recipe_ids_of: Callable[[int], Iterable[int]] = lambda _: ()
        self.systems_of_job: Callable[[int], int] = lambda _: 0
        self._changed = changed
        self._sums = HeldSums()
        self._placed: dict[int, Placed] = {}
        # The number of placed recipes without locks.
        self._unlocked = 0
        # The number of profiles that belong to one holder, and the sums of holders that were weighed.
        self._holder_count = 0
        self._own: dict[int, OwnSums] = {}
        self._profiles: dict[int, Profile] = {NO_PROFILE: WITHOUT_LOCKS, WEIGHTLESS_PROFILE: WEIGHTLESS}
        self._numbers: dict[Profile, int] = {WITHOUT_LOCKS: NO_PROFILE, WEIGHTLESS: WEIGHTLESS_PROFILE}
        self._users: dict[int, int] = {}
        self._free: list[int] = []
        self._depending: dict[SumKey, dict[int, None]] = {}
        # The profiles of each job in a fair leaf.
        self._of_job: dict[int, dict[int, None]] = {}
        self.classes: dict[int, WeightClass] = {
            NO_PROFILE: WeightClass(0, self.settings.base),
            WEIGHTLESS_PROFILE: WeightClass(0, 0),
        }

    @property
    def is_flat(self) -> bool:
        """Return whether all recipes weigh the same before ageing, so that submission alone decides."""
        return not self.declaring or not self.settings.is_enabled

    def configure(self, settings: WeightSettings) -> None:
        """Weigh everything by new settings."""
        if settings == self.settings:
            return
        self.settings = settings
        self.version += 1
        self._weigh_again(number for number, profile in self._profiles.items() if profile.holder is None)

    # Profiles

    def number(self, profile: Profile) -> int:
        """Return the number of a profile; `use` it before another change."""
        if profile is WITHOUT_LOCKS:
            return NO_PROFILE
        number = self._numbers.get(profile)
        return self._begin(profile) if number is None else number

    def profile(self, number: int) -> Profile:
        return self._profiles[number]

    def _begin(self, profile: Profile) -> int:
        number = self._free.pop() if self._free else len(self._profiles)
        self._numbers[profile], self._profiles[number] = number, profile
        if profile.job is not None:
            self._of_job.setdefault(profile.job, {})[number] = None
        if profile.is_of_holder:
            self._holder_count += 1
        for key in self._depends_on(profile):
            self._depending.setdefault(key, {})[number] = None
        self.classes[number] = self._class(number)
        return number

    def _class(self, number: int) -> WeightClass:
        profile = self._profiles[number]
        systems = 0 if profile.job is None else self.systems_of_job(profile.job)
        return WeightClass(systems, -number if profile.is_of_holder else self._static(profile))

    def _depends_on(self, profile: Profile) -> Iterable[SumKey]:
        return () if profile.holder is not None or profile.locks == NO_LOCKS else keys_of(profile.locks)

    def use(self, number: int, count: int = 1) -> None:
        """Count recipes of a profile; a profile without recipes is dropped."""
        if number <= WEIGHTLESS_PROFILE:
            return
        self._users[number] = self._users.get(number, 0) + count
        if not self._users[number]:
            self._forget(number)

    def _forget(self, number: int) -> None:
        profile = self._profiles.pop(number)
        del self._numbers[profile], self._users[number], self.classes[number]
        self._free.append(number)
        self._holder_count -= profile.is_of_holder
        if profile.job is not None:
            del self._of_job[profile.job][number]
            if not self._of_job[profile.job]:
                del self._of_job[profile.job]
        for key in self._depends_on(profile):
            del self._depending[key][number]
            if not self._depending[key]:
                del self._depending[key]

    # Placed recipes

    def place(self, recipe_id: int, placed: Placed) -> None:
        """Count a placed recipe, or count it with other locks than before."""
        before = self._placed.get(recipe_id)
        if before == placed:
            return
        if before is not None:
            self._count(before, -1)
        self._placed[recipe_id] = placed
        self._count(placed, 1)

    def remove(self, recipe_id: int) -> None:
        """Stop counting a recipe, if it was placed."""
        placed = self._placed.pop(recipe_id, None)
        if placed is not None:
            self._count(placed, -1)

    def _count(self, placed: Placed, step: int) -> None:
        self.version += self._holder_count > 0
        self._own.pop(placed.recipe_set_id, None)
        if placed.locks == NO_LOCKS:
            self._unlocked += step
            # All recipes without locks are one entry, because the table asks only whether there are any.
            if self._unlocked != (step > 0):
                return
        changed = self._sums.add(placed.locks) if step > 0 else self._sums.remove(placed.locks)
        self._weigh_again({number: None for key in changed for number in self._depending.get(key, ())})

    def _weigh_again(self, numbers: Iterable[int]) -> None:
        self.version += self._classify(numbers)

    def _classify(self, numbers: Iterable[int]) -> int:
        """Put profiles into their present classes; return how many are in another class than before."""
        count = 0
        for number in numbers:
            before, after = self.classes[number], self._class(number)
            if before != after:
                count += 1
                self.classes[number] = after
                self._changed(number, before)
        return count

    def job_changed(self, job_id: int) -> None:
        """Note that a job has another number of systems, which changes no weight."""
        if job_id in self._of_job:
            self._classify(self._of_job[job_id])

    def placed(self) -> Iterator[tuple[int, Placed]]:
        """Yield the placed recipes by id, without guests, in no order."""
        yield from self._placed.items()

    # Weights

    def _static(self, profile: Profile) -> int:
        if profile.is_weightless:
            return 0
        return static_weight(self.cells(profile), self.settings)

    def cells(self, profile: Profile) -> Cells:
        """Return the worst cells of a profile beside the placed recipes of other sets."""
        if profile.locks == NO_LOCKS:
            return NO_CONTENTION
        if profile.holder is None or profile.is_weightless:
            return self._sums.worst_cells(profile.locks)
        own = self._own.get(profile.holder) or self._sum_own(profile.holder)
        has_all_unlocked = 0 < own.unlocked_count == self._unlocked
        if has_all_unlocked:
            own.locked.add(NO_LOCKS)
        cells = self._sums.worst_cells(profile.locks, own.locked)
        if has_all_unlocked:
            own.locked.remove(NO_LOCKS)
        return cells

    def _sum_own(self, recipe_set_id: int) -> OwnSums:
        recipe_ids = self.recipe_ids_of(recipe_set_id)
        held = [self._placed[each].locks for each in recipe_ids if each in self._placed]
        locked = HeldSums(locks for locks in held if locks != NO_LOCKS)
        own = self._own[recipe_set_id] = OwnSums(locked, held.count(NO_LOCKS))
        return own

    def of_profile(self, profile: Profile, recipe_id: int) -> int:
        """Return the weight of a recipe whose profile need not have a number; 0 if all weigh the same."""
        return 0 if self.is_flat else self.predicted(profile, recipe_id)

    def predicted(self, profile: Profile, recipe_id: int) -> int:
        """Return the weight of a recipe, also if all recipes weigh the same before ageing."""
        number = self._numbers.get(profile)
        static = self._static(profile) if number is None else self.static_of(number)
        return self.weight(static, recipe_id)

    def of_group(self, number: int, recipe_id: int) -> int:
        """Return the weight of a recipe in a line, whose profile has this number."""
        return 0 if self.is_flat else self.weight(self.static_of(number), recipe_id)

    def static_of(self, number: int) -> int:
        """Return the static weight of a profile with this number, in thousandths."""
        return self.static(self.classes[number])

    def static(self, weight_class: WeightClass) -> int:
        """Return the static weight of a class, in thousandths."""
        if weight_class.static >= 0:
            return weight_class.static
        return self._static(self._profiles[-weight_class.static])

    def weight(self, static: int, recipe_id: int) -> int:
        """Return the weight of a recipe at `now`, for comparisons."""
        return aged_weight(static, self.age(recipe_id), self.settings.coefficient)

    def age(self, recipe_id: int) -> int:
        """Return the ticks since the submission of a recipe at `now`."""
        submitted_at = self.submitted_at(recipe_id)
        if submitted_at is None or self.now is None:
            return 0
        return ticks(submitted_at, self.now, self.settings.tick_milliseconds)
