"""`python -m cli`: the command line without its script."""

from cli import main

main(prog_name="labledger")
