"""The same meaning has the same result.

A *relation* says that two ways to write or run a scenario mean the same, and what must therefore be equal in
their results: bits, times, or means over seeds. An *invariant* says what the tables of one run must agree on.
Both are tested on scenes that `tests/drawn.py` draws over all features, so they find what no hand-written
scene has: the edges where two features meet. A scene that fails is reduced, and printed with both values.

| file | contents |
|---|---|
| `test_meaning.py` | the tests |
| `relation.py` | what a relation is, and the list of all relations |
| `equal.py` | bits, bits up to names, and means with their statistical bound |
| `written.py` | units, packets and bytes, ranges, defaults, order of keys, TOML |
| `grouped.py` | groups of flows split, merged and in another order |
| `unused.py` | lanes, nodes, groups and changes that nothing uses; names and order of nodes; mirror images |
| `observed.py` | other recordings; the first half of a longer run |
| `broken.py` | faults as caps, split by host, in any order, and cables by either name |
| `scaled.py` | all times longer and all rates lower |
| `elsewhere.py` | threads and processes |
| `programs.py` | a job as a collective operation, operations, GOAL, Chakra, and messages |
| `invariants.py` | invariants between tables |
| `shrink.py` | reduction of scenes that fail |

A new feature adds itself to `tests/drawn.py`; a new way to write something adds a relation; a new table adds
an invariant. `make meaning` runs a fixed set of scenes. `MEANING=20` runs 20 times as many, and
`MEANING_SEED=7` draws others.
"""
