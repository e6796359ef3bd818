"""Faults of a job are reported all at once, each at its place, in XML and JSON."""

from __future__ import annotations

from tests.intake.jobs import faults_of, job_xml, read_xml

FIVE_XML = b"""<job retention_tag="scratch" colour="red">
  <whiteboard>five faults</whiteboard>
  <recipeSet priority="Highest">
    <recipe>
      <watchdog/>
      <watchdog/>
      <distroRequires><name value="F"/></distroRequires>
      <hostRequires>
        <and>
          <memroy op="&gt;=" value="1"/>
          <cpu><sockets op="&gt;=" value="two"/></cpu>
        </and>
      </hostRequires>
      <task name="/t"/>
    </recipe>
  </recipeSet>
</job>"""


def test_five_faults__in_xml__are_reported_with_their_lines() -> None:
    assert faults_of(FIVE_XML) == [
        ("line 1, <job>", 'unknown attribute "colour"'),
        ("line 3, <recipeSet>", "priority: must be 'Low', 'Medium', 'Normal', 'High' or 'Urgent'"),
        ("line 6, <watchdog>", "<watchdog> may occur here only once"),
        ("line 10, <memroy>", "unknown element <memroy> in <and>; did you mean <memory>?"),
        ("line 11, <sockets>", "value: must be a whole number"),
    ]


FIVE_JSON = b"""{
  "colour": "red",
  "recipe_sets": [{
    "priority": "Highest",
    "recipes": [
      {
        "distro_requires": {},
        "host_requires": {"and": [
          {"element": "memroy", "op": ">=", "value": 1},
          {"element": "cpu/sockets",
           "value": "two"}]},
        "tasks": [{"name": "/a"},
                  {"name": ""}]
      }
    ]
  }]
}"""


def test_five_faults__in_json__are_reported_with_their_lines() -> None:
    recipe = "recipe_sets[0].recipes[0]"
    assert faults_of(FIVE_JSON) == [
        ("line 2: colour", 'unknown field "colour"'),
        (
            "line 4: recipe_sets[0].priority",
            "must be 'Low', 'Medium', 'Normal', 'High' or 'Urgent'",
        ),
        (f"line 9: {recipe}.host_requires.and[0]", 'unknown element "memroy"; did you mean memory?'),
        (f"line 11: {recipe}.host_requires.and[1].value", "must be a whole number"),
        (f"line 13: {recipe}.tasks[1].name", "must not be empty"),
    ]


def test_admin__names_any_group_and_owner__is_accepted() -> None:
    spec = read_xml(job_xml(job='user="bob" group="net-qe"'), "carol", is_admin=True)
    assert (spec.owner, spec.group) == ("bob", "net-qe")


def test_faults__beyond_bound__are_counted() -> None:
    many = "".join(f'<x{number} value="1"/>' for number in range(150))
    faults = faults_of(job_xml(host=f"<hostRequires>{many}</hostRequires>"))
    assert len(faults) == 101
    assert faults[-1] == ("document", "and 50 more errors")
