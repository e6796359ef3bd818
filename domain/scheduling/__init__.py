"""Which recipe gets which system, and why: functions of what the log says (design sections 4 and 5).

`partition` is the world folded from the log; `labs`, `availability`, `recipe_sets`, `filters` and `ranked`
are its indexes; `rules` say who is viable, `reasons` why nobody is; `decide` takes triggers in log order and
answers each.
"""
