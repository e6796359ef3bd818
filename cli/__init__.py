"""The command line: `labledger`. Each command is a module, imported when it is called."""

from __future__ import annotations

import click

from cli.lazy import Entry, LazyGroup, version

SECTIONS = {
    "Jobs": {
        "submit": Entry("cli.jobs.submit:submit", "Submit jobs, XML or JSON."),
        "sample": Entry("cli.jobs.sample:sample", "Print a sample job, or a sample lab."),
        "workflow": Entry("cli.workflow.command:workflow", "Write a job by options: its XML."),
        "matches": Entry(
            "cli.jobs.matches:matches", "Show which systems could run a job, before it is submitted."
        ),
        "watch": Entry("cli.jobs.watch:watch", "Follow a job until it is finished."),
        "job": Entry("cli.jobs.job:job", "Show a job and where its recipes stand."),
        "jobs": Entry("cli.lists.filtered:jobs", "List jobs, newest first."),
        "recipe": Entry("cli.jobs.recipe:recipe", "Show a recipe and the history of its states."),
        "queue": Entry("cli.lists.filtered:queue", "List the recipes that wait, in rank order."),
        "explain": Entry("cli.jobs.explain:explain", "Explain why a recipe waits, or why it got its system."),
        "cancel": Entry("cli.jobs.changes:cancel", "Cancel a job."),
        "cancel-set": Entry("cli.jobs.changes:cancel_set", "Cancel one recipe set of a job."),
        "set-job": Entry("cli.jobs.changes:set_job", "Change what a job says of itself."),
        "set-priority": Entry(
            "cli.jobs.changes:set_priority", "Change the priority of a waiting recipe set."
        ),
        "return": Entry("cli.jobs.changes:give_back", "Return the system that a recipe keeps."),
    },
    "Labs": {
        "overview": Entry("cli.overview.command:overview", "Show how the lab is, in one screen."),
        "systems": Entry("cli.systems.inventory:systems", "List the systems and what they do."),
        "system": Entry("cli.systems.system:system", "Show a system, add, change and reserve one."),
        "usage": Entry("cli.systems.usage:usage", "Show how much of their time systems spend with what."),
        "idle": Entry("cli.lists.systems:idle", "List the systems that have nothing to do."),
        "lab-controllers": Entry("cli.lists.systems:lab_controllers", "List the lab controllers."),
        "lab-controller": Entry(
            "cli.directory.commands:lab_controller", "Show a lab controller, enable or disable it."
        ),
        "distro-trees": Entry("cli.lists.directory:distro_trees", "List the distro trees."),
        "distro-tree": Entry(
            "cli.directory.commands:distro_tree", "Show a distro tree, add, change or delete it."
        ),
        "pools": Entry("cli.lists.directory:pools", "List the pools."),
        "pool": Entry("cli.directory.commands:pool", "Show a pool, change it, put systems into it."),
        "policy": Entry("cli.systems.policy:policy", "Show who may do what with systems, grant it."),
        "lab": Entry("cli.lab.command:lab", "Load a lab, simulate its machines."),
    },
    "Log": {
        "events": Entry("cli.log.events:events", "Read the log, or follow it."),
        "reads": Entry("cli.log.reads:reads", "List what auditors have read."),
        "replay": Entry("cli.log.replay:replay", "Fold the log again: read models, decisions."),
    },
    "People": {
        "login": Entry("cli.people.login:login", "Log in with a password."),
        "logout": Entry("cli.people.login:logout", "Forget the login, and revoke its token."),
        "whoami": Entry("cli.people.login:whoami", "Show who you are to the server."),
        "password": Entry("cli.people.login:password", "Set your password."),
        "users": Entry("cli.lists.directory:users", "List the users."),
        "user": Entry("cli.directory.commands:user", "Show a user, add, change or delete one."),
        "groups": Entry("cli.lists.directory:groups", "List the groups."),
        "group": Entry("cli.directory.commands:group", "Show a group, change who is in it."),
        "token": Entry("cli.people.tokens:token", "Make access tokens, list and revoke them."),
    },
    "Service": {
        "up": Entry("cli.service.up:up", "Run all of Labledger here, in the foreground."),
        "migrate": Entry("cli.service.services:migrate", "Bring the database to this version."),
        "serve": Entry("cli.service.services:serve", "Run the HTTP API."),
        "scheduler": Entry("cli.service.services:scheduler", "Run the scheduler."),
        "projector": Entry("cli.service.services:projector", "Keep the read models up to date."),
        "bench": Entry("cli.service.bench:bench", "Measure how fast it is here."),
        "completion": Entry("cli.service.completion:completion", "Make a shell complete all this."),
    },
}


@click.command(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, callback=version, expose_value=False, is_eager=True, help="Show the version."
)
def main() -> None:
    """Schedule test recipes onto the machines of hardware labs.

    Exit status: 0 done, 1 refused or failed, 2 wrong usage, 130 ended by Ctrl-C, 141 by a pipe
    that nobody reads.
    """
