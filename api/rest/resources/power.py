"""/systems/{fqdn}/power, /power-settings, /lab-controllers/{fqdn}/power-settings/{system}: power settings."""

from __future__ import annotations

import asyncio
from typing import Any

from falcon.asgi import Request, Response

from api.rest import paging
from api.rest.body import read_model
from api.rest.context import principal_of, query_of, request_of
from api.rest.contract import queries
from api.rest.contract.answers import systems as answers
from api.rest.contract.inputs.systems import NewPowerSettings
from api.rest.contract.operation import operation
from api.rest.ports import ChangeParts
from api.rest.visibility import hidden_systems, require_visible
from api.use_cases.power import no_settings, power_of_own_system, set_power, unset_power, unusual_types
from domain.errors import NotPermitted, Unknown, display_name
from domain.system_admin.power import PowerSettings
from projections.reader import At
from store.power import power_settings_after, power_settings_of


def without_secret(settings: PowerSettings) -> dict[str, Any]:
    shown = {name: getattr(settings, name) for name in ("type", "address", "port", "user")}
    return {**shown, "has_secret": settings.secret is not None}


class Power:
    def __init__(self, parts: ChangeParts) -> None:
        self._parts = parts

    @operation(
        "Show the present power settings of a system, without the secret", answers.Power, queries.Caught
    )
    async def on_get(self, req: Request, resp: Response, fqdn: str) -> None:
        await require_visible(req, self._parts, fqdn)
        # Read before the settings, which may be later ones.
        position = await paging.position_of(self._parts.log, None)
        settings = await asyncio.to_thread(self._settings_of, fqdn)
        paging.answer(resp, position, without_secret(settings))

    @operation(
        "List the present power settings of systems, without the secrets",
        answers.PowerSettingsList,
        queries.PresentPage,
    )
    async def on_get_list(self, req: Request, resp: Response) -> None:
        hidden = await hidden_systems(req, self._parts)
        # Read before the settings, which may be later ones.
        at = At(await paging.position_of(self._parts.log, None), None)
        page = paging.page_at(req, at, "")
        found = await asyncio.to_thread(power_settings_after, self._parts.log, page.after, hidden, page.limit)
        items = [{"fqdn": fqdn, **without_secret(settings)} for fqdn, settings in found]
        key = items[-1]["fqdn"] if items else None
        paging.answer_listed(req, resp, page, "power_settings", paging.listed(page, items, key))

    def _settings_of(self, fqdn: str) -> PowerSettings:
        """Return the settings of a system. Raises Unknown for the system, and without any. Blocking."""
        subject = f"system/{fqdn}"
        if not self._parts.aggregates.load([subject]):
            raise Unknown(display_name("system", fqdn))
        settings = power_settings_of(self._parts.log, fqdn)
        if settings is None:
            raise no_settings(fqdn)
        return settings

    @operation(
        "Set the power settings of a system; a secret that is left out stays",
        answers.PowerSet,
        body=NewPowerSettings,
        versioned=True,
    )
    async def on_put(self, req: Request, resp: Response, fqdn: str) -> None:
        new: NewPowerSettings = await read_model(req)
        wanted, keeps_secret = new.settings(), "secret" not in new.model_fields_set
        done = await set_power(self._parts, request_of(req), fqdn, wanted, keeps_secret=keeps_secret)
        unusual = await asyncio.to_thread(unusual_types, self._parts.log, {fqdn: wanted.type})
        warnings = [{"where": "type", "message": message} for message in unusual.values()]
        answer = {"fqdn": fqdn, "changed": done is not None, "warnings": warnings}
        await paging.answer_write(resp, self._parts.log, done, answer)

    @operation(
        "Remove the power settings of a system", answers.SystemChanged, queries.EndingQuery, versioned=True
    )
    async def on_delete(self, req: Request, resp: Response, fqdn: str) -> None:
        reason = query_of(req, queries.EndingQuery).reason
        done = await unset_power(self._parts, request_of(req), fqdn, reason)
        await paging.answer_write(resp, self._parts.log, done, {"fqdn": fqdn, "changed": done is not None})

    @operation("Show the power settings of a system to its own lab controller", answers.PowerForLab)
    async def on_get_for_lab(self, req: Request, resp: Response, name: str, fqdn: str) -> None:
        """Answer with the secret; an admin who acts as the lab controller is refused."""
        if principal_of(req).is_acting:
            raise NotPermitted("only a token of the lab controller itself shows power settings to it")
        settings = await asyncio.to_thread(power_of_own_system, self._parts, name, fqdn)
        resp.set_header("Cache-Control", "no-store")
        body = {name: getattr(settings, name) for name in ("type", "address", "port", "user", "secret")}
        paging.answer(resp, await paging.position_of(self._parts.log, None), body)
