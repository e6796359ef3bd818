"""Who asks: what resources hand on to the use cases."""

from __future__ import annotations

from dataclasses import dataclass

from falcon.asgi import Request as HttpRequest

from api.services import Request


@dataclass(frozen=True)
class Principal:
    """The user a token speaks for, in which role; a lab controller's token names its lab."""

    user: str
    role: str
    lab_controller: str | None

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"


def principal_of(req: HttpRequest) -> Principal:
    principal: Principal = req.context.principal
    return principal


def request_of(req: HttpRequest) -> Request:
    """The request behind a change that may be repeated as it is."""
    principal = principal_of(req)
    return Request(principal.user, req.context.request_id, is_admin=principal.is_admin)
