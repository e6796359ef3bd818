"""Options of HTTP clients for services on this machine."""

from __future__ import annotations

# No proxy, and no verification: loading the CA certificates takes longer than a request.
LOCAL_HTTP = {"trust_env": False, "verify": False}
