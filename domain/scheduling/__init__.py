"""Which recipe gets which system, and why: functions of what the log says (design sections 4 and 5).

`partition` is the world folded from the log; `labs`, `filters` and `ranked` are its indexes; `rules` say who
is viable, `reasons` why nobody is; `decide` takes triggers in log order and answers each.
"""
