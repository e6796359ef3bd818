"""/systems/{fqdn}/reservation, /systems/{fqdn}/loan: reservations and loans of systems"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import query_of, request_of
from api.rest.contract.answers import policies
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import LoanWanted, ReservationWanted
from api.rest.contract.operation import operation
from api.rest.contract.queries import EndingQuery
from api.use_cases.lend_system import end_loan, lend_system
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

    @operation("Return a reserved system", answers.SystemReturned, EndingQuery, versioned=True)
    async def on_delete(self, req: Request, resp: Response, fqdn: str) -> None:
        done = await return_system(self._parts, request_of(req), fqdn, query_of(req, EndingQuery).reason)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "returned": done is not None})


class Loans:
    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts

    @operation("Lend a system to a person", policies.Loaned, body=LoanWanted, versioned=True)
    async def on_put(self, req: Request, resp: Response, fqdn: str) -> None:
        loan: LoanWanted = await read_model(req)
        request = request_of(req)
        user = loan.user or request.actor
        done = await lend_system(self._parts, request, fqdn, user, loan.until)
        answer = {"fqdn": fqdn, "user": user, "until": loan.until}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation("End the loan of a system", policies.LoanEnded, EndingQuery, versioned=True)
    async def on_delete(self, req: Request, resp: Response, fqdn: str) -> None:
        done = await end_loan(self._parts, request_of(req), fqdn, query_of(req, EndingQuery).reason)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "ended": done is not None})
