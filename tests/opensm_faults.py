"""A valid OpenSM configuration, and faults to plant in it."""

from __future__ import annotations

from fabrics import DATA

DEFAULT = (DATA / "opensm-default.conf").read_text()
"""Default configuration of OpenSM 3.3.23."""
GOOD = (DATA / "opensm-loaded.conf").read_text()
"""A congestion control configuration, as written by OpenSM after loading it."""

SW, CA = "cc_sw_cong_setting_", "cc_ca_cong_setting_"
TABLE = next(line for line in GOOD.splitlines() if line.startswith("cc_cct"))
LONG = ",".join(f"0:{12000 + place}" for place in range(128))

FAULTS = {
    "a threshold of 16 is 0 on the wire": ("threshold 0x0F", "threshold 16", "only its low 4 bits: 0"),
    "a starvation threshold of 16 is 0 on the wire": (
        "starvation_threshold 0x09",
        "starvation_threshold 16",
        "4 bits: 0, which is off",
    ),
    "a multiplier wraps": ("0:0,3:1", "0:16385,3:1", "sends 0:16385 as 1:1"),
    "a shift has two bits": ("delay 2:77", "delay 4:77", "sends 4:77 as 0:77"),
    "TRUE has capitals": ("control TRUE", "control true", "reads everything except uppercase TRUE"),
    "a table of one entry": (TABLE, "cc_cct 0:3", "a table of one entry counts as empty"),
    "more entries than 128": (TABLE, TABLE + ",3:155,3:155", "uses 128 entries and ignores the other 2"),
    "a line above the length limit": (TABLE, f"cc_cct {LONG}", "the rest as a separate line"),
    "a malformed entry": ("0:0,3:1", "0:0,3;1", "rejects a table with `3;1` in it"),
    "a misspelt key": ("marking_rate", "making_rate", "does not know this key"),
    "a key with an equals sign": (
        "congestion_control TRUE",
        "congestion_control=TRUE",
        "does not know this key",
    ),
    "a number out of range": ("packet_size 8", "packet_size 256", "out of range"),
    "text instead of a number": ("marking_rate 1", "marking_rate often", "accepts only whole numbers"),
    "octal by accident": ("packet_size 8", "packet_size 010", "octal: 8"),
    "a value without its service level": ("timer 0 150", "timer 150", "without a service level"),
    "a service level out of range": ("timer 1 150", "timer 16 150", "with this service level"),
    "a mask without 0x": ("victim_mask 0x" + "0" * 61, "victim_mask 1", "as hexadecimal"),
    "a bit of the control map is missing": ("control_map 0x1F", "control_map 0x1B", "needs bit 0x4"),
    "a bit without a meaning": ("control_map 0x1F", "control_map 0x3F", "no meaning"),
    "settings of a service level that is not set up": ("map 0x0003", "map 0x0001", "SL 1 is not in"),
    "a service level without a timer": ("timer 1 150", "timer 1 0", "never regains its rate"),
    "a service level without an increase": ("increase 0 1\n", "increase 0 0\n", "do not slow sources"),
    "an index beyond the table": (
        "ccti_min 0 2",
        "ccti_min 0 128",
        "beyond the table, whose last index is 127",
    ),
    "an index that is never reached": ("threshold 0 100", "threshold 0 200", "reaches at most 127"),
    "a table whose delays decrease": ("3:153,3:155", "3:153,0:1", "entry 127 is below"),
    "packets that are never marked": ("packet_size 8", "packet_size 200", "so no packet is marked"),
    "adapters without switches": ("setting_threshold 0x0F", "setting_threshold 0", "no switch marks"),
    "starvation without its mask": ("credit_mask 0x", "no_mask 0x", "it has no effect without"),
    "two values for one key": (
        "marking_rate 1",
        "marking_rate 2\ncc_sw_cong_setting_marking_rate 1",
        "its value in line 12",
    ),
    "a value that is replaced": ("cc_key", "lmc 9\ncc_key", "uses 0 instead"),
    "an unknown word": ("cc_key", "part_enforce on\ncc_key", "uses both"),
    "congestion control not switched on": ("congestion_control TRUE\n", "", "congestion_control is not TRUE"),
}
"""Faults by name: text of the valid configuration, its replacement, and the expected finding."""
