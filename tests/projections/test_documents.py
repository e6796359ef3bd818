"""Tests of the documents of labs and distro trees."""

from __future__ import annotations

from domain.directory.events import DistroTreeRemoved, LabControllerHeard, LabControllerSilent
from tests.projections.happened import lab, tree
from tests.projections.projected_log import ProjectedLog


def test_lab_controller__silent_and_heard__is_shown_so(models: ProjectedLog) -> None:
    models.commit(lab())
    for event, silent in ((LabControllerSilent(), True), (LabControllerHeard(), False)):
        models.commit(("lab-controller/lab-1", event))
        document = models.row("document", kind="lab-controller", name="lab-1")["document"]
        assert document == {"enabled": True, "broken_after": 2, "silent": silent}


def test_distro_tree__removed__is_there_only_as_of_earlier(models: ProjectedLog) -> None:
    (at,) = models.commit(tree(1))
    models.commit(("distro-tree/1", DistroTreeRemoved()))
    asked = {"kind": "distro-tree", "name": "1"}
    assert models.rows("document", **asked) == []
    assert models.rows("documents", kind="distro-tree", after="", limit=10) == []
    assert models.row("document", **asked, at=at)["document"]["name"] == "Linux-1"

    models.commit(tree(1))
    assert models.row("document", **asked)["version"] == 3
