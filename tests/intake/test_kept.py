"""Parts of a job that scheduling ignores are kept in its document."""

from __future__ import annotations

from typing import get_args

import pytest

from api.intake.document import RecipeSet, Reservesys
from domain.priority import Priority
from domain.recipe_set.kept_systems import WHEN
from tests.intake.jobs import job_xml, read_json, read_xml
from tests.intake.rich import RICH


def test_document__of_a_rich_job__keeps_everything() -> None:
    spec = read_xml(RICH)
    recipe = spec.document["recipe_sets"][0]["recipes"][0]
    assert spec.document["whiteboard"] == "trimmed"
    assert spec.document["notify"] == ["a@b.c"]
    assert spec.document["foreign"] == ['<x:note xmlns:x="urn:x" a="1">kept <x:b/></x:note>']
    assert recipe["autopick"] == {"random": True, "pools": ["storage", "big"]}
    assert recipe["ks_appends"] == ["%post"]
    assert recipe["repos"] == [{"name": "r", "url": "http://r/"}]
    assert recipe["partitions"] == [{"name": "/", "size_gb": 10, "type": "lvm", "fs": "xfs"}]


def test_spec__of_a_rich_job__holds_what_scheduling_needs() -> None:
    spec = read_xml(RICH)
    (recipe_set,) = spec.recipe_sets
    (recipe,) = recipe_set.recipes
    assert (spec.owner, spec.retention_tag, spec.product) == ("alice", "active", "cpe:/o:x")
    assert recipe_set.priority is Priority.Urgent
    assert (recipe.role, recipe.kernel_options, recipe.ks_meta) == (None, "a=1", "!c")
    assert (recipe.autopick_random, recipe.autopick_pools) == (True, ("storage", "big"))


def test_document__read_again_as_json__is_the_same_job() -> None:
    assert read_json(read_xml(RICH).document) == read_xml(RICH)


def test_priorities__of_documents__are_those_of_the_domain() -> None:
    assert list(get_args(RecipeSet.model_fields["priority"].annotation)) == [each.name for each in Priority]


def test_conditions_of_reservesys__of_documents__are_those_of_the_domain() -> None:
    assert set(get_args(Reservesys.model_fields["when"].annotation)) == set(WHEN)


@pytest.mark.parametrize("word", ["true", "TRUE", "1"])
def test_autopick__random_in_every_spelling__is_random(word: str) -> None:
    spec = read_xml(job_xml(in_recipe=f'<autopick random="{word}"/>'))
    assert spec.recipe_sets[0].recipes[0].autopick_random
