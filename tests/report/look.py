"""Opens a report in Chromium: without an error, without a request, and for everyone.

Arguments: the report's file, Chromium's program, and Strata's, with whose numbers those of the
page's explorer are compared. Prints what is wrong, one thing a line; the exit status says whether
there was anything.
"""

import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import explore

# What axe-core calls a violation that keeps people out.
GRAVE = {"serious", "critical"}
# A phone held upright, and a desktop.
SIZES = [(375, 800), (1280, 900)]


def look(page, address, charts, wrong):
    """Checks a page as one reader sees it."""
    page.goto(address)
    headings = page.locator("h2").all_inner_texts()
    for heading in ["Explorer", "What the papers claim", "Where the papers contradict themselves"]:
        if heading not in headings:
            wrong.append(f"no section `{heading}`")
    shown = page.locator("figure svg").count()
    if shown != charts:
        wrong.append(f"{shown} charts are shown, {charts} are in files")
    flat = page.locator("figure svg").evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height < 100).length"
    )
    if flat:
        wrong.append(f"{flat} charts have no height")
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if wide > 0:
        wrong.append(f"the page is {wide} pixels wider than the screen")
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.className")
    if first != "skip":
        wrong.append(f"the first key leads to `{first}`, not past the navigation")
    explore.keys(page, wrong)
    for table in page.locator("figure details").all()[:3]:
        table.locator("summary").press("Enter")
        if not table.locator("table").is_visible():
            wrong.append("a key does not open the numbers of a chart")
    for violation in Axe().run(page).response["violations"]:
        if violation["impact"] in GRAVE:
            places = [node["target"] for node in violation["nodes"]]
            wrong.append(f"{violation['id']}: {violation['help']}: {places[:3]}")


def without_script(browser, address, wrong):
    """Without JavaScript the page says what is missing, and shows no control."""
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    if "needs JavaScript" not in page.locator("#explorer-absent").inner_text():
        wrong.append("without JavaScript nothing is said of it")
    if page.locator("#explorer-form").is_visible():
        wrong.append("without JavaScript there are controls")
    page.close()


def main():
    report, chromium, strata = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    charts = len(list(report.parent.glob("*.svg")))
    address = report.as_uri()
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ["light", "dark"]:
            for width, height in SIZES:
                wrong = []
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.on("console", lambda said: wrong.append(f"console: {said.text}"))
                page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
                page.on(
                    "request",
                    lambda request: request.url.split("#")[0] == address
                    or wrong.append(f"asks for {request.url}"),
                )
                look(page, address, charts, wrong)
                if (scheme, width) == ("light", 1280):
                    compared = explore.numbers(page, report, strata, wrong)
                found += [f"{scheme}, {width} x {height}: {one}" for one in wrong]
                page.close()
        without_script(browser, address, found)
        browser.close()
    told = (
        f"{charts} charts, light and dark, on {len(SIZES)} screens; {compared[0]} answers and "
        f"{compared[1]} refusals of the explorer"
    )
    print("\n".join(found) or told)
    sys.exit(bool(found))


main()
