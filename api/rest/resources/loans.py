"""/systems/{fqdn}/loan: loans of systems"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.contract.answers import policies as answers
from api.rest.contract.inputs.systems import LoanWanted
from api.rest.contract.operation import operation
from api.rest.middleware.principal import request_of
from api.use_cases.lend_system import end_loan, lend_system
from api.use_cases.ports import WriteParts


class Loans:
    def __init__(self, parts: WriteParts) -> None:
        self._parts = parts

    @operation("Lend a system to a person", answers.Loaned, body=LoanWanted, versioned=True)
    async def on_put(self, req: Request, resp: Response, fqdn: str) -> None:
        loan: LoanWanted = await read_model(req)
        request = request_of(req)
        user = loan.user or request.actor
        done = await lend_system(self._parts, request, fqdn, user, loan.until)
        answer = {"fqdn": fqdn, "user": user, "until": loan.until}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation("End the loan of a system", answers.LoanEnded, versioned=True)
    async def on_delete(self, req: Request, resp: Response, fqdn: str) -> None:
        done = await end_loan(self._parts, request_of(req), fqdn)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "ended": done is not None})
