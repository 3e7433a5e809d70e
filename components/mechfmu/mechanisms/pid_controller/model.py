"""Controller for any mechanism: PID per channel, or state feedback with a matrix of gains; limits and anti-windup.

    reference, its rate ---->+-----------------------------+
    measurement, its rate -->|  v = feed-forward + P + I+D |---> v ---[ lower, upper ]---> output u
    feed-forward ----------->|                             |                           |
                             +-----------------------------+<------ ka (u - v) --------+

law=pid, one measurement per channel, with e = r - y and e' = r' - y' from the measured rate:

    v  = ff + kp e + I + kd e'                                                                   (1)
    I' = ki e + ka (u - v)                                                                       (2)

Without a measured rate (rate=filtered) the derivative is that of the error behind a filter of time Tf, with state z:

    z' = (e - z)/Tf ,     e' ~ (e - z)/Tf                                                        (3)

law=state_feedback, with a vector of measurements x (positions, rates, whatever the plant shows) and matrices K, Ki:

    v  = ff + K (x_ref - x) + I ,     I' = Ki (x_ref - x) + ka (u - v)                           (4)

and u = v within the limits. While a limit holds, (2) lets I follow such that v stays within about
(ki/ka) e of the limit: no wind-up.
"""

from __future__ import annotations

import numpy as np

from ...model.mechanism import Array, Mechanism, Option
from ...model.variables import Row

UNLIMITED = 1e9  # a limit no drive reaches


class PidController(Mechanism):
    """A controller with integrators: measurements and references in, limited outputs out.

    Its numbers have the units of what it is wired to.
    """

    key = "pid_controller"
    title = "PID or state-feedback controller for any mechanism"
    option_list = (
        Option("channels", 1, "number of outputs", min=1, max=100),
        Option("law", "pid", "one PID controller per channel, or a matrix of gains", choices=("pid", "state_feedback")),
        Option("rate", "measured", "law=pid: the rate is an input, or the filtered derivative of the error",
               choices=("measured", "filtered")),
        Option("measurements", 0, "law=state_feedback: number of measurements; 0: two per channel", min=0, max=100),
    )  # fmt: skip

    @property
    def channels(self) -> int:
        return int(self.options["channels"])

    @property
    def is_pid(self) -> bool:
        return bool(self.options["law"] == "pid")

    @property
    def is_filtered(self) -> bool:
        return bool(self.is_pid and self.options["rate"] == "filtered")

    @property
    def measurements(self) -> int:
        return self.channels if self.is_pid else int(self.options["measurements"]) or 2 * self.channels

    @property
    def requirement_texts(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"limit.upper[{k}] must be greater than limit.lower[{k}]" for k in range(1, self.channels + 1))

    def rows(self) -> tuple[Row, ...]:
        n, m = self.channels, self.measurements
        filters = [
            Row("Tf", "filter.time[{k}]", "parameter", "time constant of the filter of error {k}", "s", n, 0.01,
                above=0.0),
        ]  # fmt: skip
        rates = [
            Row("dr", "reference_rate[{k}]", "input", "rate at which reference {k} changes", "1", size=n),
            Row("dy", "measurement_rate[{k}]", "input", "rate of measurement {k}, measured", "1", size=n),
        ]
        filtered = [Row("z", "filter.error[{k}]", "state", "error {k} behind its filter", "1", size=n)]
        return (
            *(self._pid_gains() if self.is_pid else self._state_gains()),
            *(filters if self.is_filtered else ()),
            Row("ka", "antiwindup.gain[{k}]", "parameter",
                "rate at which integral {k} follows a limited output; 0: no anti-windup", "1/s", n, 10.0, min=0.0),
            Row("lower", "limit.lower[{k}]", "parameter", "smallest output {k}", "1", size=n, start=-UNLIMITED),
            Row("upper", "limit.upper[{k}]", "parameter", "largest output {k}", "1", size=n, start=UNLIMITED),
            Row("I_start", "integral_start[{k}]", "parameter", "integral part of output {k} at the start", "1", size=n),
            Row("r", "reference[{k}]", "input", "desired value of measurement {k}", "1", size=m),
            Row("y", "measurement[{k}]", "input", "measurement {k}", "1", size=m),
            *(rates if self.is_pid and not self.is_filtered else ()),
            Row("ff", "feed_forward[{k}]", "input", "added to output {k}", "1", size=n),
            Row("I", "integral[{k}]", "state", "integral part of output {k}", "1", size=n),
            *(filtered if self.is_filtered else ()),
            Row("u", "output[{k}]", "output", "output {k}, within its limits", "1", size=n),
            Row("v", "output_unlimited[{k}]", "output", "output {k} if it had no limits", "1", size=n),
            Row("e", "error[{k}]", "output", "reference {k} minus measurement {k}", "1", size=m),
            Row("saturated", "saturated[{k}]", "output", "1 while a limit holds output {k}, otherwise 0", "1", size=n),
        )  # fmt: skip

    def _pid_gains(self) -> list[Row]:
        n = self.channels
        return [
            Row("kp", "gain.proportional[{k}]", "parameter", "output {k} per error", "1", size=n, start=1.0),
            Row("ki", "gain.integral[{k}]", "parameter", "output {k} per error and second", "1", size=n),
            Row("kd", "gain.derivative[{k}]", "parameter", "output {k} per rate of the error", "1", size=n),
        ]

    def _state_gains(self) -> list[Row]:
        pairs = [(i, j) for i in range(1, self.channels + 1) for j in range(1, self.measurements + 1)]
        state, integral = (tuple(f"gain.{word}[{i},{j}]" for i, j in pairs) for word in ("state", "integral"))
        text = "an output per error of a measurement"
        return [
            Row("K", state, "parameter", text, "1", size=len(pairs)),
            Row("Ki", integral, "parameter", f"{text} and second", "1", size=len(pairs)),
        ]

    def initial(self, p: Array) -> tuple[Array, Array]:
        p = self.table.p(p)
        filters = {"z": np.zeros(self.channels)} if self.is_filtered else {}
        return self.table.x.pack(I=p.I_start, **filters), np.zeros(0)

    def requirements(self, p: Array) -> Array:
        p = self.table.p(p)
        return p.upper - p.lower

    def rates(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        v, limited = self._output(x, u, p)
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        e = U.r - U.y
        integrand = P.ki * e if self.is_pid else self._matrix(P.Ki) @ e
        filters = {"z": (e - X.z) / P.Tf} if self.is_filtered else {}  # (3)
        return self.table.x.pack(I=integrand + P.ka * (limited - v), **filters)  # (2), (4)

    def outputs(self, t: Array, x: Array, d: Array, u: Array, p: Array) -> Array:
        v, limited = self._output(x, u, p)
        U = self.table.u(u)
        return self.table.y.pack(u=limited, v=v, e=U.r - U.y, saturated=np.where(np.abs(v - limited) > 0.0, 1.0, 0.0))

    def _output(self, x: Array, u: Array, p: Array) -> tuple[Array, Array]:
        """The output without and with limits."""
        X, U, P = self.table.x(x), self.table.u(u), self.table.p(p)
        e = U.r - U.y
        if self.is_pid:
            de = (e - X.z) / P.Tf if self.is_filtered else U.dr - U.dy  # (3)
            v = U.ff + P.kp * e + X.I + P.kd * de  # (1)
        else:
            v = U.ff + self._matrix(P.K) @ e + X.I  # (4)
        return v, np.minimum(np.maximum(v, P.lower), P.upper)

    def _matrix(self, flat: Array) -> Array:
        return np.reshape(flat, (self.channels, self.measurements))
