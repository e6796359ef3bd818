"""Parts of a job without effect, and unknown names: accepted with a warning."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.intake import read_job
from api.intake.plain_texts import FORM
from domain.errors import FaultyInput
from domain.requirements import Columns, Device, KeyValue, from_text, matching
from domain.requirements.distro import DISTRO, NewestFirst
from tests.intake.jobs import NAMES, job_document, job_xml, read_json, read_xml, warnings_of

EMPTY = "value: is empty, so this part has no effect"
GUEST = "has no effect: a guest runs on the system of its host"


def host(*inside: str) -> bytes:
    return job_xml(host=f"<hostRequires>{''.join(inside)}</hostRequires>")


def distro(inside: str) -> bytes:
    return job_xml(distro=f"<distroRequires>{inside}</distroRequires>")


def required(body: bytes) -> str:
    return read_xml(body).recipe_sets[0].recipes[0].host_requires


def test_distro_requirement__empty__asks_for_nothing() -> None:
    written = distro('<name value="F"/>\n<and><distro_variant value=""/></and>')
    assert read_xml(written) == read_xml(distro('<name value="F"/>'))
    ((_, message),) = warnings_of(written)
    assert message == EMPTY


@pytest.mark.parametrize(
    "inner",
    [
        '<memory op="&gt;=" value=""/>',
        '<system><vendor value=""/></system>',
        '<not><cpu><hyper value=""/></cpu></not>',
        '<disk><model value=""/></disk>',
        '<system><added value=""/></system>',
        '<labcontroller op="!=" value=""/>',
        '<key_value key="HVM" op="&gt;" value=""/>',
    ],
)
def test_host_requirement__empty__asks_for_nothing(inner: str) -> None:
    without = host("<disk/>") if "<disk>" in inner else host()
    assert required(host(inner)) == required(without)
    assert [message for _, message in warnings_of(host(inner))] == [EMPTY]


@pytest.mark.parametrize(
    "inner",
    [
        '<hypervisor value=""/>',
        '<pool value=""/>',
        '<group op="!=" value=""/>',
        '<system><last_inventoried value=""/></system>',
        '<key_value key="HVM" value=""/>',
    ],
)
def test_host_requirement__empty_with_a_meaning__is_kept(inner: str) -> None:
    assert required(host(inner)) != required(host())
    assert warnings_of(host(inner)) == []


def test_device__one_attribute_empty__asks_by_the_others() -> None:
    written = host('<device bus="" vendor_id="8086"/>')
    assert Device("==", (("vendor_id", "8086"),)) in from_text(required(written)).children  # type: ignore[union-attr]
    assert [message for _, message in warnings_of(written)] == [EMPTY.replace("value", "bus")]


def test_stored_requirement__empty__has_its_former_meaning() -> None:
    stored = '{"element":"system/vendor","op":"==","value":""}'
    systems = Columns()
    systems.put(0, {"vendor": "Acme"})
    assert matching(from_text(stored), systems) == 0


UNKNOWN = [
    (
        '<pool value="smal"/>',
        'value: there is no pool "smal"; did you mean small? This part matches no system',
    ),
    (
        '<pool op="!=" value="xx"/>',
        'value: there is no pool "xx". This part matches every system that has another pool',
    ),
    ('<arch value="x86-64"/>', "x86_64? This part matches no system"),
    ('<key_value key="HVN" value="1"/>', 'key: there is no key "HVN"; did you mean HVM?'),
    ('<hostlabcontroller value="lab.eas.example.com"/>', "did you mean lab.east.example.com?"),
    ('<group value="storag"/>', "did you mean storage?"),
    ('<system><owner value="alise"/></system>', 'there is no user "alise"; did you mean alice?'),
    ('<system><powertype value="ipmj"/></system>', "did you mean ipmi?"),
]


@pytest.mark.parametrize(("inner", "said"), UNKNOWN)
def test_requirement__with_an_unknown_name__is_accepted_with_a_warning(inner: str, said: str) -> None:
    ((where, message),) = warnings_of(host("\n", inner))
    assert where.startswith("line 6")
    assert said in message
    assert '"' in required(host(inner))


EXCLUDED = [
    ('<pool op="!=" value="xx"/>', {"pools": ["big"]}),
    ('<group op="!=" value="xx"/>', {"pools": ["big"]}),
    ('<key_value key="XX" op="!=" value="1"/>', {"key_values": {"HVM": ["1"]}}),
    ('<key_value key="XX" op="!="/>', {"key_values": {"HVM": ["1"]}}),
    ('<arch op="!=" value="s390x"/>', {"arches": ["x86_64"]}),
    ('<labcontroller op="!=" value="lab.x"/>', {"lab_controller": "lab.east.example.com"}),
    ('<system><user op="!=" value="xx"/></system>', {"user": "alice"}),
    ('<system><owner op="!=" value="xx"/></system>', {"owner": "alice"}),
]


@pytest.mark.parametrize(("inner", "another"), EXCLUDED)
def test_unknown_name__excluded__matches_the_systems_that_have_another(
    inner: str, another: dict[str, Any]
) -> None:
    systems = Columns()
    systems.put(0, {"type": "Machine"})
    systems.put(1, {"type": "Machine", **another})
    assert matching(from_text(required(host(inner))), systems) == 0b10
    assert matching(from_text(required(host("<not>", inner, "</not>"))), systems) == 0
    (before,) = warnings_of(host(inner))
    assert "another" in before[1]


def test_existing_name__excluded__matches_systems_without_one_too() -> None:
    systems = Columns()
    systems.put(0, {"type": "Machine"})
    systems.put(1, {"type": "Machine", "pools": ["big"]})
    assert matching(from_text(required(host('<pool op="!=" value="big"/>'))), systems) == 0b01


def test_lab_controller_of_a_distro_tree__unknown_and_excluded__another_lab_has_the_tree() -> None:
    written = distro('<distrolabcontroller op="!=" value="lab.x"/>')
    stored = read_xml(written).recipe_sets[0].recipes[0].distro_requires
    newest = NewestFirst(
        [
            {"id": 1, "added_at": "2026-01-01", "urls": {}},
            {"id": 2, "added_at": "2026-01-01", "urls": {"lab.east.example.com": ["http://x/"]}},
        ]
    )
    assert newest.fitting(DISTRO.from_text(stored)) == (2,)


def test_normalised_form__excluded_unknown_name__is_read_as_it_was() -> None:
    spec = read_xml(host('<pool op="!=" value="xx"/>'))
    assert read_json(spec.document) == spec


def test_forced_system__unknown__is_accepted_with_a_warning() -> None:
    written = job_xml(host='<hostRequires force="arm-40.east.example.com"/>')
    ((_, message),) = warnings_of(written)
    assert message == (
        'force: there is no system "arm-40.east.example.com"; did you mean arm-04.east.example.com? '
        "This part matches no system"
    )


NEAR = [
    ('<hostname op="=" value="x"/><arch value="x86-64"/>', "arches", "x86_64"),
    ('<key_value key="HVN" value="1"/>', "keys", "HVM"),
    ('<system><powertype value="ipmj"/></system>', "power_types", "ipmi"),
]


@pytest.mark.parametrize(("inner", "kind", "near"), NEAR)
def test_near_name__only_hidden_systems_have_it__is_not_suggested(inner: str, kind: str, near: str) -> None:
    ((_, message),) = warnings_of(host(inner))
    assert f"did you mean {near}?" in message
    shown = replace(NAMES, **{kind: getattr(NAMES, kind) - {near}})
    ((_, message),) = warnings_of(host(inner), visible=shown)
    assert "there is no" in message
    assert near not in message


def test_near_system__hidden__is_not_suggested() -> None:
    written = job_xml(host='<hostRequires force="arm-40.east.example.com"/>')
    ((_, message),) = warnings_of(written, visible=replace(NAMES, systems=frozenset()))
    assert "arm-04" not in message


def test_lab_controller_of_a_distro_tree__unknown__is_accepted_with_a_warning() -> None:
    ((_, message),) = warnings_of(distro('<distrolabcontroller value="lab.x"/>'))
    assert message == 'value: there is no lab controller "lab.x". This part matches no distro tree'


def test_preferred_pool__unknown__is_accepted_with_a_warning() -> None:
    ((_, message),) = warnings_of(job_document(recipe={"autopick": {"pools": ["bigg"]}}))
    assert message == 'there is no pool "bigg"; did you mean big? It prefers no system'


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "$sytem",
            (
                '"$sytem" is taken as a plain name; '
                "only these stand for other names: $guests, $lab, $pools, $system"
            ),
        ),
        ("{TARGET}", '"{TARGET}" is taken as a plain name; only operations have names of parameters'),
    ],
)
def test_name_of_a_lock__looks_like_more_than_a_name__is_accepted_with_a_warning(
    name: str, said: str
) -> None:
    document = job_document(recipe={"locks": {"network": {"Exclusive": ["$lab", name]}}})
    ((where, message),) = warnings_of(document)
    assert message == said
    assert where.endswith(": recipe_sets[0].recipes[0].locks.network.Exclusive[1]")


@pytest.mark.parametrize(
    "reason",
    [
        "rate-limit:0:san",
        "rate-limit:2:",
        "Rate-Limit:2:san",
        " rate-limit:2:san",
        "rate_limit:2:san",
        "RateLimit: 2:san",
    ],
)
def test_reason__is_nearly_a_rate_limit__is_accepted_with_a_warning(reason: str) -> None:
    document = {**job_document(), "reasons": ["rate-limit:2:san", reason]}
    ((where, message),) = warnings_of(document)
    assert where.endswith(": reasons[1]")
    assert message == f'"{reason}" is taken as a note: {FORM}'


def test_strict__any_warning__is_a_fault() -> None:
    body = host('<pool value="smal"/>', '<memory value=""/>')
    with pytest.raises(FaultyInput) as refused:
        warnings_of(body, strict=True)
    assert {fault.message for fault in refused.value.faults} == {
        'value: there is no pool "smal"; did you mean small?',
        EMPTY,
    }


def test_names__more_than_are_compared__the_near_one_is_found() -> None:
    many = frozenset(f"pool-{number:05}" for number in range(20_000))
    names = replace(NAMES, pools=many)
    read = read_job(host('<pool value="pool-12345x"/>'), "text/xml", names, "alice", False)
    assert "did you mean pool-12345?" in read.warnings[0].message


def test_warnings__beyond_bound__are_cut() -> None:
    body = host(*(f'<pool value="p{number}"/>' for number in range(300)))
    assert len(warnings_of(body)) == 101


def with_guest(requires: Any) -> dict[str, Any]:
    guest = {
        "guestargs": "--ram=1",
        "distro_requires": {"element": "name", "value": "G"},
        "host_requires": requires,
        "tasks": [{"name": "/g"}],
    }
    return job_document(recipe={"guests": [guest]})


@pytest.mark.parametrize(
    ("requires", "more"),
    [
        ({"element": "system_type", "value": "Virtual"}, 1),
        ({"element": "memroy", "value": 1}, 1),
        ({"element": "pool", "value": "nowhere"}, 0),
        ({"force": "x.example.com"}, 0),
    ],
)
def test_host_requirement_of_a_guest__of_any_kind__is_accepted_with_a_warning(
    requires: Any, more: int
) -> None:
    messages = [message for _, message in warnings_of(with_guest(requires))]
    assert len(messages) == 1 + more
    assert GUEST in messages
    ((recipe,),) = (each.recipes for each in read_json(with_guest(requires)).recipe_sets)
    assert recipe.guests[0].guestargs == "--ram=1"


def test_host_requirement_of_a_guest__empty__has_no_warning() -> None:
    assert warnings_of(with_guest({})) == []


def test_key_value__that_is_kept__is_still_one() -> None:
    assert KeyValue("HVM", "==", "") in from_text(required(host('<key_value key="HVM" value=""/>'))).children  # type: ignore[union-attr]
