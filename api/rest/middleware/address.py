"""The address of a client. Requests without a valid token are counted by address."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection
from functools import lru_cache
from typing import Final

from falcon.asgi import Request

from api.headers import FORWARDED_FOR
from runtime.setting_values import Network

# One customer usually has a whole network of this prefix length.
_IPV6_PREFIX_LENGTH: Final = 64


def address_of(req: Request, proxies: Collection[Network]) -> str:
    """Return the address of the client as a key of limits: for IPv6, the network."""
    address = _client(req, proxies)
    return req.remote_addr if address is None else _limit_key(address)


def whole_address_of(req: Request, proxies: Collection[Network]) -> str:
    """Return the address of the client, also for IPv6 the whole one."""
    address = _client(req, proxies)
    return req.remote_addr if address is None else str(address)


def _client(
    req: Request, proxies: Collection[Network]
) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address of the peer, or if it is a trusted proxy, the last other one in X-Forwarded-For.

    The client may have invented the earlier ones. None if the peer has no address.
    """
    address = _parse(req.remote_addr)
    forwarded = (req.get_header(FORWARDED_FOR) or "").split(",")
    while forwarded and address is not None and any(address in proxy for proxy in proxies):
        previous = _parse(forwarded.pop().strip())
        if previous is None:
            break
        address = previous
    return address


# Parsing an address takes longer than checking a token.
@lru_cache(1_024)
def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _limit_key(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    return str(ipaddress.ip_network((address, _IPV6_PREFIX_LENGTH), strict=False))
