"""How tests ask over HTTP."""

from __future__ import annotations

# This machine alone, so that no proxy is in the way; and without TLS, for which every client would first read
# the certificates of the whole world: that takes longer than to ask.
LOCAL_HTTP = {"trust_env": False, "verify": False}
