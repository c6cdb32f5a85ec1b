"""Tables as folders of Parquet files, written part by part: a killed run leaves every finished part readable."""

import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robonet.errors import RecordError

ROWS_A_PART = 1_000_000
FIRST_FLUSH_S = 1.0
FLUSH_GROWTH = 0.1
"""Parts are written at least every tenth of the time gone by: few files, little lost."""


class Table:
    """One table: rows are gathered in memory and written when there are many or some time has passed."""

    def __init__(self, folder: Path, columns: dict[str, str], labels: dict[str, Sequence[str]] | None = None) -> None:
        self._folder = folder
        self._columns = columns
        self._labels = labels or {}
        self._rows: list[Sequence[Any]] = []
        self._blocks: list[list[np.ndarray[Any, Any]]] = []
        self._waiting = 0
        self._parts = 0

    def add(self, row: Sequence[Any]) -> None:
        """Add one row, in the order of the columns; labelled columns take an index into their labels."""
        self._rows.append(row)
        self._waiting += 1

    def add_block(self, block: Iterable[np.ndarray[Any, Any]]) -> None:
        """Add many rows as one array a column; the arrays must not be changed afterwards."""
        arrays = list(block)
        self._blocks.append(arrays)
        self._waiting += len(arrays[0])

    @property
    def is_full(self) -> bool:
        """Whether the next part is due by its size."""
        return self._waiting >= ROWS_A_PART

    def flush(self) -> None:
        """Write what was gathered as one more part, whole or not at all."""
        if not self._waiting:
            return
        import pyarrow as pa  # slow to import, needed late
        import pyarrow.parquet as pq

        if self._rows:
            by_column = zip(*self._rows, strict=True)
            rows = zip(by_column, self._columns.values(), strict=True)
            self._blocks.append([np.array(values, dtype=kind) for values, kind in rows])
        arrays = []
        for index, (name, kind) in enumerate(self._columns.items()):
            parts = [block[index] for block in self._blocks]
            array = pa.array(np.concatenate(parts).astype(kind, copy=False))
            if name in self._labels:
                array = pa.DictionaryArray.from_arrays(array, pa.array(list(self._labels[name])))
            arrays.append(array)
        self._rows, self._blocks, self._waiting = [], [], 0
        part = self._folder / f"{self._parts:05d}.parquet"
        hidden = part.with_name(f".{part.name}")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.table(arrays, names=list(self._columns)), hidden, compression="zstd")
            hidden.rename(part)
        except OSError as error:
            hidden.unlink(missing_ok=True)
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise RecordError(
                f"cannot write results to {part}: {reason}. What was written before is kept and readable"
            ) from error
        self._parts += 1


class Recorder:
    """All tables of one side of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tables: list[Table] = []
        self._began: float | None = None
        self._flushed = 0.0

    def table(self, name: str, columns: dict[str, str], labels: dict[str, Sequence[str]] | None = None) -> Table:
        """Begin a table."""
        table = Table(self.folder / name, columns, labels)
        self._tables.append(table)
        return table

    def tick(self) -> None:
        """Write out what is due; called once a step."""
        now = time.monotonic()
        if self._began is None:  # time counts from the first step, not from a start that may compile
            self._began = self._flushed = now
        due = now - self._flushed > FIRST_FLUSH_S + FLUSH_GROWTH * (now - self._began)
        for table in self._tables:
            if due or table.is_full:
                table.flush()
        if due:
            self._flushed = time.monotonic()

    def flush(self) -> None:
        """Write out everything."""
        for table in self._tables:
            table.flush()


def read_table(folder: Path) -> dict[str, np.ndarray[Any, Any]] | None:
    """A whole table as arrays by column, labels as texts; None if there is not one finished part."""
    parts = sorted(folder.glob("[0-9]*.parquet"))
    if not parts:
        return None
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        whole = pa.concat_tables([pq.read_table(part) for part in parts])
    except (OSError, pa.ArrowException) as error:
        raise RecordError(f"cannot read {folder}: {error}") from error
    return {name: whole[name].to_numpy() for name in whole.column_names}
