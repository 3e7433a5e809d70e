"""Which tests the quick lane and the full lane leave out, and why.

`build_scripts/test.py --quick` runs every test without the marker `slow`. A test gets the marker by a decorator of its
own, by one of the fixtures below, by repeating for Python FMUs or for the engine c what runs for others as well, or by
the tables here.

`build_scripts/test.py` runs every test without the marker `repetition`, which is for tests of a feature that a shorter
test covers as well. `build_scripts/test.py --complete` runs everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from helpers.paths import TESTS

# fixtures that start a browser or Windows programs
SLOW_FIXTURES = {"browser", "wine"}

# Tests that run for every kind of FMU (fixture `kind`) run for the native kind only, but for those of these files:
# an instance of a Python FMU takes some tenths of a second.
BOTH_KINDS = ("fmu/test_fmu_initialization.py",)

# Tests that run for every engine run without the engine c, which compiles, but for those of these folders.
ALL_ENGINES = ("codegen/", "simulation/", "mechanisms/link_chain/")

# file or test -> why it is too long for the quick lane
FULL_LANE_ONLY = {
    "analysis/test_linear.py::test_a_hanging_chain_has_the_frequencies_of_a_rope": "a long chain",
    "analysis/test_linear.py::test_no_equilibrium": "a search without end",
    "analysis/test_linear.py::test_the_command_and_its_files": "builds an FMU, and several files",
    "analysis/test_vector_learning.py": "compiles",
    "check/test_check_clean.py::test_a_clean_fmu_gives_no_findings": "every rule on several FMUs",
    "check/test_check_docs.py::test_each_rule_becomes_a_test": "a test run of its own",
    "check/test_check_fuzz.py::test_a_description_of_many_variables": "thousands of variables",
    "check/test_check_fuzz.py::test_archives_with_wrong_bytes": "hundreds of archives",
    "check/test_check_fuzz.py::test_mutated_model_descriptions": "hundreds of descriptions",
    "check/test_check_fuzz.py::test_random_calls": "thousands of calls",
    "check/test_check_isolation.py::test_a_hang_costs_its_time_limit_once": "waits for a time limit",
    "check/test_check_isolation.py::test_a_crash_of_both_kinds_is_one_cause": "many processes that crash",
    "check/test_check_isolation.py::test_nothing_is_left_behind": "checks several FMUs",
    "check/test_check_large.py": "thousands of variables",
    "check/test_check_ours.py": "every rule on every mechanism and kind",
    "check/test_check_report.py::test_exit_status": "checks several FMUs",
    "check/test_check_zoo.py::test_a_defect_is_found_by_its_rule": "hundreds of FMUs, some of which hang",
    "check/test_check_zoo.py::test_no_unrelated_rule_finds_a_defect": "several rules on many FMUs",
    "check/test_check_zoo.py::test_nothing_is_found_in_a_clean_unit": "several rules on a hundred FMUs",
    "cli/test_new.py::test_a_new_mechanism_works_and_passes_its_own_tests": "a test run of its own",
    "cli/test_tree_command.py::test_names_of_the_file_are_names_of_variables": "builds FMUs of its own",
    "codegen/test_c_code.py::test_random_graphs_against_casadi": "hundreds of graphs, compiled",
    "codegen/test_c_code.py::test_random_programs_instruction_by_instruction": "hundreds of programs, compiled",
    "codegen/test_c_code.py::test_the_code_of_a_long_chain_does_not_grow_with_it": "writes C of long chains",
    "codegen/test_legend.py::test_the_legend_lists_every_element[exoskeleton]": "a large graph",
    "codegen/test_legend.py::test_a_long_array_has_one_line_and_a_loop_names_its_range": "writes C of a long chain",
    "codegen/test_legend.py::test_comments_are_all_that_names_add": "writes C of large graphs",
    "codegen/test_repeated_blocks.py::test_a_large_tree_is_made_of_calls_and_agrees": "compiles 200 bodies",
    "codegen/test_repeated_blocks.py::test_random_programs": "hundreds of programs, compiled",
    "control/test_programmed_constraints.py::test_redundant_without_damping_the_rest_of_the_arm_runs_away": "long",
    "control/test_programmed_constraints.py::test_redundant_the_tip_of_three_rods_follows_a_line": "long",
    "cosim/test_cosim.py::test_builtin_systems_have_no_algebraic_loop_and_run_in_both_masters": "builds every system",
    "cosim/test_cosim.py::test_python_fmus_take_part": "several Python processes",
    "cosim/test_cosim.py::test_the_arm_reaches_its_posture": "builds a system",
    "cosim/test_cosim.py::test_the_cart_keeps_off_the_obstacles_and_reaches_the_target": "builds a system",
    "cosim/test_cosim.py::test_the_exoskeleton_lands_and_stands": "builds a system",
    "cosim/test_cosim.py::test_the_command": "builds a system",
    "cosim/test_cosim.py::test_the_members_of_a_system_are_drawn_together": "builds a system",
    "cosim/test_coupling.py::test_a_process_of_its_own_changes_no_number": "starts processes",
    "cosim/test_coupling.py::test_builtin_systems_run_without_warnings": "builds systems",
    "cosim/test_coupling.py::test_the_process_of_an_fmu_ends_with_its_master_and_leaves_no_files": "starts processes",
    "fmu/test_bundle.py::test_a_slave_imports_every_bundled_module": "starts a Python for each mechanism",
    "fmu/test_bundle.py::test_the_guid_depends_on_the_bundled_modules_only": "builds FMUs of its own",
    "fmu/test_fmu_side_by_side.py": "builds several versions of FMUs",
    "fmu/test_native_binaries.py": "compiles FMUs in every way and for every platform",
    "fmu/test_native_command.py::test_several_platforms": "compiles for other platforms",
    "fmu/test_native_command.py::test_the_systems_compiler": "compiles again",
    "fmu/test_native_derivatives.py::test_derivatives_along_start_parameters_see_the_discrete_state_move": "compiles",
    "fmu/test_native_memory.py": "sanitizers, valgrind, soaks",
    "fmu/test_portable_faults.py::test_a_process_killed_at_many_random_moments": "a soak",
    "fmu/test_portable_faults.py::test_any_folder": "builds FMUs of its own",
    "fmu/test_portable_faults.py::test_nothing_is_left_behind": "starts many processes",
    "fmu/test_portable_faults.py::test_a_long_text_is_returned_complete": "megabytes through a pipe",
    "fmu/test_portable_faults.py::test_ten_megabytes_printed_and_a_gigabyte_logged": "megabytes through a pipe",
    "fmu/test_portable_faults.py::test_the_process_ends_with_its_host": "starts many processes",
    "fmu/test_portable_hosts.py": "processes that start processes, soaks",
    "fmu/test_portable_library.py::test_no_leak_and_no_wrong_access": "valgrind",
    "fmu/test_portable_library.py::test_no_warnings": "four compilers",
    "fmu/test_rehearsal.py": "every host with every mechanism",
    "fmu/test_wasm_library.py::test_the_same_bytes_again": "compiles again",
    "fmu/test_wasm_module.py": "compiles several FMUs, and starts a browser",
    "mechanisms/cart_controller/test_cart_controller.py::test_erratum_4_forces_without_an_actuator": "a long run",
    "mechanisms/cart_controller/test_cart_controller.py::test_erratum_4_the_part_of_the_heading_in_theta": "a long run",
    "mechanisms/cart_controller/test_cart_controller.py::test_values[numpy]": "thousands of evaluations",
    "mechanisms/exoskeleton/test_exo_equations.py::test_reactions_are_what_changes_the_momentum": "a large graph",
    "mechanisms/exoskeleton/test_exo_examples.py": "whole examples",
    "mechanisms/exoskeleton/test_exo_fmu_golden.py": "builds FMUs of its own",
    "mechanisms/exoskeleton/test_exo_golden.py::test_standing": "compiles, and a long run",
    "mechanisms/exoskeleton/test_exo_guard_rails.py::test_a_bad_start_in_an_fmu": "builds FMUs of its own",
    "mechanisms/exoskeleton/test_exo_guard_rails.py::test_too_many_events_in_a_step_are_an_error": "a thousand events",
    "mechanisms/exoskeleton/test_exo_guard_rails.py::test_after_a_bad_start_a_new_instance_accepts_a_valid_one": (
        "builds an FMU of its own"
    ),
    "check/test_check_report.py::test_json": "checks an FMU by every rule",
    "cli/test_cli.py::test_plot_and_animation": "draws plots and animations",
    "codegen/test_c_code.py::test_loops_compute_what_the_equations_say": "compiles",
    "cosim/test_cosim.py::test_both_masters_converge_to_the_same_path": "builds FMUs of its own",
    "fmu/test_fmu_importers.py::test_fmpy_finds_nothing_to_complain_about[native-ten]": "builds an FMU of its own",
    "mechanisms/exoskeleton/test_exo_guard_rails.py::test_a_link_that_collapses_ends_the_step": (
        "builds an FMU of its own"
    ),
    "mechanisms/exoskeleton/test_exo_random_run.py::test_both_kinds_go_through_the_same_phases": "builds FMUs",
    "mechanisms/link_chain/test_engines_agree.py::test_articulated_bodies_of_pinocchio[50-c]": "compiles 50 links",
    "mechanisms/spherical_arm/test_arm_fmu.py": "builds FMUs of its own",
    "mechanisms/spherical_arm/test_arm_singularity.py::test_an_fmu_warns_and_stops": "builds an FMU of its own",
    "mechanisms/spherical_arm/test_arm_singularity.py::test_an_fmu_with_quaternions_passes_through": "builds an FMU",
    "mechanisms/spherical_arm/test_arm_singularity.py::test_an_fmu_does_not_start_there": "builds FMUs of its own",
    "mechanisms/tree/test_meshes.py::test_a_robot_is_drawn_with_its_meshes_and_colours": "draws a video and a page",
    "mechanisms/tree/test_meshes.py::test_meshes_do_not_change_the_model": "compiles",
    "mechanisms/tree/test_meshes.py::test_bad_meshes_are_named_and_cost_nothing": "meshes of a million triangles",
    "mechanisms/tree/test_mjcf.py::test_accelerations_of_an_fmu": "builds an FMU of its own",
    "mechanisms/tree/test_sdf.py::test_the_fmus_of_both_examples_give_the_same_numbers": "builds FMUs of its own",
    "mechanisms/tree/test_tree_contract.py::test_the_contract_of_a_tree_with_every_kind_of_joint": "a large tree",
    "mechanisms/tree/test_tree_contract.py::test_the_contract_of_the_arm_on_a_moving_base": "builds an FMU of its own",
    "mechanisms/tree/test_tree_golden.py::test_five_seconds_of_the_arm": "long runs in every engine",
    "mechanisms/tree/test_tree_robots.py::test_accelerations_of_the_fmus": "compiles three robots",
    "mechanisms/tree/test_tree_robots.py::test_followers_in_the_fmus": "compiles a robot",
    "mechanisms/tree/test_tree_contact.py::test_a_ball_bounces_as_the_law_integrated_with_40_digits": "power series",
    "mechanisms/tree/test_tree_contact.py::test_a_quadruped_carries_its_weight_and_is_pushed": "compiles a robot",
    "mechanisms/tree/test_tree_contact.py::test_the_communication_step_does_not_matter_in_an_fmu": "compiles",
    "mechanisms/tree/test_tree_contract.py::test_the_contract_of_the_arm": "builds FMUs of its own",
    "mechanisms/tree/test_tree_contract.py::test_positions_and_velocities_have_no_feed_through": "builds an FMU",
    "mechanisms/tree/test_tree_sensors.py::test_the_tool_of_a_robot_in_its_fmu": "compiles a robot",
    "mechanisms/tree/test_tree_sensors.py::test_frames_on_every_kind_of_joint[casadi]": "records a large tree",
    "mechanisms/walking_controller/test_walking.py::test_half_the_communication_step_hardly_changes_the_walk": "long",
    "mechanisms/walking_controller/test_walking.py::test_it_recovers_from_a_push_forwards_in_the_example": "a long run",
    "mechanisms/walking_controller/test_walking.py::test_the_exoskeleton_walks": "builds and runs a whole walk",
    "mechanisms/walking_controller/test_walking.py::test_engines_agree": "records and compiles the exoskeleton",
    "mechanisms/wheeled_cart/test_cart_figure.py": "whole examples",
    "mechanisms/wheeled_cart/test_cart_fmu.py::test_controller_values": "builds FMUs of its own",
    "mechanisms/wheeled_cart/test_cart_fmu.py::test_ten_seconds_of_the_closed_loop": "a long run",
    "mechanisms/wheeled_cart/test_cart_model_exchange.py::test_ten_seconds_of_the_closed_loop": "a long run",
    "mechanisms/wheeled_cart/test_cart_monte_carlo.py": "hundreds of runs",
    "multibody/test_coupled_bodies.py::test_power_is_balanced": "many evaluations of random trees",
    "multibody/test_coupled_bodies.py::test_accelerations_and_reactions_are_those_of_the_projected_equations": (
        "many trees"
    ),
    "multibody/test_tree_identities.py::test_momentum_about_the_vertical_with_internal_torques": "long runs",
    "multibody/test_tree_pinocchio.py::test_one_tree_with_every_kind_in_every_engine": "compiles a large tree",
    "multibody/test_tree_pinocchio.py::test_random_trees_on_a_base_that_moves": "hundreds of trees",
    "multibody/test_tree_pinocchio.py::test_the_constraint_in_a_joint_does_no_work": "hundreds of trees",
    "project/test_docs.py::test_every_tutorial_ends_with_what_the_fmu_computes": "builds FMUs of its own",
    "project/test_docs.py::test_messages_in_the_readme_are_those_that_are_told": "builds FMUs of its own",
    "project/test_docs.py::test_what_is_typed_works": "runs every command of the documentation",
    "project/test_examples.py": "whole examples",
    "project/test_notebooks.py::test_it_runs_and_its_page_shows_what_it_found": "runs the notebooks",
    "project/test_site.py": "builds the site",
    "project/test_style.py::test_no_findings[types]": "mypy on the whole package",
    "project/test_style.py::test_c_code_is_formatted": "clang-format on all C files",
    "simulation/test_events.py::test_too_many_events_are_refused_and_the_instance_stays_where_it_was": "a long run",
    "simulation/test_starts.py::test_a_body_that_falls_ends_the_run_unless_told_otherwise": "compiles the exoskeleton",
    "simulation/test_starts.py::test_a_start_quaternion_off_unit_length_is_a_warning[c]": "compiles",
    "simulation/test_starts.py::test_feet_at_the_ground_start_in_contact[0.0-c]": "compiles the exoskeleton",
    "sweep/test_sweep.py::test_a_client_that_ended_early_resumes": "starts a cluster",
    "sweep/test_sweep.py::test_a_cluster_that_loses_its_only_worker_continues_with_a_new_one": "starts a cluster",
    "sweep/test_sweep.py::test_a_full_disk_ends_in_one_line_and_loses_nothing": "starts many processes",
    "sweep/test_sweep.py::test_a_killed_process_loses_nothing": "starts many processes",
    "sweep/test_sweep.py::test_damaged_parts_are_found_and_only_they_are_made_again": "starts many processes",
    "sweep/test_sweep.py::test_the_compiled_equations_give_the_same_numbers": "compiles",
    "sweep/test_sweep.py::test_auto_makes_many_runs_in_lanes_and_says_so": "compiles",
    "sweep/test_sweep.py::test_all_runs_and_then_none": "starts a cluster",
    "sweep/test_sweep_foreign.py::test_a_run_is_repeated_when_its_process_is_killed": "starts many processes",
    "sweep/test_sweep_foreign.py::test_an_interrupted_sweep_of_runs_that_hang_ends_at_once": "waits for time limits",
    "sweep/test_sweep_foreign.py::test_hanging_and_crashing_runs_are_recorded_and_others_continue": "time limits",
    "view/test_drawing.py::test_shapes_are_where_pinocchio_has_them": "reads large robots",
    "view/test_films.py::test_a_film_shows_the_frames_of_the_result": "a browser draws in software",
    "view/test_films.py::test_ffmpeg_that_fails_is_told": "a browser draws in software",
    "view/test_films.py::test_mp4": "a browser draws in software",
    "view/test_films.py::test_what_a_page_cannot_do_is_told": "starts a browser twice",
    "view/test_pages.py::test_members_of_a_system_and_a_mechanism_that_travels": "a browser draws in software",
    "view/test_pages.py::test_the_view_can_be_turned_while_it_plays": "a browser draws in software",
}

# test -> the quick lane runs one of this many of its cases
SAMPLED = {
    "check/test_check_fuzz.py::test_libraries_with_wrong_bytes": 6,
    "check/test_check_others.py::test_what_fmpy_misses": 13,
    "check/test_check_zoo_file.py::test_a_defect_is_caught_by_its_rule_alone": 3,
    "check/test_check_zoo_file.py::test_a_static_defect_is_not_caught_by_dynamic_rules": 7,
    "cli/test_cli_bad_input.py::test_build": 3,
    "cli/test_cli_bad_input.py::test_simulate": 3,
    "cli/test_new.py::test_the_shell_completes": 7,
    "mechanisms/exoskeleton/test_exo_equations.py::test_power_balance_with_every_input_active": 11,
    "mechanisms/exoskeleton/test_exo_errata.py::test_the_error_would_be_noticed": 4,
    "mechanisms/exoskeleton/test_exo_phases.py::test_the_drive_of_a_length_does_work_in_an_impact": 3,
    "mechanisms/exoskeleton/test_exo_phases.py::test_which_feet_take_part_in_an_impact": 3,
    "mechanisms/link_chain/test_closed_forms.py::test_period_of_a_pendulum": 5,
    "mechanisms/link_chain/test_engines_agree.py::test_engines_agree_on_random_states": 4,
    "mechanisms/test_inputs_at_zero.py::test_derivatives_are_finite_with_all_inputs_at_zero": 13,
    "mechanisms/test_inputs_at_zero.py::test_the_default_experiment_runs_with_all_inputs_at_zero": 10,
    "mechanisms/tree/test_readers_fuzz.py::test_broken_descriptions": 11,
    "mechanisms/tree/test_tree_golden.py::test_the_arm_as_a_tree": 4,
    "simulation/test_events.py::test_the_ball_bounces_as_on_paper": 5,
    "simulation/test_native_solver.py::test_van_der_pol_through_a_jump": 3,
    "sweep/test_sweep_foreign.py::test_each_run_equals_that_of_simulate": 7,
}

# Tests of these folders run for the native kind only in the full lane: check/test_check_ours.py shows that the Python
# FMU of each mechanism reproduces the same reference result (D12).
NATIVE_KIND_ONLY = ("mechanisms/",)

# file or test -> the shorter test of the same feature in the full lane
COMPLETE_LANE_ONLY = {
    "check/test_check_fuzz.py::test_a_description_of_many_variables[100000]": "10,000 variables",
    "check/test_check_large.py::test_a_large_fmu_without_a_defect_passes": "the clean units of test_check_zoo.py",
    "check/test_check_large.py::test_one_undeclared_dependency_among_millions_is_found[inputs]": "parameters",
    "check/test_check_ours.py::test_short_and_long_chains[native-100]": "20 links",
    "check/test_check_ours.py::test_short_and_long_chains[native-200]": "20 links",
    "check/test_check_zoo.py::test_a_unit_that_starts_slowly_is_clean": "the other clean units",
    "codegen/test_c_code.py::test_a_very_long_chain": "test_the_code_of_a_long_chain_does_not_grow_with_it",
    "fmu/test_native_memory.py::test_a_chain_with_loops_under_sanitizers": (
        "test_all_calls_in_random_order_under_sanitizers"
    ),
    "mechanisms/cart_controller/test_cart_controller.py::test_erratum_4_the_part_of_the_heading_in_theta": (
        "test_erratum_4_forces_without_an_actuator"
    ),
    "mechanisms/tree/test_tree_robots.py::test_every_robot_of_the_package": "test_robots_as_they_are, six of them",
    "mechanisms/walking_controller/test_walking.py::test_half_the_communication_step_hardly_changes_the_walk": (
        "test_the_exoskeleton_walks, whose steps are adaptive"
    ),
    "mechanisms/wheeled_cart/test_cart_figure.py::test_steps_from_1_to_100_ms_keep_off_the_obstacles[0.001-10.0]": (
        "steps of 10 ms"
    ),
    "check/test_check_ours.py::test_the_link_chain[python]": "test_the_link_chain_as_a_python_fmu",
    "fmu/test_portable_hosts.py::test_mechanisms_interleaved": "test_a_mechanism_again_and_then_another",
    "mechanisms/tree/test_tree_contract.py::test_the_contract_of_a_tree_with_every_kind_of_joint": (
        "test_the_contract_of_the_arm_on_a_moving_base, and multibody/test_tree_pinocchio.py"
    ),
    "mechanisms/wheeled_cart/test_cart_monte_carlo.py::test_with_full_dynamics_and_torque_limits": (
        "test_kinematically, and the closed loops of test_cart_figure.py"
    ),
    "mechanisms/wheeled_cart/test_cart_figure.py::test_the_example_draws_picture_and_animation": (
        "view/test_drawing.py and the other tests of this file"
    ),
    "project/test_docs.py::test_what_is_typed_works[docs/robot_to_fmu.md]": "the same commands in docs/trees.md",
    "project/test_docs.py::test_what_is_typed_works[docs/spherical_arm.md]": "the same commands in docs/trees.md",
    "project/test_docs.py::test_what_is_typed_works[docs/exoskeleton.md]": (
        "the same commands in docs/cosim.md, and test_walking.py"
    ),
    "project/test_notebooks.py::test_it_runs_and_its_page_shows_what_it_found[2_robot_in_a_loop]": (
        "the other notebooks, and cosim/test_cosim.py"
    ),
    "project/test_notebooks.py::test_it_runs_and_its_page_shows_what_it_found[3_balance]": "the other notebooks",
    "project/test_notebooks.py::test_it_runs_and_its_page_shows_what_it_found[5_walking]": (
        "the other notebooks, and test_walking.py"
    ),
    "live/test_live_hands.py::test_a_robot_with_its_controller_from_the_command_line": "the arm that holds its posture",
}

# test -> the full lane runs one of this many of its cases, and the quick lane no others
REPEATED = {
    "check/test_check_clean.py::test_a_clean_fmu_gives_no_findings": 2,
    "check/test_check_zoo_file.py::test_a_static_defect_is_not_caught_by_dynamic_rules": 7,
    "codegen/test_c_code.py::test_loops_compute_what_the_equations_say": 2,
    "fmu/test_native_memory.py::test_all_calls_in_random_order_for_long": 2,
    "fmu/test_native_memory.py::test_batches_under_sanitizers": 12,
    "fmu/test_native_memory.py::test_all_calls_in_random_order_under_sanitizers": 2,
    "fmu/test_native_memory.py::test_no_leak_over_1000_instantiate_free_cycles": 2,
    "fmu/test_native_memory.py::test_nothing_uninitialized_is_used": 2,
    "fmu/test_rehearsal.py::test_a_host_ends_where_co_simulation_does": 2,
    "fmu/test_rehearsal.py::test_the_exoskeletons_events_are_those_of_co_simulation": 5,
    "fmu/test_wasm_module.py::test_freed_memory_is_used_again": 2,
    "fmu/test_wasm_module.py::test_the_trajectory_is_that_of_the_native_fmu": 5,
    "mechanisms/exoskeleton/test_exo_guard_rails.py::test_a_bad_start_in_an_fmu": 3,
    "mechanisms/link_chain/test_engines_agree.py::test_engines_agree_on_random_states": 2,
    "mechanisms/spherical_arm/test_arm_fmu.py::test_states_of_the_arm": 3,
    "mechanisms/spherical_arm/test_arm_fmu.py::test_states_of_the_trees": 3,
    "mechanisms/test_inputs_at_zero.py::test_derivatives_are_finite_with_all_inputs_at_zero": 5,
    "mechanisms/test_inputs_at_zero.py::test_the_default_experiment_runs_with_all_inputs_at_zero": 5,
    "mechanisms/tree/test_readers_fuzz.py::test_broken_descriptions": 2,
    "mechanisms/tree/test_tree_golden.py::test_five_seconds_of_the_arm": 2,
    "mechanisms/tree/test_tree_robots.py::test_accelerations_in_the_library": 2,
    "mechanisms/tree/test_tree_robots.py::test_accelerations_of_the_fmus": 4,
    "mechanisms/wheeled_cart/test_cart_fmu.py::test_controller_values": 3,
    "mechanisms/wheeled_cart/test_cart_monte_carlo.py::test_kinematically": 3,
    "sweep/test_sweep.py::test_a_client_that_ended_early_resumes": 2,
    "live/test_live_hands.py::test_a_body_follows_the_pointer": 2,
    "live/test_live_pages.py::test_a_page_fits_a_phone_and_runs_there_as_the_native_fmu": 5,
    "live/test_live_pages.py::test_a_page_runs_in_real_time": 5,
    "live/test_live_pages.py::test_pages_are_small": 10,
    "view/test_pages.py::test_loads_without_errors_and_without_the_network": 2,
    "view/test_pages.py::test_fits_a_phone": 2,
    "view/test_pages.py::test_the_picture_shows_the_mechanism_moving_and_what_is_chosen": 2,
    "view/test_pages.py::test_the_slider_and_a_click_in_a_plot_choose_the_time": 2,
}

# Files that take longest, in this order: they start first, so that no processor waits for one of them at the end.
LONGEST_FILES = (
    "check/test_check_zoo.py",
    "project/test_docs.py",
    "check/test_check_ours.py",
    "fmu/test_portable_hosts.py",
    "project/test_notebooks.py",
    "mechanisms/walking_controller/test_walking.py",
    "mechanisms/spherical_arm/test_arm_fmu.py",
    "mechanisms/test_inputs_at_zero.py",
    "view/test_pages.py",
    "fmu/test_native_binaries.py",
    "mechanisms/cart_controller/test_cart_controller.py",
    "check/test_check_clean.py",
    "mechanisms/tree/test_tree_robots.py",
    "fmu/test_native_memory.py",
    "fmu/test_rehearsal.py",
    "mechanisms/tree/test_tree_contract.py",
    "mechanisms/exoskeleton/test_exo_guard_rails.py",
    "cosim/test_cosim.py",
    "codegen/test_c_code.py",
    "mechanisms/wheeled_cart/test_cart_figure.py",
    "mechanisms/tree/test_tree_golden.py",
    "mechanisms/wheeled_cart/test_cart_monte_carlo.py",
    "mechanisms/exoskeleton/test_exo_golden.py",
    "check/test_check_zoo_file.py",
    "fmu/test_fmu_bad_input.py",
)


def longest_files_first(items: list[pytest.Item]) -> None:
    """Sort the tests by files, those of LONGEST_FILES first."""
    place = {TESTS / file: k for k, file in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


def mark_lanes(items: Iterable[pytest.Item]) -> None:
    """Give the marker `repetition` to the tests that the full lane leaves out, and `slow` to those of the quick one."""
    cases: Counter[str] = Counter()
    for item in items:
        file = item.path.relative_to(TESTS).as_posix()
        case = f"{file}::{item.name}"
        test = case.partition("[")[0]
        cases[test] += 1
        names = getattr(item, "fixturenames", ())
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        python = parameters.get("kind") == "python"
        if (
            not COMPLETE_LANE_ONLY.keys().isdisjoint((file, test, case))
            or (cases[test] - 1) % REPEATED.get(test, 1)
            or (python and file.startswith(NATIVE_KIND_ONLY))
        ):
            item.add_marker(pytest.mark.repetition)
            item.add_marker(pytest.mark.slow)
        compiled = any(isinstance(value, str) and value == "c" for value in parameters.values())
        if (
            not FULL_LANE_ONLY.keys().isdisjoint((file, test, case))
            or (cases[test] - 1) % SAMPLED.get(test, 1)
            or not SLOW_FIXTURES.isdisjoint(names)
            or (python and file not in BOTH_KINDS)
            or (compiled and not file.startswith(ALL_ENGINES))
        ):
            item.add_marker(pytest.mark.slow)
