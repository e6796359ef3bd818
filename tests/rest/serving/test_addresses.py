"""The address of a client, with and without reverse proxies."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from falcon import testing
from falcon.asgi import Request

from api.rest.middleware.address import address_of

PROXIES = (ip_network("10.0.0.0/24"), ip_network("::1"))

# peer, X-Forwarded-For, address
REQUESTS = [
    ("192.0.2.1", None, "192.0.2.1"),
    # Only a trusted proxy may name the address of a client.
    ("192.0.2.1", "198.51.100.7", "192.0.2.1"),
    ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
    # The client itself wrote the first address.
    ("10.0.0.1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
    ("10.0.0.1", "203.0.113.9, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
    # A client without an address.
    ("10.0.0.1", "10.0.0.2", "10.0.0.2"),
    ("10.0.0.1", None, "10.0.0.1"),
    ("10.0.0.1", "unknown", "10.0.0.1"),
    ("::ffff:10.0.0.1", "198.51.100.7", "198.51.100.7"),
    # An IPv6 address counts as its network.
    ("::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("2001:db8:1:2::1", None, "2001:db8:1:2::/64"),
]


@pytest.mark.parametrize(("peer", "forwarded", "found"), REQUESTS)
def test_address__of_a_request__is_what_our_own_proxies_say(
    peer: str, forwarded: str | None, found: str
) -> None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    scope = testing.create_scope(remote_addr=peer, headers=headers)

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    assert address_of(Request(scope, receive), PROXIES) == found
