"""A real LDAP server: slapd of the machine's packages, as `.ci/slapd` unpacks it."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ldap3 import MODIFY_REPLACE, NONE, Connection, Server

from api.ldap.options import LdapOptions, LdapServer
from tests.harness.running import free_port
from tests.harness.waiting import wait_until

UNPACKED = Path(__file__).resolve().parents[2] / "build" / "slapd"
REQUIRED = "LABLEDGER_TEST_SLAPD"
HOST = "localhost"
SUFFIX = "dc=example,dc=com"
PEOPLE, GROUPS = f"ou=people,{SUFFIX}", f"ou=groups,{SUFFIX}"
ADMIN, READER, LIMITED = (f"cn={name},{SUFFIX}" for name in ("admin", "reader", "limited"))
PASSWORD = "secret of the reader"
DAYS = ("-days", "2")
CA_FILES = ("-keyout", "ca.key", "-out", "ca.pem")
SIGNING = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
CONFIGURATION = """
include {schema}/core.schema
include {schema}/cosine.schema
include {schema}/inetorgperson.schema
include {schema}/nis.schema
modulepath {modules}
moduleload back_mdb
pidfile {folder}/slapd.pid
TLSCACertificateFile {folder}/ca.pem
TLSCertificateFile {folder}/server.pem
TLSCertificateKeyFile {folder}/server.key
# As servers demand that care for passwords.
security simple_bind=1
database mdb
suffix "{suffix}"
rootdn "{admin}"
rootpw "{password}"
directory {folder}/data
limits dn.exact="{limited}" size.soft=3 size.hard=3 size.prtotal=3
limits * size=unlimited size.prtotal=unlimited
"""


def _program() -> str:
    """Return the path of slapd; if it is missing, skip the test, or fail if the run requires it."""
    found = UNPACKED / "usr" / "sbin" / "slapd"
    if not found.is_file():
        missing = "slapd not found: run .ci/slapd"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    return str(found)


def _environment() -> dict[str, str]:
    libraries = UNPACKED / "usr" / "lib" / f"{platform.machine()}-linux-gnu"
    return {**os.environ, "LD_LIBRARY_PATH": str(libraries)}


@dataclass
class Slapd:
    """A running server; `change` acts as its administrator."""

    folder: Path
    port: int
    tls_port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def ca_file(self) -> Path:
        return self.folder / "ca.pem"

    def options(self, **changes: Any) -> LdapOptions:
        """Return the options of a reader, by STARTTLS."""
        given: dict[str, Any] = {
            "servers": (LdapServer(HOST, self.port, False, True),),
            "ca_file": self.ca_file,
            "bind_dn": READER,
            "password": PASSWORD,
            "user_base": PEOPLE,
            "user_filter": "(objectClass=person)",
            "user_name": "uid",
            "group_base": GROUPS,
            "group_filter": "(cn=*)",
            "group_name": "cn",
            "member_attributes": ("member", "memberUid"),
            "timeout_seconds": 5,
            "sync_seconds": 900.0,
            "max_removed_percent": 20,
            "group_map": {"kernel": ("qa",)},
        }
        return LdapOptions(**{**given, **changes})

    @property
    def settings(self) -> dict[str, str]:
        """Return the environment variables of a service that reads this server."""
        return {
            "LABLEDGER_LDAP_URLS": f"ldap://{HOST}:{self.port}",
            "LABLEDGER_CA_FILE": str(self.ca_file),
            "LABLEDGER_LDAP_BIND_DN": READER,
            "LABLEDGER_LDAP_PASSWORD": PASSWORD,
            "LABLEDGER_LDAP_USER_BASE": PEOPLE,
            "LABLEDGER_LDAP_GROUP_BASE": GROUPS,
        }

    def start(self) -> None:
        urls = f"ldap://{HOST}:{self.port} ldaps://{HOST}:{self.tls_port}"
        command = [_program(), "-f", str(self.folder / "slapd.conf"), "-h", urls, "-d", "0"]
        self.process = subprocess.Popen(command, env=_environment(), stdin=subprocess.DEVNULL)
        wait_until(self._answers, "slapd to answer")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)
            self.process = None

    def _answers(self) -> bool:
        assert self.process is not None and self.process.poll() is None, "slapd has ended"
        try:
            with socket.create_connection((HOST, self.port), 5):
                return True
        except OSError:
            return False

    @contextmanager
    def _as_admin(self) -> Iterator[Connection]:
        server = Server(HOST, self.tls_port, use_ssl=True, get_info=NONE)
        admin = Connection(server, ADMIN, PASSWORD, auto_bind=True, check_names=False)
        try:
            yield admin
        finally:
            admin.unbind()

    def add(self, dn: str, classes: Sequence[str], **attributes: Any) -> None:
        with self._as_admin() as admin:
            assert admin.add(dn, list(classes), attributes), admin.result

    def add_person(self, name: str) -> None:
        self.add(person(name), ["inetOrgPerson"], uid=name, cn=name, sn=name)

    def delete(self, dn: str) -> None:
        with self._as_admin() as admin:
            assert admin.delete(dn), admin.result

    def set(self, dn: str, **attributes: Iterable[str]) -> None:
        """Replace the values of attributes."""
        with self._as_admin() as admin:
            changes = {name: [(MODIFY_REPLACE, list(values))] for name, values in attributes.items()}
            assert admin.modify(dn, changes), admin.result


def person(name: str) -> str:
    return f"uid={name},{PEOPLE}"


def group(name: str) -> str:
    return f"cn={name},{GROUPS}"


@contextmanager
def slapd(folder: Path, people: Sequence[str]) -> Iterator[Slapd]:
    """Run a server with these people, and with the group `kernel` that the first of them is in."""
    _program()
    _make_certificates(folder)
    server = Slapd(folder, free_port(), free_port())
    (folder / "data").mkdir()
    (folder / "slapd.conf").write_text(
        CONFIGURATION.format(
            schema=UNPACKED / "etc" / "ldap" / "schema",
            modules=UNPACKED / "usr" / "lib" / "ldap",
            folder=folder,
            suffix=SUFFIX,
            admin=ADMIN,
            limited=LIMITED,
            password=PASSWORD,
        )
    )
    (folder / "content.ldif").write_text("\n".join(_content(people)))
    adding = [str(Path(_program()).with_name("slapadd")), "-q", "-f", "slapd.conf", "-l", "content.ldif"]
    subprocess.run(adding, cwd=folder, env=_environment(), check=True, capture_output=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _content(people: Sequence[str]) -> Iterator[str]:
    yield f"dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\no: example\ndc: example\n"
    for dn in (READER, LIMITED):
        classes = "objectClass: organizationalRole\nobjectClass: simpleSecurityObject"
        yield f"dn: {dn}\n{classes}\nuserPassword: {PASSWORD}\n"
    for dn in (PEOPLE, GROUPS):
        yield f"dn: {dn}\nobjectClass: organizationalUnit\n"
    for name in people:
        yield f"dn: {person(name)}\nobjectClass: inetOrgPerson\nuid: {name}\ncn: {name}\nsn: {name}\n"
    yield f"dn: {group('kernel')}\nobjectClass: groupOfNames\nmember: {person(people[0])}\n"


def _make_certificates(folder: Path) -> None:
    """Make a CA, and a certificate of this host that it has signed."""
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST}\nauthorityKeyIdentifier=keyid\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    new = ["openssl", "req", *curve, "-nodes", "-subj"]
    for command in (
        [*new, "/CN=Test CA", "-x509", *DAYS, "-addext", "keyUsage=critical,keyCertSign", *CA_FILES],
        [*new, f"/CN={HOST}", "-keyout", "server.key", "-out", "server.csr"],
        ["openssl", "x509", "-req", *DAYS, "-in", "server.csr", *SIGNING, "-out", "server.pem"],
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
