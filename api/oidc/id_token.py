"""Validation of ID tokens (OpenID Connect Core 1.0, section 3.1.3.7)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import Key, KeySet

from api.oidc.errors import SignInFailed

# Signatures by keys that only the provider has: neither `none` nor those by a shared secret.
ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
# The clocks of provider and service may differ by this.
LEEWAY_SECONDS: Final = 60


class UnknownKey(SignInFailed):
    """Sign-in failed."""


def key_set_of(document: Mapping[str, Any]) -> KeySet:
    """Return the keys of a JSON Web Key Set that can be used. Raises ValueError if it has none."""
    keys: list[Key] = []
    last_fault: Exception | None = None
    listed = document.get("keys")
    for each in listed if isinstance(listed, list) else ():
        try:
            keys += KeySet.import_key_set({"keys": [each]}).keys
        except (LookupError, TypeError, ValueError, AttributeError, JoseError) as error:
            last_fault = error
    if not keys:
        raise ValueError(f"no usable keys: {last_fault!r}")
    return KeySet(keys)


def claims_of(
    id_token: str, keys: KeySet, issuer: str, client_id: str, nonce: str | None, now: datetime
) -> Mapping[str, Any]:
    """Return the claims of an ID token that this issuer has made for this client, in answer to `nonce`.

    The device flow has no nonce: then it is None. Raises UnknownKey if newer keys may help, and otherwise
    SignInFailed.
    """
    # Providers may add fields to the header; fields that must be understood are still refused.
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    try:
        token = jwt.decode(id_token, keys, algorithms=ALGORITHMS, registry=registry)
    except (InvalidKeyIdError, BadSignatureError):
        raise UnknownKey("the ID token is not signed by a key of the identity provider") from None
    except (JoseError, ValueError) as error:
        raise _refused(str(error) or type(error).__name__) from None
    required = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        # Without a nonce nothing is expected of that claim.
        nonce={"essential": False} if nonce is None else {"essential": True, "value": nonce},
    )
    try:
        required.validate(token.claims)
    except JoseError as error:
        raise _refused(str(error)) from None
    _require_party(token.claims, client_id)
    return token.claims


def _require_party(claims: Mapping[str, Any], client_id: str) -> None:
    """Raise SignInFailed for a token that another client has got, with this one in its audience."""
    audience = claims["aud"]
    is_shared = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_shared else client_id) != client_id:
        raise _refused("azp: it was issued to another client")


def _refused(why: str) -> SignInFailed:
    return SignInFailed(f"the ID token of the identity provider is not valid here ({why})")
