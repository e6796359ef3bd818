"""The actions on partitions: their states, configurations and job filters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from pydantic import BaseModel, create_model

from api.pages.actions import REASON, Action, ActionSubject, Facts
from api.pages.form_fields import Fields, FormField, fields_of_model, force_field
from api.rest.body import check_document
from api.rest.contract.inputs.partitions import PREDICATE, JobFilter
from api.rest.contract.values import Input, Name
from api.rest.ports import PageParts
from api.rest.resources.partition_answers import configuration_answer, partition_answer
from api.rest.resources.partitions import read_configuration
from api.rest.views import View
from api.use_cases.change_partition import (
    configure_partition,
    move_partition,
    put_job_filter,
    remove_job_filter,
)
from api.use_cases.create_partition import create_partition
from api.use_cases.ports import RequestContext
from api.use_cases.remove_partition import remove_partition
from api.use_cases.rights import require_admin
from domain.admission.job_filters import job_filter_from_json
from domain.directory.partition_states import DRAIN, START, STOP, require_removable
from domain.errors import Fault, FaultyInput, Refused, Unknown
from domain.intake_states import ACTIVE
from store.requests import Committed

_NewPartition: type[BaseModel] = create_model("NewPartition", __base__=Input, name=(Name, ...))
_NamedJobFilter: type[BaseModel] = create_model("NamedJobFilter", __base__=JobFilter, filter=(Name, ...))
_GivenConfiguration: type[BaseModel] = create_model(
    "GivenConfiguration", __base__=Input, configuration=(dict[str, Any], ...)
)


async def _answer(parts: PageParts, view: View, name: str) -> tuple[int, Facts]:
    version, partition = await partition_answer(parts, view, name)
    _, configuration = await configuration_answer(parts, view, name)
    return version, {**partition, "configuration": configuration}


async def _create(parts: PageParts, request: RequestContext, _: None, fields: Fields) -> Committed | None:
    return await create_partition(parts, request, fields["name"])


async def _move(
    move: str, parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    return await move_partition(parts, request, name, move, fields.get("reason"))


async def _configure(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    # Names in the configuration may have been registered a moment ago.
    await parts.feed.catch_up()
    read = partial(read_configuration, parts.feed.directory, name)
    try:
        configuration = check_document(fields["configuration"], read)
        return await configure_partition(parts, request, name, configuration)
    except FaultyInput as error:
        faults = [Fault(f"configuration.{each.where}", each.message) for each in error.faults]
        raise FaultyInput(faults) from error


async def _put_job_filter(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    document = {field: value for field, value in fields.items() if field != "filter"}
    wanted = check_document(
        document, lambda given, report: job_filter_from_json(fields["filter"], 0, given, (), report)
    )
    _, done = await put_job_filter(parts, request, name, wanted)
    return done


async def _remove_job_filter(
    parts: PageParts, request: RequestContext, name: str, fields: Fields
) -> Committed | None:
    try:
        return await remove_job_filter(parts, request, name, fields["filter"], fields["reason"])
    except Unknown as error:
        raise FaultyInput([Fault("filter", error.sentence)]) from error


async def _remove(parts: PageParts, request: RequestContext, name: str, fields: Fields) -> Committed | None:
    force, reason = fields["force"] == "yes", fields["reason"]
    return (await remove_partition(parts, request, name, force=force, reason=reason)).done


def _require_admin(_: PageParts, request: RequestContext, __: str | None) -> None:
    require_admin(request, "change partitions")


def _can_be_removed(partition: Facts) -> bool:
    try:
        require_removable(partition, partition["name"])
    except Refused:
        return False
    return True


_CREATE: Final = Action(
    name="create",
    label="Create a partition",
    effect="A partition has a queue and a scheduler of its own. It gets its labs by its configuration.",
    require_may=_require_admin,
    perform=_create,
    fields=fields_of_model(_NewPartition),
    model=_NewPartition,
)
_START: Final = Action(
    name=START,
    label="Start the partition",
    effect="It then takes new jobs and grants systems again.",
    is_possible=lambda partition: partition["state"] != ACTIVE,
    require_may=_require_admin,
    perform=partial(_move, START),
)
_DRAIN: Final = Action(
    name=DRAIN,
    label="Drain the partition",
    is_possible=lambda partition: partition["state"] == ACTIVE,
    require_may=_require_admin,
    perform=partial(_move, DRAIN),
    fields=(REASON,),
    ends=lambda _: "It then takes no new jobs, and finishes those that it has.",
)
_STOP: Final = Action(
    name=STOP,
    label="Stop the partition",
    is_possible=lambda partition: partition["state"] == ACTIVE,
    require_may=_require_admin,
    perform=partial(_move, STOP),
    fields=(REASON,),
    ends=lambda _: "It then takes no new jobs and grants nothing; what has started goes on.",
)
_CONFIGURE: Final = Action(
    name="configure",
    label="Configure the partition",
    effect=(
        "It replaces the configuration, which says which labs the partition has, and how recipes rank"
        " and are limited."
    ),
    require_may=_require_admin,
    perform=_configure,
    fields=fields_of_model(
        _GivenConfiguration,
        configuration="the whole configuration as JSON; lab_controllers are the labs of this partition",
    ),
    model=_GivenConfiguration,
)
_PUT_JOB_FILTER: Final = Action(
    name="put-filter",
    label="Add or replace a job filter",
    effect=(
        "The first job filter that matches a recipe set admits it, holds it back or cancels it, or limits how"
        " many of the sets that match are admitted."
    ),
    require_may=_require_admin,
    perform=_put_job_filter,
    fields=fields_of_model(
        _NamedJobFilter,
        first="filter",
        filter="its name",
        priority="0 is taken first",
        predicate=f"as JSON; empty for all recipe sets: {PREDICATE}",
        limit="only for RATE_LIMIT",
    ),
    model=_NamedJobFilter,
)
_REMOVE_JOB_FILTER: Final = Action(
    name="remove-filter",
    label="Remove a job filter",
    require_may=_require_admin,
    perform=_remove_job_filter,
    fields=(FormField("filter", "Filter", is_required=True, hint="its name"), REASON),
    ends=lambda _: "The job filter then no longer holds back recipe sets.",
)
_REMOVE: Final = Action(
    name="remove",
    label="Remove the partition",
    effect=(
        "The partition must be draining or stopped, and without unfinished recipes unless they end with"
        " it. Partition default cannot be removed."
    ),
    is_possible=_can_be_removed,
    require_may=_require_admin,
    perform=_remove,
    fields=(
        force_field("With its recipes", "yes: its recipes are aborted and its reservations end first"),
        REASON,
    ),
    ends=lambda _: "Its open jobs are closed, and its lab controllers are in no partition then.",
    removes=True,
)

PARTITION: Final = ActionSubject(
    "partition",
    "partitions",
    _answer,
    (_START, _DRAIN, _STOP, _CONFIGURE, _PUT_JOB_FILTER, _REMOVE_JOB_FILTER, _REMOVE),
    creation=_CREATE,
    key_field="name",
)
# What the pages of job filters and of the configuration offer, which are parts of a partition.
OF_JOB_FILTERS: Final = replace(PARTITION, actions=(_PUT_JOB_FILTER, _REMOVE_JOB_FILTER))
OF_CONFIGURATION: Final = replace(PARTITION, actions=(_CONFIGURE,))
