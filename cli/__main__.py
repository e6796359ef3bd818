"""Entry point of `python -m cli`."""

from cli import main

main(prog_name="labledger")
