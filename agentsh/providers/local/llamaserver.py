"""The embedded server: llama.cpp's own HTTP server, in a process of its own, on loopback.

Run as `python -m agentsh.providers.local.llamaserver`. Reads one line of JSON, {"model", "alias",
"context", "threads"}, prints one, {"port"} or {"error"}, and serves until its standard input ends:
the other end is held by the process that started it, so it ends with that process however it dies,
SIGKILL too. Needs the package xllamacpp. Started by local.py and by nobody else.
"""

from __future__ import annotations

import json
import os
import sys

import xllamacpp  # type: ignore[import-not-found, import-untyped, unused-ignore]


def main() -> int:
    arguments = json.loads(sys.stdin.buffer.readline())
    said = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # what llama.cpp prints must not look like our line
    try:
        server = xllamacpp.Server(parameters(**arguments))
        port = int(server.listening_address.rpartition(":")[2])
    except Exception as e:  # noqa: BLE001  # whatever the library raises is for the parent to show
        os.write(said, json.dumps({"error": str(e) or type(e).__name__}).encode() + b"\n")
        return 1
    os.write(said, json.dumps({"port": port}).encode() + b"\n")
    os.close(said)
    sys.stdin.buffer.read()
    os._exit(0)  # threads of the server may still be busy with an answer that nobody waits for


def parameters(model: str, alias: str, context: int, threads: int) -> xllamacpp.CommonParams:
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.model_alias = {alias}
    params.n_ctx = context
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.use_jinja = True
    params.offline = True
    return params


if __name__ == "__main__":
    sys.exit(main())
