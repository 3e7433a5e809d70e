"""CasADi's operations and the C expression of each; {0} and {1} are the operands.

There are two expressions: of numbers, and of SIMD lanes, which hold a number of one instance each. Both do the same
operations in the same order, so that the bits are the same. Sine, cosine and atan2 are our own
(fmu_src/native/sine.h, arctangent.h).
"""

from __future__ import annotations

import casadi

BINARY = {
    "ADD": "{0} + {1}",
    "SUB": "{0} - {1}",
    "MUL": "{0} * {1}",
    "DIV": "{0} / {1}",
    "POW": "pow({0}, {1})",
    "CONSTPOW": "pow({0}, {1})",
    "ATAN2": "angle_of({0}, {1})",
    "FMIN": "minimum({0}, {1})",
    "FMAX": "maximum({0}, {1})",
    "FMOD": "fmod({0}, {1})",
    "COPYSIGN": "copysign({0}, {1})",
    "HYPOT": "hypot({0}, {1})",
    "LT": "(double)({0} < {1})",
    "LE": "(double)({0} <= {1})",
    "EQ": "(double)({0} == {1})",
    "NE": "(double)({0} != {1})",
    "AND": "(double)({0} != 0 && {1} != 0)",
    "OR": "(double)({0} != 0 || {1} != 0)",
    "IF_ELSE_ZERO": "{0} != 0 ? {1} : 0.0",
}
FUNCTIONS = [
    "exp",
    "log",
    "sqrt",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "floor",
    "ceil",
    "fabs",
    "log1p",
    "expm1",
    "erf",
]
UNARY = {
    "ASSIGN": "{0}",
    "NEG": "-{0}",
    "SQ": "{0} * {0}",
    "TWICE": "2.0 * {0}",
    "INV": "1.0 / {0}",
    "NOT": "(double)({0} == 0)",
    "SIGN": "(double)(({0} > 0) - ({0} < 0))",
    "SIN": "sine({0})",
    "COS": "cosine({0})",
    **{function.upper(): function + "({0})" for function in FUNCTIONS},
}
CONDITIONAL_TANH = 999  # tanh of the first operand where the second is not zero

TEMPLATES = {getattr(casadi, f"OP_{name}"): template for name, template in {**UNARY, **BINARY}.items()}
TEMPLATES[CONDITIONAL_TANH] = "{1} != 0 ? tanh({0}) : 0.0"

# The expressions for lanes where they are others: a comparison is a mask, and functions of the C library have the names
# that fmu_src/batch/lanes.h gives them.
_LANE_BINARY = {
    "LT": "truth({0} < {1})",
    "LE": "truth({0} <= {1})",
    "EQ": "truth({0} == {1})",
    "NE": "truth({0} != {1})",
    "AND": "truth(({0} != 0.0) & ({1} != 0.0))",
    "OR": "truth(({0} != 0.0) | ({1} != 0.0))",
    "IF_ELSE_ZERO": "where({0} != 0.0, {1})",
    **{name: f"lanes_{name.lower()}({{0}}, {{1}})" for name in ("POW", "FMOD", "COPYSIGN", "HYPOT")},
    "CONSTPOW": "lanes_pow({0}, {1})",
}
_LANE_UNARY = {
    "NOT": "truth({0} == 0.0)",
    "SIGN": "truth({0} > 0.0) - truth({0} < 0.0)",
    **{function.upper(): f"lanes_{function}({{0}})" for function in FUNCTIONS},
    "FABS": "magnitude({0})",
    "SQRT": "square_root({0})",
}
LANE_TEMPLATES = {**TEMPLATES, CONDITIONAL_TANH: "lanes_conditional_tanh({0}, {1})"}
LANE_TEMPLATES |= {getattr(casadi, f"OP_{name}"): text for name, text in {**_LANE_UNARY, **_LANE_BINARY}.items()}


def is_binary(code: int) -> bool:
    """Whether an operation has two operands."""
    return "{1}" in TEMPLATES[code]
