"""The command line, `labledger`: a module for each command, imported when the command is called."""

from __future__ import annotations

import click

from cli.lazy import Entry, LazyGroup, version

SECTIONS = {
    "Jobs": {
        "submit": Entry("cli.jobs.submit:submit", "Submit jobs from XML or JSON files."),
        "sample": Entry("cli.jobs.sample:sample", "Print a sample job, or a sample lab."),
        "workflow": Entry("cli.workflow.command:workflow", "Print the XML of a job described by options."),
        "matches": Entry(
            "cli.jobs.matches:matches", "Show which systems could run a job before you submit it."
        ),
        "watch": Entry("cli.jobs.watch:watch", "Follow a job until it is finished."),
        "job": Entry("cli.jobs.job:job", "Show a job and the states of its recipes."),
        "jobs": Entry("cli.lists.filtered:jobs", "List jobs, newest first."),
        "recipe": Entry("cli.jobs.recipe:recipe", "Show a recipe and the history of its states."),
        "queue": Entry("cli.lists.filtered:queue", "List the waiting recipes in rank order."),
        "explain": Entry("cli.jobs.explain:explain", "Explain why a recipe waits, or why it got its system."),
        "cancel": Entry("cli.jobs.changes:cancel", "Cancel a job."),
        "cancel-set": Entry("cli.jobs.changes:cancel_set", "Cancel one recipe set of a job."),
        "set-job": Entry("cli.jobs.changes:set_job", "Change the properties of a job."),
        "set-priority": Entry(
            "cli.jobs.changes:set_priority", "Change the priority of a waiting recipe set."
        ),
        "return": Entry("cli.jobs.changes:give_back", "Return the system that a recipe has reserved."),
    },
    "Labs": {
        "overview": Entry("cli.overview.command:overview", "Show the state of the labs on one screen."),
        "systems": Entry("cli.systems.inventory:systems", "List the systems, their condition and usage."),
        "system": Entry("cli.systems.system:system", "Show, add, change, reserve or lend a system."),
        "usage": Entry("cli.systems.usage:usage", "Show how systems spend their time."),
        "idle": Entry("cli.lists.systems:idle", "List the idle systems."),
        "lab-controllers": Entry("cli.lists.systems:lab_controllers", "List the lab controllers."),
        "lab-controller": Entry(
            "cli.directory.commands:lab_controller", "Show, add, enable, disable or delete a lab controller."
        ),
        "distro-trees": Entry("cli.lists.directory:distro_trees", "List the distro trees."),
        "distro-tree": Entry(
            "cli.directory.commands:distro_tree", "Show, add, change or delete a distro tree."
        ),
        "pools": Entry("cli.lists.directory:pools", "List the pools."),
        "pool": Entry(
            "cli.directory.commands:pool", "Show, add, change or delete a pool; change its systems."
        ),
        "policy": Entry(
            "cli.systems.policy:policy", "Show and change the access policies of systems and pools."
        ),
        "lab": Entry("cli.lab.command:lab", "Generate a lab, load it, and simulate its machines."),
    },
    "Log": {
        "events": Entry("cli.log.events:events", "Show the events of the log, or follow it."),
        "reads": Entry("cli.log.reads:reads", "List the recorded reads of auditors."),
        "replay": Entry(
            "cli.log.replay:replay", "Rebuild the read models from the log, and verify its decisions."
        ),
    },
    "People": {
        "login": Entry("cli.people.login:login", "Log in with a password."),
        "logout": Entry("cli.people.login:logout", "Log out, and revoke the token of the login."),
        "whoami": Entry("cli.people.login:whoami", "Show your user and role at the server."),
        "password": Entry("cli.people.login:password", "Set your password, or as an admin that of a user."),
        "users": Entry("cli.lists.directory:users", "List the users."),
        "user": Entry("cli.directory.commands:user", "Show, add, change or delete a user."),
        "groups": Entry("cli.lists.directory:groups", "List the groups."),
        "group": Entry(
            "cli.directory.commands:group", "Show, add, change or delete a group; change its members."
        ),
        "token": Entry("cli.people.tokens:token", "Create, list and revoke access tokens."),
    },
    "Service": {
        "up": Entry("cli.service.up:up", "Run all of Labledger in the foreground."),
        "migrate": Entry("cli.service.services:migrate", "Migrate the database to this version."),
        "serve": Entry("cli.service.services:serve", "Run the HTTP API."),
        "scheduler": Entry("cli.service.services:scheduler", "Run the scheduler."),
        "projector": Entry("cli.service.services:projector", "Keep the read models up to date."),
        "bench": Entry("cli.service.bench:bench", "Measure the performance of Labledger on this machine."),
        "completion": Entry("cli.service.completion:completion", "Print a completion script for a shell."),
    },
}


@click.command(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, callback=version, expose_value=False, is_eager=True, help="Show the version."
)
def main() -> None:
    """Schedule test recipes onto the machines of hardware labs.

    Exit status: 0 success, 1 refused or failed, 2 wrong usage, 130 interrupted by Ctrl-C, 141 output
    pipe closed.
    """
