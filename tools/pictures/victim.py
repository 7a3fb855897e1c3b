"""Draws the README's picture of a victim of congestion, with and without control."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import becalm
from becalm.plot import ROLES, panels, save

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
SCENARIO = ROOT / "scenarios" / "input_triggered_lipd.toml"
NO_CONTROL = {"marking": {"none": {}}, "response": {"none": {"window": 1}}}
CURVES = {
    "B->BC": ("hot link", ROLES["root"]),
    "A->B": ("link that the victim shares", ROLES["inter_switch"]),
    "victim": ("the victim", ROLES["victim"]),
}


def main() -> None:
    """Run the scenario twice and draw."""
    controlled = becalm.load(SCENARIO)
    runs = {"without control": controlled.replace(NO_CONTROL), "input-triggered marking, LIPD": controlled}
    figure, axes = panels(1, 2, width=4.5, height=2.9)
    for each, (title, scenario) in zip(axes, runs.items(), strict=True):
        series = becalm.run(scenario).series
        for name, (label, colour) in CURVES.items():
            curve = series.filter(pl.col("name") == name)
            each.plot(curve["time"] * 1e3, curve["share"], label=label, color=colour)
        each.set(title=title, xlabel="time (ms)", xlim=(0, 100), ylim=(0, 1.05))
    axes[0].set_ylabel("share of a link's rate")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    print(save(figure, PICTURES / "victim.svg"))


if __name__ == "__main__":
    main()
