"""TLS to other services, such as mail servers and LDAP: certificate and name are always checked."""

from __future__ import annotations

import ssl
from pathlib import Path


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return a context that trusts the authorities of the system, and those in a file.

    Raises OSError, as does a failed connection. Mail, webhooks and LDAP call this for each connection, so
    a new file needs no restart; the client of the identity provider calls it once.
    """
    context = ssl.create_default_context()
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context
