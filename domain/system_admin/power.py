"""Power settings of systems: how a lab controller switches a system on and off."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from domain.errors import Fault, FaultyInput

# The usual types, as in Beaker. Lab controllers may understand others.
USUAL_TYPES: Final = (
    *("apc_snmp", "apc_snmp_then_etherwake", "bladecenter", "bladepap", "drac", "dummy", "ether_wake"),
    *("hmc", "hyper-v", "ilo", "integrity", "ipmilan", "ipmitool", "ipmitool_lanplus", "lpar", "rsa"),
    *("virsh", "wti"),
)


@dataclass(frozen=True)
class PowerSettings:
    """`port` is the port or plug of the system at the address; None for parts that do not exist."""

    type: str
    address: str
    port: str | None = None
    user: str | None = None
    secret: str | None = field(default=None, repr=False)


def secret_after(
    before: PowerSettings | None, type_: str, address: str, secret: str | None, *, keeps_secret: bool
) -> str | None:
    """Return the secret of new settings: the given one, or with `keeps_secret` that of the present ones.

    Raises FaultyInput if a secret would be kept for another type or address: a person who does not have it
    could otherwise have it sent to any host.
    """
    if not keeps_secret or before is None or before.secret is None:
        return None if keeps_secret else secret
    if (before.type, before.address) != (type_, address):
        problem = "is required with another type or address; null for none"
        raise FaultyInput([Fault("secret", problem)])
    return before.secret
