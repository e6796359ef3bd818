"""The lists of users, groups, pools, distro trees and tokens."""

from __future__ import annotations

from datetime import UTC, datetime

from cli.arguments.predicates import action_of, predicate_text
from cli.lists.listing import Listing, list_command
from cli.terminal.tables import Column, Row
from cli.terminal.wording import clock, zone

LOADED = "`labledger lab load FILE` adds some"


def _labs(row: Row) -> list[str]:
    return sorted(row.get("urls") or ())


def _token_state(row: Row) -> str:
    if row.get("revoked"):
        return "revoked"
    ends = row.get("expires_at")
    return "expired" if ends and datetime.fromisoformat(ends) <= datetime.now(UTC) else "valid"


USERS = Listing(
    "/users",
    "users",
    (Column("user", "name", rank=0), Column("roles", "roles", "text"), Column("email", "email", rank=2)),
    f"No users yet: {LOADED}, `labledger user put NAME` adds one.",
)
GROUPS = Listing(
    "/groups",
    "groups",
    (
        Column("group", "name", rank=0),
        Column("members", "members", "text"),
        Column("owners", "owners", "text", 2),
    ),
    f"No groups yet: {LOADED}, `labledger group put NAME` adds one.",
)
POOLS = Listing(
    "/pools",
    "pools",
    (
        Column("pool", "name", rank=0),
        Column("owner group", "owner_group"),
        Column("description", "description", rank=2),
    ),
    f"No pools yet: {LOADED}, `labledger pool put NAME` adds one.",
)
DISTRO_TREES = Listing(
    "/distro-trees",
    "distro_trees",
    (
        Column("id", "id", "number", 0),
        Column("name", "name", rank=0),
        Column("variant", "variant", rank=2),
        Column("arch", "arch", rank=0),
        Column("family", "family", rank=4),
        Column("tags", "tags", "text", 5),
        Column("labs", lambda row: len(_labs(row)), "number", 1),
        Column("in", _labs, "text", 6),
    ),
    f"No distro trees yet: {LOADED}.",
)
TOKENS = Listing(
    "/tokens",
    "tokens",
    (
        Column("token", "token_id", rank=0),
        Column("user", "user", rank=0),
        Column("role", "role"),
        Column("state", _token_state, "state"),
        Column("lab controller", "lab_controller", rank=4),
        Column(f"created ({zone()})", lambda row: clock(row.get("created_at")), rank=3),
        Column(f"expires ({zone()})", lambda row: clock(row.get("expires_at")) or "never", rank=2),
    ),
    "No tokens yet: `labledger token create USER` creates one.",
)

FILTERS = Listing(
    "/filters",
    "filters",
    (
        Column("filter", "name", rank=0),
        Column("priority", "priority", "number", 1),
        Column("watermark", "watermark", "number", 3),
        Column("action", action_of, rank=0),
        Column("recipe sets", lambda row: predicate_text(row["predicate"]), "text", 0),
        Column("reason", "reason", "text", 2),
    ),
    "No job filters: every recipe set may start. `labledger filter put NAME ACTION` adds one.",
)

users = list_command("users", USERS, "List the users and their roles.")
groups = list_command("groups", GROUPS, "List the groups and their members.")
pools = list_command(
    "pools", POOLS, "List the pools; run `labledger systems --pool NAME` for the systems of a pool."
)
distro_trees = list_command(
    "distro-trees", DISTRO_TREES, "List the distro trees and the labs that provide them."
)
