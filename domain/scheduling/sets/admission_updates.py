"""Updates of admission: the sets that are held back, and the class of each set that needs room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.admission.configuration import LimitSection
from domain.admission.dependencies import JOB
from domain.admission.job_filters import JobFilter, JobFilters
from domain.queues.tree import QueueTree
from domain.recipe.state import Recipe
from domain.recipe_set.state import RecipeSet
from domain.scheduling.admitting.admission import Admission, HeldBack
from domain.scheduling.admitting.rooms import Rooms
from domain.scheduling.sets.host_index import HostIndex
from domain.scheduling.sets.set_classes import SetClasses
from domain.scheduling.sets.set_states import FREE, SetStates


class AdmissionUpdates:
    """The updates after a change: new answers of admission, and new index entries of the affected hosts."""

    def __init__(
        self, states: SetStates, admission: Admission, rooms: Rooms, classes: SetClasses, index: HostIndex
    ) -> None:
        self._states = states
        self._admission = admission
        self._rooms = rooms
        self._classes = classes
        self._index = index

    def put_job_filters(self, job_filters: JobFilters) -> None:
        """Put new job filters; ask admission for all sets that hold nothing, and charge all others again."""
        self._admission.put_job_filters(job_filters)
        self._ask_all()

    def put_limits(self, limits: LimitSection, tree: QueueTree, *, is_assigned_first: bool) -> None:
        """Put new limits and queues; ask and charge as `put_job_filters` does, unless no set is concerned."""
        turns = self._states.turns
        is_moved = turns.changes_lines(tree, is_assigned_first=is_assigned_first)
        turns.configure(tree, is_assigned_first=is_assigned_first)
        is_changed = self._rooms.configure(limits, tree)
        if self._admission.put_queues(tree) or is_changed:
            self._ask_all(is_moved=is_moved)
        elif is_moved:
            for recipe_set_id in self._states.sets:
                self._classes.requeue(recipe_set_id)
            self._index.line_up()

    def _ask_all(self, *, is_moved: bool = False) -> None:
        """Ask admission for all sets, and put their needs; with `is_moved`, their lines have changed, too."""
        answers: dict[int, HeldBack | None] = {}
        has_other_needs = False
        for recipe_set_id, recipe_set in self._states.sets.items():
            applying = self._admission.applying(recipe_set)
            needs = self._classes.present_needs(recipe_set, applying)
            if needs != self._classes.needs_of(recipe_set_id):
                self._classes.put(recipe_set_id, needs)
                has_other_needs = True
            elif is_moved:
                self._classes.requeue(recipe_set_id)
            answer = self._answer(recipe_set, applying)
            if answer != self._admission.held_back.get(recipe_set_id):
                answers[recipe_set_id] = answer
        if is_moved or has_other_needs:
            self._index.line_up()
        self._put(answers)

    def put_unindexed(self, recipe_set: RecipeSet) -> None:
        """Ask admission for a set whose hosts are in no index: a new set, or one whose priority changes."""
        if not self._admission.concerns(recipe_set) and not self._rooms.concern(recipe_set):
            return
        applying = self._admission.applying(recipe_set)
        self._classes.put(recipe_set.recipe_set_id, self._classes.present_needs(recipe_set, applying))
        self._admission.hold_back(recipe_set.recipe_set_id, self._answer(recipe_set, applying))

    def recipe_changed(self, before: Recipe, recipe: Recipe) -> None:
        """Ask admission again for the sets whose answer a new state of a recipe may change."""
        if recipe.state in FREE and before.state not in FREE:
            self._ask((recipe.recipe_set_id,))
        if recipe.finished != before.finished:
            self._ask(self._admission.changed_with(recipe))

    def job_closed(self, job_id: int) -> None:
        """Close a job, and ask admission again for the sets that depend on it."""
        self._admission.close_job(job_id)
        self._ask(self._admission.dependents(JOB, job_id))

    def charge(self, recipe_set_id: int) -> None:
        """Charge or release a set with limits after a recipe has changed its state."""
        with self._index.reindexed(self._classes.moved_by_charge(recipe_set_id)):
            self._classes.charge(recipe_set_id)

    def admit(self, recipe_set_id: int) -> None:
        """Put the recipes of a set that was held back into the lines again."""
        self._put({recipe_set_id: None})

    def _ask(self, recipe_set_ids: Iterable[int]) -> None:
        sets = map(self._states.sets.__getitem__, recipe_set_ids)
        applying = self._admission.applying
        self._put({each.recipe_set_id: self._answer(each, applying(each)) for each in sets})

    def _answer(self, recipe_set: RecipeSet, applying: JobFilter | None) -> HeldBack | None:
        """Return why a set is held back now; no row is asked for a set that holds systems or has started."""
        before = self._admission.held_back.get(recipe_set.recipe_set_id)
        is_concerned = before is not None or self._admission.concerns(recipe_set)
        if is_concerned and self._states.holds_nothing(recipe_set):
            return self._admission.why_held_back(recipe_set, applying)
        return before

    def _put(self, answers: Mapping[int, HeldBack | None]) -> None:
        """Record why sets are held back, and take their recipes out of the lines or put them in again."""
        before = self._admission.held_back.get
        changed = {each: answer for each, answer in answers.items() if answer != before(each)}
        moved = [each for each, answer in changed.items() if (answer is None) != (before(each) is None)]
        with self._index.reindexed(moved):
            for recipe_set_id, answer in changed.items():
                self._admission.hold_back(recipe_set_id, answer)
