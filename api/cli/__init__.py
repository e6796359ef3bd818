"""The command line: `labledger`. Each command is a module, imported when it is called."""

from __future__ import annotations

import click

from api.cli.lazy import Entry, LazyGroup, version

COMMANDS = {
    "up": Entry("api.cli.up:up", "Run all of Labledger here, in the foreground."),
    "migrate": Entry("api.cli.services:migrate", "Bring the database to this version."),
    "serve": Entry("api.cli.services:serve", "Run the HTTP API."),
    "scheduler": Entry("api.cli.services:scheduler", "Run the scheduler."),
    "projector": Entry("api.cli.services:projector", "Keep the read models up to date."),
    "submit": Entry("api.cli.submit:submit", "Submit jobs, XML or JSON."),
    "watch": Entry("api.cli.watch:watch", "Follow a job until it is finished."),
    "cancel": Entry("api.cli.recipe_sets:cancel", "Cancel a job."),
    "cancel-set": Entry("api.cli.recipe_sets:cancel_set", "Cancel one recipe set of a job."),
    "set-priority": Entry("api.cli.recipe_sets:set_priority", "Change the priority of a waiting recipe set."),
    "return": Entry("api.cli.recipe_sets:give_back", "Return the system that a recipe keeps."),
    "jobs": Entry("api.cli.lists:jobs", "List jobs, newest first."),
    "recipe": Entry("api.cli.recipe:recipe", "Show a recipe and the history of its states."),
    "queue": Entry("api.cli.lists:queue", "List the recipes that wait, in rank order."),
    "idle": Entry("api.cli.lists:idle", "List the systems that have nothing to do."),
    "systems": Entry("api.cli.lists:systems", "List the systems and what they do."),
    "system": Entry("api.cli.system:system", "Show a system, change it, reserve it."),
    "lab-controllers": Entry("api.cli.lists:lab_controllers", "List the lab controllers."),
    "lab-controller": Entry("api.cli.named:lab_controller", "Enable or disable a lab controller."),
    "distro-tree": Entry("api.cli.named:distro_tree", "Remove a distro tree."),
    "events": Entry("api.cli.events:events", "Read the log."),
    "lab": Entry("api.cli.lab:lab", "Load a lab, simulate its machines."),
    "token": Entry("api.cli.tokens:token", "Make access tokens."),
}


@click.command(cls=LazyGroup, entries=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, callback=version, expose_value=False, is_eager=True, help="Show the version."
)
def main() -> None:
    """Schedule test recipes onto the machines of hardware labs.

    Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 ended by Ctrl-C.
    """
