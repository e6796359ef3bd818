"""The API behind a real nginx with the configuration of deploy/nginx."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.docs.operation_pages import DEPLOY
from tests.harness.databases import TestDatabase
from tests.harness.folders import public_folder
from tests.harness.http_options import LOCAL_HTTP
from tests.harness.programs import TOP
from tests.harness.running import SAMPLES, Running, free_port, running
from tests.harness.waiting import wait_until

NAME = "labledger.example.com"
LAB = "lab.east.example.com"
# Debian has it in a folder that is only in the PATH of root; .ci/nginx unpacks it.
FOLDERS = ("/usr/sbin", str(TOP / "build" / "nginx" / "usr" / "sbin"))
REQUIRED = "LABLEDGER_TEST_NGINX"
XML = {"Content-Type": "application/xml"}
# An address of this machine that is none of a trusted proxy.
CLIENT = "127.0.0.2"
INVENTED = "192.0.2.1"
# The rest of the configuration of nginx, as on Debian, but for one test.
MAIN = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 768; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/labledger.conf;
}}
"""


def nginx() -> str:
    """Return the path of nginx; if it is missing, skip the test, or fail if the run requires it."""
    found = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", os.defpath), *FOLDERS)))
    if found is None:
        missing = "nginx not found: install it, or run .ci/nginx"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@contextmanager
def proxy(service: Running, folder: Path) -> Iterator[tuple[int, int]]:
    """Start nginx in front of a service, and yield its ports for HTTP and HTTPS."""
    http, https = free_port(), free_port()
    replacements = {
        "127.0.0.1:8080": f"127.0.0.1:{service.port}",
        "listen 80;": f"listen 127.0.0.1:{http};",
        "listen 443 ": f"listen 127.0.0.1:{https} ",
        "/etc/labledger/tls": str(folder),
    }
    text = (DEPLOY / "nginx" / "labledger.conf").read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "labledger.conf").write_text(text)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder))
    make_certificate(folder)
    process = subprocess.Popen([nginx(), "-e", folder / "error.log", "-c", folder / "nginx.conf"])
    try:
        wait_until(lambda: (folder / "nginx.pid").exists() or process.poll() is not None, "nginx")
        assert process.poll() is None, (folder / "error.log").read_text()
        yield http, https
    finally:
        process.terminate()
        process.wait(60)


def make_certificate(folder: Path) -> None:
    subject = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1")
    files = ("-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *subject, *files]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.soak
def test_nginx__configuration_of_the_page__passes_on_streams_polls_bodies_and_addresses(
    database: TestDatabase,
) -> None:
    settings = {"LABLEDGER_PROXIES": "127.0.0.1", "LABLEDGER_ADDRESS_DAYS": "1"}
    with (
        running(database, **settings) as service,
        public_folder() as folder,
        proxy(service, folder) as (http, https),
        client_of(service, folder, https) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        service.do("lab", "load", str(SAMPLES / "lab.json"))
        assert client.get("/healthz").headers["strict-transport-security"].startswith("max-age")
        redirect = httpx.get(f"http://127.0.0.1:{http}/queue?limit=1", headers={"Host": NAME}, **LOCAL_HTTP)
        assert (redirect.status_code, redirect.headers["location"]) == (301, f"https://{NAME}/queue?limit=1")

        # The longest poll: the timeouts of nginx must be longer.
        poll = pool.submit(client.get, f"/lab-controllers/{LAB}/commands", params={"wait_seconds": 60})
        assert_events_pass_one_by_one(client, service.end())
        assert_address_is_of_the_client(client)
        # Larger than the limits of nginx itself and of jobs: the API answers.
        refused = client.post("/jobs", content=b"<job>" + b" " * 2_000_000, headers=XML)
        assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
        assert poll.result().status_code == 200


@contextmanager
def client_of(service: Running, folder: Path, https: int) -> Iterator[httpx.Client]:
    """Yield a client at another address than the proxy, which trusts its certificate alone."""
    trust = ssl.create_default_context(cafile=folder / "fullchain.pem")
    transport = httpx.HTTPTransport(verify=trust, local_address=CLIENT)
    headers = {"Authorization": f"Bearer {service.token}", "X-Forwarded-For": INVENTED}
    with httpx.Client(
        base_url=f"https://127.0.0.1:{https}", transport=transport, headers=headers, timeout=100
    ) as client:
        yield client


def assert_events_pass_one_by_one(client: httpx.Client, after: int) -> None:
    """Follow the log, and change something only after the event of the change before has arrived."""
    stream = {"headers": {"Accept": "text/event-stream"}, "params": {"after": after}}
    with client.stream("GET", "/events", **stream) as events:
        lines = (line for line in events.iter_lines() if line.startswith("data:"))
        for name in ("first", "second"):
            assert client.put(f"/pools/{name}", json={}).status_code in (200, 201)
            assert f"pool/{name}" in next(lines)


def assert_address_is_of_the_client(client: httpx.Client) -> None:
    (event,) = client.get("/events", params={"newest_first": "true", "limit": 1}).json()["events"]
    assert event["address"] == CLIENT
