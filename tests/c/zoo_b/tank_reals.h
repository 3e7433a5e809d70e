/* Real members of the tank; included once with NUM = double and once with NUM = double complex. */
NUM time;
NUM area1, area2, k_valve, k_drain, k_leak, k_over, q_max, lag;
NUM h_over, h_low, h_high, v_pulse, period, t_leak, rain_amp, rain_omega, gain_set, w_start;
NUM kp, ti, manual;
NUM volume_max, ki;
NUM u_valve, u_inflow, setpoint;
NUM h1, h2, w, vol;
NUM der_h1, der_h2, der_w, der_vol;
NUM q_valve, q_over, power, stored, rain, command, set_scaled;
NUM q_drain, integral, gravity;
