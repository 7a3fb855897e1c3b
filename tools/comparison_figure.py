"""Draws `comparison.svg`: how strongly each parameter in the grids of `becalm compare` affects the loss."""

from __future__ import annotations

from pathlib import Path

from becalm import comparison
from becalm.comparison import tuning
from becalm.plot import panels

TARGET = Path(__file__).parents[1] / "docs" / "comparison.svg"


def main() -> None:
    """Draw a panel per scheme: the least mean loss over all scenes for each value of each parameter."""
    schemes = [each for each in comparison.chosen_schemes() if each.tune and tuning.stored(each)]
    made, flat = panels(-(-len(schemes) // 4), 4, width=1.9, height=1.4)
    for axis, scheme in zip(flat, schemes, strict=False):
        losses = tuning.best(scheme, tuning.stored(scheme) or {}, "").losses
        for keys, values in scheme.tune.items():
            best = [
                min(
                    loss
                    for point, loss in zip(tuning.grid(scheme), losses, strict=True)
                    if point[keys] == value and loss is not None
                )
                for value in values
            ]
            axis.plot(range(len(values)), best, marker="o", markersize=3, label=keys.rpartition(".")[2])
        axis.set_title(scheme.name, fontsize=8)
        axis.set_ylim(0, 1.0)
        axis.set_xticks([])
        axis.legend(fontsize=5, frameon=False)
    for axis in flat[len(schemes) :]:
        axis.set_axis_off()
    made.supxlabel("values of the grid, from the first to the last", fontsize=8)
    made.supylabel("least mean loss over the six scenes", fontsize=8)
    made.savefig(TARGET)


if __name__ == "__main__":
    main()
