"""Words and figures for what a study found: plain sentences that promise no more than the runs show."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robonet.experiments.findings import Difference

UNITS = {"m_s": "m/s", "s": "s", "m": "m", "hz": "Hz", "bytes": "bytes", "j": "J", "w": "W", "dbm": "dBm", "db": "dB",
         "deg": "°", "rad": "rad", "mbps": "Mbit/s", "percent": "%", "kg": "kg"}  # fmt: skip
"""What the ending of a name says of its unit; longer endings first."""
LABELS = {
    "delivery_ratio": "delivered share of packets",
    "delay_s.mean": "mean delay",
    "delay_s.p50": "median delay",
    "delay_s.p95": "95th percentile of delay",
    "delay_s.max": "longest delay",
    "delay_seen_s.mean": "mean delay as robots see it",
    "delay_seen_s.p50": "median delay as robots see it",
    "delay_seen_s.p95": "95th percentile of delay as robots see it",
    "hops.mean": "mean number of hops",
    "hops.max": "largest number of hops",
    "packets.sent": "packets sent",
    "packets.delivered": "packets delivered",
    "time.wall_s": "wall-clock time",
    "time.robots_cpu_s": "CPU time of the robots' side",
    "time.network_cpu_s": "CPU time of the network's side",
    "time.real_time_factor": "speed, × real time",
}
LARGE_PERCENT = 1000.0
"""A change beyond this is told in the metric's unit, not in percent."""
FEWEST_FOR_WILCOXON = 6
"""With fewer pairs the signed-rank test cannot get below 5 %, whatever the data say."""


class Verdict(Enum):
    """What can be said of a comparison."""

    DIFFERS = "differs"
    UNCERTAIN = "differs before correction only"
    NOT_FOUND = "no difference found"
    CONSTANT = "the same difference with every seed"
    SAME = "the same values with every seed"
    TOO_FEW = "too few seeds"


def unit_of(metric: str) -> str:
    """The unit that a metric's name carries: `delay_s.mean` is in seconds."""
    for part in reversed(metric.split(".")):
        for ending, unit in UNITS.items():
            if part == ending or part.endswith(f"_{ending}"):
                return unit
    return ""


def label_of(metric: str) -> str:
    """A metric in words, without its unit."""
    if metric in LABELS:
        return LABELS[metric]
    unit = unit_of(metric)
    endings = [ending for ending, said in UNITS.items() if said == unit]
    parts = [_without(part, endings) for part in metric.removeprefix("metrics.").split(".")]
    return ", ".join(part.replace("_", " ") for part in parts)


def _without(part: str, endings: list[str]) -> str:
    for ending in endings:
        if part.endswith(f"_{ending}"):
            return part[: -len(ending) - 1]
    return part


def scale_of(unit: str, largest: float) -> tuple[float, str]:
    """What to multiply by, and the unit then, so that figures have few zeros."""
    if unit == "s" and 0 < largest < 1e-3:
        return 1e6, "µs"
    return (1e3, "ms") if unit == "s" and 0 < largest < 1 else (1.0, unit)


def with_unit(metric: str, largest: float) -> tuple[float, str]:
    """The scale, and the label of a metric with its unit: for axes of figures and heads of tables."""
    scale, unit = scale_of(unit_of(metric), largest)
    return scale, f"{label_of(metric)} ({unit})" if unit else label_of(metric)


def number(value: float | None, digits: int = 3) -> str:
    """A figure with a sensible number of digits and a true minus, or a dash."""
    if value is None:
        return "–"
    size = abs(value)
    if size and not 1e-4 <= size < 1e6:
        text = f"{size:.{digits}g}"
    elif size >= 10 ** (digits - 1):
        text = f"{size:,.0f}"
    else:
        text = f"{size:#.{digits}g}".rstrip("0").rstrip(".") if size else "0"
        text = f"{float(text):f}".rstrip("0").rstrip(".") if "e" in text else text
    return f"−{text}" if value < 0 and text.strip("0.") else text


def quantities(metric: str, *values: float, like: float = 0.0) -> tuple[list[str], str]:
    """Several values of a metric in one unit, that of the largest, or the one that `like` would have."""
    scale, unit = scale_of(unit_of(metric), like or max(abs(value) for value in values))
    return [number(value * scale) for value in values], f" {unit}" if unit else ""


def p_words(p: float) -> str:
    """`p = .003`, `p < .001`."""
    if p < 0.001:
        return "p < .001"
    digits = 3 if p < 0.01 or 0.045 <= p < 0.055 else 2
    return "p = 1" if p > 0.994 else f"p = {p:.{digits}f}".replace("0.", ".")


def subject(axis: str, value: Any) -> str:
    """How a value of an axis is called in a sentence: `wifi`, but `step_s = 0.1`."""
    is_word = isinstance(value, str) and not re.fullmatch(r"[-+0-9.eE]+|True|False|None|", value)
    return value if is_word else f"{axis} = {value}"


def place(at: Mapping[str, Any]) -> str:
    """Where on the other axes: ` at robots.scout.count = 20`."""
    return " at " + " and ".join(f"{axis} = {value}" for axis, value in at.items()) if at else ""


def verb(metric: str, difference: float) -> str:
    """What happened to a metric."""
    is_time = unit_of(metric) == "s"
    if difference > 0:
        return "lengthens" if is_time else "raises"
    return "shortens" if is_time else "lowers"


def sentence(found: "Difference") -> str:
    """One comparison in plain words."""
    words = {
        Verdict.DIFFERS: _differs,
        Verdict.UNCERTAIN: _uncertain,
        Verdict.NOT_FOUND: _not_found,
        Verdict.CONSTANT: _constant,
        Verdict.SAME: _same,
        Verdict.TOO_FEW: _too_few,
    }[found.verdict](found)
    if found.unpaired and found.pairs:
        words += f"; {_counted(found.unpaired, 'seed')} without a pair left out"
    return words


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _size(found: "Difference") -> float:
    """Of what is measured: all figures of a sentence are told in the unit that suits it."""
    return max(abs(found.value_mean or 0.0), abs(found.reference_mean or 0.0))


def _means(found: "Difference") -> str:
    """`62 ms against 44 ms`."""
    assert found.value_mean is not None and found.reference_mean is not None
    (value, reference), unit = quantities(found.metric, found.value_mean, found.reference_mean)
    return f"{value}{unit} against {reference}{unit}"


def _told_in_percent(found: "Difference") -> bool:
    bounds = (found.percent, found.percent_low, found.percent_high)
    return all(bound is not None and abs(bound) <= LARGE_PERCENT for bound in bounds)


def _change(found: "Difference", *, sign: float) -> tuple[str, str]:
    """The change and its interval, in percent or in the metric's unit; as if it had the given sign."""
    assert found.difference is not None
    if _told_in_percent(found):
        amount, unit = number(sign * (found.percent or 0.0), 2), " %"
        bounds = [sign * (found.percent_low or 0.0), sign * (found.percent_high or 0.0)]
        low, high = (number(bound, 2) for bound in sorted(bounds))
    elif found.low is not None and found.high is not None:
        (amount, *ends), unit = quantities(
            found.metric,
            sign * found.difference,
            *sorted((sign * found.low, sign * found.high)),
            like=_size(found),
        )
        low, high = ends
    else:
        (amount,), unit = quantities(found.metric, sign * found.difference, like=_size(found))
        return f"{amount}{unit}", ""
    return f"{amount}{unit}", f"95 % CI {low} to {high}{unit}"


def _claim(found: "Difference") -> str:
    assert found.difference is not None
    amount, interval = _change(found, sign=1.0 if found.difference > 0 else -1.0)
    spread = f"; {interval}" if interval else ""
    return (
        f"{subject(found.axis, found.value)} {verb(found.metric, found.difference)} {found.metric} by {amount} against "
        f"{subject(found.axis, found.reference)}{place(found.at)} ({_means(found)}{spread})"
    )


def _differs(found: "Difference") -> str:
    assert found.p_corrected is not None
    words = (
        f"{_claim(found)}, {p_words(found.p_corrected)} after Holm's correction "
        f"(d_z = {number(found.effect, 2)}, {_counted(found.pairs, 'seed')})"
    )
    if found.is_doubted_by_wilcoxon and found.p_wilcoxon_corrected is not None:
        words += f"; Wilcoxon's test does not confirm it ({p_words(found.p_wilcoxon_corrected)})"
    return words


def _uncertain(found: "Difference") -> str:
    assert found.p is not None and found.p_corrected is not None
    return (
        f"not certain: {_claim(found)}, {p_words(found.p)} alone, but {p_words(found.p_corrected)} after Holm's "
        f"correction ({_counted(found.pairs, 'seed')}): more seeds would tell"
    )


def _not_found(found: "Difference") -> str:
    assert found.p_corrected is not None
    amount, interval = _change(found, sign=1.0)
    spread = f", {interval}" if interval else ""
    words = (
        f"no difference found between {subject(found.axis, found.value)} and "
        f"{subject(found.axis, found.reference)} in {found.metric}{place(found.at)}: {_means(found)} "
        f"({amount}{spread}), {p_words(found.p_corrected)} after Holm's correction ({_counted(found.pairs, 'seed')})"
    )
    unseen = _unseen(found)
    return f"{words}; a difference of less than {unseen} would not have been seen" if unseen else words


def _unseen(found: "Difference") -> str:
    """Half the width of the interval: what was too small for these seeds."""
    if _told_in_percent(found):
        return f"{number(((found.percent_high or 0.0) - (found.percent_low or 0.0)) / 2, 2)} %"
    if found.low is None or found.high is None:
        return ""
    (half,), unit = quantities(found.metric, (found.high - found.low) / 2, like=_size(found))
    return f"{half}{unit}"


def _constant(found: "Difference") -> str:
    assert found.difference is not None
    (amount,), unit = quantities(found.metric, abs(found.difference), like=_size(found))
    return (
        f"{subject(found.axis, found.value)} {verb(found.metric, found.difference)} {found.metric} by exactly "
        f"{amount}{unit} against {subject(found.axis, found.reference)}{place(found.at)} ({_means(found)}) in each of "
        f"{_counted(found.pairs, 'seed')}: without spread there is nothing to test"
    )


def _same(found: "Difference") -> str:
    assert found.value_mean is not None
    (mean,), unit = quantities(found.metric, found.value_mean)
    return (
        f"{subject(found.axis, found.value)} and {subject(found.axis, found.reference)} have the same "
        f"{found.metric}{place(found.at)} in each of {_counted(found.pairs, 'seed')} (mean {mean}{unit})"
    )


def _too_few(found: "Difference") -> str:
    both = f"{subject(found.axis, found.value)} and {subject(found.axis, found.reference)}"
    if not found.pairs:
        return f"{both} cannot be compared in {found.metric}{place(found.at)}: no seed has a value under both"
    return (
        f"{both} cannot be compared in {found.metric}{place(found.at)}: {_means(found)} with the only seed that both "
        "have, and one seed says nothing about chance"
    )


def capital(text: str) -> str:
    """With a capital first letter."""
    return text[:1].upper() + text[1:]
