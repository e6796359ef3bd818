"""Documents as clients of Beaker write them: accepted, with the meaning that Beaker gives them."""

from __future__ import annotations

import pytest

from api.intake import read_job
from api.intake.xml_writer import write_job
from domain.errors import FaultyInput
from domain.job.retention import RetentionTag, RetentionTags
from domain.job.spec import JobSpec
from domain.requirements import KeyValue, from_text
from tests.intake.elements import SHORT
from tests.intake.jobs import NAMES, job_document, job_xml, read_json, read_xml
from tests.intake.schema import is_valid

EMPTY = 'user="" group="" retention_tag="" product=""'


def test_attributes__empty__mean_absent() -> None:
    written = job_xml(job=EMPTY, recipe='role=""', task='<task name="/t" role=""/>')
    assert read_xml(written) == read_xml(job_xml())
    assert is_valid(written)


def test_fields_of_json__empty__mean_absent() -> None:
    task = {"name": "/t", "role": ""}
    empty = dict.fromkeys(("user", "group", "retention_tag", "product"), "")
    assert read_json(job_document(recipe={"role": "", "tasks": [task]}, **empty)) == read_json(job_document())


def test_retention_tags__of_the_service__are_those_that_jobs_may_have() -> None:
    tags = RetentionTags([RetentionTag("week", 7), RetentionTag("kept", 0, needs_product=True)])

    def read(attributes: str) -> JobSpec:
        return read_job(job_xml(job=attributes), "text/xml", NAMES, "alice", False, tags=tags).spec

    assert (read("").retention_tag, read('retention_tag=""').retention_tag) == ("week", "week")
    assert read('retention_tag="KEPT" product="p"').retention_tag == "kept"
    with pytest.raises(FaultyInput, match="must be one of week, kept"):
        read('retention_tag="scratch"')
    with pytest.raises(FaultyInput, match="needs a product"):
        read('retention_tag="kept"')


def test_job__written_as_xml_and_read_again__has_the_same_retention_tag() -> None:
    """The default retention tag is a setting of the service."""
    tags = RetentionTags([RetentionTag("week", 7), RetentionTag("scratch", 30)])

    def read(body: bytes) -> JobSpec:
        return read_job(body, "text/xml", NAMES, "alice", False, tags=tags).spec

    for tag in ("week", "scratch"):
        written = write_job(read(job_xml(job=f'retention_tag="{tag}"')).document, tags.default)
        assert (b"retention_tag" in written, read(written).retention_tag) == (tag == "scratch", tag)


def test_minor_version__empty__is_zero() -> None:
    written = SHORT.replace('major="M"', 'major="M" minor=""')
    assert read_xml(job_xml(distro=written)) == read_xml(job_xml(distro=SHORT))


def test_key_value__in_system__is_the_key_value() -> None:
    written = job_xml(host='<hostRequires><system><key_value key="HVM"/></system></hostRequires>')
    (recipe,) = read_xml(written).recipe_sets[0].recipes
    assert KeyValue("HVM", "==") in from_text(recipe.host_requires).children  # type: ignore[union-attr]
    assert is_valid(written)


@pytest.mark.parametrize(("word", "is_random"), [("True", True), ("False", False)])
def test_autopick__random_with_a_capital__is_read(word: str, is_random: bool) -> None:
    written = job_xml(in_recipe=f'<autopick random="{word}"/>')
    assert read_xml(written).recipe_sets[0].recipes[0].autopick_random is is_random
    assert is_valid(written)


def test_task_parameter__given_twice__counts_as_given_last() -> None:
    params = "".join(f'<param name="{name}" value="{value}"/>' for name, value in ("A1", "B2", "A3"))
    written = job_xml(task=f'<task name="/t"><params>{params}</params></task>')
    (task,) = read_xml(written).recipe_sets[0].recipes[0].tasks
    assert dict(task.params) == {"A": "3", "B": "2"}
    assert is_valid(written)


def test_comments__in_a_foreign_element__are_kept_and_others_are_not() -> None:
    kept = '<x:note xmlns:x="urn:x">a<!-- b --><x:c><!--d--></x:c></x:note>'
    written = job_xml(in_job=f"<!-- e --><whiteboard>f<!-- g -->h</whiteboard><!-- i -->{kept}")
    document = read_xml(written).document
    assert document["foreign"] == [kept]
    assert document["whiteboard"] == "fh"
    again = write_job(document)
    assert kept.encode() in again
    assert read_xml(again).document == document
    with pytest.raises(FaultyInput, match="unexpected text"):
        read_xml(job_xml(in_job="<!-- a -->text<!-- b -->"))
