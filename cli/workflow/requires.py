"""Requirements of systems and distro trees, from options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from cli.workflow.host_filters import host_filter
from cli.workflow.options import InvalidOptions, Options, warn

Form = dict[str, Any]

_OPERATION: Final = r"\s*(?P<op>==|!=|>=|<=|=|>|<|\blike\b)\s*(?P<value>.*?)\s*"
_PROPERTY: Final = re.compile(rf"\s*(?P<tag>[\w/]+){_OPERATION}", re.DOTALL)
_KEY: Final = re.compile(rf"\s*(?P<tag>[^\s=!<>]+){_OPERATION}", re.DOTALL)
_SIZE: Final = re.compile(r"([0-9]+)\s*([A-Za-z]+)")

# The other options that select systems.
BESIDE_FORCE: Final = ("hostrequire", "host_filter", "keyvalue", "systype", "pool", "random", "autopick")


def host_requires(options: Options) -> Form:
    """Return the host requirement. A forced system replaces it, as in `bkr`. Raise `InvalidOptions`."""
    if is_forced(options):
        for option in BESIDE_FORCE:
            if options[option]:
                warn(options, f"{_flag(option)} has no effect: --ignore-system-status forces the system")
        return {"force": options["machine"]}
    if options["ignore_system_status"]:
        warn(options, "--ignore-system-status has no effect without --machine")
    forms, faults = [], []
    for option, read in _READ.items():
        for given in options[option]:
            try:
                forms.append(_validated(read(given)))
            except ValueError as error:
                faults.append(f"{_flag(option)} {given!r}: {error}")
    if faults:
        raise InvalidOptions("\n".join(faults))
    return {"and": [*_plain_requires(options), *_flattened(forms)]}


def is_forced(options: Options) -> bool:
    return bool(options["machine"] and options["ignore_system_status"])


def _flattened(forms: Iterable[Form]) -> Iterator[Form]:
    for form in forms:
        if "and" in form:
            yield from _flattened(form["and"])
        else:
            yield form


def _plain_requires(options: Options) -> Iterable[Form]:
    if options["machine"]:
        yield {"element": "hostname", "op": "=", "value": options["machine"]}
    if options["systype"]:
        yield {"element": "system_type", "op": "=", "value": options["systype"]}
    pools = [{"element": "pool", "op": "=", "value": name} for name in options["pool"]]
    if pools:
        yield pools[0] if len(pools) == 1 else {"or": pools}


def _property(given: str) -> Form:
    """Parse `TAG OP VALUE`, or XML as in <hostRequires>."""
    if given.lstrip().startswith("<"):
        return _from_xml(given)
    match = _PROPERTY.fullmatch(given)
    if match is None:
        raise ValueError('must be "TAG OP VALUE", as in "memory >= 8192", or an element of <hostRequires>')
    tag, op, value = match.group("tag", "op", "value")
    if tag.startswith("device/"):
        return {"element": "device", "op": op, tag.removeprefix("device/"): value}
    size = _SIZE.fullmatch(value)
    leaf = {"element": tag.removeprefix("disk/"), "op": op, "value": value}
    if size and (tag == "diskspace" or tag.startswith("disk/")):
        leaf |= {"value": size[1], "units": size[2]}
    return {"disk": [leaf]} if tag.startswith("disk/") else leaf


def _key_value(given: str) -> Form:
    match = _KEY.fullmatch(given)
    if match is None:
        raise ValueError('must be "KEY OP VALUE", as in "HVM = 1"')
    key, op, value = match.group("tag", "op", "value")
    return {"element": "key_value", "key": key, "op": op, "value": value}


_READ: Final[Mapping[str, Callable[[str], Form]]] = {
    "hostrequire": _property,
    "host_filter": lambda name: _from_xml(host_filter(name)),
    "keyvalue": _key_value,
}


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")


def _from_xml(given: str) -> Form:
    from api.intake.xml_job import read_xml
    from api.intake.xml_text import parse_xml
    from domain.errors import FaultyInput

    body = f"<hostRequires>{given}</hostRequires>".encode()
    try:
        form, walk = read_xml(parse_xml(body), "hostRequires", body)
    except FaultyInput as error:
        raise ValueError("; ".join(fault.message for fault in error.faults)) from None
    if walk.faults:
        raise ValueError("; ".join(fault.words() for fault in walk.faults))
    return form


def _validated(form: Form) -> Form:
    """Validate a requirement as the server does, except for names, which only the server knows."""
    from domain.requirements.host import HOST

    findings = HOST.examine(form).findings
    if findings:
        raise ValueError("; ".join(finding.message for finding in findings))
    return form


def distro_requires(options: Options) -> Form:
    """Return the distro requirement without an architecture. Raise `InvalidOptions` without name and family.

    As in `bkr`, family and tags have no effect if there is a name.
    """
    name = options["distro"]
    if not name and not options["family"]:
        raise InvalidOptions("--distro or --family is required")
    if name:
        for option in ("family", "tag"):
            if options[option]:
                warn(options, f"{_flag(option)} has no effect beside --distro")
        leaves = [("distro_name", "like" if "%" in name else "=", name)]
    else:
        tags = (("distro_tag", "=", tag) for tag in options["tag"])
        leaves = [("distro_family", "=", options["family"]), *tags]
    leaves.append(("distro_variant", "=", options["variant"]))
    return {"and": [_leaf(*leaf) for leaf in leaves if leaf[-1]]}


def of_arch(form: Form, arch: str) -> Form:
    return {"and": [*form["and"], _leaf("distro_arch", "=", arch)]}


def _leaf(element: str, op: str, value: str) -> Form:
    return {"element": element, "op": op, "value": value}
