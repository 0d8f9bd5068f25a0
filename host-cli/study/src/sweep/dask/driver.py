"""Hands batches of a sweep's points to the workers of a Dask cluster.

`strata sweep --engine dask` starts this program and talks to it over its standard input and
output; it knows nothing of what a batch is. A message is a line of JSON; behind one that has a
`length` come as many bytes. The first message that comes says where the cluster is:

    {"address", "workers", "name", "program", "upload", "files", "package"}

Then batches come, `{"batch", "length"}`, and perhaps `{"stop"}`, after which what does not run yet
is given back. The end of the input ends the program. What it tells:

    {"event": "ready" | "threads", "threads"}    how many batches can run at a time
    {"event": "done", "batch", "length"}         a file of rows
    {"event": "lost", "batch", "why"}            the workers that had it ended, again and again
    {"event": "returned", "batch"}               it did not run, after a stop
    {"event": "refused", "why"}                  a worker cannot run batches of this sweep
    {"event": "failed", "why", "hint"}           there is no cluster, or no longer
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from typing import Any, BinaryIO

# Seconds until a scheduler has to answer.
PATIENCE = 10
# Seconds between two looks at the cluster.
OFTEN = 2
# How often a batch is tried again whose program ended without an answer.
RETRIES = 2
# Exit status of a strata that cannot do what it is asked to.
REFUSED = 2
# What to do about a cluster that ended.
KEPT = "what is done is kept, and the same command goes on"


class Pipe:
    """Messages to strata, from any thread."""

    def __init__(self, output: BinaryIO) -> None:
        self._output = output
        self._lock = threading.Lock()

    def tell(self, event: str, body: bytes | None = None, **more: Any) -> None:
        message = {"event": event, **more}
        if body is not None:
            message["length"] = len(body)
        with self._lock:
            self._output.write(json.dumps(message).encode() + b"\n" + (body or b""))
            self._output.flush()


def receive(source: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """The next message from strata, and what comes behind it."""
    line = source.readline()
    if not line.endswith(b"\n"):
        return None
    message = json.loads(line)
    length = message.get("length", 0)
    body = source.read(length)
    return (message, body) if len(body) == length else None


def folder_of(worker: Any, name: str) -> str:
    """Where a worker has the program and the input files of a sweep."""
    return os.path.join(worker.local_directory, name)


def installed(identity: list[Any] | None) -> Any:
    """The package of strata, if it is here and does what the program does; otherwise none."""
    if identity is None:
        return None
    try:
        import strata
    except ImportError:
        return None
    known = getattr(strata, "_identity", None)
    return strata if known is not None and list(known()) == identity else None


def run_batch(
    request: bytes, name: str, program: str | None, identity: list[Any] | None
) -> tuple[str, bytes]:
    """Runs a batch, on a worker: `done` with its rows, or `refused` with the reason.

    The package evaluates it in this process, where it is installed. Otherwise the program does,
    which ends early when its input ends, as it does when this process is killed.
    """
    from distributed import get_worker

    worker = get_worker()
    package = installed(identity)
    if package is not None:
        status, rows = package._evaluate_batch(request.decode())
        what, said = "the package `strata`", "" if status == 0 else rows.decode()
    else:
        what, status, rows, said = run_program(request, worker, name, program)
    if status == 0:
        return "done", rows
    if status == REFUSED:
        return "refused", f"worker {worker.address}: {said}".encode()
    ended = f"{what} ended with status {status} on worker {worker.address}"
    raise RuntimeError(f"{ended}: {said}" if said else ended)


def run_program(
    request: bytes, worker: Any, name: str, program: str | None
) -> tuple[str, int, bytes, str]:
    """Runs a batch with the program: what it is called, its exit status, the rows, why it ended."""
    folder = folder_of(worker, name)
    os.makedirs(folder, exist_ok=True)
    command = [program or os.path.join(folder, "strata"), "sweep", "worker"]
    with tempfile.TemporaryFile() as errors:
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=errors)
        except OSError as error:
            why = f"cannot run `{command[0]}`: {error.strerror or error}"
            return command[0], REFUSED, b"", why
        assert child.stdin is not None and child.stdout is not None
        with child:
            try:
                child.stdin.write(request + b"\n")
                child.stdin.flush()
            except BrokenPipeError:
                pass
            rows = child.stdout.read()
            try:
                child.stdin.close()
            except BrokenPipeError:
                pass
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip().removeprefix("error: ")
    return f"`{command[0]}`", child.returncode, rows, said


def plugin(name: str, files: dict[str, bytes], program: bytes | None) -> Any:
    """What brings the program and the input files to each worker, and takes them away again."""
    from distributed.diagnostics.plugin import WorkerPlugin

    class Sweep(WorkerPlugin):
        def __init__(self) -> None:
            self.name = name

        def setup(self, worker: Any) -> None:
            import os

            folder = os.path.join(worker.local_directory, name)
            for path, content in files.items():
                place = os.path.join(folder, path)
                os.makedirs(os.path.dirname(place), exist_ok=True)
                with open(place, "wb") as file:
                    file.write(content)
            if program is not None:
                os.makedirs(folder, exist_ok=True)
                place = os.path.join(folder, "strata")
                with open(place, "wb") as file:
                    file.write(program)
                os.chmod(place, 0o755)

        def teardown(self, worker: Any) -> None:
            import os
            import shutil

            shutil.rmtree(os.path.join(worker.local_directory, name), ignore_errors=True)

    return Sweep()


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


class Driver:
    """A sweep on a cluster."""

    def __init__(self, client: Any, config: dict[str, Any], pipe: Pipe) -> None:
        self._client = client
        self._config = config
        self._pipe = pipe
        self._running: dict[Any, int] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def run(self, source: BinaryIO) -> None:
        name, upload = self._config["name"], self._config["upload"]
        files = {path: read(place) for path, place in self._config["files"].items()}
        program = None if upload is None else read(upload)
        brings = bool(files) or program is not None
        if brings:
            self._client.register_plugin(plugin(name, files, program))
        self._pipe.tell("ready", threads=self._threads())
        watch = threading.Thread(target=self._watch, daemon=True)
        watch.start()
        while (received := receive(source)) is not None:
            message, body = received
            if message.get("stop"):
                self._stop()
            else:
                self._submit(message["batch"], body)
        self._ended.set()
        watch.join()
        with self._lock:
            left = list(self._running)
        self._client.cancel(left)
        if brings:
            self._client.unregister_worker_plugin(name)

    def _threads(self) -> int:
        return sum(self._client.nthreads().values())

    def _watch(self) -> None:
        """Tells how many threads there are, as workers come and go."""
        while not self._ended.wait(OFTEN):
            try:
                threads = self._threads()
            except Exception:
                if not self._ended.is_set():
                    self._pipe.tell("failed", why="the Dask scheduler ended", hint=KEPT)
                return
            self._pipe.tell("threads", threads=threads)

    def _submit(self, batch: int, request: bytes) -> None:
        future = self._client.submit(
            run_batch,
            request,
            self._config["name"],
            self._config["program"],
            self._config["package"],
            key=f"{self._config['name']}-{batch}",
            pure=False,
            retries=RETRIES,
        )
        with self._lock:
            self._running[future] = batch
        future.add_done_callback(self._done)

    def _done(self, future: Any) -> None:
        with self._lock:
            batch = self._running.pop(future, None)
        if batch is None:
            return
        if future.status == "finished":
            try:
                outcome, body = future.result()
            except Exception as error:
                self._pipe.tell("lost", batch=batch, why=f"its rows did not arrive: {error}")
                return
            if outcome == "done":
                self._pipe.tell("done", body, batch=batch)
            else:
                self._pipe.tell("refused", why=body.decode())
        elif future.status == "cancelled":
            self._pipe.tell("returned", batch=batch)
        else:
            self._pipe.tell("lost", batch=batch, why=str(future.exception()))

    def _stop(self) -> None:
        """Takes back the batches that no worker runs yet."""
        with self._lock:
            waiting = list(self._running)
        stacks = self._client.call_stack(waiting) if waiting else {}
        running = {str(key) for of_worker in stacks.values() for key in of_worker}
        self._client.cancel([future for future in waiting if future.key not in running])


def connect(config: dict[str, Any], cluster: Any) -> Any:
    """The client of a cluster that is there, or of one on this machine."""
    from distributed import Client

    if cluster is not None:
        return Client(cluster)
    return Client(config["address"], timeout=PATIENCE)


def local_cluster(config: dict[str, Any]) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=config["workers"],
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        local_directory=tempfile.gettempdir(),
    )


def main() -> None:
    pipe = Pipe(os.fdopen(os.dup(1), "wb"))
    # What libraries print is no message.
    os.dup2(2, 1)
    source = sys.stdin.buffer
    received = receive(source)
    if received is None:
        return
    config, _ = received
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        pipe.tell(
            "failed",
            why=f"the Python at `{sys.executable}` has no Dask: {error}",
            hint=f"`{sys.executable} -m pip install dask distributed`, or name another Python "
            "with `--python` or `STRATA_PYTHON`",
        )
        return
    cluster = None
    try:
        cluster = local_cluster(config) if config["address"] is None else None
        client = connect(config, cluster)
    except (OSError, ValueError) as error:
        where = config["address"] or "on this machine"
        pipe.tell(
            "failed",
            why=f"no Dask scheduler answers at `{where}`: {error}",
            hint="name the address that the scheduler prints when it starts: "
            "`dask://HOST:PORT`; `--engine dask` starts a cluster on this machine",
        )
        return
    try:
        Driver(client, config, pipe).run(source)
    finally:
        client.close()
        if cluster is not None:
            cluster.close()


if __name__ == "__main__":
    main()
