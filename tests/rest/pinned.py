"""A job that has to wait while another one of its kind runs."""

from __future__ import annotations

XML = {"Content-Type": "application/xml"}
# Only one machine has this name, so a second job has to wait.
PINNED = b"""<job><whiteboard>one of a kind</whiteboard><recipeSet priority="%b"><recipe>
<distroRequires><distro_name op="=" value="RHEL-9.6"/><distro_arch op="=" value="x86_64"/></distroRequires>
<hostRequires><hostname op="=" value="x86-08.west.example.com"/></hostRequires><task name="/x"/>
</recipe></recipeSet></job>"""
