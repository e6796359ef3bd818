"""The line in which each host stands, and its weight there."""

from __future__ import annotations

from domain.recipe.lifecycle import UNPLACED
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.admission import Admission
from domain.scheduling.demand.lines import (
    OWED,
    QUEUED,
    newly_assigned_line,
    queue_line,
    ranks_as_queued,
    room_line,
)
from domain.scheduling.demand.weighing import WEIGHTLESS, Profile, Weighing
from domain.scheduling.sets.queue_turns import ONE_LINE
from domain.scheduling.sets.set_classes import SetClasses
from domain.scheduling.sets.set_states import SetStates, lab_of


class HostPlaces:
    """The places of hosts, which follow from states, admission and room. The class has no own state.

    Newly assigned recipes rank with the queued ones until the batch is answered, because a batch is answered
    in the order at its basis. Recipes of owed sets already rank with the assigned ones when they are queued.
    """

    def __init__(
        self, states: SetStates, admission: Admission, classes: SetClasses, weighing: Weighing
    ) -> None:
        self._states = states
        self._admission = admission
        self._classes = classes
        self._weighing = weighing

    def line_of(self, host: Recipe) -> str | None:
        """Return the line of a queued or assigned recipe, None for other states and if held back."""
        recipe_set_id = host.recipe_set_id
        if host.state == "assigned":
            line = lab_of(host)
            if host.recipe_id in self._states.newly_assigned:
                is_owed = self._states.overtakings.is_owed(recipe_set_id)
                line = line if is_owed else newly_assigned_line(line)
        elif host.state != "queued" or recipe_set_id in self._admission.held_back:
            return None
        else:
            line = OWED if self._states.overtakings.is_owed(recipe_set_id) else QUEUED
            number = self.class_of(recipe_set_id)
            if number is not None:
                return room_line(line, number)
        return line if self._states.turns.is_one_line else queue_line(line, self._queue_of(host, line))

    def _queue_of(self, host: Recipe, line: str) -> str:
        """Return the queue in whose line a recipe stands; assigned ones of all queues may stand in one."""
        turns = self._states.turns
        if turns.is_assigned_first and not ranks_as_queued(line):
            return ONE_LINE
        return turns.queue_of(self._states.sets[host.recipe_set_id])

    def class_of(self, recipe_set_id: int) -> int | None:
        """Return the number of the class of a set that needs room, otherwise None."""
        return self._classes.numbers.get(recipe_set_id)

    def is_held_back(self, host: Recipe) -> bool:
        return host.recipe_set_id in self._admission.held_back

    def is_wanting(self, host: Recipe) -> bool:
        """Return whether a recipe has no system and may have one as far as admission is concerned."""
        return host.state in UNPLACED and not self.is_held_back(host)

    def profile(self, host: Recipe, line: str) -> Profile:
        """Return the profile with which a recipe stands in a line; recipes of owed sets weigh nothing."""
        is_owed = self._states.overtakings.is_owed(host.recipe_set_id)
        profile = WEIGHTLESS if is_owed else self._states.declared_profile(host, line)
        job_id = self._compared_job(host, line)
        return profile if job_id is None else Profile(profile.locks, profile.holder, job_id)

    def _compared_job(self, host: Recipe, line: str) -> int | None:
        """Return the job of a recipe that stands in a fair leaf, which compares jobs; otherwise None."""
        turns, recipe_set = self._states.turns, self._states.sets[host.recipe_set_id]
        is_fair = not turns.is_one_line and turns.is_fair(self._queue_of(host, line))
        return recipe_set.job_id if is_fair else None

    def systems(self, host: Recipe) -> int:
        """Return the number of systems of the job of an unplaced recipe in a fair leaf, otherwise 0."""
        job_id = self._compared_job(host, self.line_of(host) or QUEUED)
        return 0 if job_id is None else self._states.turns.systems_of_job(job_id)

    def weight(self, host: Recipe) -> int:
        """Return the weight of an unplaced recipe; a new one counts as queued. 0 if all weigh the same."""
        profile = self.profile(host, self.line_of(host) or QUEUED)
        return self._weighing.of_profile(profile, host.recipe_id)

    def weight_of_new(self, recipe_set: RecipeSet) -> int:
        """Return the weight of a new set, 0 if it is owed or all recipes weigh the same."""
        if self._states.overtakings.is_owed(recipe_set.recipe_set_id):
            return 0
        return self._weighing.of_profile(Profile(recipe_set.profile), recipe_set.recipe_ids[-1])
