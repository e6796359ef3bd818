"""Addresses to which webhooks may go: not this machine, and not private networks, unless an admin says so."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

# Prefixes in which an IPv4 address is part of an IPv6 address (RFC 6052, 3056, 4380): a gateway leads there.
_TRANSLATED: Final = tuple(map(ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32")))


class ForbiddenAddress(Exception):
    """This webhook may not go to this host. The text is the same whatever the addresses of the host are."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} has no address that this webhook may use: only admins may use those that are not public"
        )


def is_public(address: Address) -> bool:
    """Return whether an address is one of the internet, and neither multicast nor translated."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address.is_site_local or any(address in network for network in _TRANSLATED):
            return False
    return address.is_global and not (
        address.is_multicast or address.is_unspecified or address.is_reserved or address.is_loopback
    )


def permitted_address(host: str, port: int, allowed: Sequence[Network], *, is_admin: bool) -> str:
    """Return the address of a host to connect to: no other address of the name may be used. Blocking.

    Raises ForbiddenAddress if one of its addresses is not public, neither in an allowed network, and the
    webhook is not that of an admin. A name without an address raises it as well: otherwise anybody could
    find out which names exist in the network of the service. For admins it raises OSError.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        if is_admin:
            raise
        raise ForbiddenAddress(host) from None
    texts = list(dict.fromkeys(str(address[0]) for *_, address in found))
    if not is_admin and not all(_is_permitted(text, allowed) for text in texts):
        raise ForbiddenAddress(host)
    return texts[0]


def _is_permitted(text: str, allowed: Sequence[Network]) -> bool:
    # A link-local address may name a network interface after %.
    address = ip_address(text.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or address
    return is_public(address) or any(mapped in network for network in allowed)
