"""The CSV files of a generated lab, as Beaker exports them."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Sequence

from api.intake.beaker_columns import KINDS


def beaker_lab(count: int, labs: Sequence[str]) -> dict[str, str]:
    """Return the files by kind that Beaker exports of `count` systems; the power settings have no secret.

    The users are ada, bob and eve, the groups ops and qa, and the pool net.
    """
    dice = random.Random(20)
    columns = KINDS["system"].exported
    systems, labinfo, keys, excludes, pools, power = [], [], [], [], [], []
    for number in range(count):
        fqdn = f"host-{number:05}.lab.example.com"
        vendor, model = dice.choice((("HPE", "DL360 Gen10"), ("Dell", "R640"), ("Lenovo", "SR650, V2")))
        cells = {
            "fqdn": fqdn,
            "lender": dice.choice(("", "Partner, Inc")),
            "location": f"row {number // 40}, unit {number % 40}",
            "mac_address": f"52:54:00:00:{number // 256:02x}:{number % 256:02x}",
            "memory": str(dice.choice((16_384, 65_536, 262_144))),
            "model": model,
            "serial": f"SN{number:06}",
            "vendor": vendor,
            "arch": dice.choice(("x86_64", "i386,x86_64", "aarch64")),
            "lab_controller": dice.choice(labs),
            "owner": dice.choice(("ada", "bob", "eve")),
            "status": dice.choice(("Automated", "Manual", "Broken", "Removed")),
            "type": dice.choice(("Machine", "Prototype", "Laptop")),
        }
        systems.append([cells.get(column, "") for column in columns])
        labinfo.append([fqdn, "1500.00", "", "1U", f"{dice.randrange(40)}.0", "", ""])
        keys += [[fqdn, "DISKSPACE", str(dice.randrange(10**6)), "False"], [fqdn, "MODULE", "ixgbe", "False"]]
        excludes.append([fqdn, "x86_64", "RedHatEnterpriseLinux6", dice.choice(("", "3")), "True"])
        power.append([fqdn, f"bmc-{number}", "root", "", "", dice.choice(("ilo", "ipmilan"))])
        pools += [[fqdn, "net", "False"]] if dice.random() < 0.3 else []
    tables = {
        "system": systems,
        "labinfo": labinfo,
        "keyvalue": keys,
        "exclude": excludes,
        "system_pool": pools,
        "power": power,
    }
    members = {"user_group": [["ada", "ops", "False"], ["bob", "qa", "False"]]}
    return {kind: table(kind, found) for kind, found in {**tables, **members}.items()}


def table(kind: str, found: Sequence[Sequence[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["csv_type", *KINDS[kind].exported], *([kind, *row] for row in found)])
    return text.getvalue()
