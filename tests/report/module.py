"""Runs compiled explorers under wasmtime, and compares what they answer with the program.

Arguments: a report, the program, and compiled explorers: the committed one and perhaps a fresh one.
Each answers for every workload of the report under many designs. Prints what is wrong, one thing a
line; the exit status says whether there was anything.
"""

import sys
from pathlib import Path

import wasmtime

from explorer import Report, answered, differences, told


class Module:
    """A compiled explorer."""

    def __init__(self, code):
        self.store = wasmtime.Store()
        module = wasmtime.Module(self.store.engine, code)
        self.exports = wasmtime.Instance(self.store, module, []).exports(self.store)

    def call(self, name, *arguments):
        return self.exports[name](self.store, *arguments)

    def mark(self):
        """What says the versions of its model and of the bytes."""
        begin = self.call("mark")
        return bytes(self.exports["memory"].read(self.store, begin, begin + 16))

    def explore(self, parts):
        """Whether it has an answer, and the answer or what is wrong."""
        memory = self.exports["memory"]
        memory.write(self.store, b"".join(parts), self.call("input"))
        good = self.call("explore", *map(len, parts))
        begin = self.call("output")
        end = begin + self.call("output_length")
        return good == 1, bytes(memory.read(self.store, begin, end)).decode()


def refuses_bad_bytes(module, parts, wrong):
    """Bytes that no program wrote have no answer, and do not end the module."""
    for place in range(3):
        bad = list(parts)
        bad[place] = b"\xff" * 40
        good, text = module.explore(bad)
        if good or not text:
            wrong.append(f"bad bytes in part {place} are answered by {text!r}")


def main():
    report, strata = Report(Path(sys.argv[1])), sys.argv[2]
    codes = [Path(path).read_bytes() for path in sys.argv[3:]]
    wrong = []
    if codes[0] != report.data["module"]:
        wrong.append("the report inlines another module than the committed one")
    modules = [Module(code) for code in codes]
    choices = report.choices()
    compared = 0
    for workload in report.workloads:
        parts = [report.data["catalogue"], report.data[f"input-{workload}"]]
        answers = [[m.explore([*parts, bytes(choice)]) for choice in choices] for m in modules]
        wrong += [
            f"{workload}: {text}" for each in answers for good, text in each if not good
        ]
        answers = [[answered(text) for good, text in each if good] for each in answers]
        designs = list(dict.fromkeys(answer["design"] for answer in answers[0]))
        expected = told(strata, workload, designs)
        for which, each in enumerate(answers):
            for answer in each:
                compared += 1
                for difference in differences(answer, expected[answer["design"]]):
                    wrong.append(f"{workload}, {answer['design']}, module {which}: {difference}")
    refuses_bad_bytes(modules[0], [*parts, bytes(choices[0])], wrong)
    if not compared:
        wrong.append("nothing was compared")
    marks = [module.mark() for module in modules]
    if len(set(marks)) != 1:
        wrong.append(f"the modules have different versions of model and format: {marks}")
    print("\n".join(wrong[:40]) or f"{compared} answers on {len(report.workloads)} workloads")
    sys.exit(bool(wrong))


main()
