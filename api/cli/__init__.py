"""The command line: `labledger`. Each command is a module, imported when it is called."""

from __future__ import annotations

import click

from api.cli.lazy import Entry, LazyGroup, version

SECTIONS = {
    "Jobs": {
        "submit": Entry("api.cli.submit:submit", "Submit jobs, XML or JSON."),
        "watch": Entry("api.cli.watch:watch", "Follow a job until it is finished."),
        "job": Entry("api.cli.job:job", "Show a job and where its recipes stand."),
        "jobs": Entry("api.cli.lists:jobs", "List jobs, newest first."),
        "recipe": Entry("api.cli.recipe:recipe", "Show a recipe and the history of its states."),
        "queue": Entry("api.cli.lists:queue", "List the recipes that wait, in rank order."),
        "cancel": Entry("api.cli.recipe_sets:cancel", "Cancel a job."),
        "cancel-set": Entry("api.cli.recipe_sets:cancel_set", "Cancel one recipe set of a job."),
        "set-job": Entry("api.cli.recipe_sets:set_job", "Change what a job says of itself."),
        "set-priority": Entry(
            "api.cli.recipe_sets:set_priority", "Change the priority of a waiting recipe set."
        ),
        "return": Entry("api.cli.recipe_sets:give_back", "Return the system that a recipe keeps."),
    },
    "Labs": {
        "overview": Entry("api.cli.overview:overview", "Show how the lab is, in one screen."),
        "systems": Entry("api.cli.lists:systems", "List the systems and what they do."),
        "system": Entry("api.cli.system:system", "Show a system, add, change and reserve one."),
        "usage": Entry("api.cli.usage:usage", "Show how much of their time systems spend with what."),
        "idle": Entry("api.cli.lists:idle", "List the systems that have nothing to do."),
        "lab-controllers": Entry("api.cli.lists:lab_controllers", "List the lab controllers."),
        "lab-controller": Entry(
            "api.cli.directory:lab_controller", "Show a lab controller, enable or disable it."
        ),
        "distro-trees": Entry("api.cli.directory_lists:distro_trees", "List the distro trees."),
        "distro-tree": Entry(
            "api.cli.directory:distro_tree", "Show a distro tree, add, change or delete it."
        ),
        "pools": Entry("api.cli.directory_lists:pools", "List the pools."),
        "pool": Entry("api.cli.directory:pool", "Show a pool, change it, put systems into it."),
        "lab": Entry("api.cli.lab:lab", "Load a lab, simulate its machines."),
    },
    "Log": {
        "events": Entry("api.cli.events:events", "Read the log, or follow it."),
        "reads": Entry("api.cli.reads:reads", "List what auditors have read."),
        "replay": Entry("api.cli.replay:replay", "Fold the log again: rebuild the read models."),
    },
    "People": {
        "login": Entry("api.cli.login:login", "Log in with a password."),
        "logout": Entry("api.cli.login:logout", "Forget the login, and revoke its token."),
        "whoami": Entry("api.cli.login:whoami", "Show who you are to the server."),
        "password": Entry("api.cli.login:password", "Set your password."),
        "users": Entry("api.cli.directory_lists:users", "List the users."),
        "user": Entry("api.cli.directory:user", "Show a user, add, change or delete one."),
        "groups": Entry("api.cli.directory_lists:groups", "List the groups."),
        "group": Entry("api.cli.directory:group", "Show a group, change who is in it."),
        "token": Entry("api.cli.tokens:token", "Make access tokens, list and revoke them."),
    },
    "Service": {
        "up": Entry("api.cli.up:up", "Run all of Labledger here, in the foreground."),
        "migrate": Entry("api.cli.services:migrate", "Bring the database to this version."),
        "serve": Entry("api.cli.services:serve", "Run the HTTP API."),
        "scheduler": Entry("api.cli.services:scheduler", "Run the scheduler."),
        "projector": Entry("api.cli.services:projector", "Keep the read models up to date."),
        "completion": Entry("api.cli.completion:completion", "Make a shell complete all this."),
    },
}


@click.command(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, callback=version, expose_value=False, is_eager=True, help="Show the version."
)
def main() -> None:
    """Schedule test recipes onto the machines of hardware labs.

    Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 ended by Ctrl-C.
    """
