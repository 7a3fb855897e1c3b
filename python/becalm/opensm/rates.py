"""Data rates of InfiniBand links: signalling rates less line coding."""

from __future__ import annotations

import re

from becalm.base.errors import BecalmError

LANES = {
    "SDR": 2.5e9 * 8 / 10,
    "DDR": 5e9 * 8 / 10,
    "QDR": 10e9 * 8 / 10,
    "FDR10": 10.3125e9 * 64 / 66,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25.78125e9 * 64 / 66,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
"""Data rate of a lane, in b/s. For HDR and later, the round figure is the rate after coding."""

WIDTHS = (1, 2, 4, 8, 12)
"""Numbers of lanes that a link may have."""

EXPECTED = f"{', '.join(f'{width}x' for width in WIDTHS)} with {', '.join(LANES)}, such as 4xEDR"


def data_rate(speed: str) -> float:
    """Return the data rate in b/s of a link such as `4xQDR`.

    Raises:
        BecalmError: an unknown width or speed.

    """
    found = re.fullmatch(r"(\d{1,2})x([A-Z]+\d*)", speed)
    if found is None or int(found[1]) not in WIDTHS or found[2] not in LANES:
        raise BecalmError(f"link `{speed}`: unknown width or speed; valid: {EXPECTED}")
    return int(found[1]) * LANES[found[2]]
