"""A reader who uses the keyboard alone, and has to see where the focus is."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.pages.chromium import Watched

# More stops than the longest page of the tests has.
MAX_STOPS = 600
SKIP_LINK = "Skip to the content"
# The accessible name of the element with the focus, and whether a reader sees that it has it. After the last
# stop the focus leaves the page.
FOCUSED = """() => {
  const of = document.activeElement;
  const style = getComputedStyle(of), box = of.getBoundingClientRect();
  const label = of.labels?.length ? of.labels[0].innerText : null;
  return {
    href: of.getAttribute('href'),
    name: (of.getAttribute('aria-label') ?? label ?? of.innerText ?? '').trim(),
    isOnPage: of !== document.body,
    isOutlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    isInView: box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth,
  };
}"""


class Keyboard:
    def __init__(self, page: Page) -> None:
        self._page = page

    def to(self, name: str, key: str = "Tab") -> None:
        """Move the focus to the element of this name, or to the link of this address."""
        for _ in range(MAX_STOPS):
            self._page.keyboard.press(key)
            focused = self._focused()
            if name in (focused["name"], focused["href"]):
                return
        raise AssertionError(f"{self._page.url}: no stop of the focus is {name!r}")

    def follow(self, name: str) -> None:
        """Follow the link, or push the button, of this name, and wait for the page that it leads to."""
        self.to(name)
        with self._page.expect_navigation():
            self._page.keyboard.press("Enter")

    def skip(self) -> None:
        """Skip to the content by the first link of the page."""
        self.to(SKIP_LINK)
        self._page.keyboard.press("Enter")

    def fill(self, name: str, text: str) -> None:
        """Type into a field, or choose the option that begins with the text."""
        self.to(name)
        # The text that is there is replaced; a choice has none.
        self._page.keyboard.press("Control+A")
        self._page.keyboard.type(text)

    def _focused(self) -> dict[str, Any]:
        found: dict[str, Any] = self._page.evaluate(FOCUSED)
        if found["isOnPage"]:
            where = f"{self._page.url}: {found}"
            assert found["isOutlined"], f"the focus is not visible: {where}"
            assert found["isInView"], f"the focus is outside of the window: {where}"
        return found


def log_in(watched: Watched, user: str, password: str) -> None:
    """Log in by keyboard alone."""
    watched.open("/ui/login")
    keyboard = Keyboard(watched.page)
    keyboard.fill("Name", user)
    keyboard.fill("Password", password)
    with watched.page.expect_navigation(url="**/ui"):
        watched.page.keyboard.press("Enter")
