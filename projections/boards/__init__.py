"""The boards of Grafana, written with the Grafana Foundation SDK, and their JSON, which is shipped.

Only the extra `boards` installs the SDK. `files.py`, which copies the shipped files, needs none. After a
change run `python -m projections.boards`, which writes the JSON again.
"""
