"""The parts of docs/check.md that are made from the code. `python tests/check_docs.py` brings the page up to date."""

from __future__ import annotations

import re

from helpers.check_zoo import table
from helpers.paths import DOCS
from mechfmu.check.checker import RULES

PAGE = DOCS / "check.md"


def parts() -> dict[str, str]:
    """Heading of the table -> its rows."""
    return {
        "| id | rule | FMI 2.0 |\n|---|---|---|\n": "".join(
            f"| {r.id} | **{r.title}.** {r.text} | {r.section} |\n" for r in RULES
        ),
        "| rule | defect | caught by |\n|---|---|---|\n": "".join(f"{line}\n" for line in table().splitlines()[2:]),
    }


def up_to_date(text: str) -> str:
    for heading, rows in parts().items():
        assert text.count(heading) == 1, heading
        text = re.sub(re.escape(heading) + r"(\|.*\n)*", lambda _, new=heading + rows: new, text)
    return text


if __name__ == "__main__":
    PAGE.write_text(up_to_date(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
