"""Where a request comes from: what is counted for strangers, who have no name yet."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from falcon.asgi import Request

from api.headers import FORWARDED_FOR
from runtime.setting_values import Network

# One house has that many addresses of its own.
_HOUSE_BITS: Final = 64


def address_of(req: Request, proxies: Collection[Network]) -> str:
    """The client's address: the peer's, or the last one that our own proxies name, each before the next.

    What stands before that in the header was written by the client. Of IPv6 it is the network.
    """
    address = _read(req.remote_addr)
    named = (req.get_header(FORWARDED_FOR) or "").split(",")
    while named and address is not None and any(address in proxy for proxy in proxies):
        before = _read(named.pop().strip())
        if before is None:
            break
        address = before
    return req.remote_addr if address is None else _counted(address)


# Of the clients of a moment: the same ask again and again, and reading an address takes longer than a token.
@lru_cache(1_024)
def _read(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _counted(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, _HOUSE_BITS), strict=False))
