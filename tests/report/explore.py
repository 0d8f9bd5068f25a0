"""The explorer of a report in Chromium: keys move it, and its numbers are the program's."""

import shlex

from explorer import Report, differences, told

# All that the page shows of an answer.
SHOWN = """() => {
  const at = (id) => document.getElementById(`explorer-${id}`);
  const rows = [...document.querySelectorAll("#explorer-all tr")];
  const levels = [...document.querySelectorAll("[data-level]")];
  return {
    command: at("command").textContent,
    result: at("result").textContent,
    digest: at("digest").textContent,
    relative: at("result").dataset.relative,
    numbers: rows.map((row) => [row.cells[0].dataset.name, row.cells[1].textContent]),
    levels: levels.map((row) => [row.dataset.level, [...row.cells].map((one) => one.textContent)]),
  };
}"""

# What the page says before the reasons of the program.
UNKNOWN = "The energy is not known: "
REFUSED = "The command line refuses it: "


def settled(page):
    """Waits for the answer to the last choice."""
    page.wait_for_function(
        "() => { const one = document.getElementById('explorer-answer');"
        " return one && !one.hidden && one.dataset.busy === ''; }"
    )


def keys(page, wrong):
    """Keys alone reach the controls and change the answer."""
    settled(page)
    command = page.locator("#explorer-command")
    moves = {"entries": "ArrowLeft", "warps": "ArrowRight", "levels": "ArrowDown"}
    for control, key in moves.items():
        before = command.inner_text()
        page.locator(f"#explorer-{control}").focus()
        page.keyboard.press(key)
        settled(page)
        if command.inner_text() == before:
            wrong.append(f"the key {key} on {control} changes no command")
    page.locator("#explorer-workload").focus()
    page.keyboard.press("Tab")
    reached = page.evaluate("document.activeElement.id")
    if reached != "explorer-machine":
        wrong.append(f"the key after the workload leads to `{reached}`")


def chosen(page, controls, workload, choice):
    """What the page shows of a choice."""
    page.select_option("#explorer-workload", workload)
    for (name, _), place in sorted(
        zip(controls, choice), key=lambda each: each[0][0] != "explorer-levels"
    ):
        control = page.locator(f"#{name}")
        if control.is_disabled():
            continue
        if control.evaluate("one => one.tagName") == "SELECT":
            control.select_option(str(place))
        else:
            control.fill(str(place))
    settled(page)
    return page.evaluate(SHOWN)


def as_answer(shown):
    """The same in the form of the explorer's answer."""
    answer = {**dict(shown["numbers"]), "digest": shown["digest"]}
    if shown["relative"]:
        answer["relative"] = shown["relative"]
    if shown["result"].startswith(UNKNOWN):
        answer["unavailable"] = shown["result"].removeprefix(UNKNOWN).removesuffix(".")
    return answer


def table(shown, report):
    """What the table has other than a report, one thing an item."""
    wrong = []
    counters, energies = report["counters"], report["energy_fj"]
    for level, cells in shown["levels"]:
        own = [cell.replace("\u202f", "") for cell in cells[1:]]
        if level != "total" and level != "writeback":
            counts = [str(counters[f"{level}_{what}"]) for what in ("reads", "writes")]
            if own[:2] != counts:
                wrong.append(f"the table has {own[:2]} accesses of {level}, not {counts}")
        if energies is None:
            expected = ["\u2013"] * 3
        else:
            parts = ["bank", "wire"]
            of = [
                sum(value for key, value in energies.items() if key.endswith(f"_{part}"))
                if level == "total"
                else energies[f"{level}_{part}"]
                for part in parts
            ]
            tenths = [(energy + 50_000) // 100_000 for energy in [*of, sum(of)]]
            expected = [f"{one // 10}.{one % 10}" for one in tenths]
        if own[2:5] != expected:
            wrong.append(f"the table has {own[2:5]} nJ of {level}, not {expected}")
    relative = report["derived"]["energy_relative_percent"]
    total = dict(shown["levels"])["total"][-1]
    if relative is not None and abs(float(total) - relative) > 0.006:
        wrong.append(f"the table has {total} percent, not {relative}")
    return wrong


def numbers(page, path, strata, wrong):
    """Many choices on all workloads beside the program; says how many."""
    report = Report(path)
    by_workload = {}
    for place, choice in enumerate(report.choices()):
        workload = report.workloads[place % len(report.workloads)]
        by_workload.setdefault(workload, []).append(chosen(page, report.controls, workload, choice))
    compared, known = [0, 0], 0
    for workload, all_shown in by_workload.items():
        commands = [shlex.split(shown["command"]) for shown in all_shown]
        designs = [command[command.index("--design") + 1] for command in commands]
        expected = told(strata, workload, list(dict.fromkeys(designs)))
        for shown, command, design in zip(all_shown, commands, designs):
            where = f"{workload}, {design}"
            if command != ["strata", "run", workload, "--design", design, "--scale", "small"]:
                wrong.append(f"{where}: the command is {shown['command']}")
            if isinstance(expected[design], str):
                compared[1] += 1
                message, _, hint = expected[design].strip().partition("\n  hint: ")
                said = f"{REFUSED}{message.removeprefix('error: ')}."
                said += f" Hint: {hint}" if hint else ""
                if shown["result"] != said:
                    wrong.append(f"{where}: the page says {shown['result']}, not {said}")
                continue
            compared[0] += 1
            known += expected[design]["energy_fj"] is not None
            found = differences(as_answer(shown), expected[design]) + table(shown, expected[design])
            wrong += [f"{where}: {one}" for one in found]
    if compared[0] < 20 or known < 10:
        wrong.append(f"only {compared[0]} choices were compared, {known} with energies")
    return compared
