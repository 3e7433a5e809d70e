"""Golden data of the wheeled cart."""

from __future__ import annotations

from helpers.cart_cases import CART_NAMES, NU, TORQUES, Q, golden, named, starts

ACCELERATIONS = golden("plant_accelerations")


OPEN_LOOP = golden("plant_open_loop")


def case_start(case: dict) -> dict[str, float]:
    start = (
        named(CART_NAMES, ACCELERATIONS["parameters"][case["param_set"]])
        | starts(Q, case["q"])
        | starts(NU[case["front"]], case["nu"])
    )
    return start | dict(zip(TORQUES, case["torque"], strict=True))
