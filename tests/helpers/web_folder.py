"""A folder with FMUs, the JavaScript modules that they carry, and scripts of tests/web, for Node or a browser."""

from __future__ import annotations

import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from helpers.look_browser import Browser
from helpers.native_build import run
from helpers.needs import tool
from helpers.paths import TESTS

# what docs/wasm.md asks for, an icon, and nothing else
POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src 'self' data:"
RUN = """
const [scenario, parameters, done] = arguments;
import("./scenarios.js").then((all) => all[scenario]((file) => file, ...JSON.parse(parameters)))
  .then((found) => done(JSON.stringify({ found })), (error) => done(JSON.stringify({ error: String(error) })));
"""


class WebFolder:
    """`node` and `browser` run a scenario of tests/web/scenarios.js."""

    def __init__(self, folder: Path, fmu: Path) -> None:
        self.folder = folder
        unpack_modules(fmu, folder)
        for file in (TESTS / "web").iterdir():
            shutil.copy(file, folder)
        (folder / "package.json").write_text('{"type": "module"}')
        (folder / "index.html").write_text("<!DOCTYPE html><title>test</title><link rel='icon' href='data:,'>")

    def add(self, fmu: Path, name: str) -> str:
        shutil.copy(fmu, self.folder / name)
        return name

    def node(self, scenario: str, *arguments: Any) -> Any:
        command = [tool("node"), "run_in_node.mjs", scenario, json.dumps(arguments)]
        return json.loads(run(command, cwd=self.folder).stdout)

    def browser(self, browser: Browser, scenario: str, *arguments: Any) -> Any:
        with served(self.folder) as address:
            browser.driver.get(address)
            answer = json.loads(browser.driver.execute_async_script(RUN, scenario, json.dumps(arguments)))
        assert "error" not in answer, answer
        return answer["found"]


def unpack_modules(fmu: Path, folder: Path) -> None:
    """Do what docs/wasm.md says:  unzip -j FMU "binaries/wasm32/*.js" -d FOLDER."""
    with zipfile.ZipFile(fmu) as archive:
        for name in archive.namelist():
            if name.startswith("binaries/wasm32/") and name.endswith(".js"):
                (folder / Path(name).name).write_bytes(archive.read(name))


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".js": "text/javascript"}

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # which browsers ask for
            self.send_response(HTTPStatus.NO_CONTENT)
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder on a local web server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()
