"""Golden data of the cart's controller."""

from __future__ import annotations

import numpy as np

from helpers.cart_cases import CART_NAMES, GAIN_NAMES, GUIDANCE_NAMES, LIMITLESS, golden, named, scenario_inputs
from helpers.tolerances import CONTROLLER

VALUES = golden("controller_values")


LOOP = golden("closed_loop_rigid")


SCENARIOS = golden("guidance_field")["scenarios"]


GUIDANCE = named(GUIDANCE_NAMES, LOOP["guidance"])


GAINS = named(GAIN_NAMES, LOOP["controller"])


CART = named(CART_NAMES, LOOP["parameters"])


MEASURED = ("pose.x", "pose.y", "steering.angle", "pose.heading")


EXACT = {"constraint.damping": 0.0}


def case_inputs(case: dict) -> dict[str, float]:
    speeds = dict(zip(("front.speed", "steering.rate"), case["nu"], strict=True)) if case["mode"] == "rigid" else {}
    if case["mode"] == "free":
        speeds = dict(zip(("pose.velocity_x", "pose.velocity_y", "steering.rate"), case["v"], strict=True))
    inputs = (
        dict(zip(MEASURED, case["q"], strict=True)) | speeds | scenario_inputs(SCENARIOS[case["scenario"]], case["t"])
    )
    return inputs | CART | GUIDANCE | GAINS | {"constraint.damping": case["eps_s"]} | LIMITLESS


def close(found: object, wanted: object) -> bool:
    return bool(
        np.max(np.abs(np.asarray(found) - np.asarray(wanted))) < CONTROLLER * max(1.0, float(np.max(np.abs(wanted))))
    )
