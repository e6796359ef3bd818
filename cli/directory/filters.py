"""`labledger filter`: one job filter at a time."""

from __future__ import annotations

import functools
import re
from typing import IO, TYPE_CHECKING, Any

import click

from cli.arguments.as_of import as_of, read_as_of
from cli.arguments.exclusion import require_exclusive
from cli.arguments.params import Command, ParsedText, WholeNumber, WordChoice, read_json, reason_option
from cli.arguments.predicates import COMPARISON, METAVAR, action_of, all_of, predicate_text
from cli.directory.effects import matched_text, print_effects
from cli.directory.named import Kind, print_fields
from cli.lazy import SuggestingGroup
from cli.lists import completing
from cli.remote import remote, wide
from cli.terminal.output import Output, note
from domain.admission.job_filters import ACTIONS, MAX_PRIORITY, RATE_LIMITED
from domain.admission.predicates import FIELDS, OPERATORS
from domain.characters import NAME_PATTERN
from domain.directory.partitions import DEFAULT

if TYPE_CHECKING:
    from api.client import Client


def _name(text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, text):
        raise ValueError("must be letters, digits and . _ @ + -, beginning with a letter or digit")
    return text


FILTER = Kind(
    "job filter",
    "filters",
    click.argument("name", type=ParsedText("name", _name), shell_complete=completing.job_filters),
)

RULE_HELP = f"""

    \b
    ACTION is one of:
      ACCEPT      let the recipe sets start, whatever later filters say
      CONTINUE    have no effect: a filter that is switched off
      PAUSE       hold the recipe sets back
      REJECT      cancel the recipe sets that hold no system
      {RATE_LIMITED}  let at most --limit recipe sets hold systems at once

    \b
    FIELD is one of {", ".join(FIELDS)};
    OP is one of {" ".join(OPERATORS)}. The values of `in` are separated by commas, and `like`
    takes patterns with % and _. A value may be in double quotes; "" is the empty text. The job_id
    may be compared with watermark, the last job id given out when the filter is put.
"""


of_partition = click.option(
    "--partition",
    metavar="NAME",
    shell_complete=completing.partitions,
    help=f"The partition of the job filter [default: {DEFAULT}].",
)


@click.group("filter", cls=SuggestingGroup)
def job_filter() -> None:
    """Show, put, test and delete a job filter."""


@job_filter.command("show")
@FILTER.argument
@of_partition
@as_of
@remote
def show_filter(client: Client, output: Output, name: str, partition: str | None, as_of: str | None) -> None:
    """Show a job filter with its predicate as text."""
    path = FILTER.of(client, name)
    document = read_as_of(client, output, path, FILTER.called, name, as_of, partition=partition)
    if output.as_json:
        output.document(document)
    else:
        shown = {**document, "action": action_of(document), "limit": None}
        print_fields(output, {**shown, "predicate": predicate_text(document["predicate"])})


@job_filter.command("delete")
@FILTER.argument
@of_partition
@reason_option
@remote
def delete_filter(
    client: Client, output: Output, name: str, partition: str | None, reason: str | None
) -> None:
    """Delete a job filter. The log keeps its history. A new one of that name starts without it."""
    answer = client.delete(FILTER.of(client, name), partition=partition, reason=reason)
    FILTER.print_deleted(output, name, answer)


def rule_options(command: Command) -> Command:
    """Add the options of a rule to a command, which gets the rule as `rule`."""

    @functools.wraps(command)
    def with_rule(
        *args: Any,
        action: str | None,
        where: tuple[dict[str, Any], ...],
        predicate: IO[bytes] | None,
        **given: Any,
    ) -> None:
        fields = {name: given.pop(name) for name in ("priority", "limit", "reason")}
        require_exclusive({"--where": where, "--predicate": predicate})
        is_given = predicate is not None or any(value is not None for value in fields.values())
        if action is None and (where or is_given):
            raise click.UsageError("The options of a rule require ACTION.")
        if action is not None and (action == RATE_LIMITED) != (fields["limit"] is not None):
            raise click.UsageError(f"{RATE_LIMITED} requires --limit, and no other action takes it.")
        form = all_of(where) if predicate is None else read_json(predicate)
        rule = {"action": action, "predicate": form, **fields}
        command(*args, rule={name: value for name, value in rule.items() if value is not None}, **given)

    with_rule.__doc__ = f"{command.__doc__}{RULE_HELP}"
    for option in reversed(_RULE_OPTIONS):
        with_rule = option(with_rule)
    return with_rule


_RULE_OPTIONS = (
    click.option(
        "--where",
        type=COMPARISON,
        metavar=METAVAR,
        multiple=True,
        help="Only recipe sets with this property. Repeatable: all must be true [default: all recipe sets].",
    ),
    click.option(
        "--predicate",
        type=click.File("rb", lazy=False),
        metavar="FILE",
        help="Only recipe sets that this predicate matches, as JSON; - for standard input. A comparison is"
        ' {"field": "user", "op": "=", "value": "ada"}; {"and": […]}, {"or": […]} and {"not": …} join them.',
    ),
    click.option(
        "--priority",
        type=WholeNumber(0, MAX_PRIORITY),
        metavar="NUMBER",
        help="Place among the filters, 0 first [default: 0].",
    ),
    click.option(
        "--limit",
        type=WholeNumber(),
        metavar="NUMBER",
        help=f"With {RATE_LIMITED}: the number of recipe sets that may hold systems at once.",
    ),
    click.option("--reason", metavar="TEXT", help="Reason that the submitters see [default: none]."),
)


@job_filter.command("put")
@FILTER.argument
@click.argument("action", metavar="ACTION", type=WordChoice(ACTIONS))
@rule_options
@of_partition
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing: check the filter, and show which recipe sets it would hold back, end or free.",
)
@wide
@remote
def put_filter(
    client: Client, output: Output, name: str, rule: dict[str, Any], partition: str | None, dry_run: bool
) -> None:
    """Add the job filter NAME, or replace it.

    Filters are taken by priority, by age and by name. The first one that matches a recipe set, and is not
    CONTINUE, applies to it. No filter touches a recipe set that holds systems or has started.
    """
    put = functools.partial(client.put, FILTER.of(client, name), rule, partition=partition)
    if output.as_json:
        FILTER.print_put(output, name, put(dry_run=dry_run or None))
        return
    # Only a dry run says what a filter does to recipe sets.
    answer = put(dry_run=True)
    effects = answer["effects"]
    if dry_run:
        FILTER.print_put(output, name, answer)
        print_effects(output, effects, matched_text(effects))
    else:
        FILTER.print_put(output, name, put())
        note(f"{matched_text(effects)}{effects['held_back']} held back or ended, {effects['freed']} freed")


@job_filter.command("test")
@FILTER.argument
@click.argument("action", metavar="[ACTION]", type=WordChoice(ACTIONS), required=False)
@rule_options
@of_partition
@wide
@remote
def show_effects(
    client: Client, output: Output, name: str, rule: dict[str, Any], partition: str | None
) -> None:
    """Show what a job filter would hold back or free.

    Lists the unfinished recipe sets that the job filter NAME would match, hold back and free.

    Without ACTION, test the filter NAME as it is. With ACTION and options, test NAME as if it was put with
    them. Nothing is changed.
    """
    path = FILTER.of(client, name)
    wanted = rule or _rule_of(client.get(path, partition=partition))
    answer = client.put(path, wanted, dry_run=True, partition=partition)
    if output.as_json:
        output.document(answer)
        return
    print_effects(output, answer["effects"], matched_text(answer["effects"]))


def _rule_of(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in ("action", "predicate", "priority", "limit", "reason")}
