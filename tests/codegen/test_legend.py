"""Comments of the generated C: every element has a name, and the code is the same without them."""

from __future__ import annotations

import re

import pytest

from mechfmu import Exoskeleton, LinkChain
from mechfmu.codegen.c_model import boundary_count, graphs, model_c
from mechfmu.codegen.c_text import c_function
from mechfmu.codegen.legend import VECTORS, _safe, summary
from mechfmu.model import Mechanism


def function(text: str, name: str) -> list[str]:
    """The statements of a generated function."""
    body = re.search(rf"^static NOINLINE void {name}\(.*?\{{\n(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    return [line.strip() for line in body[1].splitlines()[1:]]


@pytest.mark.parametrize("mechanism", (LinkChain(links=3), Exoskeleton.three_link()), ids=lambda m: m.key)
def test_the_legend_lists_every_element(mechanism: Mechanism) -> None:
    text = model_c(mechanism, "", {})
    for vector, (role, _) in VECTORS.items():
        for scalar in mechanism.table.of(role):
            line = rf"^ \*   {vector}\[{scalar.index}\] +{re.escape(scalar.name)} +{re.escape(scalar.unit)} +\S"
            assert re.search(line, text, re.MULTILINE), scalar.name
    for k, event in enumerate(mechanism.event_names):
        assert re.search(rf"^ \*   g\[{k}\] +{re.escape(event)}( |$)", text, re.MULTILINE), event
        assert f"/* states after the event {event} */\nstatic NOINLINE void model_jump_{k}_0(" in text


def test_names_stand_where_elements_are_used_first() -> None:
    table = LinkChain(links=3).table
    names = {f"p[{s.index}]": s.name for s in table.of("parameter")} | {
        f"x[{s.index}]": s.name for s in table.of("state")
    }
    seen: set[str] = set()
    for line in function(model_c(LinkChain(links=3), "", {}), "model_rates_0"):
        code, _, comment = line.partition("/*")
        for element in re.findall(r"\b[px]\[\d+\]", code):
            assert (names[element] in comment) == (element not in seen), line
            seen.add(element)
    assert {names[element] for element in seen} >= {"gravity", "link[3].length", "joint[2].damping", "joint[3].rate"}


def test_results_are_named() -> None:
    text = model_c(LinkChain(links=3), "", {})
    assert function(text, "model_rates_0")[0] == "out[0] = x[3]; /* der(joint[1].angle) = joint[1].rate */"
    assert function(text, "model_initial_0")[0] == "x_new[0] = p[28]; /* joint[1].angle = joint[1].angle_start */"


def test_a_long_array_has_one_line_and_a_loop_names_its_range() -> None:
    text = model_c(LinkChain(links=60), "", {})
    assert re.search(
        r"^ \*   p\[1\.\.60\] +link\[1\.\.60\]\.length +m +length of rod k, joint to joint$", text, re.MULTILINE
    )
    assert re.search(r"for \(int j = .*\n +const double v0 = x\[62 \+ j\] .* /\* joint\[3\.\.60\]\.rate \*/", text)
    assert text.count("joint[30].stiffness") < 10


def test_comments_are_all_that_names_add() -> None:
    chain = LinkChain(links=60)
    text = re.sub(r" /\*.*?\*/", "", model_c(chain, "", {}))
    for graph in graphs(chain):
        assert (
            c_function(graph, f"model_{graph.name()}", boundary_count(graph)).text.replace("\nvoid", "\nstatic void")
            in text
        )


@pytest.mark.parametrize(
    ("names", "wanted"),
    (
        (["a"], "a"),
        (["a", "a"], "a"),
        (["joint[1].x", "joint[2].x", "joint[3].x"], "joint[1..3].x"),
        (["joint[3].x", "joint[2].x"], "joint[3..2].x"),
        (["joint[1].x", "joint[3].x", "joint[5].x"], "joint[1].x ... joint[5].x"),
        (["joint[1].x[2]", "joint[2].x[2]"], "joint[1..2].x[2]"),
        (["joint[1].x[1]", "joint[2].x[2]"], "joint[1].x[1] ... joint[2].x[2]"),
        (["hip", "knee", "foot"], "hip ... foot"),
    ),
)
def test_names_in_short_form(names: list[str], wanted: str) -> None:
    assert summary(names) == wanted


def test_a_name_cannot_end_a_comment() -> None:
    assert _safe("a */ b /* c\nd") == "a * / b / * c d"
