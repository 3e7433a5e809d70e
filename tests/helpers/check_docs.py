"""The tables of docs/check.md that are generated from the code.

`PYTHONPATH=tests python -m helpers.check_docs` updates the page.
"""

from __future__ import annotations

import re

from helpers.check_zoo import DEFECTS
from helpers.paths import DOCS
from mechfmu.check.checker import RULES

PAGE = DOCS / "check.md"


def parts() -> dict[str, str]:
    """Heading of a table -> its rows."""
    rules = "".join(f"| {r.id} | **{r.title}.** {r.text} | {r.section} |\n" for r in RULES)
    defects = "".join(f"| {d.rule} | {d.what} | {d.rule} only |\n" for d in DEFECTS)
    return {
        "| id | rule | FMI 2.0 |\n|---|---|---|\n": rules,
        "| rule | defect | caught by |\n|---|---|---|\n": defects,
    }


def up_to_date(text: str) -> str:
    for heading, rows in parts().items():
        assert text.count(heading) == 1, heading
        text = re.sub(re.escape(heading) + r"(\|.*\n)*", lambda _, new=heading + rows: new, text)
    return text


if __name__ == "__main__":
    PAGE.write_text(up_to_date(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
