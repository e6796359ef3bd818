"""The actions on the power settings of systems."""

from __future__ import annotations

import asyncio
from typing import Final

from api.pages.actions import REASON, Action, Facts
from api.pages.form_fields import Fields, fields_of_model
from api.pages.system_checks import checked
from api.rest.contract.inputs.systems import NewPowerSettings
from api.rest.ports import PageParts
from api.rest.resources.power import without_secret
from api.rest.views import View
from api.use_cases.ports import RequestContext
from api.use_cases.power import require_may_set_power, set_power, unset_power
from domain.system_admin.power import PowerSettings
from store.power import power_settings_of
from store.requests import Committed


async def shown_power(parts: PageParts, view: View, fqdn: str) -> Facts | None:
    """Return the present power settings of a system without the secret; None without any, and of the past."""
    if view.is_past:
        return None
    settings = await asyncio.to_thread(power_settings_of, parts.log, fqdn)
    return None if settings is None else without_secret(settings)


async def _set(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    wanted = PowerSettings(**fields)
    return await set_power(parts, request, fqdn, wanted, keeps_secret=wanted.secret is None)


async def _unset(parts: PageParts, request: RequestContext, fqdn: str, fields: Fields) -> Committed | None:
    return await unset_power(parts, request, fqdn, fields["reason"])


_MAY: Final = checked(require_may_set_power)

POWER_ACTIONS: Final = (
    Action(
        name="power",
        label="Set the power settings",
        effect="The lab controller of the system then switches it with these settings.",
        require_may=_MAY,
        perform=_set,
        fields=fields_of_model(
            NewPowerSettings,
            secrets=("secret",),
            type="such as ipmilan, ilo or apc_snmp",
            port="the port or plug of the system at the address",
            secret="empty: the present one stays, if type and address do",
        ),
        model=NewPowerSettings,
        present=lambda system: system["power"] or {},
    ),
    Action(
        name="unset-power",
        label="Remove the power settings",
        is_possible=lambda system: system["power"] is not None,
        require_may=_MAY,
        perform=_unset,
        fields=(REASON,),
        ends=lambda _: "The lab controller then no longer gets them. They cannot be restored.",
    ),
)
