"""The page for users of Beaker: parts of a job without effect, and refused parts, compared with the code."""

from __future__ import annotations

import re

import pytest

from api.intake import read_job
from api.intake.document import Guest, Job, Recipe, Task
from api.rest.contract.answers.labs import CommandGuest, CommandTask, LabCommand
from domain.errors import FaultyInput
from domain.requirements.vocabulary import DISK, DISTRO_TREE, SYSTEM
from tests.docs.page import TOP
from tests.intake.jobs import NAMES, job_xml

PAGE = (TOP / "docs" / "from-beaker.md").read_text("utf-8")

# Fields of a job that scheduling, access control or lists use.
OF_JOBS = {
    *("whiteboard", "user", "group", "partition", "queue", "recipe_sets", "depends_on", "reasons"),
    *("key", "open", "notify"),
}
# Fields of a recipe that choose its system and its distro tree.
CHOOSING = {"host_requires", "distro_requires", "autopick"}
# Fields of a recipe or guest that decide when its set starts.
ADMITTING = {"locks"}
WORDS = {"foreign": "elements of foreign namespaces", "host_requires": "`hostRequires`"}


def first_column(title: str) -> list[str]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (?!part|-)([^|]+) \|", section, re.M)


def test_parts_without_effect__in_the_code__are_all_on_the_page() -> None:
    of_job = {WORDS.get(field, f"`{field}`") for field in set(Job.model_fields) - OF_JOBS}
    of_guest = {
        f"{WORDS.get(field, f'`{field}`')} of a guest"
        for field in set(Guest.model_fields)
        - set(CommandGuest.model_fields)
        - {"distro_requires"}
        - ADMITTING
    }
    languages = (SYSTEM, DISK, DISTRO_TREE)
    ignored = {spelling for one in languages for spelling, row in one.elements.items() if row.ignored}
    listed = first_column("Accepted and without effect")
    elements = {name for row in listed for name in re.findall(r"`(\w+)`", row)} & ignored
    assert of_job | of_guest <= set(listed)
    assert elements == ignored
    assert len(listed) == len(of_job) + len(of_guest) + 2


def test_fields_of_recipes_and_tasks__in_the_code__have_an_effect() -> None:
    assert set(Recipe.model_fields) - set(LabCommand.model_fields) <= CHOOSING | ADMITTING
    assert set(Task.model_fields) <= set(CommandTask.model_fields)


REFUSED = {
    "an unknown element in a requirement": job_xml(host="<hostRequires><memroy/></hostRequires>"),
    "an unknown attribute": job_xml(recipe='colour="red"'),
    "text between elements": job_xml(in_recipe="text"),
    "`auto_prov` with a word for no": job_xml(host='<hostRequires><auto_prov value="no"/></hostRequires>'),
    'a value of another kind, such as `memory value="big"`': job_xml(
        host='<hostRequires><memory value="big"/></hostRequires>'
    ),
    "the XML of results": b'<job result="Pass"/>',
}


@pytest.mark.parametrize("part", REFUSED)
def test_part__refused_here__is_on_the_page(part: str) -> None:
    with pytest.raises(FaultyInput):
        read_job(REFUSED[part], "text/xml", NAMES, "alice", False)
    assert part in first_column("Ignored in Beaker and refused here")


def test_page__parts_refused__are_no_others() -> None:
    assert first_column("Ignored in Beaker and refused here") == list(REFUSED)
