"""The person that an identity provider has authenticated, from the claims about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.oidc.errors import SignInFailed
from domain.characters import MAX_NAME_LENGTH, escaped
from domain.directory.actors import ACTORS, is_user_name

MAX_SHOWN_CHARACTERS = 100
EMAIL, EMAIL_VERIFIED = "email", "email_verified"


@dataclass(frozen=True)
class Identity:
    """A user name, and the groups of the provider that the person is in."""

    user: str
    external_groups: frozenset[str]


def needed_claims(user_claim: str, groups_claim: str | None) -> tuple[str, ...]:
    """Return the names of the claims that decide about an identity."""
    verified = (EMAIL_VERIFIED,) if user_claim == EMAIL else ()
    return (user_claim, *verified, *(() if groups_claim is None else (groups_claim,)))


def with_further(claims: Mapping[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of an ID token, and those of the userinfo endpoint that it lacks.

    The mail address is of the one that says whether it is verified: the other may have another address.
    """
    is_complete = EMAIL_VERIFIED in claims
    return {**further, **{name: value for name, value in claims.items() if is_complete or name != EMAIL}}


def identity_of(claims: Mapping[str, Any], user_claim: str, groups_claim: str | None) -> Identity:
    """Return the identity. Raises SignInFailed for claims that are none of a user of this service.

    Without `groups_claim` it has no groups, whatever the claims are.
    """
    user = claims.get(user_claim)
    if not isinstance(user, str):
        raise SignInFailed(f"the identity provider gives no name: the claim {user_claim} is missing")
    if not is_user_name(user):
        shown = escaped(user, MAX_SHOWN_CHARACTERS)
        raise SignInFailed(
            f'"{shown}" cannot be a user name: only letters, digits and . _ @ + -, beginning with a letter '
            f"or digit, up to {MAX_NAME_LENGTH} characters, and none of {', '.join(ACTORS)} "
            f"(claim {user_claim})"
        )
    verified = claims.get(EMAIL_VERIFIED)
    # Some providers send a string. Others that verify no address leave the claim out.
    if user_claim == EMAIL and verified is not True and verified != "true":
        raise SignInFailed("the identity provider has not verified the mail address, which is the user name")
    return Identity(user, frozenset() if groups_claim is None else _groups_of(claims, groups_claim))


def _groups_of(claims: Mapping[str, Any], groups_claim: str) -> frozenset[str]:
    """Return the groups. A missing claim means no groups: providers such as Keycloak leave it out then."""
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and groups_claim in elsewhere:
        # Entra ID does so for people in many groups. They must not lose the groups that they have.
        raise SignInFailed(
            f"the identity provider leaves the claim {groups_claim} out, because there are too many groups; "
            "let it send only groups that are assigned to this application"
        )
    groups = claims.get(groups_claim, [])
    listed = [groups] if isinstance(groups, str) else groups
    if not isinstance(listed, list) or not all(isinstance(group, str) for group in listed):
        raise SignInFailed(f"the claim {groups_claim} of the identity provider is no list of group names")
    return frozenset(listed)
