"""The table of events that raise wake-ups or other quiet triggers, with the case for each.

A wake-up searches the queue again for idle systems (design section 2). Its subject names these systems:
`system/F` one system; `lab-controller/L` all systems of the lab; `recipe-set/N` the systems that are viable
for the recipes of the set. A let-go trigger names the lab whose holders are checked. An admission trigger
names a job or set that has ended, a set, or the partition: sets that admission ends because of it are ended.
A locks trigger names the partition whose sets may get their locks. A claims trigger names a recipe, a system,
or a lab with systems, whose claims may begin or end.

A rule must not depend on the systems that are idle or held when its event is folded: the next commit in the
log may be a decision that was made before the scheduler read the event.
"""

from __future__ import annotations

from domain.scheduling.world.directory_wake_ups import DIRECTORY_RULES
from domain.scheduling.world.recipe_wake_ups import RECIPE_RULES
from domain.scheduling.world.system_wake_ups import SYSTEM_RULES
from domain.scheduling.world.trigger_rules import TriggerRule

TRIGGER_RULES: tuple[TriggerRule, ...] = (*SYSTEM_RULES, *RECIPE_RULES, *DIRECTORY_RULES)
