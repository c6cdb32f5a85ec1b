"""What the command line shows: the summary table, the explanation of a scenario, the progress bar."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from robonet.clock import ns_from_s
from robonet.experiments.compare import MEASURES
from robonet.plugins import FAMILIES
from robonet.record.statistics import Interval
from robonet.scenario import LoadedScenario
from robonet.scenario.schema import Robots, Station
from robonet.scenario.wifi import Wifi

SLOW_START_S = 3.0


def number(value: float | None, unit: str = "", digits: int = 3) -> str:
    """A figure with a sensible number of digits, or a dash."""
    if value is None:
        return "–"
    text = f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}" if abs(value) < 1e3 else f"{value:,.0f}"
    return f"{text} {unit}".rstrip()


def counted(count: int, noun: str) -> str:
    """`1 robot`, `20 robots`."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def milliseconds(figures: dict[str, float | None]) -> str:
    """Mean, median, 95 % and maximum of a delay."""
    if figures["mean"] is None:
        return "–"
    mean, p50, p95, most = (number((figures[key] or 0.0) * 1e3) for key in ("mean", "p50", "p95", "max"))
    return f"mean {mean} ms, median {p50}, 95 % {p95}, max {most}"


def summary_table(summary: dict[str, Any]) -> Panel:
    """The short table at the end of a run."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    packets, time = summary["packets"], summary["time"]
    colour = {"finished": "green", "interrupted": "yellow", "running": "cyan"}.get(summary["status"], "red")
    stations = f", {counted(summary['stations'], 'station')}" if summary.get("stations") else ""
    table.add_row(
        "run",
        f"[{colour}]{summary['status']}[/] after {number(summary['simulated_s'], 's')} simulated "
        f"({counted(summary['steps'], 'step')}, {counted(summary['robots'], 'robot')}{stations}, "
        f"seed {summary['seed']})",
    )
    ratio = summary["delivery_ratio"]
    if packets["sent"]:
        share = "" if ratio is None else f"  [bold]{100 * ratio:.1f} %[/]"
        table.add_row("delivered", f"{number(packets['delivered'])} of {number(packets['sent'])} packets{share}")
        for reason, count in sorted(packets["dropped"].items(), key=lambda item: -item[1]):
            table.add_row(
                "dropped",
                f"{number(count)} {reason.replace('_', ' ')} ({100 * count / packets['sent']:.1f} %)",
            )
        if summary["hops"]["mean"] is not None:
            table.add_row("hops", f"mean {number(summary['hops']['mean'])}, max {summary['hops']['max']}")
        table.add_row("delay", milliseconds(summary["delay_s"]))
        table.add_row("delay seen", milliseconds(summary["delay_seen_s"]))
    for name in ("broadcasts", "multicasts"):
        counts = summary.get(name, {"sent": 0})
        if counts["sent"]:
            heard = number(counts["receptions"] / counts["sent"])
            table.add_row(
                name,
                f"{number(counts['sent'])} sent, heard {number(counts['receptions'])} times ({heard} each)",
            )
    if not (packets["sent"] or summary["broadcasts"]["sent"] or summary["multicasts"]["sent"]):
        table.add_row("traffic", "nothing was sent")
    if summary.get("radios"):
        radios = summary["radios"]
        spoken = ", ".join(f"{number(count)} {kind}" for kind, count in radios["messages"].items() if count)
        table.add_row(
            "radios",
            f"{number(radios['frames'])} frames ({number(radios['retries'])} retries), "
            f"{number(radios['airtime_s'], 's')} on the air; {number(radios['collided'])} receptions collided",
        )
        table.add_row("routing", f"{radios['routing']}: {spoken or 'no messages'}")
    for name, value in summary["metrics"].items():
        table.add_row(escape(name), number(value))
    if time["real_time_factor"] is not None:
        table.add_row("speed", f"{number(time['real_time_factor'])} × real time")
        table.add_row(
            "time",
            f"{number(time['wall_s'], 's')} in all, {number(time['startup_s'], 's')} of it starting; "
            f"CPU: robots {number(time['robots_cpu_s'], 's')}, network {number(time['network_cpu_s'], 's')}; "
            f"exchange {number(time['exchange_s'], 's')}; "
            f"waiting: robots {number(time['waiting_robots_s'], 's')}, "
            f"network {number(time['waiting_network_s'], 's')}",
        )
    for warning in summary.get("warnings", ()):
        table.add_row("[yellow]warning[/]", escape(warning))
    if summary.get("digest"):
        table.add_row("digest", summary["digest"])
    if summary.get("error"):
        table.add_row("error", escape(summary["error"].splitlines()[0]))
    table.add_row("results", escape(str(summary["run_dir"])))
    return Panel(
        table,
        title=f"[bold]{summary['scenario']}[/] over {escape(summary['network'])}",
        border_style=colour,
        expand=False,
    )


def explanation(loaded: LoadedScenario) -> Table:
    """What a scenario says, for a look before running it."""
    scenario = loaded.scenario
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    about = f"{scenario.name}: {scenario.description}" if scenario.description else scenario.name
    table.add_row("scenario", escape(about))
    steps = ns_from_s(scenario.duration_s) // ns_from_s(scenario.step_s)
    table.add_row(
        "time", f"{scenario.duration_s:g} s in {counted(steps, 'step')} of {scenario.step_s:g} s, seed {scenario.seed}"
    )
    size, walls = scenario.arena.size_m, "walls" if scenario.arena.walls else "no walls"
    table.add_row(
        "arena",
        f"{size[0]:g} x {size[1]:g} m, {walls}, {counted(len(scenario.arena.obstacles), 'obstacle')}"
        + (f" and the plan {escape(scenario.arena.bitmap.file)}" if scenario.arena.bitmap is not None else ""),
    )
    for engine in scenario.engines:
        where = "everywhere" if engine.region is None else f"a region with {len(engine.region.corners())} sides"
        table.add_row("engine", f"{engine.engine} '{engine.name}': {where}")
    if not scenario.engines:
        table.add_row("engine", scenario.engine)
    if scenario.threads > 1:
        table.add_row("threads", str(scenario.threads))
    for things in scenario.objects:
        table.add_row("objects", f"{things.count} x '{things.name}'")
    for group in scenario.robots:
        table.add_row("robots", f"{group.count} x {group.kind} '{group.name}': {_behaviour(group)}")
    for station in scenario.stations:
        table.add_row("station", f"'{station.name}' at {list(station.at_m)}: {_behaviour(station)}")
    for traffic in scenario.traffic:
        stream = traffic.chosen
        kind = "cbr" if traffic.cbr is not None else "poisson"
        table.add_row(
            "traffic",
            f"{kind}: {escape(str(stream.senders))} to {stream.to}, "
            f"{stream.rate_hz:g} packets/s of {stream.payload_bytes} bytes",
        )
    model = scenario.network.model
    settings = getattr(scenario.network, model, None)
    table.add_row("network", escape(f"{model}: {_words(settings) if settings else 'your own'}"))
    for hook in scenario.hooks:
        table.add_row("hook", escape(hook.hook))
    if scenario.variants:
        table.add_row("variants", ", ".join(scenario.variants))
    return table


def _words(settings: Any) -> str:
    """The settings of a network model: plain ones, and of the others what the scenario says."""
    said = settings.model_dump(exclude_defaults=True)
    plain = [f"{key} {value}" for key, value in settings if isinstance(value, (str, int, float))]
    nested = [f"{key} {value}" for key, value in said.items() if isinstance(value, dict)]
    if isinstance(settings, Wifi) and settings.range_m is None and settings.tx_power_dbm is None:
        plain.insert(1, "range_m 120")
    return ", ".join(plain + nested)


def _behaviour(member: Robots | Station) -> str:
    if member.controller is not None:
        return f"controller {escape(member.controller)}"
    if isinstance(member, Robots) and member.motion is not None:
        return "motion " + next(name for name, value in member.motion if value is not None)
    return "stands still"


def comparison_table(comparison: Any) -> Table:
    """Network models side by side, with 95 % intervals."""
    seeds = comparison.seeds
    span = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
    caption = "mean ± 95 % confidence interval" + "".join(f"; {note}" for note in comparison.notes)
    table = Table(title=f"[bold]{comparison.scenario}[/], {span}", caption=escape(caption))
    table.add_column("network", style="bold")
    for measure in MEASURES:
        table.add_column(f"{measure.name} {measure.unit}".strip(), justify="right")
    for network, intervals in comparison.intervals.items():
        table.add_row(escape(network), *(_interval(intervals[measure.name]) for measure in MEASURES))
    return table


def _interval(interval: Interval) -> str:
    spread = "" if interval.half_width is None else f" ± {number(interval.half_width, digits=2)}"
    return number(interval.mean) + spread


@contextmanager
def comparison_progress(console: Console) -> Iterator[Any]:
    """A line that says which run is going on."""
    if not console.is_terminal:
        yield lambda *_: None
        return
    with console.status("starting") as status:

        def update(network: str, seed: int, done: int, total: int) -> None:
            status.update(f"run {done + 1} of {total}: {network}, seed {seed}")

        yield update


def family_table(family: str) -> Table:
    """What can be named, one line each."""
    table = Table(box=None, show_header=False, padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, plugin in FAMILIES[family].items():
        table.add_row(name, plugin.help)
    return table


@contextmanager
def progress_bar(console: Console, name: str, steps: int, *, shown: bool) -> Iterator[Any]:
    """A bar over the steps; yields a function to call with how many are done."""
    if not shown or not console.is_terminal:
        yield lambda _: None
        return
    import time

    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    started = time.monotonic()
    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"{name}: starting", total=steps)

        def update(done: int) -> None:
            if done:
                progress.update(task, completed=done, description=name)
            elif time.monotonic() - started > SLOW_START_S:
                progress.update(task, description=f"{name}: starting (the first run compiles its kernels)")

        yield update
