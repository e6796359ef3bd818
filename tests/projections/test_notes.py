"""Read models of the notes on systems."""

from __future__ import annotations

from domain.system.events import SystemNoteAdded, SystemNoteRemoved
from tests.projections.happened import lab, of, registered
from tests.projections.projected_log import ProjectedLog


def notes(models: ProjectedLog, fqdn: str = "a", **query: int) -> list[str]:
    found = models.rows("notes_of_system", fqdn=fqdn, **{"before": 2**63 - 1, "limit": 100, **query})
    return [row["text"] for row in found]


def test_note__removed_in_a_later_page__ends_with_the_event(models: ProjectedLog) -> None:
    models.commit(lab(), registered("a"), registered("b"))
    added = models.commit(*of("system", "a", SystemNoteAdded("two disks")))[0]
    models.commit(*of("system", "b", SystemNoteAdded("three disks")))
    (removed,) = models.commit(*of("system", "a", SystemNoteRemoved(added, None)))
    assert [notes(models, at=at) for at in (added - 1, added, removed)] == [[], ["two disks"], []]
    assert notes(models, "b") == ["three disks"]


def test_note__added_and_removed_in_one_page__is_in_none_but_the_past(models: ProjectedLog) -> None:
    models.commit(lab(), registered("a"))
    added = models.commit(*of("system", "a", SystemNoteAdded("x"), SystemNoteAdded("y")))[0]
    models.commit(*of("system", "a", SystemNoteRemoved(added, "wrong")))
    assert notes(models) == ["y"]
