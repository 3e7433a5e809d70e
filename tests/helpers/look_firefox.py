"""Firefox on a screen in memory, where it has WebGL, by WebDriver BiDi, which needs no driver."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from helpers import needs
from helpers.needs import tool

websocket = needs.module("websocket")

PATIENCE = 60  # s
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """`open` shows a file, `js` evaluates an expression; `errors` are those of the console."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="mechfmu-firefox-", ignore_cleanup_errors=True)
        command = [tool("xvfb-run"), "-a", "-e", "/dev/stderr", tool("firefox-esr"), "--no-remote"]
        self.process = subprocess.Popen(
            [*command, "--profile", self.profile.name, "--remote-debugging-port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"},
            start_new_session=True,
        )
        assert self.process.stderr is not None
        address = next(found[1] for line in self.process.stderr if (found := LISTENING.search(line)))
        self.socket = websocket.create_connection(f"{address}/session", suppress_origin=True, timeout=PATIENCE)
        self.calls = 0
        self.errors: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]

    def close(self) -> None:
        self.socket.close()
        os.killpg(self.process.pid, signal.SIGTERM)  # the screen as well
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()
        self.profile.cleanup()

    def call(self, method: str, **params: Any) -> Any:
        self.calls += 1
        self.socket.send(json.dumps({"id": self.calls, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.calls:
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(str(answer["params"]["text"]))
        assert answer["type"] == "success", answer
        return answer["result"]

    def open(self, file: Path) -> None:
        self.errors.clear()
        self.call("browsingContext.navigate", context=self.context, url=file.as_uri(), wait="complete")

    def js(self, expression: str) -> Any:
        """Return the value of an expression, through JSON."""
        target = {"context": self.context}
        text = f"JSON.stringify({expression}) ?? 'null'"
        result = self.call("script.evaluate", expression=text, target=target, awaitPromise=True)
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        return json.loads(result["result"]["value"])

    def wait(self, condition: Callable[[], Any], why: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, why
            time.sleep(0.1)
