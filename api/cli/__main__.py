"""`python -m api.cli`: the command line without its script."""

from api.cli import main

main(prog_name="labledger")
