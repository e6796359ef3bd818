"""`labledger replay verify`: is each decision in the log the one that the policy demands?"""

from __future__ import annotations

from typing import Any

import click

from api.cli.arguments.setting_flags import data_option
from api.cli.terminal.output import Output
from api.cli.terminal.progress import told_by_a_bar


@click.command
@data_option
@click.option("--json", "as_json", is_flag=True, help="For machines: JSON instead of text.")
def verify(data: str | None, as_json: bool) -> None:
    """Make every scheduling decision of the log again, and compare.

    Twice, by processes in which texts hash otherwise. Exit status 1 when a decision is not the one that its
    basis demands, or could not be checked. Everything may run meanwhile. The database is that of
    LABLEDGER_OWNER_DATABASE_URL or LABLEDGER_DATABASE_URL, else that of the `labledger up` which runs.
    """
    from api.embedded.running import database_url
    from api.settings import Settings
    from api.verification.verify import verify as made_again

    url = database_url(Settings.read(data=data))
    with told_by_a_bar() as told:
        answers = made_again(url, told)
    Output(as_json).line({"hash_seeds": answers}, "\n".join(_lines(answers)))
    if not all(map(is_sound, answers.values())):
        raise click.exceptions.Exit(1)


def is_sound(answer: dict[str, Any]) -> bool:
    return not (answer["different"] or answer["unchecked"] or answer["mended"])


def _lines(answers: dict[str, Any]) -> list[str]:
    """Both found the same, mostly: then it is said once."""
    first, *others = answers.values()
    if all(other == first for other in others):
        return [*_told(first), f"found by each of {len(answers)} processes, in which texts hash otherwise"]
    return [
        line for seed, answer in answers.items() for line in (f"with PYTHONHASHSEED={seed}:", *_told(answer))
    ]


def _told(answer: dict[str, Any]) -> list[str]:
    lines = [line for difference in answer["differences"] for line in _difference(difference)]
    lines.append(
        f"{answer['decisions']} decisions in {answer['commits']} commits up to position {answer['position']}:"
        f" {answer['different'] or 'none'} otherwise than the policy demands"
    )
    if hidden := answer["different"] - len(answer["differences"]):
        lines.append(f"{hidden} more differences are not shown")
    if answer["unchecked"]:
        lines.append(f"{answer['unchecked']} were not checked: they rest on a basis too far behind them")
    if answer["mended"]:
        lines.append(f"{answer['mended']} gave away a system that was idle although somebody wanted it")
    for version, count in answer["other_policies"].items():
        lines.append(f"{count} of policy {version}, which is not the present one: not made again")
    return lines


def _difference(difference: dict[str, Any]) -> list[str]:
    head = (
        f"position {difference['position']}, decision {difference['number']},"
        f" on basis {difference['basis']} at {difference['now']}"
    )
    return [
        head,
        *_decision("recorded", difference["recorded"]),
        *_decision("demanded", difference["demanded"]),
    ]


def _decision(word: str, decision: dict[str, Any] | None) -> list[str]:
    if decision is None:
        return [f"  {word}: nothing"]
    events = [f"    {event['subject']} {event['topic']} {event['data']}" for event in decision["events"]]
    return [f"  {word}, because of {decision['cause']}:", *events]
