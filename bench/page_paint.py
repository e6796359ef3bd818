"""The largest paint of pages in Chromium, and how much their content shifts while they are live."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from api.rest.session_cookie import SESSION
from bench.outcome import Figures

LIVE_SECONDS: float = 60.0
CHANGE_SECONDS: float = 5.0
# The observers report what happened before them, too. The shift is the cumulative layout shift of browsers:
# the largest sum over at most 5 s in which less than 1 s is between shifts.
WATCH = """() => {
  window.seen = { paint: 0, shift: 0 };
  let begin = -Infinity, last = -Infinity, sum = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) window.seen.paint = Math.max(window.seen.paint, each.startTime);
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) {
      const isNew = each.startTime - last > 1000 || each.startTime - begin > 5000;
      if (isNew) [begin, sum] = [each.startTime, 0];
      [last, sum] = [each.startTime, sum + each.value];
      window.seen.shift = Math.max(window.seen.shift, sum);
    }
  }).observe({ type: 'layout-shift', buffered: true });
}"""
# A paint is reported after the frame that shows it.
SETTLE_MS: float = 500.0


def paint(
    url: str, token: str, pages: Sequence[str], live: Sequence[str], change: Callable[[], object]
) -> Figures:
    """Return the largest paint of `pages`, and the largest shift of `live` pages while the lab changes.

    `change` changes the lab; it is called every CHANGE_SECONDS. Return nothing without Chromium or
    Playwright, which are needed for tests only.
    """
    program = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    if program is None:
        return {}
    # As root Chromium starts only without its sandbox. Browsers keep a cookie that is for HTTPS on localhost.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    origin = f"http://localhost:{urlsplit(url).port}"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        context = browser.new_context()
        context.set_extra_http_headers({"Cookie": f"{SESSION}={token}"})
        page = context.new_page()
        paints = []
        for path in pages:
            page.goto(f"{origin}{path}")
            page.evaluate(WATCH)
            page.wait_for_timeout(SETTLE_MS)
            paints.append(page.evaluate("window.seen.paint"))
        tabs = [context.new_page() for _ in live]
        for tab, path in zip(tabs, live, strict=True):
            tab.goto(f"{origin}{path}")
            tab.evaluate(WATCH)
        until = time.monotonic() + LIVE_SECONDS
        while time.monotonic() < until:
            change()
            page.wait_for_timeout(1_000 * CHANGE_SECONDS)
        shifts = [tab.evaluate("window.seen.shift") for tab in tabs]
        browser.close()
    return {"largest_paint_ms": round(max(paints), 1), "layout_shift": round(max(shifts), 4)}
