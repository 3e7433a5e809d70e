/* Continuous equations of the tank, for NUM, REALS, ROOT and EQUATIONS as defined by the including file. */
static NUM ROOT(NUM d) { return d / sqrt(sqrt(d * d + 1e-4)); }

static void EQUATIONS(REALS *r, const Tank *k, int cs, int initial, int event) {
    static const double FACTOR[] = {1.0, 1.0, 0.8, 0.9};
    double f = FACTOR[k->fluid];
    NUM area2 = r->area2;

    r->volume_max = r->area1 * r->h_over;
    r->ki = r->kp / r->ti;
    if (initial) {
        r->w = r->w_start;
        r->command = r->manual;
    }
    r->set_scaled = r->gain_set * r->setpoint;
    r->rain = k->has_rain ? r->rain_amp * (1.0 + sin(r->rain_omega * r->time)) : 0.0 * r->time;
    r->q_valve = f * r->k_valve * r->u_valve * ROOT(r->h1 - r->h2);
    r->q_over = k->overflow ? r->k_over * (r->h1 - r->h_over) : 0.0 * r->h1;
    r->q_drain = f * r->k_drain * ROOT(r->h2);
    r->power = r->gravity * r->q_max * r->w * r->h1;
    r->stored = r->area1 * r->h1 + r->area2 * r->h2;

    if (cs && BUG(cs_other_area)) area2 = area2 * 1.04;
    if (cs && BUG(cs_no_overflow)) r->q_over = 0.0;
    r->der_h1 = (r->q_max * r->w + r->u_inflow - r->q_valve - r->q_over) / r->area1;
    r->der_h2 = (r->q_valve - r->q_drain - (k->leaking ? r->k_leak * ROOT(r->h2) : 0.0) + r->rain) / area2;
    r->der_w = (r->command - r->w) / r->lag;
    r->der_vol = r->q_drain;

    if (BUG(leak_without_event) && creal(r->time) >= creal(r->t_leak))
        r->der_h2 = r->der_h2 - r->k_leak * ROOT(r->h2) / area2;
    if (BUG(volume_stale)) r->volume_max = 1.6 + 0.0 * r->area1;
    if (BUG(feed_late) && k->leaking) r->power = r->power + 0.3 * r->u_inflow;
    if (BUG(feed_square)) r->power = r->power + 40.0 * r->u_inflow * r->u_inflow;
    if (BUG(feed_threshold) && creal(r->u_valve) > 0.6) r->stored = r->stored + (r->u_valve - 0.6);
    if (BUG(feed_initial) && initial) r->stored = r->stored + 0.1 * r->u_valve;
    if (BUG(feed_state_late) && k->leaking) r->q_over = r->q_over + 0.02 * r->w;
    if (BUG(feed_event) && event) r->set_scaled = r->set_scaled + 0.05 * r->h2;
    if (BUG(feed_derivative) && creal(r->h2) > 1.0)
        r->der_h1 = r->der_h1 + 0.05 * (r->h2 - 1.0) * (r->vol - r->vol * r->vol);
    if (BUG(nan_late) && creal(r->time) > LATE) r->q_over = NAN;
    if (BUG(nan_one_step) && creal(r->time) > 13.0 && creal(r->time) < 13.35) r->rain = NAN;
    if (BUG(infinite_late) && creal(r->time) > LATE) r->power = INFINITY;
    if (BUG(range_late) && creal(r->time) > 15.0) r->power = r->power + 500.0;
}
