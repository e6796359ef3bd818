"""`labledger workflow`: the XML of a job, with the options of `bkr workflow-simple`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cli.arguments.declarations import declaration_options
from cli.arguments.params import WholeNumber, WordChoice
from cli.lists.placement import placement_options
from cli.remote import OPTIONS as REMOTE_OPTIONS
from cli.remote import connect
from cli.terminal.output import Output, xml
from cli.workflow.options import DONE_ANYWAY, FLAGS, WITH_VALUE, Document, InvalidOptions

if TYPE_CHECKING:
    from api.client import Client

PRIORITIES = ("Low", "Medium", "Normal", "High", "Urgent")
SYSTEM_TYPES = ("Machine", "Prototype", "Laptop", "Resource")


def several(name: str, metavar: str, help: str) -> Any:
    return click.option(name, metavar=metavar, multiple=True, help=help)


def text(name: str, metavar: str, help: str) -> Any:
    return click.option(name, metavar=metavar, help=help)


def flag(name: str, help: str) -> Any:
    return click.option(name, is_flag=True, help=help)


def file(name: str, help: str) -> Any:
    return click.option(name, type=click.File("rb", lazy=False), help=help)


def number(name: str, help: str) -> Any:
    return click.option(name, type=WholeNumber(minimum=0, maximum=999), default=0, help=help)


OPTIONS = (
    text("--distro", "NAME", "Install this distro; % matches any text."),
    text("--family", "FAMILY", "Install the newest distro of this family."),
    several("--tag", "TAG", "With --family: install a distro with this tag; repeatable."),
    text("--variant", "VARIANT", "Install this variant."),
    several(
        "--arch",
        "ARCH",
        "Run on this architecture, in a recipe set of its own; repeatable [default: all of the distro].",
    ),
    text("--machine", "FQDN", "Run on this system only."),
    flag("--ignore-system-status", "Use the system of --machine in any condition except Removed."),
    click.option(
        "--systype", type=WordChoice(SYSTEM_TYPES), help="Run on systems of this type [default: Machine]."
    ),
    several(
        "--hostrequire",
        '"TAG OP VALUE"',
        'Run on systems with this property, such as "memory >= 8192", or an XML element; repeatable.',
    ),
    several("--host-filter", "NAME", "Run on systems that match the host filter NAME; repeatable."),
    several("--keyvalue", '"KEY OP VALUE"', 'Run on systems with this key, such as "HVM = 1"; repeatable.'),
    several("--pool", "POOL", "Run on a system of this pool, or of one of several if repeated."),
    several("--autopick", "POOL", "Prefer idle systems of this pool; repeatable, best pool first."),
    flag("--random", "Choose a random one of several idle systems."),
    several("--task", "NAME", "Run this task; repeatable, in order."),
    file("--taskfile", "Run the tasks in this file, one per line, after those of --task."),
    several("--install", "PACKAGE", "Install this package first, by /distribution/pkginstall; repeatable."),
    flag("--ndump", "Run /kernel/networking/ndnc first."),
    flag("--kdump", "Run /kernel/networking/kdump first."),
    several(
        "--taskparam", "NAME=VALUE", "Set this parameter of the tasks of --task and --taskfile; repeatable."
    ),
    flag("--suppress-install-task", "Do not run /distribution/check-install first."),
    number("--servers", "Number of recipes with the role SERVERS in each recipe set."),
    number("--clients", "Number of recipes with the role CLIENTS in each recipe set."),
    click.option("--whiteboard", default="", help="Description of the job and its recipes."),
    click.option(
        "--priority",
        type=WordChoice(PRIORITIES),
        default="Normal",
        show_default=True,
        help="Priority of the job.",
    ),
    text("--job-group", "GROUP", "Submit for this group."),
    text("--job-owner", "USER", "Submit for this user."),
    several("--cc", "MAIL", "Also send the mail about the end of the job here; repeatable."),
    text("--retention-tag", "TAG", "Retention tag of the job, which says how long its results are kept."),
    text("--product", "PRODUCT", "Product of the job, which some retention tags require."),
    flag("--reserve", "Keep the system after the last task (reservesys)."),
    click.option(
        "--reserve-duration",
        type=WholeNumber(),
        metavar="SECONDS",
        help="With --reserve: keep the system for this time [default: 86400].",
    ),
    flag("--ignore-panic", "Tell the lab controller to ignore panics on the console."),
    text("--method", "METHOD", "Install by nfs, http or ftp. Adds method=METHOD to --ks-meta."),
    text("--kernel-options", "OPTIONS", "Kernel options during the installation."),
    text("--kernel-options-post", "OPTIONS", "Kernel options after the installation."),
    text("--ks-meta", "OPTIONS", "Variables for the kickstart template, as NAME=VALUE NAME=VALUE."),
    file("--kickstart", "Install with the kickstart in this file, instead of that of the lab controller."),
    several("--ks-append", "COMMANDS", "Append these lines to the kickstart; repeatable."),
    several("--repo", "URL", "Add this package repository; repeatable."),
    several("--repo-post", "URL", "Add this package repository after the installation; repeatable."),
    flag("--quiet", "Print no warnings."),
    *(click.option(name, hidden=True, multiple=True) for name in WITH_VALUE),
    *(click.option(name, hidden=True, is_flag=True) for name in FLAGS),
    *(click.option(*names, hidden=True, is_flag=True, expose_value=False) for names in DONE_ANYWAY),
)


def with_options(command: Any) -> Any:
    for option in reversed((*OPTIONS, *REMOTE_OPTIONS)):
        command = option(command)
    return declaration_options(placement_options(command))


@click.command(context_settings={"token_normalize_func": lambda name: name.replace("_", "-")})
@with_options
def workflow(url: str | None, token: str | None, data: str | None, as_json: bool, **options: Any) -> None:
    """Print the XML of a job. To submit it: `labledger workflow … | labledger submit -`.

    --distro or --family is required, and one of --task, --taskfile and --reserve. Names (of pools, keys, lab
    controllers …) are not checked here: the server warns of unknown ones when the job is submitted, and
    refuses a job with an unknown queue or partition. Without --arch, this command asks the server for the
    architectures of the distro.
    """
    from pydantic import ValidationError

    from api.intake.checks import job_error_message
    from api.intake.xml_writer import write_job
    from cli.workflow.document import job_document
    from domain.job.spec import DEFAULT_RETENTION_TAG
    from domain.requirements.findings import dotted

    try:
        document = job_document(options, partial(arches_of, partial(connect, url, token, data)))
        if as_json:
            Output(as_json).document(document)
        else:
            # Without --retention-tag the server chooses.
            tag = None if "retention_tag" in document else DEFAULT_RETENTION_TAG
            xml(write_job(document, tag).decode().rstrip())
    except InvalidOptions as error:
        raise click.UsageError(str(error)) from None
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        messages = [f"{dotted(fault['loc'])}: {job_error_message(fault)}" for fault in faults]
        raise click.UsageError("\n".join(messages)) from None


def arches_of(connect: Callable[[], Client], distro: Document) -> Sequence[str]:
    """Return the architectures of the trees that a distro requirement matches, in alphabetical order.

    Raises `InvalidOptions` if no tree matches, and LabledgerError if the server does not answer.
    """
    from domain.requirements.distro import DISTRO, NewestFirst

    with connect() as client:
        trees = client.pages("/distro-trees", "distro_trees")["distro_trees"]
    examined = DISTRO.examine(distro)
    if examined.findings:
        raise InvalidOptions("; ".join(finding.message for finding in examined.findings))
    fitting = NewestFirst(trees).fitting(examined.node)
    arches = sorted({tree["arch"] for tree in trees if tree["id"] in fitting})
    if not arches:
        raise InvalidOptions("no distro tree of the server matches: name the architectures with --arch")
    return arches
