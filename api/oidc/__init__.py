"""The service as a client of an identity provider: OpenID Connect, and the device flow of RFC 8628."""
