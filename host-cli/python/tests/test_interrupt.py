"""Ctrl-C ends what runs, and other threads of Python go on meanwhile."""

import os
import signal
import threading
import time

import pytest
from conftest import Program

import strata

ENDLESS = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry k()
{
again:
    bra again;
}
"""


class CtrlC:
    """Presses Ctrl-C a moment later, as often as told.

    In the background of a script a process begins without a handler, and ignores it.
    """

    def __init__(self, *moments: float) -> None:
        self._moments = moments

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._thread = threading.Thread(target=self._press)
        self._thread.start()

    def _press(self) -> None:
        for moment in self._moments:
            time.sleep(moment)
            os.kill(os.getpid(), signal.SIGINT)

    def __exit__(self, *_: object) -> None:
        self._thread.join()
        signal.signal(signal.SIGINT, self._before)


def test_a_kernel_is_left() -> None:
    kernel = strata.kernel(ENDLESS)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), CtrlC(0.2):
        kernel.launch(1, 32, [], max_instructions=200_000_000)
    assert time.monotonic() - begun < 60


def test_a_sweep_keeps_what_is_done_and_goes_on(program: Program) -> None:
    wanted = {
        "vary": {"cache.entries": "1..6", "active_warps": "2..9"},
        "workloads": "reduction",
        "scale": "small",
        "mode": "cycle",
    }
    with pytest.raises(KeyboardInterrupt) as raised, CtrlC(0.5):
        strata.sweep(out="out", jobs=1, **wanted)
    (told,) = raised.value.__notes__
    assert "of 48 points are in `out`; the same command goes on" in told
    done = int(told.split("interrupted: ")[1].split()[0])
    assert 0 < done < 48
    assert f"{done} done, 0 failed, {48 - done} left" in program.text("sweep", "status", "out")
    assert len(strata.sweep(out="out", **wanted)) == 48


def test_other_threads_run_meanwhile() -> None:
    ticks = []
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begun = time.monotonic()
    strata.run(["reduction", "bfs"], scale="small", mode="cycle")
    took = time.monotonic() - begun
    ended.set()
    thread.join()
    assert len(ticks) > took / 0.01 / 10


def test_calls_run_beside_each_other() -> None:
    tables = {}

    def run(name: str) -> None:
        tables[name] = strata.run(name, scale="small")

    names = ["reduction", "vectoradd", "bfs"]
    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        assert tables[name].to_pydict() == strata.run(name, scale="small").to_pydict()
