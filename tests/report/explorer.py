"""The explorer's data in a report, choices on its controls, and what the program says of them."""

import base64
import gzip
import json
import random
import re
import subprocess
from html.parser import HTMLParser

# Choices beside those that take every option of every control once.
MORE = 40


class Controls(HTMLParser):
    """The controls by their place: identifier and number of options; and the workloads."""

    def __init__(self):
        super().__init__()
        self.controls = []
        self.workloads = []
        self.inside = None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "select":
            self.inside = attrs["id"]
        chooses = "data-choice" in attrs or "data-levels" in attrs
        if chooses and tag in ("select", "input"):
            options = int(attrs["max"]) + 1 if tag == "input" else 0
            self.controls.append([attrs["id"], options])
        elif tag == "option" and self.inside == "explorer-workload":
            self.workloads.append(attrs["value"])
        elif tag == "option" and self.inside == self.controls[-1][0]:
            self.controls[-1][1] += 1

    def handle_endtag(self, tag):
        if tag == "select":
            self.inside = None


class Report:
    """What a report inlines."""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        found = Controls()
        found.feed(text)
        self.controls, self.workloads = found.controls, found.workloads
        block = r'<script type="application/octet-stream" id="explorer-([^"]+)">([^<]*)</script>'
        self.data = {
            name: gzip.decompress(base64.b64decode(packed))
            for name, packed in re.findall(block, text)
        }

    def choices(self):
        """Every option of every control in some choice, and more at random; always the same."""
        draw = random.Random(2011)
        sizes = [options for _, options in self.controls]
        rows = max(sizes) + MORE
        columns = []
        for size in sizes:
            column = [row % size for row in range(max(sizes))]
            draw.shuffle(column)
            columns.append(column + [draw.randrange(size) for _ in range(rows - len(column))])
        return [list(choice) for choice in zip(*columns)]


def answered(text):
    """Lines of the explorer's answer as a dictionary."""
    lines = (line.split("\t") for line in text.rstrip("\n").split("\n"))
    return {" ".join(fields[:-1]): fields[-1] for fields in lines}


def told(strata, workload, designs):
    """What the program says of a workload under each design: its report, or its refusal."""
    command = [strata, "run", workload, "--scale", "small", "--format", "json", "--quiet"]
    listed = [part for design in designs for part in ("--design", design)]
    run = subprocess.run(command + listed, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return dict(zip(designs, json.loads(run.stdout)))
    if len(designs) > 1:
        return {design: told(strata, workload, [design])[design] for design in designs}
    return {designs[0]: run.stderr}


def differences(answer, report):
    """What an answer has other than the program says, one thing an item."""
    if isinstance(report, str):
        hint = f"\n  hint: {answer['hint']}" if "hint" in answer else ""
        shown = f"error: {answer.get('refused')}{hint}\n"
        return [] if shown == report else [f"refused with {shown!r}, not {report!r}"]
    wrong = []

    def same(what, own, expected):
        if own != expected:
            wrong.append(f"{what} is {own}, not {expected}")

    same("the digest", answer.get("digest"), report["digest"])
    same("the reason", answer.get("unavailable"), report["energy_unavailable"])
    for kind, numbers in [("counter", report["counters"]), ("energy", report["energy_fj"] or {})]:
        own = {
            key.split(" ")[1]: int(value)
            for key, value in answer.items()
            if key.startswith(f"{kind} ")
        }
        same(f"the set of {kind} names", sorted(own), sorted(numbers))
        for name in own.keys() & numbers.keys():
            same(name, own[name], numbers[name])
    relative, expected = answer.get("relative"), report["derived"]["energy_relative_percent"]
    if (relative is None) != (expected is None) or (
        relative is not None and abs(float(relative) - expected) > 1e-5
    ):
        wrong.append(f"relative is {relative}, not {expected}")
    return wrong
