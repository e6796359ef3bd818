"""The command line: `labledger`. Each command is a module, imported when it is called."""

from __future__ import annotations

import click

from api.cli.lazy import Entry, LazyGroup, version

SECTIONS = {
    "Jobs": {
        "submit": Entry("api.cli.jobs.submit:submit", "Submit jobs, XML or JSON."),
        "sample": Entry("api.cli.jobs.sample:sample", "Print a sample job, or a sample lab."),
        "workflow": Entry("api.cli.workflow.command:workflow", "Write a job by options: its XML."),
        "matches": Entry(
            "api.cli.jobs.matches:matches", "Show which systems could run a job, before it is submitted."
        ),
        "watch": Entry("api.cli.jobs.watch:watch", "Follow a job until it is finished."),
        "job": Entry("api.cli.jobs.job:job", "Show a job and where its recipes stand."),
        "jobs": Entry("api.cli.lists.filtered:jobs", "List jobs, newest first."),
        "recipe": Entry("api.cli.jobs.recipe:recipe", "Show a recipe and the history of its states."),
        "queue": Entry("api.cli.lists.filtered:queue", "List the recipes that wait, in rank order."),
        "explain": Entry(
            "api.cli.jobs.explain:explain", "Explain why a recipe waits, or why it got its system."
        ),
        "cancel": Entry("api.cli.jobs.changes:cancel", "Cancel a job."),
        "cancel-set": Entry("api.cli.jobs.changes:cancel_set", "Cancel one recipe set of a job."),
        "set-job": Entry("api.cli.jobs.changes:set_job", "Change what a job says of itself."),
        "set-priority": Entry(
            "api.cli.jobs.changes:set_priority", "Change the priority of a waiting recipe set."
        ),
        "return": Entry("api.cli.jobs.changes:give_back", "Return the system that a recipe keeps."),
    },
    "Labs": {
        "overview": Entry("api.cli.overview.command:overview", "Show how the lab is, in one screen."),
        "systems": Entry("api.cli.lists.filtered:systems", "List the systems and what they do."),
        "system": Entry("api.cli.things.system:system", "Show a system, add, change and reserve one."),
        "usage": Entry("api.cli.things.usage:usage", "Show how much of their time systems spend with what."),
        "idle": Entry("api.cli.lists.systems:idle", "List the systems that have nothing to do."),
        "lab-controllers": Entry("api.cli.lists.systems:lab_controllers", "List the lab controllers."),
        "lab-controller": Entry(
            "api.cli.things.directory:lab_controller", "Show a lab controller, enable or disable it."
        ),
        "distro-trees": Entry("api.cli.lists.directory:distro_trees", "List the distro trees."),
        "distro-tree": Entry(
            "api.cli.things.directory:distro_tree", "Show a distro tree, add, change or delete it."
        ),
        "pools": Entry("api.cli.lists.directory:pools", "List the pools."),
        "pool": Entry("api.cli.things.directory:pool", "Show a pool, change it, put systems into it."),
        "policy": Entry("api.cli.things.policy:policy", "Show who may do what with systems, grant it."),
        "lab": Entry("api.cli.lab.command:lab", "Load a lab, simulate its machines."),
    },
    "Log": {
        "events": Entry("api.cli.log.events:events", "Read the log, or follow it."),
        "reads": Entry("api.cli.log.reads:reads", "List what auditors have read."),
        "replay": Entry("api.cli.log.replay:replay", "Fold the log again: read models, decisions."),
    },
    "People": {
        "login": Entry("api.cli.people.login:login", "Log in with a password."),
        "logout": Entry("api.cli.people.login:logout", "Forget the login, and revoke its token."),
        "whoami": Entry("api.cli.people.login:whoami", "Show who you are to the server."),
        "password": Entry("api.cli.people.login:password", "Set your password."),
        "users": Entry("api.cli.lists.directory:users", "List the users."),
        "user": Entry("api.cli.things.directory:user", "Show a user, add, change or delete one."),
        "groups": Entry("api.cli.lists.directory:groups", "List the groups."),
        "group": Entry("api.cli.things.directory:group", "Show a group, change who is in it."),
        "token": Entry("api.cli.people.tokens:token", "Make access tokens, list and revoke them."),
    },
    "Service": {
        "up": Entry("api.cli.service.up:up", "Run all of Labledger here, in the foreground."),
        "migrate": Entry("api.cli.service.services:migrate", "Bring the database to this version."),
        "serve": Entry("api.cli.service.services:serve", "Run the HTTP API."),
        "scheduler": Entry("api.cli.service.services:scheduler", "Run the scheduler."),
        "projector": Entry("api.cli.service.services:projector", "Keep the read models up to date."),
        "bench": Entry("api.cli.service.bench:bench", "Measure how fast it is here."),
        "completion": Entry("api.cli.service.completion:completion", "Make a shell complete all this."),
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
