"""The variables of the cart's controller."""

from __future__ import annotations

from ...model.variables import Row
from ..scenario.variables import scenario_rows
from ..wheeled_cart.parameters import CART_ROWS, START

ARTICLE = {"a": 3.2, "b": 8.4}  # the published rates of approach

FLAGS = {
    "inside_obstacle": "M is inside an inflated obstacle",
    "overlapping_obstacles": "two inflated obstacles overlap",
    "target_blocked": "the target is inside an inflated obstacle",
    "steering_degraded": "steering hardly acts on y and is damped",
    "saturated": "a torque is at its limit",
}
INFLUENCE_SHORT = {"influence_short": "the influence distance is shorter than braking may need"}


def controller_rows(obstacles: int, rigid: bool, safe: bool) -> tuple[Row, ...]:
    """The table of the controller: number of obstacles, rigid or free front wheel, safe or published field."""
    return (
        *_parameter_rows(rigid, safe),
        *_input_rows(rigid),
        *scenario_rows("input", obstacles),
        *_output_rows(obstacles, rigid, safe),
    )


def _parameter_rows(rigid: bool, safe: bool) -> tuple[Row, ...]:
    allocation = Row(
        "allocation", "constraint.allocation", "parameter",
        "how the rear wheels share the drive: least effort, or no side load on the front wheel",
        start=1, min=1, max=2, kind="Integer", items=("minimum_norm", "zero_side_load"),
    )  # fmt: skip
    return (
        *CART_ROWS,
        *(_safe_field_rows() if safe else _article_field_rows()),
        Row("Rc", "guidance.footprint", "parameter",
            "largest distance from M to a point of the cart; 0: only M keeps off the obstacles", "m", min=0.0),
        Row("k_0", "constraint.k0", "parameter", "decay of the steering violation y: y'' = -k0 y - k1 y'", "1/s2",
            start=16.0, above=0.0),
        Row("k_1", "constraint.k1", "parameter", "its damping", "1/s", start=8.0, above=0.0),
        Row("k_z", "constraint.kz", "parameter", "decay of the speed violation z: z' = -kz z", "1/s",
            start=3.0, above=0.0),
        Row("es", "constraint.damping", "parameter",
            "speed below which steering is damped, not inverted; 0: exact, singular where the field vanishes", "m/s",
            start=0.03, min=0.0),
        Row("kd", "constraint.rate_gain", "parameter", "decay of the steering rate where it is damped", "1/s",
            start=4.0, min=0.0),
        *((allocation,) if rigid else ()),
        Row("M_max", "limit.wheel_torque", "parameter", "largest torque of a rear wheel; 0: no limit", "N.m",
            start=10.0, min=0.0),
        Row("R_max", "limit.steering_torque", "parameter", "largest steering torque; 0: no limit", "N.m",
            start=1.0, min=0.0),
    )  # fmt: skip


def _safe_field_rows() -> list[Row]:
    return [
        Row("K", "guidance.gain", "parameter", "rate of approach near the target", "1/s", start=0.8, above=0.0),
        Row("vc", "guidance.cruise_speed", "parameter", "speed far from the target, relative to it", "m/s",
            start=0.6, above=0.0),
        Row("d", "guidance.influence", "parameter", "distance at which an obstacle begins to act", "m",
            start=0.5, above=0.0),
        Row("eps", "guidance.smoothing", "parameter", "speed over which braking before an obstacle sets in", "m/s",
            start=0.05, above=0.0),
        Row("beta", "guidance.swirl", "parameter",
            "share of the removed approach that becomes motion around the obstacle", "1", start=0.1, min=0.0),
        Row("kout", "guidance.push_out", "parameter", "rate of leaving an obstacle that was entered", "1/s",
            start=1.0, min=0.0),
    ]  # fmt: skip


def _article_field_rows() -> list[Row]:
    return [
        Row("fa", "guidance.rate_x", "parameter", "a of the published field", "1", start=ARTICLE["a"], above=0.0),
        Row("fb", "guidance.rate_y", "parameter", "b of the published field", "1", start=ARTICLE["b"], above=0.0),
    ]


def _input_rows(rigid: bool) -> tuple[Row, ...]:
    """The measured state of the cart."""
    speed = START["speed"]
    front = [
        Row("w", "front.speed", "input", "ground speed of the front wheel along its own plane", "m/s", start=speed)
    ]
    velocity = [
        Row("vx", "pose.velocity_x", "input", "velocity of M, x", "m/s", start=speed),
        Row("vy", "pose.velocity_y", "input", "velocity of M, y", "m/s"),
    ]
    return (
        Row("q1", "pose.x", "input", "position of M, x", "m", start=START["x"]),
        Row("q2", "pose.y", "input", "position of M, y", "m", start=START["y"]),
        Row("q4", "pose.heading", "input", "heading", "rad", start=START["heading"]),
        Row("q3", "steering.angle", "input", "steering angle", "rad", start=START["steering"]),
        Row("sg", "steering.rate", "input", "rate of the steering angle", "rad/s"),
        *(front if rigid else velocity),
    )


def _output_rows(obstacles: int, rigid: bool, safe: bool) -> tuple[Row, ...]:
    z = ("constraint.z",) if rigid else ("constraint.z_x", "constraint.z_y")
    needed = [
        Row("needed", "guidance.influence_needed", "output",
            "influence distance with which the wheel torques can brake in time", "m"),
    ]  # fmt: skip
    flags = FLAGS | (INFLUENCE_SHORT if safe else {})
    return (
        Row("M1", "wheel.left_torque", "output", "torque for the rear left wheel, within its limit", "N.m"),
        Row("M2", "wheel.right_torque", "output", "torque for the rear right wheel, within its limit", "N.m"),
        Row("R3", "steering.torque", "output", "steering torque, within its limit", "N.m"),
        Row("M1_asked", "wheel.left_torque_requested", "output", "torque of the rear left wheel without limit", "N.m"),
        Row("M2_asked", "wheel.right_torque_requested", "output", "torque of the rear right wheel without limit",
            "N.m"),
        Row("R3_asked", "steering.torque_requested", "output", "steering torque without limit", "N.m"),
        Row("F1", "guidance.velocity_x", "output", "desired velocity of M, x", "m/s"),
        Row("F2", "guidance.velocity_y", "output", "desired velocity of M, y", "m/s"),
        Row("y", "constraint.y", "output", "sideways speed of the front wheel if M had the desired velocity", "m/s"),
        Row("y_rate", "constraint.y_rate", "output", "its rate", "m/s2"),
        Row("z", z, "output", "violation of the speed", "m/s", len(z)),
        Row("theta3", "constraint.theta3", "output",
            "dy/d(steering angle): where it vanishes, steering has no effect on y", "m/s"),
        Row("w_desired", "front.speed_desired", "output", "desired speed of the front wheel", "m/s"),
        Row("clearance", "clearance[{k}]", "output",
            "distance of M to the boundary of obstacle {k}, inflated by the footprint; 1e6: not there", "m", obstacles),
        Row("clearance_min", "clearance_min", "output", "smallest of the clearances", "m"),
        *(needed if safe else ()),
        *(Row(symbol, symbol, "output", f"1 when {text}, otherwise 0", "1") for symbol, text in flags.items()),
    )  # fmt: skip
