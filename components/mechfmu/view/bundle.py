"""Self-contained pages: modules, styles, three.js and data in one file that needs no network.

The modules below components/mechfmu (`*/web/*.js`) are ordinary ES modules, which a page cannot import from the disk.
So they are put into one script: each becomes a function that returns what the module exports.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..model.extras import require

PAGE_STYLES = ("view/web/page.css", "view/web/layout.css", "view/web/signals.css")  # of pages with a 3-D view
PACKAGE = Path(__file__).parent.parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function\*?|const) (\w+))", re.MULTILINE)
UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)

# three.js comes before the policy: its package adds style elements, which the policy does not allow
POLICY = (
    "default-src 'none'; script-src {script} 'wasm-unsafe-eval'; style-src {style}; img-src data: blob:; "
    "connect-src {server}; base-uri 'none'; form-action 'none'"
)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{library}
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def page_of(
    title: str, entry: str, styles: Sequence[str], data: Mapping[str, Any], library: str = "", server: str = "'none'"
) -> str:
    """Return a page. entry, styles: a module and CSS files, relative to the package mechfmu; library: the address of a
    file with `three_js()` that several pages share, instead of a copy in the page; server: what the page may ask."""
    style = "\n".join((PACKAGE / name).read_text(encoding="utf-8") for name in styles)
    script = bundle(entry)
    three = "" if library else _in_script(three_js())
    element = f'<script src="{escape(library)}"></script>' if library else f"<script>{three}</script>"
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return PAGE.format(
        policy=POLICY.format(script=_hash(script), style=_hash(style), server=server),
        title=escape(title),
        style=style,
        data=text.replace("<", "\\u003c"),  # no name can end the script element
        library=element,
        script=script,
    )


def three_js() -> str:
    """Return the script that defines MeshCat.THREE."""
    require("meshcat")
    spec = find_spec("meshcat")
    assert spec is not None and spec.origin is not None
    return (Path(spec.origin).parent / "viewer" / "dist" / "main.min.js").read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """Return a script that does what the module `entry` does, with all that it imports."""
    done: dict[str, str] = {}
    _collect(entry, done, ())
    names = {module: f"module_{k}" for k, module in enumerate(done)}
    parts = [_function(module, text, names) for module, text in done.items()]
    return _in_script('"use strict";\n' + "\n".join(parts))


def _collect(module: str, done: dict[str, str], importers: tuple[str, ...]) -> None:
    """Add a module to `done` after the modules that it imports."""
    if module in done:
        return
    if module in importers:
        raise ValueError(f"{module} imports itself: {' -> '.join((*importers, module))}")
    text = (PACKAGE / module).read_text(encoding="utf-8")
    for _, source in IMPORT.findall(text):
        _collect(_resolved(module, source), done, (*importers, module))
    done[module] = text


def _function(module: str, text: str, names: Mapping[str, str]) -> str:
    def imported(found: re.Match[str]) -> str:
        return f"const {{{found[1].replace(' as ', ': ')}}} = {names[_resolved(module, found[2])]};\n"

    exported = EXPORT.findall(text)
    body = EXPORT.sub("", IMPORT.sub(imported, text))
    if unknown := UNKNOWN.search(body):
        raise ValueError(f"{module}: the bundle does not know this form: {unknown[0]}")
    return f"const {names[module]} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _resolved(module: str, source: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), source))


def _in_script(text: str) -> str:
    """A script that cannot end its element."""
    return re.sub(r"</(?=script)", r"<\\/", text, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
