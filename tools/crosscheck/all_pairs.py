"""Writes the scenarios and schedules of the entry `astra-analytical`: `python tools/crosscheck/all_pairs.py`.

Each chunk of 1 MiB is one packet, which every node stores and forwards. A node of a ring is a host and a
switch, joined by a cable with almost no delay. All other rates and delays are scaled to 1/1000 of the
reference's speed, so that this cable is fast enough. The comparison reverses the scaling.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "crosschecks" / "astra-analytical"
CHUNK = 1 << 20
HEAD = """\
# Written by tools/crosscheck/all_pairs.py.
[run]
duration = "2 s"
end = "jobs"

[switch]
buffer = "unlimited"
forwarding_delay = "0 ns"
switching = "store_and_forward"

[switch.arbiter.oldest_first]

[adapter]
injection = "posted"

[packet]
mtu = "1 MiB"
header = "0 B"
ack = "1 B"

[response.none]

[[jobs]]
name = "exchange"
hosts = ["*"]
goal = "{goal}.goal"

[observe]
links = []

[topology.edges]
rate = "53.6870912 MB/s"    # 50 x 2^30 B/s / 1000
delay = "500 us"
hosts = ["H0..H{last}"]
"""


def ring(nodes: int, goal: str) -> str:
    """Return the scenario of a ring; packets to the opposite node take the direction of rising numbers."""
    own = "\n".join(
        f'    {{ between = ["H{i}", "S{i}"], rate = "10 Tb/s", delay = "0 ns" }},' for i in range(nodes)
    )
    cables = "\n".join(f'    {{ between = ["S{i}", "S{(i + 1) % nodes}"] }},' for i in range(nodes))
    far = [
        f'    {{ switch = "S{i}", to = ["H{(i + nodes // 2) % nodes}"], via = "S{(i + 1) % nodes}" }},'
        for i in range(nodes if nodes % 2 == 0 else 0)
    ]
    routes = "\nroutes = [\n" + "\n".join(far) + "\n]" if far else ""
    switches = f'switches = ["S0..S{nodes - 1}"]\nallow_cycles = true'
    return f"{HEAD.format(goal=goal, last=nodes - 1)}{switches}\ncables = [\n{own}\n{cables}\n]{routes}\n"


def star(nodes: int, goal: str) -> str:
    """Return the scenario of a single switch."""
    cables = f'cables = [{{ between = ["H0..H{nodes - 1}", "S"] }}]'
    return f'{HEAD.format(goal=goal, last=nodes - 1)}switches = ["S"]\n{cables}\n'


def schedule(nodes: int, pairs: list[tuple[int, int]]) -> str:
    """Return a schedule in which all chunks leave at once, in the order of the pairs."""
    parts = [f"num_ranks {nodes}\n"]
    for me in range(nodes):
        parts.append(f"rank {me} {{")
        parts += [f"s{to}: send {CHUNK}b to {to} tag {me}" for source, to in pairs if source == me]
        parts += [f"r{source}: recv {CHUNK}b from {source} tag {source}" for source, to in pairs if to == me]
        parts.append("}\n")
    return "\n".join(parts)


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    made = {}
    for nodes in (8, 15, 16):
        pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
        made[f"all_{nodes}.goal"] = schedule(nodes, pairs)
        made[f"ring_{nodes}.toml"] = ring(nodes, f"all_{nodes}")
        made[f"star_{nodes}.toml"] = star(nodes, f"all_{nodes}")
    made["one_16.goal"] = schedule(16, [(1, 4)])
    made["near_16.goal"] = schedule(16, [(1, 2)])
    return {name: text for name, text in made.items() if name != "star_15.toml"}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
