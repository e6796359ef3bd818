"""Parsers of the texts of settings. The message of a ValueError is for the user."""

from __future__ import annotations

import re
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parseaddr
from ipaddress import IPv4Network, IPv6Network, ip_network
from math import inf, nan
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from domain.job.retention_tags import RetentionTag
from domain.notifications.kinds import fault_of

Network = IPv4Network | IPv6Network

MAIL_SCHEMES: Final = ("smtp", "smtps", "smtp-plain")
LDAP_STARTTLS, LDAP_TLS, LDAP_PLAIN = "ldap", "ldaps", "ldap-plain"
NONE: Final = "none"
LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
YES, NO = frozenset({"yes", "true", "1"}), frozenset({"no", "false", "0"})
TAG_PATTERN: Final = "^[a-z0-9_.-]{1,100}:[0-9]{1,5}(:product)?$"


def path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def certificates(text: str) -> Path:
    """Return the path of a file of certificates that can be loaded."""
    file = path(text)
    try:
        ssl.create_default_context(cafile=file)
    except OSError as error:
        raise ValueError(f"must be a file of certificates in PEM: {error.strerror or error}") from None
    return file


def word(text: str) -> str:
    if text != text.strip() or not text:
        raise ValueError("must be a word without spaces around it")
    return text


@dataclass(frozen=True)
class Integer:
    """A parser of whole numbers within bounds. The help of flags shows the bounds."""

    minimum: int
    maximum: int

    def __call__(self, text: str) -> int:
        number = int(text) if text.strip("-").isdecimal() else self.minimum - 1
        if not self.minimum <= number <= self.maximum:
            raise ValueError(f"must be a whole number from {self.minimum} to {self.maximum}")
        return number


def _seconds(is_allowed: Callable[[float], bool], bounds: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not is_allowed(number):
            raise ValueError(f"must be a number of seconds{bounds}")
        return number

    return parse


seconds = _seconds(lambda number: 0 < number < inf, " above 0")


def seconds_from(minimum: float) -> Callable[[str], float]:
    return _seconds(lambda number: minimum <= number < inf, f", {minimum:g} or more")


def seconds_upto(maximum: float) -> Callable[[str], float]:
    return _seconds(lambda number: 0 < number <= maximum, f" above 0, {maximum:g} at most")


def url(*schemes: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if urlsplit(text).scheme not in schemes:
            raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return text

    return parse


def provider_url(text: str) -> str:
    """Return a URL of an identity provider, which needs TLS except on this machine."""
    if urlsplit(text).fragment or not is_safe_url(text):
        raise ValueError("must begin with https:// and name a host")
    return text


def is_safe_url(text: str) -> bool:
    """Return whether a URL has TLS, or names this machine."""
    parts = urlsplit(text)
    try:
        # The port is checked when it is read.
        is_complete = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return is_complete and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    )


def scopes(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if "openid" not in found:
        raise ValueError("must be scopes with spaces or commas between, openid among them")
    return found


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text.lower()

    return parse


def origins(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for origin in found:
        if origin != "*" and (urlsplit(origin).scheme not in ("http", "https") or urlsplit(origin).path):
            raise ValueError("must be origins such as https://lab.example.com, with commas between")
    return found


def user_names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError("must be addresses such as 10.0.0.7 or 10.0.0.0/24, with commas between") from None


def retention_tags(text: str) -> tuple[RetentionTag, ...]:
    tags = tuple(_retention_tag(part.strip()) for part in text.split(","))
    if len({tag.name for tag in tags}) < len(tags):
        raise ValueError("must not have a retention tag twice")
    return tags


def _retention_tag(text: str) -> RetentionTag:
    if re.fullmatch(TAG_PATTERN, text) is None:
        raise ValueError("must be retention tags like scratch:30 or audit:0:product, with commas between")
    name, days, *product = text.split(":")
    return RetentionTag(name, int(days), needs_product=bool(product))


def mail_server(text: str) -> str:
    if not _is_server(text, MAIL_SCHEMES):
        raise ValueError("must be a URL such as smtp://user:password@mail.example.com:587")
    return text


def ldap_servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    schemes = (LDAP_STARTTLS, LDAP_TLS, LDAP_PLAIN)
    if not all(_is_server(each, schemes) and urlsplit(each).username is None for each in servers):
        raise ValueError("must be URLs such as ldap://ldap.example.com:389, with commas between")
    return servers


def _is_server(text: str, schemes: Sequence[str]) -> bool:
    """Return whether a text is a URL with one of the schemes, a host, perhaps a port, and nothing after."""
    found = urlsplit(text)
    try:
        is_complete = bool(found.hostname) and (found.port is None or found.port > 0)
    except ValueError:
        return False
    return found.scheme in schemes and is_complete and not found.path.strip("/")


def ldap_attribute(text: str) -> str:
    if not re.fullmatch("[A-Za-z][A-Za-z0-9-]*", text):
        raise ValueError("must be the name of an attribute, such as uid")
    return text


def ldap_attributes(text: str) -> tuple[str, ...]:
    return tuple(ldap_attribute(part.strip()) for part in text.split(","))


def mail_address(text: str) -> str:
    if not re.fullmatch(r"[^@\s<>,;:]+@[^@\s<>,;:]+", parseaddr(text)[1]):
        raise ValueError("must be a mail address")
    return text


def notification_kinds(text: str) -> tuple[str, ...]:
    """Return kinds of notification. The word for none stays, because an empty setting means the default."""
    kinds = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if kinds != (NONE,) and (fault := fault_of(kinds)):
        raise ValueError(f"must be kinds of notification, or {NONE}: {fault}")
    return kinds


def yes_or_no(text: str) -> bool:
    if text.lower() not in YES | NO:
        raise ValueError("must be yes or no")
    return text.lower() in YES


def setting_text(value: object) -> str:
    """Return the text of a setting, from which its parser returns the same value."""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
