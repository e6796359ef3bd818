"""A day of each role on the demo and in a filled lab, by keyboard alone; what they read, without scripts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser as Program

from tests.pages.browser import PASSWORD
from tests.pages.chromium import live, watched_page
from tests.pages.day_labs import DayLab, demo_lab, filled_lab
from tests.pages.day_steps import act, bearer, day, job_for, open_list, open_system, submit, who_is
from tests.rest.actions import EAST

# Systems of the sample lab: a Broken one, one of alice, and one that only its lab controller cares for.
BROKEN, OWN, OCCUPIED = "arm-04.east.example.com", "x86-01.east.example.com", "old-01.east.example.com"
# The simulated machines take some 25 s for a job.
JOB_SECONDS = 90

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module", params=[demo_lab, filled_lab])
def lab(request: pytest.FixtureRequest) -> Iterator[DayLab]:
    with request.param() as started:
        yield started


def test_day__of_a_submitter__submits_and_watches_the_job_to_its_end(program: Program, lab: DayLab) -> None:
    # The sample is of a group that alice belongs to.
    with day(program, lab, "alice") as (watched, keyboard):
        page = watched.page
        keyboard.follow("Submit")
        keyboard.follow("kernel-smoke")
        keyboard.follow("Check")
        keyboard.follow("Send")
        page.evaluate("window.isTheSame = true")
        live(page, "completed", JOB_SECONDS)
        assert page.evaluate("window.isTheSame")
        # The first step may lead to the end of the job, if something else has happened since.
        for _ in range(2):
            keyboard.skip()
            keyboard.follow("Previous change")
            assert "This page is about the past" in page.inner_text("body")
        assert "completed" not in page.inner_text("main")
        keyboard.follow("Show the present")
        assert "completed" in page.inner_text("main")


def test_day__of_submitter_and_admin__sees_why_and_the_repair_lets_the_recipe_start(
    program: Program, lab: DayLab
) -> None:
    with day(program, lab, "carol") as (watched, keyboard), day(program, lab, "admin") as (other, keys):
        path = submit(watched, keyboard, job_for(BROKEN))
        keyboard.skip()
        keyboard.follow("Why?")
        assert "Broken" in watched.page.inner_text("main")
        open_system(keys, BROKEN)
        act(keys, "Change the condition", Condition="Automated", Reason="a new power supply")
        assert "a new power supply" in other.page.inner_text("main")
        watched.open(path)
        live(watched.page, "completed", JOB_SECONDS)


def test_day__of_an_owner__drains_reserves_returns_and_lends(program: Program, lab: DayLab) -> None:
    with day(program, lab, "alice") as (watched, keyboard):
        page = watched.page
        open_system(keyboard, OWN)
        act(keyboard, "Drain the system", Reason="the rack moves")
        assert "the rack moves" in page.inner_text("main")
        act(keyboard, "Undrain the system")
        act(keyboard, "Change the condition", Condition="Manual", Reason="by hand")
        act(keyboard, "Reserve the system")
        assert "waiting" not in page.inner_text(".lead")
        assert "alice" in page.inner_text("[data-key=Reservation]")
        act(keyboard, "Return the system", Reason="done")
        assert "none" in page.inner_text("[data-key=Reservation]")
        act(keyboard, "Lend the system", User="carol")
        assert "carol" in page.inner_text("[data-key=Loan]")
        act(keyboard, "End the loan", Reason="it is needed")
        act(keyboard, "Change the condition", Condition="Automated", Reason="back to work")
        assert "back to work" in page.inner_text("main")


def test_day__of_an_admin__gives_a_user_a_token_changes_a_pool_and_removes_the_user(
    program: Program, lab: DayLab
) -> None:
    with day(program, lab, "admin") as (watched, keyboard):
        page = watched.page
        open_list(keyboard, "Users")
        act(keyboard, "Create a user", Name="dave", Roles="submitter", Email="dave@example.com")
        open_list(keyboard, "Tokens")
        act(keyboard, "Create a token", User="dave", Role="submitter")
        token = page.inner_text("main code")
        assert who_is(lab, token).json()["user"] == "dave"
        open_list(keyboard, "Pools")
        keyboard.follow("small")
        act(keyboard, "Change the pool", Description="for dave")
        assert "for dave" in page.inner_text("main")
        why = {"Reason": "it is old"}
        for action, is_added, more in (("Add a system", True, {}), ("Remove a system", False, why)):
            act(keyboard, action, System=OCCUPIED, **more)
            keyboard.skip()
            keyboard.follow("Systems in small")
            assert (OCCUPIED in page.inner_text("main")) == is_added
            page.go_back()
        open_list(keyboard, "Users")
        keyboard.follow("dave")
        act(keyboard, "Remove the user", Reason="gone")
        assert page.url.startswith(f"{watched.origin}/ui/users?")
        assert "dave" not in page.inner_text("main")
        assert who_is(lab, token).status_code == 401


def test_day__of_an_operator__adds_a_lab_controller_whose_first_contact_shows(
    program: Program, lab: DayLab
) -> None:
    new = "lab.new.example.com"
    with day(program, lab, "admin") as (watched, keyboard):
        page = watched.page
        open_list(keyboard, "Lab controllers")
        # The machines of the demo would act for one that is enabled.
        act(keyboard, "Create a lab controller", FQDN=new, Enabled="no")
        open_list(keyboard, "Tokens")
        act(keyboard, "Create a token", User="admin", Role="lab-controller", **{"Lab controller": new})
        token = page.inner_text("main code")
        open_list(keyboard, "Lab controllers")
        keyboard.follow(new)
        assert page.inner_text("[data-key=State] dd") == "disabled, never heard"
        commands = lab.admin.get(f"/lab-controllers/{new}/commands", headers=bearer(token))
        assert commands.json()["commands"] == []
        page.wait_for_function("() => document.querySelector('[data-key=State] dd').innerText === 'disabled'")
        act(keyboard, "Remove the lab controller", **{"With its systems": "no", "Reason": "the day is over"})
        assert new not in page.inner_text("main")
        assert who_is(lab, token).status_code == 401


def test_day__of_an_operator__stops_a_lab_resolves_what_runs_in_it_and_repairs_a_system(
    program: Program, lab: DayLab
) -> None:
    runs = {"items": [{"running": {"system": OCCUPIED}}]}
    with day(program, lab, "admin") as (watched, keyboard):
        page = watched.page
        open_list(keyboard, "Lab controllers")
        keyboard.follow(EAST)
        act(keyboard, "Disable the lab controller", Reason="the rack moves")
        assert page.inner_text("[data-key=State] dd") == "disabled"
        lab.admin.post(f"/lab-controllers/{EAST}/updates", json=runs).raise_for_status()
        keyboard.skip()
        keyboard.follow(f"Reconciliations of {EAST}")
        live(page, OCCUPIED)
        keyboard.skip()
        keyboard.follow(f"Resolve the reconciliation of {OCCUPIED}")
        keyboard.skip()
        keyboard.fill("Reason", "nothing runs there")
        keyboard.follow("Resolve the reconciliation")
        assert OCCUPIED not in page.inner_text("main")
        open_list(keyboard, "Lab controllers")
        keyboard.follow(EAST)
        act(keyboard, "Enable the lab controller")
        assert page.inner_text("[data-key=State] dd") == "enabled"
        keyboard.skip()
        keyboard.follow(f"Systems of {EAST}")
        keyboard.skip()
        keyboard.follow(OCCUPIED)
        act(keyboard, "Drain the system", Reason="a new disk")
        act(keyboard, "Change the condition", Condition="Broken", Reason="the disk is out")
        assert "the disk is out" in page.inner_text("main")
        act(keyboard, "Change the condition", Condition="Automated", Reason="the disk is in")
        act(keyboard, "Undrain the system")
        assert page.inner_text("[data-key=Draining] dd") == "no"


def test_day__of_an_auditor__looks_into_what_happened_and_may_change_nothing(
    program: Program, lab: DayLab
) -> None:
    with day(program, lab, "bob") as (watched, keyboard):
        page = watched.page
        open_system(keyboard, OWN)
        assert page.locator("nav[aria-label=Actions]").count() == 0
        keyboard.follow("Previous change")
        assert "This page is about the past" in page.inner_text("body")
        keyboard.follow("Lab")
        assert "This page is about the past" in page.inner_text("body")
        keyboard.follow("Show the present")
        keyboard.fill("Time or position", "20")
        keyboard.follow("Show this moment")
        assert "position 20" in page.inner_text(".past")
        keyboard.follow("Show the present")
        keyboard.follow("Reads")
        assert "/ui/lab" in page.inner_text("main")


@pytest.mark.parametrize("user", ["admin", "alice", "bob"])
def test_day__without_javascript__reads_the_same(program: Program, lab: DayLab, user: str) -> None:
    with watched_page(program, lab.url, java_script_enabled=False) as watched:
        page = watched.page
        watched.open("/ui/login")
        page.fill("#user", user)
        page.fill("#password", PASSWORD)
        page.click("main button")
        for name in page.locator("header nav a").all_inner_texts():
            page.click(f"header nav a >> text='{name}'")
            assert page.locator("h1").count() == 1, page.url
            assert page.get_attribute("header [aria-current]", "href") == page.url.removeprefix(
                watched.origin
            )
        watched.open(f"/ui/systems/{OWN}")
        page.click("text='Previous change'")
        assert "This page is about the past" in page.inner_text("body")
        watched.open("/ui/lab")
        page.fill("#as-of", "20")
        page.click("text='Show this moment'")
        assert "position 20" in page.inner_text(".past")
