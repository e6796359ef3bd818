"""Named things, as their events left them."""

from __future__ import annotations

from domain.directory.events import DistroTreeRemoved, LabControllerHeard, LabControllerSilent
from tests.projections.happened import lab, tree
from tests.projections.telling import Told


def test_lab_controller__silent_and_heard__is_shown_so(told: Told) -> None:
    told.tell(lab())
    for event, silent in ((LabControllerSilent(), True), (LabControllerHeard(), False)):
        told.tell(("lab-controller/lab-1", event))
        document = told.row("document", kind="lab-controller", name="lab-1")["document"]
        assert document == {"enabled": True, "broken_after": 2, "silent": silent}


def test_distro_tree__removed__is_there_only_as_of_earlier(told: Told) -> None:
    (at,) = told.tell(tree(1))
    told.tell(("distro-tree/1", DistroTreeRemoved()))
    asked = {"kind": "distro-tree", "name": "1"}
    assert told.rows("document", **asked) == []
    assert told.rows("documents", kind="distro-tree", after="", limit=10) == []
    assert told.row("document", **asked, at=at)["document"]["name"] == "Linux-1"

    told.tell(tree(1))
    assert told.row("document", **asked)["version"] == 3
