"""Inputs of changes to jobs and recipe sets, and of searches for matching systems."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field, RootModel

from api.intake.document import Job, RecipeSet
from api.intake.limits import MAX_BODY_BYTES, MAX_ITEMS, MAX_JOBS, MAX_RECIPE_SETS
from api.intake.values import Name as Product
from api.intake.values import RetentionTag, Whiteboard
from api.rest.contract.values import Flag, Id, Input, PriorityName, Reason, ReviewName, no_defaults


class Cancel(Input):
    reason: Reason


class JobPatch(Input):
    """Fields that are left out stay; a null `product` removes it."""

    model_config = ConfigDict(json_schema_extra=no_defaults)

    whiteboard: Whiteboard = ""
    retention_tag: RetentionTag = ""
    product: Product | None = None


class Rerun(Input):
    """The recipe sets to copy, by default all: those with a failure that is not waived, or `sets` by id.

    Or the edited `job`.
    """

    failed: Flag = False
    sets: Annotated[list[Id], Field(min_length=1, max_length=MAX_ITEMS)] | None = None
    job: Annotated[
        str | None,
        Field(
            max_length=MAX_BODY_BYTES,
            description="the job to submit, as XML or JSON; default: the job that GET shows",
        ),
    ] = None


class Review(Input):
    """The review of a recipe set; `none` revokes it."""

    review: ReviewName
    reason: Reason


class Waiver(Input):
    """A waiver of a failure; false revokes it."""

    waived: Flag = True
    reason: Reason


class Keep(Input):
    """Keep the results and logs of a job; false lets its retention tag apply again."""

    kept: Flag = True
    reason: Reason


class PriorityChange(Input):
    priority: PriorityName


class RecipePatch(Input):
    """Fields of a recipe as in a job; those that are left out stay. Null removes the `locks`.

    A custom `distro` replaces the distro requirement, and the other way round.
    """

    model_config = ConfigDict(json_schema_extra=no_defaults)

    host_requires: dict[str, Any] | None = None
    host_requires_xml: str | None = None
    distro_requires: dict[str, Any] | None = None
    distro_requires_xml: str | None = None
    distro: dict[str, Any] | None = None
    tasks: list[dict[str, Any]] | None = None
    locks: dict[str, Any] | None = None


class Filter(Input):
    """A host requirement, either as XML or in its JSON form."""

    host_requires_xml: Annotated[str | None, Field(description="`<hostRequires>…</hostRequires>`")] = None
    host_requires: dict[str, Any] | None = None


JobText = Annotated[
    str, Field(min_length=1, max_length=MAX_BODY_BYTES, description="the text of a job, XML or JSON")
]


class SeveralJobs(Input):
    """Jobs that are submitted in one commit, or each in its own if the client prefers lenient handling."""

    jobs: Annotated[list[Job | JobText], Field(min_length=1, max_length=MAX_JOBS)]


class AddedSets(Input):
    """Recipe sets that are added to an open job."""

    recipe_sets: Annotated[list[RecipeSet], Field(min_length=1, max_length=MAX_RECIPE_SETS)]


class Submission(RootModel[SeveralJobs | Job]):
    """A job, or several jobs that are submitted in one commit."""


class Matchable(RootModel[Filter | Job]):
    """A host requirement, or a whole job as for submission."""
