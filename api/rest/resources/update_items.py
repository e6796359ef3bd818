"""Reading of the items of a lab controller's message (`Update`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import orjson

from api.rest.body import check_model
from api.rest.context import Principal
from api.rest.contract.inputs.labs import (
    AddedRecipeSet,
    Cancellation,
    CommandUpdate,
    RecipeProgress,
    Release,
    RunningItem,
    Update,
)
from api.rest.contract.inputs.systems import SystemItem
from api.rest.contract.operation import JSON, MAX_BODY_BYTES
from api.rest.ports import UpdateParts
from api.rest.resources.inventory_items import change_of
from api.rest.resources.progress import read_report
from api.rest.resources.sent_faults import sent_faults
from api.rest.resources.submissions import add_body, submit_body
from api.use_cases.change_job import cancel_recipe_set, cancel_waiting_sets, release_recipe
from api.use_cases.change_system import NewSystemValues
from api.use_cases.lab_updates import (
    Item,
    OrderedUpdate,
    ReportedCommand,
    SystemUpdate,
    add_or_change_system,
    add_system,
    change_own_system,
)
from api.use_cases.ports import RequestContext
from api.use_cases.recover import take_running, take_vacant
from api.use_cases.report_drafts import CommandItem, RecipeItem
from api.use_cases.rights import require_may_submit
from domain.errors import Fault, FaultyInput
from domain.job.submission import Original
from domain.recipe_set.messages import ReportInstalling, ReportTaskRunning
from domain.rfc3339 import rfc3339
from domain.system_admin.recovery import Running
from store.requests import Committed

DRAIN = NewSystemValues(draining=True, reason="drained by its lab controller")
UNDRAIN = NewSystemValues(draining=False)
REMOVE = NewSystemValues(condition="Removed", reason="removed by its lab controller")


@dataclass(frozen=True)
class ItemReader:
    """The reader of a message, with its sender and the lab controller in whose name it is."""

    parts: UpdateParts
    principal: Principal
    lab_controller: str

    @property
    def _reporter(self) -> str | None:
        """Return the lab controller that reports, None for an admin."""
        return None if self.principal.is_admin else self.lab_controller

    def read(self, document: dict[str, Any], max_faults: int) -> Item:
        """Return the item. Raises FaultyInput with at most `max_faults` faults."""
        if len(orjson.dumps(document)) > MAX_BODY_BYTES:
            raise FaultyInput([Fault("item", f"is larger than {MAX_BODY_BYTES} bytes")])
        update = check_model(document, Update, max_faults)
        given = ((name, getattr(update, name)) for name in Update.model_fields)
        ((name, value),) = [(name, value) for name, value in given if value is not None]
        return _READERS[name](self, value)

    def progress(self, report: RecipeProgress) -> RecipeItem:
        return RecipeItem(report.recipe_id, read_report(report), report.attempt)

    def command(self, report: CommandUpdate) -> ReportedCommand:
        item = CommandItem(report.id, report.state, report.reason, report.power_failed)
        return ReportedCommand(self.lab_controller, item)

    def system(self, item: SystemItem) -> SystemUpdate:
        return self._system(item, add_or_change_system)

    def create(self, item: SystemItem) -> SystemUpdate:
        return self._system(item, add_system)

    def _system(self, item: SystemItem, take: Callable[..., Awaitable[Committed | None]]) -> SystemUpdate:
        added_at = rfc3339(self.parts.clock())
        document = item.document(owner=self.principal.user, added_at=added_at)
        commit = partial(
            take,
            self.parts,
            lab_controller=self.lab_controller,
            change=change_of(item),
            document={**document, "lab_controller": self.lab_controller},
        )
        return SystemUpdate(f"system/{item.fqdn}", commit)

    def drain(self, fqdn: str) -> SystemUpdate:
        return self._change(fqdn, DRAIN)

    def undrain(self, fqdn: str) -> SystemUpdate:
        return self._change(fqdn, UNDRAIN)

    def remove(self, fqdn: str) -> SystemUpdate:
        return self._change(fqdn, REMOVE)

    def _change(self, fqdn: str, change: NewSystemValues) -> SystemUpdate:
        commit = partial(
            change_own_system, self.parts, lab_controller=self.lab_controller, fqdn=fqdn, change=change
        )
        return SystemUpdate(f"system/{fqdn}", commit)

    def release(self, item: Release) -> OrderedUpdate:
        commit = partial(
            release_recipe,
            self.parts,
            lab_controller=self._reporter,
            recipe_id=item.recipe_id,
            reason=item.reason,
        )
        return OrderedUpdate(commit)

    def running(self, item: RunningItem) -> SystemUpdate:
        report: ReportInstalling | ReportTaskRunning | None = None
        if item.task_id is not None:
            report = ReportTaskRunning(item.task_id)
        elif item.state is not None:
            report = ReportInstalling()
        running = Running(item.recipe_id, item.attempt, report)
        commit = partial(
            take_running, self.parts, lab_controller=self._reporter, fqdn=item.system, running=running
        )
        return SystemUpdate(f"system/{item.system}", commit)

    def vacant(self, fqdn: str) -> SystemUpdate:
        commit = partial(take_vacant, self.parts, lab_controller=self._reporter, fqdn=fqdn)
        return SystemUpdate(f"system/{fqdn}", commit)

    def job(self, document: dict[str, Any]) -> OrderedUpdate:
        if "jobs" in document and "recipe_sets" not in document:
            raise FaultyInput([Fault("job.jobs", "is a list; send each job as an item of its own")])
        original = Original(orjson.dumps(document), JSON)

        async def submit(request: RequestContext) -> Committed:
            require_may_submit(self.parts.feed.directory, request)
            try:
                return await submit_body(self.parts, self.principal, request, original)
            except FaultyInput as error:
                raise FaultyInput(sent_faults(error.faults, "", "job", "job.")) from error

        return OrderedUpdate(submit)

    def recipe_set(self, item: AddedRecipeSet) -> OrderedUpdate:
        body = orjson.dumps({"recipe_sets": [item.model_extra]})

        async def add(request: RequestContext) -> Committed | None:
            require_may_submit(self.parts.feed.directory, request)
            try:
                return (await add_body(self.parts, self.principal, request, item.job_id, body, JSON)).done
            except FaultyInput as error:
                faults = sent_faults(error.faults, "recipe_sets[0]", "recipe_set", "recipe_set.")
                raise FaultyInput(faults) from error

        return OrderedUpdate(add)

    def cancel(self, item: Cancellation) -> OrderedUpdate:
        async def end(request: RequestContext) -> Committed | None:
            require_may_submit(self.parts.feed.directory, request)
            if item.recipe_set_id is not None:
                return await cancel_recipe_set(self.parts, request, item.recipe_set_id, item.reason)
            assert item.job_id is not None, "the item has one of the two"
            return await cancel_waiting_sets(self.parts, request, item.job_id, item.reason)

        return OrderedUpdate(end)


_READERS: Final[Mapping[str, Callable[[ItemReader, Any], Item]]] = {
    "progress": ItemReader.progress,
    "command": ItemReader.command,
    "system": ItemReader.system,
    "create": ItemReader.create,
    "drain": ItemReader.drain,
    "undrain": ItemReader.undrain,
    "remove": ItemReader.remove,
    "release": ItemReader.release,
    "job": ItemReader.job,
    "recipe_set": ItemReader.recipe_set,
    "cancel": ItemReader.cancel,
    "running": ItemReader.running,
    "vacant": ItemReader.vacant,
}
