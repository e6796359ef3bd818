"""A job with many parts that scheduling ignores."""

from __future__ import annotations

from tests.intake.jobs import job_xml

RICH = job_xml(
    job='user="alice" retention_tag="ACTIVE" product="cpe:/o:x"',
    in_job="""<whiteboard> trimmed </whiteboard><notify><cc>a@b.c</cc></notify>
    <x:note xmlns:x="urn:x" a="1">kept <x:b/></x:note>""",
    recipe_set='priority="Urgent"',
    recipe='role="None" kernel_options="a=1" kernel_options_post="b" ks_meta="!c"',
    in_recipe="""<autopick random="1"><pool>storage</pool><pool>big</pool></autopick>
    <watchdog panic="None"/>
    <ks_appends><ks_append>%post</ks_append></ks_appends>
    <repos><repo name="r" url="http://r/"/></repos>
    <partitions><partition name="/" size="10" type="lvm" fs="xfs"/></partitions>""",
)
