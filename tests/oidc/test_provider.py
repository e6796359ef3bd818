"""The client of the identity provider: discovery, keys, ID tokens and both flows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from api.oidc.browser_secrets import BrowserSecrets
from api.oidc.errors import ProviderAway, SignInFailed
from api.oidc.fetched_value import MIN_REFETCH_SECONDS
from api.oidc.id_token import key_set_of
from api.oidc.identity import Identity, identity_of
from api.oidc.provider import Pending, Provider, ProviderOptions
from api.oidc.sign_in import sign_in_of
from api.oidc.transport import ProviderTransport
from runtime.settings import Settings
from tests.oidc.fake_provider import (
    CLIENT,
    OTHER_KEY,
    SECRET,
    FakeProvider,
    fake_provider,
    signed_by_public_key,
    unsigned,
)
from tests.workers.notifying.receivers import Authority, Hook, hook_server

SECRETS = BrowserSecrets.derived("a secret")
CAROL = Identity("carol", frozenset({"kernel"}))


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    with fake_provider() as started:
        yield started


def options_of(fake: FakeProvider, issuer: str | None = None) -> ProviderOptions:
    scopes = ("openid", "profile")
    back = "https://lab.example.com/ui/login/sso/return"
    return ProviderOptions(
        issuer or fake.issuer, CLIENT, SECRET, back, scopes, "preferred_username", "groups"
    )


def asks(use: Callable[[Provider], Any], options: ProviderOptions, answer_seconds: float = 5.0) -> Any:
    """Return what a new client of the provider returns."""

    async def ask() -> Any:
        provider = Provider(options, ProviderTransport(answer_seconds))
        try:
            return await use(provider)
        finally:
            await provider.close()

    return asyncio.run(ask())


def signs_in(fake: FakeProvider, secrets: BrowserSecrets = SECRETS) -> Identity:
    """Return the person of a code flow; `secrets` are those of the browser that comes back."""

    async def both(provider: Provider) -> Identity:
        return await provider.redeemed(_code(fake, await provider.authorization_url(SECRETS)), secrets)

    found: Identity = asks(both, options_of(fake))
    return found


def _code(fake: FakeProvider, address: str) -> str:
    assert address.startswith(f"{fake.issuer}/authorize?of=lab&response_type=code&")
    return fake.authorized(address).partition("code=")[2].partition("&")[0]


def test_code_flow__right_answers__returns_user_and_groups(fake: FakeProvider) -> None:
    assert signs_in(fake) == CAROL
    # A cookie of the provider would be that of all people.
    assert "cookie" not in fake.asked


def test_transport__certificate_of_a_private_authority__is_trusted_by_the_file_of_the_settings(
    tmp_path: Path,
) -> None:
    authority, hook = Authority(tmp_path), Hook()

    async def post(port: int, ca_file: Path | None) -> None:
        transport = ProviderTransport(5.0, ca_file)
        # The server gives no JSON.
        with pytest.raises(ProviderAway):
            await transport.post(f"https://localhost:{port}/token")
        await transport.close()

    with hook_server(hook, authority.server("localhost")) as port:
        asyncio.run(post(port, None))
        assert hook.posts == []
        asyncio.run(post(port, authority.file))
    assert [path for path, _, _ in hook.posts] == ["/token"]


def test_transport__address_that_is_none__is_a_fault_of_the_provider(fake: FakeProvider) -> None:
    fake.metadata = {"token_endpoint": "https://id.example.com:99999/token"}
    with pytest.raises(ProviderAway):
        signs_in(fake)


def test_code_flow__claims_only_in_userinfo__are_taken_from_there_for_the_same_subject(
    fake: FakeProvider,
) -> None:
    fake.metadata = {"userinfo_endpoint": f"{fake.issuer}/userinfo"}
    fake.claims = {"preferred_username": None, "groups": None}
    fake.user_info = {"sub": "17", "preferred_username": "carol", "groups": "kernel"}
    assert signs_in(fake) == CAROL
    fake.user_info["sub"] = "18"
    with pytest.raises(SignInFailed):
        signs_in(fake)


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"nonce": "that of another sign-in"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"aud": "another"}, "aud"),
        ({"aud": [CLIENT, "another"]}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"iss": "https://elsewhere.example.com"}, "iss"),
        ({"exp": 1_700_000_000}, "expired"),
        ({"exp": None}, "exp"),
        ({"iat": 4_000_000_000}, "future"),
        ({"sub": None}, "sub"),
        ({"preferred_username": "not a name"}, "cannot be a user name"),
        ({"preferred_username": "ldap-sync"}, "cannot be a user name"),
        ({"preferred_username": "carol\n"}, "cannot be a user name"),
        ({"preferred_username": None}, "preferred_username is missing"),
        (
            {"groups": None, "_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {}}},
            "too many groups",
        ),
        ({"groups": {"kernel": True}}, "groups of the identity provider"),
    ],
)
def test_id_token__wrong_claim__is_refused(fake: FakeProvider, claims: dict[str, Any], said: str) -> None:
    fake.claims = claims
    with pytest.raises(SignInFailed, match=said):
        signs_in(fake)


def test_identity__groups_that_the_service_does_not_use__are_not_read(fake: FakeProvider) -> None:
    fake.claims = {"groups": None, "_claim_names": {"groups": "src1"}}
    fake.metadata = {"userinfo_endpoint": f"{fake.issuer}/userinfo"}

    async def signs_in_by_code(provider: Provider) -> Identity:
        return await provider.polled((await provider.device_code()).device_code)

    found = asks(signs_in_by_code, replace(options_of(fake), groups_claim=None))
    assert found == Identity("carol", frozenset()) and "/userinfo" not in fake.asked


def test_options__without_groups_of_the_provider_in_the_table__have_no_claim_of_groups(
    tmp_path: Path,
) -> None:
    table = tmp_path / "groups.toml"
    for text, claim in (('[ldap]\nkernel = "qa"\n', None), ('[oidc]\nkernel = "qa"\n', "groups")):
        table.write_text(text)
        settings = replace(Settings(), oidc_issuer="https://id.example.com", group_table=table)
        options = sign_in_of(settings)
        assert options is not None and options.provider.options.groups_claim == claim


def test_identity__mail_address_as_name__has_to_be_verified() -> None:
    claims = {"email": "carol@example.com", "email_verified": True}
    assert identity_of(claims, "email", "groups").user == "carol@example.com"
    assert identity_of({**claims, "email_verified": "true"}, "email", "groups").user == "carol@example.com"
    for wrong in (False, "false", "", None, 1):
        with pytest.raises(SignInFailed, match="has not verified"):
            identity_of({**claims, "email_verified": wrong}, "email", "groups")
    with pytest.raises(SignInFailed, match="has not verified"):
        identity_of({"email": "carol@example.com"}, "email", "groups")
    other = {**claims, "email_verified": False, "sub": "carol"}
    assert identity_of(other, "sub", "groups").user == "carol"


def test_identity__mail_address_verified_only_in_userinfo__is_that_of_userinfo(fake: FakeProvider) -> None:
    fake.metadata = {"userinfo_endpoint": f"{fake.issuer}/userinfo"}
    # Nobody has verified the address in the token.
    fake.claims = {"email": "admin@example.com"}
    fake.user_info = {"sub": "17", "email": "carol@example.com", "email_verified": True}

    async def signs_in_by_mail(provider: Provider) -> Identity:
        return await provider.polled((await provider.device_code()).device_code)

    found = asks(signs_in_by_mail, replace(options_of(fake), user_claim="email"))
    assert found.user == "carol@example.com"


def test_id_token__several_audiences_and_issued_to_this_client__is_taken(fake: FakeProvider) -> None:
    fake.claims = {"aud": [CLIENT, "another"], "azp": CLIENT, "groups": None}
    assert signs_in(fake) == Identity("carol", frozenset())


@pytest.mark.parametrize("forged", [unsigned, signed_by_public_key, lambda _: "no.token", lambda _: None])
def test_id_token__without_a_signature_of_the_provider__is_refused(fake: FakeProvider, forged: Any) -> None:
    fake.token = forged
    with pytest.raises(SignInFailed):
        signs_in(fake)


def test_code_flow__verifier_of_another_browser__is_refused(fake: FakeProvider) -> None:
    with pytest.raises(SignInFailed, match="begin again"):
        signs_in(fake, BrowserSecrets.derived("another"))


def test_keys__a_malformed_one_among_them__the_others_count() -> None:
    good = OTHER_KEY.as_dict(private=False)
    keys = key_set_of(
        {"keys": [{"kty": "RSA", "kid": "bad"}, "none", {**good, "kid": "good"}, {"kty": "new"}]}
    )
    assert [key.kid for key in keys] == ["good"]
    for wrong in ({}, {"keys": None}, {"keys": [{"kty": "RSA"}]}):
        with pytest.raises(ValueError, match="no usable keys"):
            key_set_of(wrong)


def test_keys__rotated__are_fetched_once_more_but_not_for_each_token(fake: FakeProvider) -> None:
    now = 1000.0

    async def rotate() -> None:
        nonlocal now
        provider = Provider(options_of(fake), ProviderTransport(), clock=lambda: now)
        code = (await provider.device_code()).device_code

        async def polls() -> object:
            return await provider.polled(code)

        assert await polls() == CAROL
        fake.key = OTHER_KEY
        for _ in range(2):
            with pytest.raises(SignInFailed, match="not signed by a key"):
                await polls()
        assert fake.asked.count("/keys") == 1
        now += MIN_REFETCH_SECONDS
        assert list(await asyncio.gather(polls(), polls())) == [CAROL, CAROL]
        assert fake.asked.count("/keys") == 2
        assert fake.asked.count("/.well-known/openid-configuration") == 1
        await provider.close()

    asyncio.run(rotate())


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://elsewhere.example.com"},
        {"token_endpoint": "http://lab.example.com/token"},
        {"jwks_uri": None},
    ],
)
def test_discovery__document_that_must_not_be_used__is_refused(
    fake: FakeProvider, metadata: dict[str, Any]
) -> None:
    fake.metadata = metadata
    with pytest.raises(ProviderAway, match="not set up"):
        signs_in(fake)


@pytest.mark.parametrize("methods", [None, "client_secret_post", {}, 17, [None, "client_secret_basic"]])
def test_discovery__methods_of_authentication_that_are_no_list__are_those_of_the_default(
    fake: FakeProvider, methods: Any
) -> None:
    fake.metadata = {"token_endpoint_auth_methods_supported": methods}
    assert signs_in(fake) == CAROL


def test_transport__json_nested_too_deeply__is_a_fault_of_the_provider(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeProvider, "answer", lambda *_: (200, b"[" * 100_000))
    with pytest.raises(ProviderAway, match="answers with an error"):
        signs_in(fake)


def test_provider__away_or_hanging__fails_within_its_time(fake: FakeProvider) -> None:
    def begins(provider: Provider) -> Any:
        return provider.authorization_url(SECRETS)

    # Nothing listens on the port of a socket that was never opened for listening.
    with pytest.raises(ProviderAway):
        asks(begins, options_of(fake, "http://127.0.0.1:9"))
    fake.is_hanging = True
    with pytest.raises(ProviderAway, match="does not answer"):
        asks(begins, options_of(fake), answer_seconds=0.2)


def test_sign_in__requests_that_are_slow_together__fail_within_the_time_of_one(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    async def both() -> None:
        transport = ProviderTransport()
        provider = Provider(options_of(fake), transport)
        await provider.authorization_url(SECRETS)
        transport.answer_seconds = 0.01
        # Without the limit of a request.
        monkeypatch.setattr(ProviderTransport, "post", never)
        for sign_in in (provider.redeemed("code", SECRETS), provider.polled("verifier.code")):
            with pytest.raises(ProviderAway, match="does not answer"):
                await asyncio.wait_for(sign_in, 60)
        await provider.close()

    asyncio.run(both())


def test_device_flow__until_the_user_has_decided__is_pending(fake: FakeProvider) -> None:
    fake.refusals = [
        (400, {"error": "authorization_pending"}),
        (400, {"error": "slow_down"}),
        (400, {"error": "access_denied"}),
        (400, {"error": "expired_token"}),
        (400, {"error": "strange\x1b", "error_description": "no reason"}),
        (500, {"error": "authorization_pending"}),
    ]

    async def polls(provider: Provider) -> None:
        begun = await provider.device_code()
        assert (begun.user_code, begun.interval_seconds) == ("ABCD-EFGH", 1)
        assert await provider.polled(begun.device_code) == Pending(is_too_fast=False)
        assert await provider.polled(begun.device_code) == Pending(is_too_fast=True)
        for said in ("denied", "expired", r"strange\\u001b: no reason"):
            with pytest.raises(SignInFailed, match=said):
                await provider.polled(begun.device_code)
        with pytest.raises(ProviderAway):
            await provider.polled(begun.device_code)
        # Each flow has a verifier of its own, also where the provider requires it.
        other = await provider.device_code()
        with pytest.raises(SignInFailed, match="begin again"):
            await provider.polled(begun.device_code)
        assert await provider.polled(other.device_code) == CAROL

    asks(polls, options_of(fake))


def test_issuer_of_the_answer__another_or_missing_where_promised__is_refused(fake: FakeProvider) -> None:
    def requires(issuer: str | None) -> None:
        asks(lambda provider: provider.require_issuer(issuer), options_of(fake))

    requires(None)
    requires(fake.issuer)
    with pytest.raises(SignInFailed):
        requires("https://elsewhere.example.com")
    fake.metadata = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(SignInFailed):
        requires(None)
