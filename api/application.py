"""The ASGI application with its routes, middleware and error handlers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import falcon
import falcon.asgi

from api.concurrency_limits import with_concurrency_limits
from api.headers import POSITION_HEADER
from api.pages.action_pages import ActionPages
from api.pages.audit import EventPages, ReadsPage
from api.pages.beaker_import import BeakerImportPage
from api.pages.distro_tree_actions import DISTRO_TREE
from api.pages.documents import DocumentPages, GroupPages, PoolPages, UserPages
from api.pages.entry import EntryPages
from api.pages.errors import answer_page
from api.pages.home import HomePage
from api.pages.job_actions import JOB, RECIPE, RECIPE_SET
from api.pages.job_filters import JobFilterPages
from api.pages.jobs import JobPages, RecipeSetPages
from api.pages.lab import LabPage
from api.pages.lab_controller_actions import LAB_CONTROLLER
from api.pages.listed_systems import ListedSystemsPages
from api.pages.live.shared_views import SharedViews
from api.pages.live.stream import LiveStream
from api.pages.locks import ClaimPages, LockPages
from api.pages.maintenance_actions import MAINTENANCE_WINDOW
from api.pages.maintenance_windows import MaintenanceWindowPages
from api.pages.many_systems_action import MANY_SYSTEMS
from api.pages.notification_actions import NOTIFICATIONS
from api.pages.notifications import NotificationPages
from api.pages.partition_actions import PARTITION
from api.pages.partitions import PartitionPages
from api.pages.past import ChangeSteps
from api.pages.pool_actions import POOL
from api.pages.recipe_queue import WaitingRecipesPage
from api.pages.recipes import RecipePages
from api.pages.reconciliation_actions import RECONCILIATION
from api.pages.reconciliations import ReconciliationPages
from api.pages.retention import RetentionPages
from api.pages.sessions import PageSessions
from api.pages.sign_ins import PageSignIns
from api.pages.submission import SubmissionPage
from api.pages.system_actions import SYSTEM
from api.pages.systems import SystemPages
from api.pages.token_actions import TOKEN
from api.pages.tokens import TokenPages
from api.pages.usage import UsagePage
from api.pages.usage_report import UsageReportPage
from api.pages.user_actions import GROUP, USER
from api.pages.waits import WaitPages
from api.parts import Parts
from api.rest import problems
from api.rest.contract.openapi import describe
from api.rest.contract.operation import Operation, operation_of
from api.rest.middleware.access_log import AccessLog
from api.rest.middleware.compression import Compression
from api.rest.middleware.gate import Gate, Rates
from api.rest.resources.beaker_imports import BeakerImports
from api.rest.resources.claims import ClaimResource
from api.rest.resources.commands import Commands
from api.rest.resources.description import Description
from api.rest.resources.device_logins import DeviceLogins
from api.rest.resources.document_kinds import DistroTrees, Groups, LabControllers, Pools, Users
from api.rest.resources.estimates import Estimates
from api.rest.resources.events import Events
from api.rest.resources.explanations import Explanations
from api.rest.resources.extensions import Extensions
from api.rest.resources.history import History
from api.rest.resources.inventory import Inventory
from api.rest.resources.job_filters import JobFilters
from api.rest.resources.jobs import Jobs
from api.rest.resources.ldap_sync import LdapSync
from api.rest.resources.locks import Locks
from api.rest.resources.log_usage import LogUsage
from api.rest.resources.maintenance_windows import MaintenanceWindows
from api.rest.resources.matches import Matches
from api.rest.resources.metrics import Metrics
from api.rest.resources.notifications import Notifications
from api.rest.resources.overview import Overviews
from api.rest.resources.partitions import Partitions
from api.rest.resources.policies import AccessPolicies
from api.rest.resources.power import Power
from api.rest.resources.readiness import Health
from api.rest.resources.reads import Reads
from api.rest.resources.recipe_queue import Queue
from api.rest.resources.recipe_sets import RecipeSets
from api.rest.resources.recipes import Recipes
from api.rest.resources.reconciliations import Reconciliations
from api.rest.resources.reruns import Reruns
from api.rest.resources.reservations import Loans, Reservations
from api.rest.resources.results import Results
from api.rest.resources.retention import Retention
from api.rest.resources.reviews import Reviews
from api.rest.resources.sessions import Sessions
from api.rest.resources.system_changes import BatchChanges
from api.rest.resources.system_notes import SystemNotes
from api.rest.resources.systems import Systems
from api.rest.resources.timeline import Timeline
from api.rest.resources.tokens import Tokens
from api.rest.resources.updates import LabUpdates
from api.rest.resources.usage import Usage
from api.rest.resources.usage_report import UsageReport
from api.rest.resources.waits import Waits
from api.rest.resources.weights import Weights
from api.rest.routes import API_ROUTES, ROUTES, responder_of
from api.rest.visibility import sight_now
from api.shared_numbers import UNSHARED, ReportedNumbers
from domain.errors import LabledgerError
from runtime.setting_values import Network


class Lifespan:
    """Falcon middleware that calls `start` and `stop` in the event loop that serves requests."""

    def __init__(self, start: Callable[[], Awaitable[None]], stop: Callable[[], Awaitable[None]]) -> None:
        self._start = start
        self._stop = stop

    async def process_startup(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        await self._start()

    async def process_shutdown(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        await self._stop()


def resources(parts: Parts) -> dict[str, Any]:
    return {
        "jobs": Jobs(parts),
        "reruns": Reruns(parts),
        "recipe_sets": RecipeSets(parts),
        "recipes": Recipes(parts),
        "estimates": Estimates(parts),
        "queue": Queue(parts),
        "results": Results(parts),
        "reviews": Reviews(parts),
        "retention": Retention(parts),
        "extensions": Extensions(parts),
        "explanations": Explanations(parts),
        "matches": Matches(parts),
        "weights": Weights(parts),
        "locks": Locks(parts),
        "claims": ClaimResource(parts),
        "systems": Systems(parts),
        "usage": Usage(parts),
        "usage_report": UsageReport(parts),
        "waits": Waits(parts),
        "timeline": Timeline(parts),
        "history": History(parts),
        "inventory": Inventory(parts),
        "system_notes": SystemNotes(parts),
        "power": Power(parts),
        "system_changes": BatchChanges(parts),
        "maintenance_windows": MaintenanceWindows(parts),
        "beaker_imports": BeakerImports(parts),
        "reservations": Reservations(parts),
        "loans": Loans(parts),
        "access_policies": AccessPolicies(parts),
        "lab_controllers": LabControllers(parts),
        "distro_trees": DistroTrees(parts),
        "pools": Pools(parts),
        "job_filters": JobFilters(parts),
        "partitions": Partitions(parts),
        "ldap_sync": LdapSync(parts),
        "users": Users(parts),
        "groups": Groups(parts),
        "commands": Commands(parts),
        "updates": LabUpdates(parts),
        "reconciliations": Reconciliations(parts),
        "notifications": Notifications(parts),
        "tokens": Tokens(parts),
        "sessions": Sessions(parts),
        "device_logins": DeviceLogins(parts),
        "reads": Reads(parts),
        "log_usage": LogUsage(parts),
        "overviews": Overviews(parts),
        "events": Events(parts),
        "health": Health(parts),
        "metrics": Metrics(parts),
        "description": Description(),
        **_pages(parts.for_pages()),
    }


ACTION_SUBJECTS = (
    *(JOB, RECIPE_SET, RECIPE, SYSTEM),
    *(USER, GROUP, POOL, LAB_CONTROLLER, DISTRO_TREE, PARTITION, RECONCILIATION, MAINTENANCE_WINDOW),
)


def _pages(parts: Parts) -> dict[str, Any]:
    return {
        "pages": EntryPages(parts),
        "home_page": HomePage(parts),
        "event_pages": EventPages(parts),
        "reads_page": ReadsPage(parts),
        "page_sessions": PageSessions(parts),
        "page_sign_ins": PageSignIns(parts),
        "page_steps": ChangeSteps(parts),
        "live_stream": LiveStream(parts, SharedViews(parts.reader, partial(sight_now, parts=parts))),
        "lab_page": LabPage(parts),
        "usage_page": UsagePage(parts),
        "usage_report_page": UsageReportPage(parts),
        "listed_systems_pages": ListedSystemsPages(parts),
        "beaker_import_page": BeakerImportPage(parts),
        "job_pages": JobPages(parts),
        "recipe_set_pages": RecipeSetPages(parts),
        "queue_page": WaitingRecipesPage(parts),
        "submission_page": SubmissionPage(parts),
        "recipe_pages": RecipePages(parts),
        "system_pages": SystemPages(parts),
        "user_pages": UserPages(parts),
        "group_pages": GroupPages(parts),
        "pool_pages": PoolPages(parts),
        "lab_controller_pages": DocumentPages(parts, LabControllers(parts), LAB_CONTROLLER),
        "distro_tree_pages": DocumentPages(parts, DistroTrees(parts), DISTRO_TREE),
        "maintenance_window_pages": MaintenanceWindowPages(parts),
        "token_pages": TokenPages(parts),
        "partition_pages": PartitionPages(parts),
        "job_filter_pages": JobFilterPages(parts),
        "claim_pages": ClaimPages(parts),
        "lock_pages": LockPages(parts),
        "reconciliation_pages": ReconciliationPages(parts),
        "wait_pages": WaitPages(parts),
        "retention_pages": RetentionPages(parts),
        "notification_pages": NotificationPages(parts),
        "notification_actions": ActionPages(parts, NOTIFICATIONS),
        "token_actions": ActionPages(parts, TOKEN),
        "many-systems_actions": ActionPages(parts, MANY_SYSTEMS),
        **{f"{each.kind}_actions": ActionPages(parts, each) for each in ACTION_SUBJECTS},
    }


def operations_of(resources_by_name: Mapping[str, Any]) -> dict[tuple[str, str], Operation]:
    """Return the declared operations of the resources by (path, method)."""
    return {
        (path, method): operation_of(resources_by_name[route.resource], responder_of(route, method))
        for path, route in ROUTES.items()
        for method in route.roles
    }


@dataclass(frozen=True)
class HttpOptions:
    """Allowed origins of web pages, maximum rate of requests (0: unlimited), and trusted proxies.

    `records_admins`: whether reads of admins are recorded. `shared` has the numbers of all serving processes.
    """

    cors_origins: tuple[str, ...] = ()
    requests_per_second: int = 0
    proxies: tuple[Network, ...] = ()
    records_admins: bool = False
    shared: ReportedNumbers = UNSHARED


def application(parts: Parts, lifespan: Lifespan, options: HttpOptions = HttpOptions()) -> Any:
    """Return the ASGI application, whose requests have `ConcurrencyLimits`."""
    by_name = resources(parts)
    operations = operations_of(by_name)
    rates = Rates(options.requests_per_second, options.shared)
    gate = Gate(parts, operations, rates, options.proxies, records_admins=options.records_admins)
    cors = _cors(options.cors_origins)
    middleware: list[Any] = [lifespan, AccessLog(parts.requests), *cors, Compression(), gate]
    app = falcon.asgi.App(middleware=middleware)
    app.req_options.strip_url_path_trailing_slash = True
    by_name["description"].describe = lambda: describe(API_ROUTES, operations, version("labledger"))
    for path, route in ROUTES.items():
        app.add_route(path, by_name[route.resource], suffix=route.suffix)
    for kind in (Exception, falcon.HTTPError, LabledgerError):
        app.add_error_handler(kind, partial(_on_error, parts))
    limited = with_concurrency_limits(app, parts.active_requests)
    by_name["live_stream"].views.application = limited
    return limited


async def _on_error(parts: Parts, req: Any, resp: Any, error: Exception, params: Any, ws: Any = None) -> None:
    """Answer with an error: below `/ui/` as a page, elsewhere as a problem."""
    if resp is None:
        # No resource supports web sockets: events are streamed by plain HTTP.
        await ws.close()
        return
    problem, headers = problems.described(req, error)
    if req.path == "/ui" or req.path.startswith("/ui/"):
        await answer_page(req, resp, parts, problem, error)
    else:
        problems.answer(resp, problem)
    for name, value in headers.items():
        resp.set_header(name, value)


def _cors(origins: tuple[str, ...]) -> list[Any]:
    if not origins:
        return []
    exposed = [POSITION_HEADER, "ETag", "Link", "Location", "Retry-After", "X-Request-Id"]
    allowed = "*" if "*" in origins else list(origins)
    return [_Cors(allow_origins=allowed, expose_headers=exposed)]


class _Cors(falcon.CORSMiddleware[Any, Any]):
    """CORS middleware that also sets `Vary: Origin`, which caches need."""

    async def process_response_async(self, req: Any, resp: Any, resource: Any, req_succeeded: bool) -> None:
        await super().process_response_async(req, resp, resource, req_succeeded)
        resp.append_header("Vary", "Origin")
