"""/tokens"""

from __future__ import annotations

from falcon.asgi import Request, Response

from api.rest import reading
from api.rest.body import read_model
from api.rest.contract.inputs import Token
from api.rest.contract.named_answers import TokenMade
from api.rest.contract.operation import operation
from api.rest.principal import request_of
from api.services import Services
from api.use_cases.tokens import create_token


class Tokens:
    def __init__(self, services: Services) -> None:
        self._services = services

    @operation("Make a token, shown this once", TokenMade, body=Token, created=True)
    async def on_post(self, req: Request, resp: Response) -> None:
        """The answer is the only place where the token is ever shown."""
        wanted: Token = await read_model(req)
        token, token_id, position = await create_token(
            self._services, request_of(req), wanted.user, wanted.role, wanted.lab_controller
        )
        resp.status = 201
        reading.answer(resp, position, {"token_id": token_id, "token": token})
