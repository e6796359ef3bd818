"""/systems/{fqdn}/reservation: reservations of systems by people"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import ReservationWanted
from api.rest.contract.operation import operation
from api.rest.middleware.principal import request_of
from api.use_cases.ports import WriteParts
from api.use_cases.reserve_system import ReservationRequest, reserve_system, return_system


class Reservations:
    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts

    @operation("Reserve a system for a person", answers.Reserved, body=ReservationWanted, versioned=True)
    async def on_put(self, req: Request, resp: Response, fqdn: str) -> None:
        reservation: ReservationWanted = await read_model(req)
        request = request_of(req)
        user = reservation.user or request.actor
        until, tree = reservation.until, reservation.distro_tree
        wanted = ReservationRequest(user, until, tree)
        done = await reserve_system(self._parts, request, fqdn, wanted)
        answer = {"fqdn": fqdn, "user": user, "until": until, "distro_tree": tree}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation("Return a reserved system", answers.SystemReturned, versioned=True)
    async def on_delete(self, req: Request, resp: Response, fqdn: str) -> None:
        done = await return_system(self._parts, request_of(req), fqdn)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "returned": done is not None})
