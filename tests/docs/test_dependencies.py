"""The packages in docs/dependencies.md, compared with setup.cfg."""

from __future__ import annotations

import configparser
import re

from tests.docs.page import TOP


def test_packages__of_setup_cfg__are_those_of_the_page() -> None:
    config = configparser.ConfigParser()
    config.read(TOP / "setup.cfg")
    ranges = [config["options"]["install_requires"], *config["options.extras_require"].values()]
    demanded = {re.split(r"[\[<>=]", line)[0] for text in ranges for line in text.split()}
    page = (TOP / "docs" / "dependencies.md").read_text("utf-8")
    first_cells = re.findall(r"^\| (?!package|-)([^|(]+)", page, re.M)
    assert {name.strip() for cell in first_cells for name in cell.split(",")} == demanded
