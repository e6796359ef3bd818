"""An identity provider on loopback that makes whatever tokens a test asks for."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "labledger", "s3cret:/ä"
FIRST_KEY = RSAKey.generate_key(2048, {"kid": "first"})
OTHER_KEY = RSAKey.generate_key(2048, {"kid": "other"})
# The body of a request, then that of the answer with its status.
Answer = tuple[int, dict[str, Any] | bytes]


def encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def unsigned(claims: dict[str, Any]) -> str:
    """Return a token of the algorithm `none`."""
    header = encoded(json.dumps({"alg": "none"}).encode())
    return f"{header}.{encoded(json.dumps(claims).encode())}."


def signed_by_public_key(claims: dict[str, Any]) -> str:
    """Return a token whose shared secret is the public key, which anybody knows."""
    header = encoded(json.dumps({"alg": "HS256", "kid": "first"}).encode())
    text = f"{header}.{encoded(json.dumps(claims).encode())}"
    secret = FIRST_KEY.as_pem(private=False)
    return f"{text}.{encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


@dataclass
class FakeProvider:
    """The state of the provider, which tests change.

    `claims` and `metadata` are added to what it gives, a claim that is None is left out. `refusals` are the
    errors that the token endpoint gives first. `token` replaces the ID token for the claims. `is_hanging`: no
    request is answered.
    """

    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: FIRST_KEY)
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] = field(default_factory=dict)
    refusals: list[Answer] = field(default_factory=list)
    token: Any = None
    is_hanging: bool = False
    asked: list[str] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    # What the browser brought to the authorization endpoint, by code.
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    # That of the last begun device flow.
    device_challenge: str = ""

    def authorized(self, address: str) -> str:
        """Return the address to which a browser is sent back after signing in at an address."""
        query = dict(parse_qsl(urlsplit(address).query))
        assert query["response_type"] == "code" and query["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        answer = {"code": code, "state": query["state"], "session_state": "not asked for"}
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def answer(self, path: str, form: dict[str, str], authorization: str) -> Answer:
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, self._metadata()
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False)]}
        if path == "/userinfo":
            return 200, self.user_info
        login = base64.b64encode(f"{CLIENT}:s3cret%3A%2F%C3%A4".encode()).decode()
        if authorization != f"Basic {login}":
            return 401, {"error": "invalid_client"}
        if path == "/device":
            self.device_challenge = form["code_challenge"]
            assert form["code_challenge_method"] == "S256"
            return 200, {
                "device_code": "the.device",
                "user_code": "ABCD-EFGH",
                "verification_uri": f"{self.issuer}/enter",
                "expires_in": 600,
                "interval": 1,
            }
        return self.refusals.pop(0) if self.refusals else self._tokens(form)

    def _metadata(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?of=lab",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "device_authorization_endpoint": f"{self.issuer}/device",
        }
        return {**found, **self.metadata}

    def _tokens(self, form: dict[str, str]) -> Answer:
        begun = self.codes.pop(form.get("code", ""), None)
        challenge = encoded(hashlib.sha256(form["code_verifier"].encode()).digest())
        if form["grant_type"] == "authorization_code":
            if begun is None or begun["code_challenge"] != challenge:
                return 400, {"error": "invalid_grant"}
        # As Keycloak does for a client that has to use PKCE.
        elif (form["device_code"], challenge) != ("the.device", self.device_challenge):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        nonce = {"nonce": begun["nonce"]} if begun else {}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "17",
            "iat": now,
            "exp": now + 300,
            "preferred_username": "carol",
            "groups": ["kernel"],
            **nonce,
            **self.claims,
        }
        given = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": self.key.kid}
        token = self.token(given) if self.token else jwt.encode(header, given, self.key)
        return 200, {"id_token": token, "access_token": "access", "token_type": "Bearer"}


@contextmanager
def fake_provider() -> Iterator[FakeProvider]:
    """Yield a provider that listens on loopback."""
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer({name: values[0] for name, values in parse_qs(body).items()})

        def _answer(self, form: dict[str, str]) -> None:
            if provider.is_hanging:
                provider.released.wait()
                return
            if self.headers["Cookie"]:
                provider.asked.append("cookie")
            path = urlsplit(self.path).path
            status, body = provider.answer(path, form, self.headers["Authorization"] or "")
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Set-Cookie", "session=carol; Path=/")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        provider.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
