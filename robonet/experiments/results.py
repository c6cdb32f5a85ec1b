"""What a study found, as one table: results.parquet, a row a run."""

from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from robonet.errors import UserError
from robonet.experiments.study import Plan, Study, load_study
from robonet.record.folder import RunFolder

TABLE = "results.parquet"
STUDY = "study.yaml"
RUNS = "runs"


class Results(NamedTuple):
    """A study that has run, or is running."""

    folder: Path
    study: Study
    table: pa.Table

    @property
    def axes(self) -> list[str]:
        """The columns that say what a run was."""
        return list(self.study.axes)

    @property
    def metrics(self) -> list[str]:
        """The columns that say what came of it."""
        return list(self.study.metrics)


def value_at(summary: dict[str, Any], path: str) -> float | None:
    """A number in a summary, None where it has none."""
    here: Any = summary
    for step in path.split("."):
        if not isinstance(here, dict) or step not in here:
            return None
        here = here[step]
    return float(here) if isinstance(here, (int, float)) and not isinstance(here, bool) else None


def write_results(plan: Plan, folder: Path) -> pa.Table:
    """Gather the summaries of all planned runs that are there, in the order of the plan."""
    rows: list[dict[str, Any]] = []
    for run in plan.runs:
        summary = RunFolder(folder / RUNS / run.id).read_summary()
        if summary is None:
            continue
        row: dict[str, Any] = {"run": run.id, "point": run.point.name, "status": summary["status"], "seed": run.seed}
        row |= {axis: run.point.labels[axis] for axis in plan.study.axes}
        row |= {metric: value_at(summary, metric) for metric in plan.study.metrics}
        row["digest"] = summary.get("digest") or None
        row["wall_s"] = value_at(summary, "time.wall_s")
        row["robonet"] = summary.get("versions", {}).get("robonet")
        row["error"] = summary.get("error")
        rows.append(row)
    table = pa.table({name: _column(name, rows, plan) for name in _names(plan)})
    hidden = folder / f".{TABLE}"
    pq.write_table(table, hidden)
    hidden.replace(folder / TABLE)
    return table


def _names(plan: Plan) -> list[str]:
    about = ["run", "point", "status", "seed"]
    return [*about, *plan.study.axes, *plan.study.metrics, "digest", "wall_s", "robonet", "error"]


def _column(name: str, rows: list[dict[str, Any]], plan: Plan) -> pa.Array:
    values = [row[name] for row in rows]
    if name in plan.study.metrics or name == "wall_s":
        return pa.array(values, pa.float64())
    if name == "seed":
        return pa.array(values, pa.int64())
    if name in plan.study.axes:
        kinds = {type(value) for value in values}
        if kinds <= {int}:
            return pa.array(values, pa.int64())
        if kinds <= {int, float}:
            return pa.array(values, pa.float64())
        if kinds <= {bool}:
            return pa.array(values, pa.bool_())
        return pa.array([str(value) for value in values], pa.string())
    return pa.array(values, pa.string())


def read_results(folder: Path) -> Results:
    """The table of a study's folder."""
    if not (folder / STUDY).is_file():
        raise UserError(f"{folder} is not the folder of a study: there is no {STUDY} in it")
    if not (folder / TABLE).is_file():
        raise UserError(f"{folder} has no results yet: `robonet sweep {folder / STUDY} --out {folder}` goes on")
    return Results(folder, load_study(folder / STUDY), pq.read_table(folder / TABLE))


def query(folder: Path, sql: str) -> Any:
    """Ask the results in SQL; the table is called `results`, others are those of all runs by name (e.g. `poses`)."""
    try:
        import duckdb
    except ImportError as error:
        raise UserError("queries need DuckDB: pip install 'robonet[study]'") from error
    read_results(folder)  # says what is missing
    connection = duckdb.connect()
    try:
        connection.execute(f"create view results as select * from read_parquet('{_quoted(folder / TABLE)}')")  # noqa: S608
        for name in sorted({path.parent.name for path in folder.glob(f"{RUNS}/*/tables/*/*.parquet")}):
            pattern = _quoted(folder / RUNS / "*" / "tables" / name / "*.parquet")
            connection.execute(
                f"create view \"{name}\" as select split_part(filename, '/', -4) as run, * exclude (filename) "  # noqa: S608
                f"from read_parquet('{pattern}', filename = true)"
            )
        return connection.sql(sql)
    except duckdb.Error as error:
        raise UserError(f"the query failed: {error}") from error


def _quoted(path: Path) -> str:
    return str(path.resolve()).replace("'", "''")
