"""Which recipe gets which system, and why: functions of what the log says (design sections 4 and 5).

`partition` is the world folded from the log; `filters` and `ranked` are its indexes; `rules` say who is
viable; `new_job` and `pending_system` answer the two triggers; `decide` takes triggers in log order.
"""
