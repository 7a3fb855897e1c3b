"""Changes constants and signs of becalm's advice in a copy, one by one; a test must fail for each.

    python tools/mutations.py [NAME...]

A mutation is a change of exact text, with the tests that state the behaviour. The copy is in
`target/mutations`, with the core of this checkout. The exit code is 1 if the tests of a mutation pass with
it, or if one of them fails without it. It takes about two minutes, or more on a busy machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from planted_meaning import ROOT, Plant, copied, planted

COPY = ROOT / "target" / "mutations"


class Mutation(NamedTuple):
    """A change, and the tests of which at least one must fail."""

    plant: Plant
    tests: tuple[str, ...]


def mutation(name: str, file: str, old: str, new: str, *tests: str) -> Mutation:
    """Return a mutation of a file in `python/becalm`, with tests as in `tests/FILE::TEST`."""
    return Mutation(Plant(name, f"python/becalm/{file}", old, new), tuple(f"tests/{test}" for test in tests))


LIMITS, MEASURES, GUIDELINES = "analysis/limits.py", "analysis/measures.py", "manager/guidelines.py"
OWN, CONCERNS, RAMP = "manager/own.py", "manager/concerns.py", "manager/ramp.py"
GOALS, VERDICT, MEMORY = "tunings/goals.py", "tunings/verdict.py", "runs/memory.py"
MUTATIONS = (
    mutation(
        "least-root",
        LIMITS,
        "LEAST_ROOT = 0.05",
        "LEAST_ROOT = 0.15",
        "test_limits.py::test_a_link_that_waits_for_a_twentieth_of_the_time_belongs_to_a_tree",
    ),
    mutation(
        "swings",
        LIMITS,
        "SWINGS = 4",
        "SWINGS = 12",
        "test_limits.py::test_a_rate_that_swings_four_times_oscillates",
    ),
    mutation(
        "unmarked",
        LIMITS,
        "UNMARKED = 0.001",
        "UNMARKED = 0.02",
        "test_limits.py::test_marking_is_off_if_less_than_a_thousandth_is_marked",
    ),
    mutation(
        "reached",
        LIMITS,
        "REACHED = 0.95",
        "REACHED = 0.85",
        "test_limits.py::test_a_buffer_limits_a_flow_that_gets_about_all_of_what_it_allows",
    ),
    mutation(
        "samples",
        LIMITS,
        "SAMPLES = 20",
        "SAMPLES = 10",
        "test_limits.py::test_oscillation_shows_in_twenty_windows",
    ),
    mutation(
        "slower",
        LIMITS,
        "SLOWER = 0.9",
        "SLOWER = 0.8",
        "test_limits.py::test_a_host_is_slower_below_nine_tenths_of_the_usual_rate",
    ),
    mutation(
        "held",
        LIMITS,
        "HELD = 0.1",
        "HELD = 0.2",
        "test_limits.py::test_a_job_gains_a_tenth_without_what_holds_it",
    ),
    mutation(
        "noticed",
        "whatif/incast.py",
        "NOTICED = 0.02",
        "NOTICED = 0.05",
        "test_limits.py::test_control_helps_if_it_saves_two_hundredths_of_other_traffic",
    ),
    mutation(
        "pfister-increase",
        GUIDELINES,
        "round(min(hosts / 6, degree / 2))",
        "round(min(hosts / 6, degree / 3))",
        "test_manager.py",
    ),
    mutation(
        "hold",
        OWN,
        "HOLD = 38.0",
        "HOLD = 30.0",
        "test_guidelines.py::test_a_becn_of_becalms_guideline_lasts_38_packet_times",
    ),
    mutation(
        "left",
        MEASURES,
        'return min(1.0, found["fair"] / calm["fair"]) if calm["fair"] else 1.0',
        "return 1.0",
        "test_measures.py::test_the_part_that_fairness_takes_from_the_background_is_no_loss",
    ),
    mutation(
        "right",
        MEASURES,
        "RIGHT = 0.9",
        "RIGHT = 0.7",
        "test_measures.py::test_the_background_keeps_its_share_above_nine_tenths",
    ),
    mutation(
        "kolmogorov",
        "crosscheck/entry.py",
        "size + 0.12 + 0.11 / size",
        "size + 0.11 + 0.12 / size",
        "test_crosscheck.py::test_distributions_are_distinct",
    ),
    mutation(
        "kept",
        MEMORY,
        "(max(at_once, kept) if name in _KEPT else at_once)",
        "at_once",
        "system/test_memory.py::test_tables_of_finished_replications_stay_in_memory",
    ),
    mutation(
        "strict",
        "lab/expect.py",
        "low > 0 or (low == 0 and not strict)",
        "low >= 0",
        "test_verdict.py",
    ),
    mutation(
        "price",
        VERDICT,
        "price.loss.mean > PRICE",
        "price.loss.high > PRICE",
        "test_tune_verdict.py::test_a_price_is_a_mean_above_two_hundredths",
    ),
    mutation(
        "busy",
        "whatif/measured.py",
        "BUSY = 0.8",
        "BUSY = 0.6",
        "test_counters.py::test_a_root_sends_at_four_fifths_of_its_rate",
    ),
    mutation(
        "least-load",
        "whatif/measured.py",
        "LEAST = 0.005",
        "LEAST = 0.05",
        "test_counters.py::test_loads_below_a_two_hundredth_are_none",
    ),
    mutation(
        "tail",
        GOALS,
        "TAIL, TAIL_WEIGHT = 0.9, 0.2",
        "TAIL, TAIL_WEIGHT = 0.5, 0.2",
        "test_tune_verdict.py::test_a_score_adds_a_fifth_of_the_worst_tenth",
    ),
    mutation(
        "tail-weight",
        GOALS,
        "TAIL, TAIL_WEIGHT = 0.9, 0.2",
        "TAIL, TAIL_WEIGHT = 0.9, 0.4",
        "test_tune_verdict.py::test_a_score_adds_a_fifth_of_the_worst_tenth",
    ),
    mutation(
        "no-regret",
        GOALS,
        "NO_REGRET, REGRET_WEIGHT = 0.005, 3.0",
        "NO_REGRET, REGRET_WEIGHT = 0.02, 3.0",
        "test_tune_verdict.py::test_three_times_a_regret_above_a_two_hundredth_counts",
    ),
    mutation(
        "regret-weight",
        GOALS,
        "NO_REGRET, REGRET_WEIGHT = 0.005, 3.0",
        "NO_REGRET, REGRET_WEIGHT = 0.005, 1.0",
        "test_tune_verdict.py::test_three_times_a_regret_above_a_two_hundredth_counts",
    ),
    mutation(
        "chance",
        VERDICT,
        "self.difference(best, row).high >= 0",
        "self.difference(best, row).mean >= 0",
        "test_tune_verdict.py::test_recommended_is_the_best_row_that_is_better_than_no_change",
    ),
    mutation(
        "sure",
        "tunings/tuned.py",
        "return self.low > 0",
        "return self.high > 0",
        "test_tune_verdict.py::test_a_gain_is_sure_if_its_whole_interval_is",
    ),
    mutation(
        "background-price",
        VERDICT,
        "kept >= before - 0.01",
        "kept >= before - 0.1",
        "test_tune_verdict.py::test_a_price_names_a_background_that_loses_a_hundredth",
    ),
    mutation(
        "second-hold",
        OWN,
        "HOLD_2, HEARD = 54.0, 1.5",
        "HOLD_2, HEARD = 50.0, 1.5",
        "test_guidelines.py::test_a_becn_of_the_second_guideline_lasts_54_packet_times_or_a_turn",
    ),
    mutation(
        "kmin-share",
        "manager/roce.py",
        "SHARE = 0.25",
        "SHARE = 0.3",
        "test_roce_guidelines.py::test_kmax_feeds_the_link_while_sources_recover",
    ),
    mutation(
        "ramp-ratio",
        RAMP,
        "RATIO = 4.0",
        "RATIO = 3.0",
        "test_roce_guidelines.py::test_a_ramp_ends_at_four_round_trips_or_below_the_pauses",
    ),
    mutation(
        "ramp-below",
        RAMP,
        "BELOW = 0.8",
        "BELOW = 1.0",
        "test_roce_guidelines.py::test_a_ramp_ends_at_four_round_trips_or_below_the_pauses",
    ),
    mutation(
        "short-table",
        CONCERNS,
        "if offered > 1.0:",
        "if offered > 1.05:",
        "test_manager.py::test_the_longest_delay_of_a_table_is_the_share_of_many",
    ),
    mutation(
        "one-step",
        CONCERNS,
        "if found.step >= found.fair:",
        "if found.step > found.fair:",
        "test_manager.py::test_a_starved_link_blames_its_step_or_its_timer",
    ),
    mutation(
        "undone",
        CONCERNS,
        "if found.undone > found.heard:",
        "if found.undone > 2 * found.heard:",
        "test_manager.py::test_a_starved_link_blames_its_step_or_its_timer",
    ),
    mutation(
        "timer-too-short",
        CONCERNS,
        'if lost > params["ccti_increase"]:',
        'if lost > 2 * params["ccti_increase"]:',
        "test_manager.py::test_a_timer_may_undo_one_becn_until_the_next",
    ),
    mutation(
        "overloaded",
        LIMITS,
        "OVERLOADED = 1.05",
        "OVERLOADED = 1.15",
        "test_limits.py::test_a_link_is_overloaded_by_a_twentieth",
    ),
    mutation(
        "stalled",
        LIMITS,
        "STALLED = 0.1",
        "STALLED = 0.2",
        "test_limits.py::test_a_host_is_slow_if_its_link_waits_for_a_tenth",
    ),
    mutation(
        "nearly-all",
        LIMITS,
        "NEARLY_ALL = 0.9",
        "NEARLY_ALL = 0.8",
        "test_limits.py::test_a_host_is_hot_if_nine_tenths_are_for_it",
    ),
    mutation(
        "storm",
        LIMITS,
        "STORM = 0.5",
        "STORM = 0.7",
        "test_limits.py::test_a_storm_pauses_a_switch_for_half_of_the_time",
    ),
    mutation(
        "part",
        LIMITS,
        "PART = 0.1",
        "PART = 0.2",
        "test_limits.py::test_a_tenth_of_the_traffic_is_part_of_a_collision",
    ),
    mutation(
        "uneven",
        LIMITS,
        "UNEVEN = 1.1",
        "UNEVEN = 1.3",
        "test_limits.py::test_paths_collide_on_a_link_with_a_tenth_more_than_its_part",
    ),
    mutation(
        "saturated",
        LIMITS,
        "SATURATED = 0.8",
        "SATURATED = 0.7",
        "test_limits.py::test_a_straggler_uses_four_fifths_of_its_rate",
    ),
    mutation(
        "unbalanced",
        "analysis/faults.py",
        "UNBALANCED = 1.5",
        "UNBALANCED = 1.4",
        "test_limits.py::test_routes_are_unbalanced_at_one_and_a_half_times_the_mean",
    ),
    mutation(
        "fair-share",
        "analysis/blame.py",
        "rest -= offer",
        "rest += offer",
        "test_limits.py::test_offers_below_a_fair_share_leave_their_rest_to_others",
    ),
    mutation(
        "standing",
        LIMITS,
        "STANDING = 0.25",
        "STANDING = 0.35",
        "test_limits.py::test_control_fails_at_a_root_for_a_quarter_of_the_time",
    ),
    mutation(
        "lasting",
        LIMITS,
        "LASTING = 0.1",
        "LASTING = 0.2",
        "test_limits.py::test_only_a_root_that_lasts_a_tenth_of_the_window_needs_marks",
    ),
    mutation(
        "half-swing",
        "explanations/control.py",
        "np.abs(away) >= 0.5",
        "np.abs(away) >= 0.0",
        "test_limits.py::test_only_half_a_deviation_from_the_mean_is_a_swing",
    ),
    mutation(
        "still",
        LIMITS,
        "STILL = 0.25",
        "STILL = 0.5",
        "test_limits.py::test_a_job_has_stopped_after_a_quarter_of_the_run_without_progress",
    ),
    mutation(
        "process",
        MEMORY,
        "PROCESS = 100_000_000",
        "PROCESS = 10_000_000",
        "system/test_memory.py::test_the_estimate_is_near_what_a_run_takes[hosts]",
    ),
    mutation(
        "base",
        MEMORY,
        "max(base, 0) * at_once",
        "max(base, 0)",
        "system/test_memory.py::test_parallel_replications_share_only_the_process",
    ),
    mutation(
        "swing",
        LIMITS,
        "SWING = 0.3",
        "SWING = 0.4",
        "test_limits.py::test_a_rate_that_deviates_by_three_tenths_of_its_mean_oscillates",
    ),
    mutation(
        "mostly",
        LIMITS,
        "MOSTLY = 0.5",
        "MOSTLY = 0.7",
        "test_limits.py::test_a_switch_with_uneven_cables_is_to_blame_for_half_of_the_traffic",
    ),
    mutation(
        "waiting",
        OWN,
        "WAITING = 4.0",
        "WAITING = 3.0",
        "test_guidelines.py::test_ports_of_the_first_guideline_mark_above_four_packets",
    ),
    mutation(
        "step",
        OWN,
        "STEP = 4.5",
        "STEP = 6.0",
        "test_guidelines.py::test_a_becn_of_becalms_guideline_lasts_38_packet_times",
    ),
    mutation(
        "longest",
        OWN,
        "FIRST, LONGEST = 0.2, 2.0",
        "FIRST, LONGEST = 0.2, 3.0",
        "test_guidelines.py::test_a_table_of_the_first_guideline_ends_at_two_packet_times_per_contributor",
    ),
    mutation(
        "most-trips",
        "manager/roce.py",
        "MOST = 100.0",
        "MOST = 50.0",
        "test_roce_guidelines.py::test_kmax_is_a_hundred_round_trips_if_nothing_else_limits_it",
    ),
    mutation(
        "fair-gap",
        CONCERNS,
        '(capacity or facts["host_rate"]) - 1',
        '(capacity or facts["host_rate"])',
        "test_manager.py::test_a_source_at_its_fair_share_waits_for_the_packets_of_the_others",
    ),
    mutation(
        "pace",
        "tunings/pace.py",
        "WINDOW = 12",
        "WINDOW = 24",
        "test_pace.py::test_only_the_last_twelve_batches_count",
    ),
)


def fails(tests: Sequence[str]) -> bool:
    """Run tests on the copy, and return whether one fails."""
    # A file that changes twice within a second may keep its size and its time: use no compiled files.
    environment = {
        **os.environ,
        "PYTHONPATH": f"{COPY / 'python'}{os.pathsep}{COPY / 'tests'}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stdout + done.stderr)
    return done.returncode == 1


def main(names: list[str]) -> int:
    """Print whether the tests of each mutation fail; return 1 if they do not, or fail without it."""
    chosen = [mutation for mutation in MUTATIONS if not names or mutation.plant.name in names]
    copied(COPY)
    for core in (ROOT / "python" / "becalm").glob("_core.*.so"):
        shutil.copyfile(core, COPY / "python" / "becalm" / core.name)
    if fails(list(dict.fromkeys(test for mutation in chosen for test in mutation.tests))):
        print("without a mutation: a test fails")
        return 1
    detected = 0
    for mutation in chosen:
        copied(COPY)
        planted(mutation.plant, COPY)
        dead = fails(mutation.tests)
        detected += dead
        print(f"{mutation.plant.name}: {'a test fails' if dead else 'no test fails'}", flush=True)
    copied(COPY)
    print(f"{detected} of {len(chosen)}")
    return 0 if detected == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
