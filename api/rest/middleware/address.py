"""The address of a client: requests without a valid token are counted by address."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from falcon.asgi import Request

from api.headers import FORWARDED_FOR
from runtime.setting_values import Network

# A single customer usually has a whole network of this size.
_HOUSE_BITS: Final = 64


def address_of(req: Request, proxies: Collection[Network]) -> str:
    """Return the client's address: that of the peer, or the last one in the header that is no trusted proxy.

    Earlier addresses in the header were written by the client. For IPv6 return the network.
    """
    address = _read(req.remote_addr)
    named = (req.get_header(FORWARDED_FOR) or "").split(",")
    while named and address is not None and any(address in proxy for proxy in proxies):
        before = _read(named.pop().strip())
        if before is None:
            break
        address = before
    return req.remote_addr if address is None else _counted(address)


# Caches parsed addresses: parsing one takes longer than checking a token.
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
