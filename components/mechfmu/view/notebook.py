"""The HTML of a result in a notebook: one plot, and the recording of the moving mechanism."""

from __future__ import annotations

import base64
import gzip
from html import escape

from ..model import UserError
from ..simulation.result import Result
from .plot import png_plot
from .recording import recording_page

PANELS = 3  # of the plot
MAX_FRAMES, MAX_NUMBERS = 400, 200_000  # of the recording
HEIGHT = 560  # px
MAX_SIZE = 4_000_000  # bytes of the compressed page

IMAGE = '<img alt="{title}" style="max-width: 100%; width: 720px" src="data:image/png;base64,{plot}">'
FRAME = '<iframe title="{title}" style="width: 100%; height: {height}px; border: 0" srcdoc="{page}"></iframe>'

# The page is compressed, to a third; the browser decompresses it. srcdoc isolates it from the notebook's own page.
DECOMPRESS = """<script>
(async () => {
  const packed = Uint8Array.from(atob("%s"), c => c.charCodeAt(0));
  const page = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  document.open(); document.write(page); document.close();
})();
</script>"""


def html_of(result: Result) -> str:
    """Return one plot, and the recording if the mechanism has a drawing and the page is small enough for a notebook."""
    image = ""
    if result.names:
        image = IMAGE.format(title=escape(result.title), plot=base64.b64encode(png_plot(result, PANELS)).decode())
    return f"<div><div>{escape(repr(result))}</div>{image}{_recording(result)}</div>"


def framed(page: str, title: str, height: int) -> str:
    """Return a page as an element of a notebook."""
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode()
    return FRAME.format(title=title, height=height, page=escape(DECOMPRESS % packed))


def _recording(result: Result) -> str:
    try:
        if result.mechanism is None or not result.mechanism.drawing(result.at(0)):
            return ""
        page = recording_page(result, max_frames=MAX_FRAMES, max_numbers=MAX_NUMBERS)
    except UserError as error:
        return f"<div>{escape(str(error))}</div>"
    element = framed(page, "recording", HEIGHT)
    if len(element) > MAX_SIZE:
        return (
            '<div>the recording is too large for a notebook: result.animate("animation.html") writes it to a file</div>'
        )
    return element
