"""Environments for learning: test suite of Gymnasium, seeds, threads, memory."""

from __future__ import annotations

import functools
import gc
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

import becalm
from becalm import rl
from becalm.rl.fleet import Fleet

SHORT = {"run.duration": "400 us", "observe": {}}
SCENARIOS = Path(__file__).parents[1] / "scenarios"


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def short(sources: int = 8) -> becalm.Scenario:
    return rl.incast(sources).replace(SHORT)


def with_victim() -> becalm.Scenario:
    return becalm.load(SCENARIOS / "storage_incast.toml").replace({"run.duration": "3 ms"})


@pytest.mark.parametrize("options", [{}, {"table": [1.0, 0.5, 0.25, 0.125]}, {"flows": 3, "window": 4}])
def test_the_environment_passes_gymnasiums_checks(options: dict[str, Any]) -> None:
    env = gymnasium.make("becalm/Rate-v0", scenario=short(), **options)
    check_env(env.unwrapped, skip_render_check=True)


def drive(env: Any, seed: int, actions: np.ndarray[Any, Any]) -> tuple[list[Any], str, int]:  # noqa: ANN401
    seen, info = env.reset(seed=seed)
    replication, trail = info["replication"], [seen]
    for action in actions:
        seen, reward, ended, cut, info = env.step(action)
        trail += [seen, reward]
        if ended or cut:
            return trail, info.get("fingerprint", ""), replication
    return trail, "", replication


def test_one_seed_gives_the_same_bits_and_another_does_not() -> None:
    actions = np.random.default_rng(5).uniform(-1, 1, (40, 1))
    first, second, other = (
        drive(gymnasium.make("becalm/Rate-v0", scenario=short()), s, actions) for s in (7, 7, 8)
    )
    assert len(first[1]) == 16 and first[1:] == second[1:] and other[1] != first[1]
    assert all(np.array_equal(a, b) for a, b in zip(first[0], second[0], strict=True))


def test_a_run_is_the_one_that_start_and_set_pace_give() -> None:
    actions = np.random.default_rng(5).uniform(-1, 1, (40, 1))
    _, fingerprint, replication = drive(rl.RateEnv(short()), 7, actions)
    run, rate = becalm.start(short(), replication), 1.0
    run.set_pace("hot", rate=rate)
    for action in actions[:20]:
        rate = min(max(rate * float(np.exp2(action[0])), 1e-3), 1.0)
        run.set_pace("hot", rate=rate)
        run.advance(by="20 us")
    assert run.finish().fingerprint == fingerprint


def test_actions_move_the_rate_within_its_bounds() -> None:
    env = rl.RateEnv(short(), least=0.1)
    env.reset(seed=1)
    rates = [float(env.step(np.array([action]))[0][0]) for action in (-1, -1, -1, -1, 0.5, 1, 1, 1, 1)]
    assert rates == pytest.approx([0.5, 0.25, 0.125, 0.1, 0.1 * 2**0.5, 0.2 * 2**0.5, 0.4 * 2**0.5, 1.0, 1.0])
    table = rl.RateEnv(short(), table=[0.5, 1.0, 0.25])
    table.reset(seed=1)
    assert [float(table.step(action)[0][0]) for action in (0, 0, 0, 1, 2, 2, 2)] == [
        0.5,
        0.25,
        0.25,
        0.25,
        0.5,
        1,
        1,
    ]


def test_what_is_seen_follows_from_the_rate() -> None:
    """Eight sources at a tenth of the rate fill no queue; at full rate, RTTs grow and victims lose."""
    calm, busy = (rl.RateEnv(with_victim(), "incast", every="100 us", window=8) for _ in range(2))
    for env in (calm, busy):
        env.reset(seed=3)
    for _ in range(4):
        calm.step(np.array([-1.0]))
    results = {}
    for name, env in (("calm", calm), ("busy", busy)):
        for _ in range(25):
            seen, reward, *_ = env.step(np.array([0.0]))
        results[name] = dict(zip(rl.SEEN, seen, strict=True)), reward
    calm_seen, reward = results["calm"]
    assert (
        calm_seen["rate"] == 0.0625
        and calm_seen["delivered"] == pytest.approx(1, abs=0.1)
        and calm_seen["rtt"] < 1.5
    )
    full, less = results["busy"]
    assert (
        full["rate"] == 1
        and full["rtt"] > 3 * calm_seen["rtt"]
        and full["in_flight"] > calm_seen["in_flight"]
    )
    assert reward > less


@pytest.mark.parametrize("threads", [1, 2])
def test_the_vector_gives_the_runs_of_single_environments(threads: int) -> None:
    actions = np.random.default_rng(5).uniform(-1, 1, (20, 3, 1)).astype(np.float32)
    vector = rl.VectorEnv(3, short(), threads=threads)
    first, info = vector.reset(seed=11)
    singles = [rl.RateEnv(short()) for _ in range(3)]
    for env, replication in zip(singles, info["replication"], strict=True):
        env.reset(seed=0, options={"replication": replication})
    assert first in vector.observation_space
    for number, row in enumerate(actions):
        seen, rewards, ended, cut, info = vector.step(row)
        alone = [env.step(action) for env, action in zip(singles, row, strict=True)]
        assert np.array_equal(seen, [each[0] for each in alone])
        assert np.array_equal(rewards, [each[1] for each in alone])
        assert not cut.any() and list(ended) == [number == 19] * 3
    assert list(info["fingerprint"]) == [each[4]["fingerprint"] for each in alone]
    seen, rewards, ended, cut, info = vector.step(actions[0])
    assert (
        np.array_equal(seen, first) and not ended.any() and not rewards.any() and info["_replication"].all()
    )
    seen, *_ = vector.step(actions[0])
    assert not np.array_equal(seen, first)


def test_the_vector_truncates_after_its_steps() -> None:
    vector = rl.VectorEnv(2, short(), steps=3)
    vector.reset(seed=1)
    cuts = [vector.step(vector.action_space.sample())[3].all() for _ in range(8)]
    assert cuts == [False, False, True, False, False, False, True, False]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_many_steps_take_no_more_memory_than_few() -> None:
    vector = rl.VectorEnv(4, short(4), steps=16)
    vector.reset(seed=1)
    action = np.zeros((4, 1), np.float32)

    def grown(steps: int) -> int:
        before = resident()
        for _ in range(steps):
            vector.step(action)
        gc.collect()
        return resident() - before

    grown(2_000)
    assert grown(8_000) < 4_000_000


def test_wrong_options_are_reported() -> None:
    with pytest.raises(ValueError, match="valid: hot"):
        rl.RateEnv(short(), "cold")
    with pytest.raises(ValueError, match="has 8 flows, numbered from 0"):
        rl.RateEnv(short(), 8)
    for wrong in ({"every": "0 us"}, {"least": 0.0}, {"table": [1.0, 0.0]}, {"every": "soon"}):
        with pytest.raises(ValueError, match=r"every|least|table|soon"):
            rl.RateEnv(short(), **wrong)
    env = rl.RateEnv(short())
    with pytest.raises(RuntimeError, match=r"reset\(\) starts"):
        env.step(np.array([0.0]))


def test_the_reward_is_what_one_says() -> None:
    env = rl.RateEnv(short(), reward=lambda step: -step.delay)
    env.reset(seed=1)
    assert all(env.step(np.array([1.0]))[1] <= 0 for _ in range(3))


def test_a_scenario_can_be_pickled_with_its_schemes(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "import becalm\nclass Mine(becalm.Response):\n    def on_ack(self, now, ack): self.gap = 1.0\n"
    )
    scenario = short(2)
    for each in (scenario, scenario.using([f"{file}:Mine"])):
        again = pickle.loads(pickle.dumps(each))
        assert again == each and again.hash == each.hash
        assert becalm.run(again).fingerprint == becalm.run(each).fingerprint


@pytest.mark.parametrize("context", ["spawn", "forkserver"])
def test_environments_in_other_processes_step(context: str) -> None:
    made = functools.partial(rl.RateEnv, short(3))
    env = gymnasium.vector.AsyncVectorEnv([made, made], context=context)
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1].shape == (2,)
    env.close()


def test_make_vec_gives_the_environment_on_threads() -> None:
    env = gymnasium.make_vec("becalm/Rate-v0", num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(env, rl.VectorEnv) and env.num_envs == 3


def test_seeds_differ_in_the_default_scene() -> None:
    env = rl.RateEnv()

    def paid(seed: int) -> float:
        env.reset(seed=seed)
        return sum(env.step(np.zeros(1, np.float32))[1] for _ in range(10))

    assert paid(1) == paid(1) != paid(2)


def test_several_groups_and_flows() -> None:
    two = rl.incast(4).data()
    two["flows"] = [
        {**two["flows"][0], "name": name, "from": [host]} for name, host in (("a", "H1"), ("b", "H2"))
    ]
    scenario = becalm.Scenario(two)
    assert Fleet(1, scenario, ["a", "b"]).flows == [0, 1]
    assert Fleet(1, scenario, ["b", 0]).flows == [1, 0]
    with pytest.raises(ValueError, match="no group of flows `c`; valid: a, b"):
        Fleet(1, scenario, ["a", "c"])
