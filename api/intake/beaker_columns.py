"""The kinds and columns of Beaker's CSV files, and the property that each column becomes.

The format is that of `Server/bkr/server/CSV_import_export.py` in github.com/beaker-project/beaker. The column
`csv_type` has the kind of a row. `docs/from-beaker.md` has these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

CSV_TYPE: Final = "csv_type"
TRUE, FALSE = "True", "False"


class Cell(NamedTuple):
    """Conversion of values to cells and back, before validation; `read` raises ValueError with a message."""

    write: Callable[[Any], str] = str
    read: Callable[[str], Any] = str


def _number(cell: str) -> int:
    if not (cell.isascii() and cell.isdigit()):
        raise ValueError("must be a whole number")
    # A longer one is above the maximum of any property.
    return int(cell[:20])


def _decimal(cell: str) -> str:
    """Return the cell unchanged: `12.0` stays different from `12`."""
    try:
        number = Decimal(cell)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise ValueError("must be a number")
    return cell


def _flag(cell: str) -> bool:
    found = {"true": True, "false": False}.get(cell.strip().lower())
    if found is None:
        raise ValueError(f"must be {TRUE} or {FALSE}")
    return found


def _words(cell: str) -> list[str]:
    return [word.strip() for word in cell.split(",")]


TEXT: Final = Cell()
NUMBER: Final = Cell(read=_number)
DECIMAL: Final = Cell(read=_decimal)
FLAG: Final = Cell(str, _flag)
WORDS: Final = Cell(",".join, _words)


class BeakerColumn(NamedTuple):
    """A column: its `property` of a system, or the key of `key_values` (`key`) that has its value.

    `becomes` describes other columns.
    """

    cell: Cell = TEXT
    property: str = ""
    key: str = ""
    becomes: str = ""

    def words(self) -> str:
        """Return what the column becomes, for the docs."""
        key = f"the key `{self.key}` of `key_values`" if self.key else ""
        return self.becomes or key or f"`{self.property}`"


class BeakerKind(NamedTuple):
    """A kind of rows: its columns, those that must not be empty, and the columns of an export, in order.

    `ignored` are the columns that have no place here, with the reason; `not_imported` is the reason why no
    row of this kind is imported.
    """

    title: str
    columns: Mapping[str, BeakerColumn]
    required: tuple[str, ...]
    exported: tuple[str, ...] = ()
    ignored: Mapping[str, str] = {}
    not_imported: str = ""


SYSTEM, LABINFO, KEY_VALUE, EXCLUDE = "system", "labinfo", "keyvalue", "exclude"
SYSTEM_POOL, USER_GROUP = "system_pool", "user_group"
POWER, INSTALL = "power", "install"

_FQDN: Final = {"fqdn": BeakerColumn(property="fqdn")}
_DELETED: Final = BeakerColumn(FLAG, becomes=f"`{TRUE}` takes the value away, `{FALSE}` or nothing adds it")
_LABINFO: Final = {
    name: BeakerColumn(TEXT if name == "dimensions" else DECIMAL, key=f"labinfo.{name}")
    for name in ("orig_cost", "curr_cost", "dimensions", "weight", "wattage", "cooling")
}
_PER_TREE = ("arch", "family", "update")

KINDS: Final[Mapping[str, BeakerKind]] = {
    SYSTEM: BeakerKind(
        "systems",
        {
            **_FQDN,
            **{name: BeakerColumn(property=name) for name in ("lender", "location")},
            "mac_address": BeakerColumn(key="mac_address"),
            "memory": BeakerColumn(NUMBER, "memory_mb"),
            **{name: BeakerColumn(property=name) for name in ("model", "serial", "vendor")},
            "arch": BeakerColumn(WORDS, "arches"),
            "lab_controller": BeakerColumn(property="lab_controller"),
            "owner": BeakerColumn(property="owner"),
            "status": BeakerColumn(property="condition"),
            "type": BeakerColumn(property="type"),
            "status_reason": BeakerColumn(becomes="the reason of a change of `condition`"),
            "secret": BeakerColumn(
                FLAG,
                becomes=f"`{TRUE}` takes `view`, and what implies it, from everybody, `{FALSE}` gives `view`",
            ),
            "deleted": BeakerColumn(FLAG, becomes=f"`{TRUE}` is the condition `Removed`"),
        },
        required=("fqdn",),
        exported=(
            *("fqdn", "lender", "location", "mac_address", "memory", "model", "serial", "vendor"),
            *("arch", "lab_controller", "owner", "status", "type", "cc"),
        ),
        ignored={
            "id": "the number of a system in Beaker; here a system has its fqdn only, which never changes",
            "cc": "mail about a system goes to its owner only",
        },
    ),
    LABINFO: BeakerKind(
        "lab information of systems", {**_FQDN, **_LABINFO}, required=("fqdn",), exported=("fqdn", *_LABINFO)
    ),
    KEY_VALUE: BeakerKind(
        "keys of systems",
        {
            **_FQDN,
            "key": BeakerColumn(becomes="a key of `key_values`"),
            "key_value": BeakerColumn(becomes="a value of this key"),
            "deleted": _DELETED,
        },
        required=("fqdn", "key", "key_value"),
        exported=("fqdn", "key", "key_value", "deleted"),
    ),
    EXCLUDE: BeakerKind(
        "excluded families of systems",
        {
            **_FQDN,
            "arch": BeakerColumn(becomes="`arch` in `excluded_families`"),
            "family": BeakerColumn(becomes="`family` in `excluded_families`"),
            "update": BeakerColumn(becomes="`version` in `excluded_families`; empty for all versions"),
            "excluded": BeakerColumn(FLAG, becomes=f"`{TRUE}` adds the exclusion, `{FALSE}` takes it away"),
        },
        required=("fqdn", "arch", "family", "excluded"),
        exported=("fqdn", *_PER_TREE, "excluded"),
    ),
    SYSTEM_POOL: BeakerKind(
        "pools of systems",
        {
            **_FQDN,
            "pool": BeakerColumn(becomes="a pool of the system, which must exist"),
            "deleted": _DELETED,
        },
        required=("fqdn", "pool"),
        exported=("fqdn", "pool", "deleted"),
    ),
    USER_GROUP: BeakerKind(
        "members of groups",
        {
            "user": BeakerColumn(becomes="a member of the group; the user must exist"),
            "group": BeakerColumn(becomes="a group, which is added if there is none of this name"),
            "deleted": BeakerColumn(
                FLAG,
                becomes=f"`{TRUE}` removes the user from the group, `{FALSE}` or nothing adds the user",
            ),
        },
        required=("user", "group"),
        exported=("user", "group", "deleted"),
    ),
    POWER: BeakerKind(
        "power settings of systems",
        {
            **_FQDN,
            "power_address": BeakerColumn(becomes="the address of the power settings"),
            "power_user": BeakerColumn(becomes="the user of the power settings"),
            "power_passwd": BeakerColumn(
                becomes="the secret of the power settings; empty leaves it unchanged, exports have it empty"
            ),
            "power_id": BeakerColumn(becomes="the port of the power settings"),
            "power_type": BeakerColumn(becomes="the type of the power settings"),
        },
        required=("fqdn", "power_address", "power_type"),
        exported=("fqdn", "power_address", "power_user", "power_passwd", "power_id", "power_type"),
    ),
    INSTALL: BeakerKind(
        "install options of systems",
        {
            name: BeakerColumn(becomes="checked only")
            for name in ("fqdn", *_PER_TREE, "ks_meta", "kernel_options", "kernel_options_post")
        },
        required=("fqdn", "arch"),
        not_imported="systems have no install options here; a recipe has `ks_meta` and `kernel_options`",
    ),
}
EXPORTED: Final = tuple(name for name, kind in KINDS.items() if kind.exported)
# The keys of `key_values` with the values of columns of their own.
COLUMN_KEYS: Final = frozenset(
    column.key for kind in KINDS.values() for column in kind.columns.values() if column.key
)
