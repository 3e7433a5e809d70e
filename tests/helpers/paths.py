"""Where things are in the checkout."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
PACKAGE = ROOT / "components" / "mechfmu"
DOCS, EXAMPLES, BUILD_SCRIPTS = ROOT / "docs", ROOT / "examples", ROOT / "build_scripts"
GOLDEN_DATA = TESTS / "golden"
