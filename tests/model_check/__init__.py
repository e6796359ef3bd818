"""The model check of design 4.3: all reachable states of small labs, run by the production code.

`case` defines labs, `enumeration` lists all small ones, `families` the actions. `explore` visits every
reachable state, `walk` a sample for larger labs. `partitioned` has the world of two partitions. After every
step `decisions` and `invariants`, which share no code with the scheduler, look for double bookings, queue
jumps, lost wake-ups and deadlocks.
`removed_parts` lists parts of the scheduler without which one of these must happen.
"""
