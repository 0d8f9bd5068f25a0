"""Opens reports in Chromium: without an error, without a request, and for everyone.

Arguments: the file of the report of the papers' figures, Chromium's program, Strata's, whose
numbers are compared with those of the page's explorer, and the file of a report of runs. Prints
what is wrong, one thing a line; the exit status says whether there was anything.
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
# Sections of the papers' figures, and of runs.
PAPERS = ["Explorer", "What the papers claim", "Where the papers contradict themselves"]
RUNS = [
    "Runs",
    "Where operands come from",
    "Energy",
    "What issue slots wait for",
    "What each line costs",
    "Warps in time",
]
# Of 36 runs: four charts in two parts, and a timeline.
OWN_CHARTS = 9


def look(page, address, wanted, charts, wrong):
    """Checks a page as one reader sees it: its sections, its charts, its size, its keys."""
    page.goto(address)
    headings = page.locator("h2").all_inner_texts()
    wrong += [f"no section `{heading}`" for heading in wanted if heading not in headings]
    shown = page.locator("figure svg.chart")
    if shown.count() != charts:
        wrong.append(f"{shown.count()} charts are shown, {charts} are expected")
    flat = shown.evaluate_all(
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


def open_to_all(page, wrong):
    """Opens numbers by keys, and asks axe-core."""
    for table in page.locator("figure details").all()[:3]:
        table.locator("summary").press("Enter")
        if not table.locator("table").is_visible():
            wrong.append("a key does not open the numbers of a chart")
    for violation in Axe().run(page).response["violations"]:
        if violation["impact"] in GRAVE:
            places = [node["target"] for node in violation["nodes"]]
            wrong.append(f"{violation['id']}: {violation['help']}: {places[:3]}")


def opened(browser, address, scheme, size, wrong):
    """A page of a browser, which tells of errors and of requests."""
    width, height = size
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.on("console", lambda said: wrong.append(f"console: {said.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on(
        "request",
        lambda request: request.url.split("#")[0] == address
        or wrong.append(f"asks for {request.url}"),
    )
    return page


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
    own = Path(sys.argv[4]).resolve().as_uri()
    charts = len(list(report.parent.glob("*.svg")))
    address = report.as_uri()
    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ["light", "dark"]:
            for size in SIZES:
                wrong = []
                page = opened(browser, address, scheme, size, wrong)
                look(page, address, PAPERS, charts, wrong)
                explore.keys(page, wrong)
                open_to_all(page, wrong)
                if (scheme, size[0]) == ("light", 1280):
                    compared = explore.numbers(page, report, strata, wrong)
                page.close()
                page = opened(browser, own, scheme, size, wrong)
                look(page, own, RUNS, OWN_CHARTS, wrong)
                open_to_all(page, wrong)
                found += [f"{scheme}, {size[0]} x {size[1]}: {one}" for one in wrong]
                page.close()
        without_script(browser, address, found)
        browser.close()
    told = (
        f"{charts} charts of the papers and {OWN_CHARTS} of runs, light and dark, on {len(SIZES)} "
        f"screens; {compared[0]} answers and {compared[1]} refusals of the explorer"
    )
    print("\n".join(found) or told)
    sys.exit(bool(found))


main()
