"""Programmed constraints on a chain of three rods: its tip goes to a line and along it at a given speed.

It does so in spite of its weight and a start off the line. Two equations for three motors: the third freedom is left to
forces that carry the weight and damp every joint.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from mechfmu import LinkChain
from mechfmu.control.programmed_constraints import ConstraintProgram, response_of
from mechfmu.simulation.engines import make_instance

LENGTHS, SPEED, HEIGHT = np.array([0.7, 0.6, 0.5]), 0.25, 0.45
STEP, STOP, DAMPING = 0.002, 2.5, 4.0


def height_over_line(q, t):
    return np.stack([np.sum(LENGTHS * np.sin(np.cumsum(q))) - HEIGHT])


def speed_along_line(q, nu, t):
    return np.stack([np.sum(-LENGTHS * np.sin(np.cumsum(q)) * np.cumsum(nu)) - SPEED])


def main() -> None:
    chain = LinkChain(links=3, mass=6.0)
    start = {f"joint[{k + 1}].angle_start": angle for k, angle in enumerate((2.4, -2.2, -0.8))}
    start |= {f"link[{k + 1}].length": l for k, l in enumerate(LENGTHS)} | {
        f"link[{k + 1}].com": l / 2 for k, l in enumerate(LENGTHS)
    }
    _, x, d, u, p = chain.start(start)
    plant = make_instance(chain, start)
    plant.initialize()
    engine, table = plant.engine, chain.table
    angles, rates, motors = (
        [table.by_name[f"joint[{k}].{what}"] for k in (1, 2, 3)] for what in ("angle", "rate", "torque")
    )
    program = ConstraintProgram(lambda q, nu: nu, height_over_line, speed_along_line, k0=25.0, k1=10.0, kz=4.0)

    def accelerations(q, nu, tau):
        x[table.x.part("q")], x[table.x.part("dq")], u[table.u.part("tau")] = q, nu, tau
        return engine.rates(0.0, x, d, u, p)[table.x.part("dq")]

    rows = []
    for k in range(round(STOP / STEP) + 1):
        q, nu = np.array(plant.get(angles)), np.array(plant.get(rates))
        a, R = response_of(lambda tau, q=q, nu=nu: accelerations(q, nu, tau), 3)
        if k == 0:
            program.check_feasible(q, nu, 0.0, R)
        carry = -np.linalg.solve(R, accelerations(q, 0 * nu, np.zeros(3))) - DAMPING * nu
        law = program.control(q, nu, k * STEP, a, R, preferred=carry)
        violation = program.violation(q, nu, k * STEP)
        if k % 250 == 0:
            y, z = 1000 * violation.y[0], 1000 * violation.z[0]
            print(f"t = {k * STEP:3.1f} s   height over the line {y:8.3f} mm   error of the speed {z:8.3f} mm/s")
        rows.append([k * STEP, *plant.get([table.by_name["tip.x"], table.by_name["tip.y"]]), *law.u])
        plant.set(motors, law.u.tolist())
        plant.step(k * STEP, STEP)
    t, tip_x, tip_y, *torques = np.array(rows).T
    figure, (plane, motor) = plt.subplots(2, 1, figsize=(7, 7), layout="constrained")
    plane.plot(tip_x, tip_y, color="#1769aa", label="tip")
    plane.axhline(HEIGHT, color="#868e96", linestyle="--", label="line")
    plane.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for k, torque in enumerate(torques, start=1):
        motor.plot(t, torque, label=f"joint[{k}].torque")
    motor.set(xlabel="time [s]", ylabel="[N m]")
    for axes in (plane, motor):
        axes.legend()
        axes.grid(alpha=0.3)
    figure.savefig("chain_on_a_line.png", dpi=120)
    print("wrote chain_on_a_line.png")


if __name__ == "__main__":
    main()
