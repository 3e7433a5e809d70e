"""The variables of the cart."""

from __future__ import annotations

from ...model.variables import Role, Row
from .parameters import CART_ROWS, START

WHEEL_ANGLES = ("wheel.front_angle", "wheel.left_angle", "wheel.right_angle")
WHEEL_RATES = ("wheel.front_rate", "wheel.left_rate", "wheel.right_rate")


def cart_rows(front: str) -> tuple[Row, ...]:
    """The table of the cart; `front`: rigid, free or viscous, as in model.py."""
    rigid = front == "rigid"
    return (*_parameter_rows(front), *_state_rows(rigid), *_output_rows(rigid))


def _parameter_rows(front: str) -> tuple[Row, ...]:
    speed = START["speed"]
    rigid = [
        Row("w_start", "front.speed_start", "parameter", "speed of the front wheel at the start", "m/s", start=speed)
    ]
    free = [
        Row(
            "v_start",
            "rear.speed_start",
            "parameter",
            "forward speed of the rear axle at the start",
            "m/s",
            start=speed,
        ),
        Row("om_start", "yaw_rate_start", "parameter", "yaw rate at the start", "rad/s"),
    ]
    lateral = [
        Row("c_lat", "front.lateral_damping", "parameter", "side force of the front wheel per sideways speed", "N.s/m",
            start=1000.0, min=0.0),
    ]  # fmt: skip
    return (
        *CART_ROWS,
        *(lateral if front == "viscous" else ()),
        Row("b", "wheel.damping", "parameter", "viscous friction of a wheel", "N.m.s/rad", min=0.0),
        Row("t_r", "wheel.rolling_resistance", "parameter", "rolling resistance of a wheel", "N.m", min=0.0),
        Row("v_r", "wheel.rolling_rate", "parameter", "rate at which the rolling resistance reaches 76 percent",
            "rad/s", start=0.1, above=0.0),
        Row("b_s", "steering.damping", "parameter", "viscous friction of the steering", "N.m.s/rad", min=0.0),
        Row("M_max", "wheel.torque_limit", "parameter", "largest torque on a rear wheel; 0: no limit", "N.m", min=0.0),
        Row("R_max", "steering.torque_limit", "parameter", "largest steering torque; 0: no limit", "N.m", min=0.0),
        Row("x_start", "pose.x_start", "parameter", "position of M at the start, x", "m", start=START["x"]),
        Row("y_start", "pose.y_start", "parameter", "position of M at the start, y", "m", start=START["y"]),
        Row("heading_start", "pose.heading_start", "parameter", "heading at the start", "rad", start=START["heading"]),
        Row("steering_start", "steering.angle_start", "parameter", "steering angle at the start", "rad",
            start=START["steering"]),
        Row("wheels_start", tuple(f"{name}_start" for name in WHEEL_ANGLES), "parameter",
            "rolling angle of a wheel at the start", "rad", 3),
        Row("sg_start", "steering.rate_start", "parameter", "rate of the steering angle at the start", "rad/s"),
        *(rigid if front == "rigid" else free),
    )  # fmt: skip


def _state_rows(rigid: bool) -> tuple[Row, ...]:
    """Inputs and states."""
    return (
        Row("M1", "wheel.left_torque", "input", "torque on the rear left wheel", "N.m"),
        Row("M2", "wheel.right_torque", "input", "torque on the rear right wheel", "N.m"),
        Row("R3", "steering.torque", "input", "steering torque, on the fork from the body", "N.m"),
        Row("q1", "pose.x", "state", "position of M, the body's mass centre, x", "m"),
        Row("q2", "pose.y", "state", "position of M, y", "m"),
        Row("q3", "steering.angle", "state", "angle of the front wheel against the body, to the left", "rad"),
        Row("q4", "pose.heading", "state", "angle of the body's axis against the x axis", "rad"),
        Row("rolled", WHEEL_ANGLES, "state", "rolling angle of a wheel, forward", "rad", 3),
        *(_front_speed("state") if rigid else _rear_speeds("state")),
        Row("sg", "steering.rate", "state", "rate of the steering angle", "rad/s"),
        Row("work", "energy.input", "state", "work done by the three torques since the start", "J"),
        Row("loss", "energy.dissipated", "state", "energy lost in friction since the start", "J"),
    )


def _output_rows(rigid: bool) -> tuple[Row, ...]:
    return (
        *(_rear_speeds("output") if rigid else _front_speed("output")),
        Row("vx", "pose.velocity_x", "output", "velocity of M, x", "m/s"),
        Row("vy", "pose.velocity_y", "output", "velocity of M, y", "m/s"),
        Row("rolling", WHEEL_RATES, "output", "rolling rate of a wheel, forward", "rad/s", 3),
        Row("slip", "front.slip", "output", "sideways speed of the front wheel on the ground, to the left", "m/s"),
        Row(
            "residual",
            "rolling_residual",
            "output",
            "largest sliding speed in the rolling constraints that hold",
            "m/s",
        ),
        Row("ax", "pose.acceleration_x", "output", "acceleration of M, x", "m/s2"),
        Row("ay", "pose.acceleration_y", "output", "acceleration of M, y", "m/s2"),
        Row("dsg", "steering.acceleration", "output", "acceleration of the steering angle", "rad/s2"),
        Row("f", "front.side_force", "output", "side force of the ground on the front wheel, to the left", "N"),
        Row("kinetic", "energy.kinetic", "output", "kinetic energy", "J"),
        Row("potential", "energy.potential", "output", "potential energy: none, the ground is level", "J"),
        Row("total", "energy.total", "output", "kinetic and potential energy", "J"),
    )


def _front_speed(role: Role) -> list[Row]:
    return [Row("w", "front.speed", role, "ground speed of the front wheel along its own plane", "m/s")]


def _rear_speeds(role: Role) -> list[Row]:
    return [
        Row("v", "rear.speed", role, "forward speed of the rear axle's centre", "m/s"),
        Row("om", "yaw_rate", role, "rate of the heading", "rad/s"),
    ]
