"""The playground: a page that contains the core as WebAssembly and runs scenarios in the browser.

`make playground` builds `play.html` from `web/` and `crates/wasm`. The built file is committed, so using it
requires neither Node nor another Rust target.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

from becalm.base.errors import BecalmError
from becalm.base.mistakes import read_text
from becalm.opensm import foreign

_MARK = "<!--given-->"
MOST_TEXT = 1_000_000
"""Maximum size in bytes of a scenario that the page can open with."""


def page() -> Path:
    """Return the path of the page that comes with becalm."""
    return Path(__file__).parent / "play.html"


def page_with(scenario: Path) -> Path:
    """Return the path of a new page in a new folder. The page opens with a scenario.

    It also opens an invalid scenario, and shows the mistakes at their lines.

    Args:
        scenario: the file, or a results folder, whose scenario it is.

    Raises:
        BecalmError: the file is too long, or not UTF-8 text, or of another kind.
        OSError: the file cannot be read.

    """
    data = read_text(scenario).encode()
    if len(data) > MOST_TEXT:
        raise BecalmError(f"{scenario}: has {len(data):,} bytes, more than the page's limit of {MOST_TEXT:,}")
    if scenario.is_file():
        foreign.check(scenario, foreign.SCENARIO)
    # Create a folder that only this user can read.
    made = Path(tempfile.mkdtemp(prefix="becalm-")) / "play.html"
    made.write_text(filled(data), encoding="utf-8", newline="\n")
    return made


def filled(scenario: bytes) -> str:
    """Return the page with the text of a scenario."""
    before, _, after = page().read_text(encoding="utf-8").partition(_MARK)
    given = base64.b64encode(scenario).decode()
    return f'{before}<script type="application/octet-stream" id="given">{given}</script>{after}'
