"""The command line, `labledger`: a module for each command, imported when the command is called."""

from __future__ import annotations

import click

from cli.lazy import LazyGroup, version

SECTIONS = {
    "Jobs": {
        "submit": ("cli.jobs.submit:submit", "Submit jobs from XML or JSON files."),
        "rerun": ("cli.jobs.rerun:rerun", "Submit a copy of a job, or of what failed."),
        "sample": ("cli.jobs.sample:sample", "Print a sample job, or a sample lab."),
        "workflow": ("cli.workflow.command:workflow", "Print the XML of a job described by options."),
        "matches": ("cli.jobs.matches:matches", "Show which systems could run a job before you submit it."),
        "weigh": ("cli.jobs.weigh:weigh", "Compute the weight of a recipe set from its resource locks."),
        "watch": ("cli.jobs.watch:watch", "Follow a job until it is finished."),
        "job": ("cli.jobs.job:job", "Show a job and the states of its recipes."),
        "jobs": ("cli.lists.filtered:jobs", "List jobs, newest first."),
        "recipe": ("cli.jobs.recipe:recipe", "Show a recipe and the history of its states."),
        "results": ("cli.jobs.results:results", "Show the results of a job, what failed first."),
        "logs": ("cli.jobs.logs:logs", "List or fetch the log files of a recipe."),
        "review": ("cli.jobs.review:review", "Review the results of a recipe set that has ended."),
        "waive": ("cli.jobs.review:waive", "Waive the failure of a task, or all failures of a recipe set."),
        "keep": ("cli.jobs.retention:keep", "Keep the results and logs of a job."),
        "retention": ("cli.jobs.retention:retention", "Show how long results and logs of jobs are kept."),
        "recipe-set": (
            "cli.jobs.recipe_set:recipe_set",
            "Show a recipe set with its resource locks, weight and admission.",
        ),
        "queue": ("cli.lists.waiting:queue", "List the recipes that wait for a system, by priority."),
        "claims": ("cli.lists.claims:claims", "List the claims of waiting recipes to busy systems."),
        "locks": ("cli.lists.locks:locks", "List the resource locks that recipes hold or await."),
        "explain": ("cli.jobs.explain:explain", "Explain why a recipe waits, or why it got its system."),
        "estimate": ("cli.jobs.estimate:estimate", "Estimate when a waiting recipe starts."),
        "cancel": ("cli.jobs.changes:cancel", "Cancel a job."),
        "cancel-set": ("cli.jobs.changes:cancel_set", "Cancel one recipe set of a job."),
        "add-sets": ("cli.jobs.open_jobs:add_sets", "Add recipe sets to an open job."),
        "close-job": ("cli.jobs.open_jobs:close_job", "Close an open job, which takes no more recipe sets."),
        "set-recipe": ("cli.jobs.changes:set_recipe", "Change a recipe before its set has started."),
        "set-job": ("cli.jobs.changes:set_job", "Change the properties of a job."),
        "set-priority": ("cli.jobs.changes:set_priority", "Change the priority of a waiting recipe set."),
        "extend": ("cli.jobs.extend:extend", "Give a recipe, a reservation or a loan more time."),
        "return": ("cli.jobs.changes:give_back", "Return the system that a recipe has reserved."),
    },
    "Labs": {
        "overview": ("cli.overview.command:overview", "Show the state of the labs on one screen."),
        "systems": ("cli.systems.inventory:systems", "List the systems, their condition and usage."),
        "system": ("cli.systems.system:system", "Show, add, change, reserve and lend a system."),
        "maintenance": (
            "cli.systems.maintenance:maintenance",
            "Add, list, show, move and end maintenance windows.",
        ),
        "import": ("cli.systems.beaker:import_group", "Import CSV files of Beaker."),
        "export": ("cli.systems.beaker:export_group", "Export CSV files for Beaker."),
        "usage": ("cli.systems.usage:usage", "Show how systems spend their time."),
        "who": ("cli.systems.who:who", "Show who had a system, and who ordered it."),
        "waits": ("cli.jobs.waits:waits", "Show how long recipes waited until they started."),
        "timeline": ("cli.systems.timeline:timeline", "Show what systems did over time, one line for each."),
        "reconciliations": (
            "cli.lists.reconciliations:reconciliations",
            "List the occupied systems, which nobody can have.",
        ),
        "idle": ("cli.lists.filtered:idle", "List the idle systems that could be granted now."),
        "lab-controllers": ("cli.lists.filtered:lab_controllers", "List the lab controllers."),
        "lab-controller": (
            "cli.directory.commands:lab_controller",
            "Show, add, enable, disable and delete a lab controller.",
        ),
        "distro-trees": ("cli.lists.directory:distro_trees", "List the distro trees."),
        "distro-tree": ("cli.directory.commands:distro_tree", "Show, add, change and delete a distro tree."),
        "pools": ("cli.lists.directory:pools", "List the pools."),
        "pool": (
            "cli.directory.commands:pool",
            "Show, add, change and delete a pool; add and remove its systems.",
        ),
        "policy": ("cli.systems.policy:policy", "Show and change the access policies of systems and pools."),
        "lab": ("cli.lab.command:lab", "Generate a lab, load it, and simulate its machines."),
    },
    "Admission": {
        "filters": (
            "cli.lists.filtered:filters",
            "List the job filters, in the order in which they are taken.",
        ),
        "filter": ("cli.directory.filters:job_filter", "Show, put, test and delete a job filter."),
        "partitions": ("cli.directory.partitions:partitions", "List the partitions and their states."),
        "partition": (
            "cli.directory.partitions:partition",
            "Create, show, configure, start, drain, stop and remove a partition.",
        ),
        "queues": ("cli.directory.queues:queues", "List the queues of a partition with their usage."),
        "operations": (
            "cli.directory.partitions:operations",
            "List the locks that tasks declare by operation.",
        ),
    },
    "Log": {
        "events": ("cli.log.events:events", "Show the events of the log, or follow new ones."),
        "reads": ("cli.log.reads:reads", "List the recorded reads of auditors."),
        "replay": (
            "cli.log.replay:replay",
            "Rebuild the read models from the log, or verify the recorded decisions.",
        ),
    },
    "People": {
        "login": ("cli.people.login:login", "Log in with a password."),
        "logout": ("cli.people.login:logout", "Log out, and revoke the token of the login."),
        "whoami": ("cli.people.login:whoami", "Show your user and role at the server."),
        "password": (
            "cli.people.login:password",
            "Set your password, or as an admin the password of a user.",
        ),
        "notifications": (
            "cli.people.notifications:notifications",
            "Choose the notifications that you get by mail and by webhook.",
        ),
        "users": ("cli.lists.directory:users", "List the users."),
        "ldap": ("cli.directory.ldap:ldap", "Sync people and groups with LDAP."),
        "user": ("cli.directory.commands:user", "Show, add, change and delete a user."),
        "groups": ("cli.lists.directory:groups", "List the groups."),
        "group": (
            "cli.directory.commands:group",
            "Show, add, change and delete a group; add and remove members.",
        ),
        "token": ("cli.people.tokens:token", "Create, list and revoke access tokens."),
    },
    "Service": {
        "doctor": ("cli.log.doctor:doctor", "Check that the sums over recipes, systems and limits agree."),
        "up": ("cli.service.up:up", "Run all services of Labledger in the foreground."),
        "migrate": ("cli.service.services:migrate", "Migrate the database to the schema of this version."),
        "serve": ("cli.service.services:serve", "Run the HTTP API."),
        "scheduler": ("cli.service.services:scheduler", "Run the scheduler."),
        "projector": ("cli.service.services:projector", "Keep the read models up to date."),
        "notifier": ("cli.service.services:notifier", "Send notifications by mail and to webhooks."),
        "boards": ("cli.service.boards:boards", "Write the boards of Grafana as files."),
        "bench": ("cli.service.bench:bench", "Measure the performance of Labledger on this machine."),
        "completion": ("cli.service.completion:completion", "Print a completion script for a shell."),
    },
}


@click.command(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, callback=version, expose_value=False, is_eager=True, help="Show the version."
)
def main() -> None:
    """Schedule test recipes onto the machines of hardware labs.

    Exit status: 0 success; 1 refused, failed, or another result that the help of the command names; 2 wrong
    usage; 130 interrupted by Ctrl-C; 141 the reader of the output closed the pipe.
    """
