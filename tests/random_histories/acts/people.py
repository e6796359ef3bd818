"""Reservations by people, disabled and silent labs, and changes of distro trees."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st

from api.parts import Parts
from api.use_cases.change_system import NewSystemValues
from api.use_cases.commit import append_for, commit_aggregates, commit_directory
from api.use_cases.ports import RequestContext
from api.use_cases.put_document import change_lab_controller, put_document
from api.use_cases.remove_document import remove_document
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system
from domain.directory.events import LabControllerHeard, LabControllerSilent
from domain.events import Event
from domain.system_admin.reservation import provisioning
from store.requests import AppendRequest, Committed
from tests.in_process.environment import Instance
from tests.random_histories import labs
from tests.random_histories.acts.choosing import Draw, ask, of_condition, one, reserved
from tests.random_histories.acts.systems import change_any


def reserve(scene: Instance, draw: Draw) -> None:
    fqdn = one(draw, of_condition(scene, "Manual"))
    if fqdn is None:
        change_any(scene, draw, NewSystemValues(condition="Manual", reason="for people"))
    else:
        tree_id = draw(st.sampled_from((None, 1)))
        wanted = ReservationRequest(draw(st.sampled_from(labs.USERS)), None, tree_id)
        ask(scene, lambda services, request: reserve_system(services, request, fqdn, wanted))


def provision_for_a_person(scene: Instance, draw: Draw) -> None:
    fqdn = one(draw, reserved(scene))
    if fqdn is not None:
        state = draw(st.sampled_from(("running", "completed", "completed", "failed")))
        decide = partial(_provisioning, fqdn=fqdn, state=state)
        ask(scene, lambda services, request: commit_aggregates(services, request, [f"system/{fqdn}"], decide))


def _provisioning(gathered: Any, fqdn: str, state: str) -> Any:
    return provisioning(gathered.system(fqdn), state, "no disk")


def return_reserved(scene: Instance, draw: Draw) -> None:
    fqdn = one(draw, reserved(scene))
    if fqdn is not None:
        ask(scene, lambda services, request: return_system(services, request, fqdn))


def enable_or_disable(scene: Instance, draw: Draw) -> None:
    name, enabled = draw(st.sampled_from(labs.LABS)), draw(st.sampled_from((True, True, False)))
    ask(scene, lambda services, request: change_lab_controller(services, request, name, {"enabled": enabled}))


def fall_silent_or_be_heard(scene: Instance, draw: Draw) -> None:
    name, is_silent = draw(st.sampled_from(labs.LABS)), draw(st.sampled_from((True, False, False)))
    ask(scene, lambda services, request: _contact(services, request, name, is_silent))


async def _contact(services: Parts, request: RequestContext, name: str, is_silent: bool) -> Committed | None:
    """Append the event that the consistency loop, which does not run here, would decide."""
    subject = f"lab-controller/{name}"

    def change() -> AppendRequest | None:
        entry = services.feed.directory.get("lab-controller", name)
        if entry is None or bool(entry.document.get("silent")) == is_silent:
            return None
        event: Event = LabControllerSilent() if is_silent else LabControllerHeard()
        return append_for(services, request, [(subject, event)], {subject: entry.version})

    return await commit_directory(services, request, subject, change)


def put_tree(scene: Instance, draw: Draw) -> None:
    tree_id, places = draw(st.sampled_from(list(labs.TREES))), ["lab-1", *draw(labs.some_labs)]
    document = labs.tree(tree_id, places)
    ask(
        scene,
        lambda services, request: put_document(services, request, "distro-tree", f"{tree_id}", document),
    )


def take_tree_away(scene: Instance, draw: Draw) -> None:
    """Remove a tree, except the one that most recipes want."""
    name = str(draw(st.sampled_from((2, 3))))
    ask(scene, lambda services, request: remove_document(services, request, "distro-tree", name))
