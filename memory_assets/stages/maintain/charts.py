"""Draws small charts as SVG: lines, stacked columns, and horizontal bars.

Takes numbers and labels; returns the text of one `<svg>` element, which needs no script, style
sheet or font, so that it can be a file or part of a page. A value that is None leaves a gap.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain, cycle, groupby

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 58, 18, 52, 34
"""Margins of the plot, in pixels: left for numbers, right for the end of the last label, above for
title and legend, below for labels."""

BAR_HEIGHT, NAME_WIDTH, NUMBER_WIDTH = 22, 190, 70
"""Measures of horizontal bars, in pixels."""

COLOURS = ("#3266ad", "#d9822b", "#3d9960", "#8e63b5", "#b8433f", "#7a7f87", "#c2a12b", "#2f9fb0")
INK, FAINT, GRID, PAPER = "#22262b", "#6a7178", "#e3e6ea", "#ffffff"

LABEL_WIDTH = 62
"""Pixels that a label below the plot needs."""

MOST_STEPS = 5
SMALLEST = 1e-6
"""A chart whose largest value is below this has the scale 0 to 1."""

WIDEST = 40
"""Pixels of the widest column, so that a chart of few columns has no huge blocks."""

LEGEND_ROW = 16
"""Pixels between two rows of the legend."""

LETTER = 6.4
"""Mean width of a letter of the legend, in pixels."""


Series = Mapping[str, Sequence[float | None]]
"""The values by name: one value for each label, or None for a label without a value."""

Format = Callable[[float], str]


def plain(value: float) -> str:
    """Returns the number with as many decimals as it needs, at most two."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def percent(value: float) -> str:
    """Returns the share as a percentage."""
    return f"{value:.0%}"


def dollars(value: float) -> str:
    """Returns the amount in US dollars."""
    return f"${plain(value)}"


def seconds(value: float) -> str:
    """Returns the duration."""
    return f"{plain(value)} s"


def line_chart(title: str, labels: Sequence[str], series: Series, show: Format = plain) -> str:
    """Returns a chart with one line for each series; a value without neighbours is a dot."""
    values = [value for value in chain(*series.values()) if value is not None]
    ticks = ticks_up_to(max(values, default=0.0))
    drawn = []
    for (name, line), colour in zip(series.items(), cycle(COLOURS), strict=False):
        for points in _runs(line):
            places = [(_x(number, labels), _y(value, ticks[-1])) for number, value in points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            drawn.append(
                f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
                'stroke-linejoin="round"/>'
            )
            for (x, y), (number, value) in zip(places, points, strict=True):
                label = escape(f"{name}, {labels[number]}: {show(value)}")
                dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}">'
                drawn.append(f"{dot}<title>{label}</title></circle>")
    return _plot(title, labels, series, ticks, show, drawn)


def stacked_columns(title: str, labels: Sequence[str], series: Series, show: Format = plain) -> str:
    """Returns a chart with one column for each label, made of the stacked values of the series."""
    sums = (sum(filter(None, stack)) for stack in zip(*series.values(), strict=False))
    ticks = ticks_up_to(max(sums, default=0.0))
    width = min(_step(labels) * 0.7, WIDEST)
    bases = [0.0] * len(labels)
    drawn = []
    for (name, layer), colour in zip(series.items(), cycle(COLOURS), strict=False):
        for number, value in enumerate(layer):
            if not value:
                continue
            bottom = _y(bases[number], ticks[-1])
            top = _y(bases[number] + value, ticks[-1])
            box = _box(_x(number, labels) - width / 2, top, width, bottom - top, colour)
            label = escape(f"{name}, {labels[number]}: {show(value)}")
            drawn.append(f"{box}<title>{label}</title></rect>")
            bases[number] += value
    return _plot(title, labels, series, ticks, show, drawn)


def horizontal_bars(title: str, counts: Mapping[str, float], show: Format = plain) -> str:
    """Returns a chart with one bar for each name, in the given order."""
    most = max(counts.values(), default=0.0) or 1.0
    room = WIDTH - NAME_WIDTH - NUMBER_WIDTH - RIGHT
    drawn = []
    for number, (name, count) in enumerate(counts.items()):
        top = 40 + number * BAR_HEIGHT
        middle = top + BAR_HEIGHT / 2 + 4
        width = room * max(count, 0.0) / most
        drawn.append(_text(NAME_WIDTH - 8, middle, name, anchor="end"))
        drawn.append(f"{_box(NAME_WIDTH, top + 3, width, BAR_HEIGHT - 6, COLOURS[0])}</rect>")
        drawn.append(_text(NAME_WIDTH + width + 6, middle, show(count), colour=FAINT))
    return _svg(title, 40 + len(counts) * BAR_HEIGHT + 12, drawn)


def ticks_up_to(most: float) -> list[float]:
    """Returns at most six evenly spaced round numbers; the last one is not below `most`."""
    if most < SMALLEST:
        return [0.0, 1.0]
    least = most / MOST_STEPS
    power = 10.0 ** math.floor(math.log10(least))
    steps = (factor * power for factor in (1, 2, 2.5, 5, 10))
    step = next(size for size in steps if size >= least * (1 - 1e-9))
    count = math.ceil(most / step - 1e-9)
    return [round(number * step, 10) for number in range(count + 1)]


def shown_labels(labels: Sequence[str]) -> list[int]:
    """Returns the indices of evenly spaced labels that fit side by side, with the last one."""
    interval = max(1, math.ceil(len(labels) * LABEL_WIDTH / (WIDTH - LEFT - RIGHT)))
    return [number for number in range(len(labels)) if (len(labels) - 1 - number) % interval == 0]


def _plot(
    title: str,
    labels: Sequence[str],
    series: Series,
    ticks: Sequence[float],
    show: Format,
    drawn: Sequence[str],
) -> str:
    grid = []
    for tick in ticks:
        y = _y(tick, ticks[-1])
        grid.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{GRID}"/>'
        )
        grid.append(_text(LEFT - 8, y + 4, show(tick), anchor="end", colour=FAINT))
    foot = HEIGHT - BOTTOM + 18
    axis = [
        _text(_x(number, labels), foot, labels[number], anchor="middle", colour=FAINT)
        for number in shown_labels(labels)
    ]
    plot = [*grid, *drawn, *axis]
    legend, rows = _legend(series) if len(series) > 1 else ([], 1)
    if rows > 1:
        plot = [f'<g transform="translate(0 {(rows - 1) * LEGEND_ROW})">', *plot, "</g>"]
    return _svg(title, HEIGHT + (rows - 1) * LEGEND_ROW, [*plot, *legend])


def _legend(names: Iterable[str]) -> tuple[list[str], int]:
    """Returns the elements of the legend, and the number of rows that they take."""
    drawn = []
    x = float(LEFT)
    row = 0
    for name, colour in zip(names, cycle(COLOURS), strict=False):
        width = 14 + LETTER * len(name) + 16
        if x + width > WIDTH and x > LEFT:
            x = float(LEFT)
            row += 1
        y = 30 + row * LEGEND_ROW
        drawn.append(f"{_box(x, y, 10, 10, colour)}</rect>")
        drawn.append(_text(x + 14, y + 9, name, colour=FAINT))
        x += width
    return drawn, row + 1


def _svg(title: str, height: float, drawn: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'width="{WIDTH}" height="{height:.0f}" '
        f'role="img" aria-label="{escape(title)}" font-family="system-ui, sans-serif" '
        'font-size="12">'
    )
    paper = f'<rect width="{WIDTH}" height="{height:.0f}" fill="{PAPER}"/>'
    font = f'font-size="14" font-weight="600" fill="{INK}"'
    heading = f'<text x="0" y="16" {font}>{escape(title)}</text>'
    return "\n".join([head, paper, heading, *drawn, "</svg>\n"])


def _runs(values: Sequence[float | None]) -> Iterator[list[tuple[int, float]]]:
    """Yields the runs of values between gaps, each value with its index."""
    for is_gap, run in groupby(enumerate(values), key=lambda pair: pair[1] is None):
        if not is_gap:
            yield [(number, value) for number, value in run if value is not None]


def _step(labels: Sequence[str]) -> float:
    return (WIDTH - LEFT - RIGHT) / max(len(labels), 1)


def _x(number: int, labels: Sequence[str]) -> float:
    return LEFT + _step(labels) * (number + 0.5)


def _y(value: float, most: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / most


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = INK) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _box(x: float, y: float, width: float, height: float, colour: str) -> str:
    """Returns the opening tag of a rectangle; the caller closes it."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.0):.1f}" height="{height:.1f}" '
        f'rx="1.5" fill="{colour}">'
    )
