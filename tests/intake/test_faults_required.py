"""Requirements in XML: each fault is reported once, at its line."""

from __future__ import annotations

import pytest

from tests.intake.jobs import faults_of, job_xml

POOL = '<hostRequires><or><pool value="huge"/></or></hostRequires>'


@pytest.mark.parametrize(
    ("body", "where", "message"),
    [
        (job_xml(host=POOL), "line 5, <pool>", 'value: there is no pool "huge"'),
        (
            job_xml(host='<hostRequires><key_value key="K"/></hostRequires>'),
            "line 5, <key_value>",
            'key: there is no key "K"',
        ),
        (
            job_xml(host='<hostRequires><arch value="vax"/></hostRequires>'),
            "line 5, <arch>",
            'value: there is no architecture "vax"',
        ),
        (job_xml(host="<hostRequires>x</hostRequires>"), "line 5, <hostRequires>", "unexpected text"),
        (
            job_xml(host='<hostRequires force="arm-04.east.example.com">x</hostRequires>'),
            "line 5, <hostRequires>",
            "unexpected text",
        ),
        (
            job_xml(host='<hostRequires><and op="="/></hostRequires>'),
            "line 5, <and>",
            'unknown attribute "op"',
        ),
        (
            job_xml(host='<hostRequires><memory value="1"><and/></memory></hostRequires>'),
            "line 5, <and>",
            "<and> does not belong in <memory>",
        ),
        (
            job_xml(host='<hostRequires><annd><memory value="1"/></annd></hostRequires>'),
            "line 5, <annd>",
            "unknown element <annd> in <hostRequires>; did you mean <and>?",
        ),
        (
            job_xml(host="<hostRequires><disk><disk/></disk></hostRequires>"),
            "line 5, <disk>",
            "unknown element <disk> in <disk>",
        ),
        (
            job_xml(host='<hostRequires><system><owner value="x"/></system></hostRequires>'),
            "line 5, <owner>",
            'value: there is no user "x"',
        ),
        (
            job_xml(distro="<distroRequires><nam value='F'/></distroRequires>"),
            "line 4, <nam>",
            "unknown element <nam> in <distroRequires>; did you mean <name>?",
        ),
    ],
)
def test_requirement__one_fault__is_reported_once_at_its_line(body: bytes, where: str, message: str) -> None:
    assert faults_of(body) == [(where, message)]
