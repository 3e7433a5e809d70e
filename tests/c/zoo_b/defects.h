/* Names of everything that can be chosen in a unit; unit_life.c reads the choice from the library itself. */
#ifndef DEFECTS_H
#define DEFECTS_H

/* clang-format off */
#define DEFECTS(X) \
    X(none) X(abort_late) X(alarm_without_event) X(back_refused) X(beyond_default_refused) X(boolean_inverted)     \
    X(boolean_minus_one) X(bytes_pointer) X(bytes_short) X(callbacks_borrowed) X(chdir_late) X(child_late)         \
    X(completed_counts) X(completed_drifts) X(completed_hidden) X(completed_terminates) X(cs_late_events)          \
    X(cs_no_overflow) X(cs_other_area) X(cs_sample_by_step) X(cs_whole_substeps) X(dd_abs_seed)                    \
    X(dd_accumulates) X(dd_adds) X(dd_differences) X(dd_disturbs) X(dd_first_known) X(dd_initial_refused)          \
    X(dd_initial_zero) X(dd_late) X(dd_no_time) X(dd_one_known) X(dd_reversed) X(dd_sign) X(dd_stale)              \
    X(dd_unit_seed) X(debug_ignored) X(debug_in_continuous) X(debug_known_refused) X(debug_none_refused)           \
    X(derivatives_init_refused) X(derivatives_swapped) X(discards) X(end_by_clock) X(enum_read_shifted)            \
    X(enum_tunable_ignored) X(enum_zero_based) X(error_late) X(event_tunable_refused) X(event_twice_refused)       \
    X(exit_crash) X(exit_late) X(exit_status) X(fatal_late) X(fd_steps) X(feed_derivative) X(feed_event)           \
    X(feed_initial) X(feed_late) X(feed_square) X(feed_state_late) X(feed_threshold) X(file_here) X(file_lock)     \
    X(file_temporary) X(fixed_size) X(flags_false) X(free_in_event_crash) X(free_in_init_crash)                    \
    X(free_keeps_pointer) X(free_null_refused) X(guid_empty) X(guid_ignored) X(guid_length) X(guid_longer)         \
    X(guid_prefix) X(hang_late) X(indicator_infinite) X(indicator_missing) X(indicator_missing_low)                \
    X(indicator_nan) X(indicator_zero) X(indicator_zero_after_event) X(indicators_init_refused) X(infinite_late)   \
    X(init_input_refused) X(init_loses_boolean) X(init_loses_counter) X(init_loses_enum) X(init_loses_integer)     \
    X(init_loses_real) X(init_loses_state) X(init_loses_string) X(init_loses_tunable) X(integer_byte_tunable)      \
    X(integer_short) X(iteration_endless) X(iteration_endless_late) X(ki_stale) X(last_time_end)                   \
    X(last_time_refused) X(leak_child_instance) X(leak_fd_instance) X(leak_instance) X(leak_data)                  \
    X(leak_state_reuse) X(leak_states) X(leak_thread_instance) X(leak_without_event) X(load_abort) X(load_exit)    \
    X(location_authority) X(location_empty) X(location_localhost) X(location_raw) X(location_read) X(log_always)   \
    X(log_calls) X(log_category) X(log_category_null) X(log_environment) X(log_formats) X(log_name)                \
    X(log_newline) X(log_percent) X(log_without_categories) X(logging_refused) X(long_arrays_refused)              \
    X(me_no_time_events) X(me_stops_at_start) X(me_stops_late) X(memory_steps) X(model_clock) X(model_gears)       \
    X(model_many) X(model_noise) X(model_relay) X(model_stiff) X(model_time) X(name_ascii) X(name_borrowed)        \
    X(name_long_crash) X(name_short) X(name_utf8_refused) X(nan_late) X(nan_one_step) X(next_event_nan)            \
    X(next_event_past) X(nominal_negative) X(nominal_unannounced) X(nominal_zero) X(nominals_always)               \
    X(nominals_early_refused) X(once) X(order_sorted) X(past_stop_clamps) X(past_stop_ok) X(pending)               \
    X(pending_never) X(pending_no_callback) X(pending_status_ok) X(pending_undeclared) X(platform)                 \
    X(point_exact) X(prints) X(prior_refused) X(r1_abort) X(r1_accepts) X(r1_step_crash) X(r2_enum_accepted)       \
    X(r2_enum_crash) X(r2_nan_accepted) X(r2_nan_crash) X(r2_null_crash) X(r2_null_instance) X(r2_sets_all)        \
    X(r2_unknown_abort) X(r2_unknown_ok) X(r2_zero_refused) X(r3_back_accepted) X(r3_crash) X(r3_gap_accepted)     \
    X(r3_hang) X(r3_size_accepted) X(r4_bytes_accepted) X(r4_bytes_crash) X(r4_null_crash) X(r4_unchecked)         \
    X(range_late) X(rates_late) X(rates_reversed) X(rates_zero) X(real_float) X(refusal_silent) X(reserve)         \
    X(residual)                                                                                                    \
    X(reset_init_refused) X(reset_keeps_boolean) X(reset_keeps_boost) X(reset_keeps_counter) X(reset_keeps_enum)   \
    X(reset_keeps_input) X(reset_keeps_mode) X(reset_keeps_real) X(reset_keeps_slopes) X(reset_keeps_state)        \
    X(reset_keeps_string) X(reset_keeps_tag) X(reset_terminated_refused) X(rounding_late)                          \
    X(running_without_event) X(second_refused) X(segv_late) X(set_first_boolean) X(set_first_real)                 \
    X(set_range_discard) X(set_states_skips_last) X(set_together) X(settime_accumulates) X(settime_back_refused)   \
    X(settime_stale) X(setup_needs_stop) X(shared_integral) X(signal_taken) X(slopes_first_input)                  \
    X(slopes_ignored) X(slopes_refused) X(slopes_twice) X(slow_instantiate) X(slow_once) X(slow_steps)             \
    X(small_refused) X(spin_late) X(start_event_past) X(start_float) X(start_ignored) X(state_early_refused)       \
    X(state_event_refused) X(state_only_one) X(state_set_refused) X(state_terminated_refused) X(state_used_once)   \
    X(state_without_alarm) X(state_without_boost) X(state_without_delay) X(state_without_flags)                    \
    X(state_without_input) X(state_without_integral) X(state_without_kp) X(state_without_leak)                     \
    X(state_without_mode) X(state_without_mute) X(state_without_operator) X(state_without_phase)                   \
    X(state_without_pulses) X(state_without_sample) X(state_without_samples) X(state_without_slopes)               \
    X(state_without_tag) X(state_without_time) X(states_reversed) X(states_stale) X(step_tunable_refused)          \
    X(stops_beyond) X(stops_late) X(strict_early) X(strict_init) X(strict_unread) X(string_ascii)                  \
    X(string_buffer) X(string_empty_refused) X(string_null) X(string_short) X(string_trimmed)                      \
    X(strings_together) X(terminate_clears_text) X(terminate_event_refused) X(terminate_resets_counter)            \
    X(terminated_real_refused) X(terminated_string_refused) X(terminated_true) X(terminated_zero)                  \
    X(thread_steps) X(tunable_integer_early) X(use_callbacks) X(values_always) X(values_at_samples)                \
    X(values_jump) X(values_never) X(variable_refused) X(version) X(visible_refused) X(volume_stale) X(warns)      \
    X(zombies) X(memory_events) X(integer_float) X(set_once) X(reset_loses_memory) X(flush_late) X(mask_late)      \
    X(text_latin) X(second_differs) X(child_holds)
/* clang-format on */

enum {
#define DEFECT_ID(name) BUG_##name,
    DEFECTS(DEFECT_ID)
#undef DEFECT_ID
};

int bug_active(int id);

#define BUG(name) bug_active(BUG_##name)

#endif
