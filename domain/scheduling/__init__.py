"""The scheduler: a pure function from the log to decisions (docs/design.md, sections 4 and 5).

README.md has a diagram of the packages, the vocabulary, and the path of one trigger.
"""
