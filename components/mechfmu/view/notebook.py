"""A result as a notebook shows it: one plot, and the player of the moving mechanism."""

from __future__ import annotations

import base64
import gzip
from html import escape

from ..model import UserError
from ..simulation.result import Result
from .player import player_page
from .plot import picture

PANELS = 3  # of the plot
FRAMES, NUMBERS = 400, 200_000  # of the player, at most
LARGEST = 4_000_000  # bytes of all; without its player a result is small
HEIGHT = 520  # pixels of the player

# The page is packed, because plotly.js alone has 5 MB; the browser unpacks it. srcdoc keeps it apart from the notebook's own page.
UNPACK = """<script>
(async () => {
  const packed = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
  const page = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.open(); document.write(page); document.close();
})();
</script>"""


def html_of(result: Result) -> str:
    """One plot, and the player where the mechanism can be drawn and is not too large for a notebook."""
    plot = base64.b64encode(picture(result, PANELS)).decode() if result.names else ""
    shown = (
        f'<img alt="{escape(result.title)}" style="max-width: 100%; width: 720px" src="data:image/png;base64,{plot}">'
        if plot
        else ""
    )
    return f"<div><div>{escape(repr(result))}</div>{shown}{_player(result)}</div>"


def _player(result: Result) -> str:
    try:
        if result.mechanism is None or not result.mechanism.drawing(result.at(0)):
            return ""
        page = player_page(result, frames_at_most=FRAMES, numbers_at_most=NUMBERS)
    except UserError as error:
        return f"<div>{escape(str(error))}</div>"
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode()
    if len(packed) > LARGEST:
        return '<div>the player is too large for a notebook: result.animate("film.html") writes it to a file</div>'
    return f'<iframe title="player" style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{escape(UNPACK % packed)}"></iframe>'
