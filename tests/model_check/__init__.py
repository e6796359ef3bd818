"""The model check of design 4.3: what small labs can come to, by the production code, judged by other code.

`case` says what a lab is here, `enumeration` lists all small ones, `families` what is done to them. `explore`
goes through every state that can be reached, `walk` through some of those of larger labs; after every step
`decisions` and `rest` look whether a system was double-booked, a recipe jumped over, a wake-up lost, or
recipe sets wait for each other for ever. `taken_out` are the parts without which one of them must happen.
"""
