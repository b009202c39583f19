"""What Tumult Analytics answers to one query over many groups, as mechanisms to audit.

Each group holds the whole database, (n, 1). By parallel composition each group has noise of its own
for all of the budget, so the answer for a group is a draw. A query takes seconds even for one
group, so it is asked for many, and calls get answers that no call has had. Noise comes from the
operating system and cannot be seeded. Spark is started by the first query.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

NAN, NULL, INFINITY = -9.0, -8.0, 9.0  # these stand in the data for what they are named after
GROUPS = 10_000  # of a query, at least


class Queried:
    """A mechanism whose draws are the answers for the groups of queries, each given out once."""

    def __init__(self) -> None:
        self.left: dict[bytes, Any] = {}  # by database, answers that no call has had

    def __call__(self, data: Any, size: int, *, rng: Any) -> Any:
        key = np.asarray(data).tobytes()
        answers = self.left.get(key, np.zeros(0))
        if len(answers) < size:
            answers = np.append(answers, self.answers(data, max(size, GROUPS)))
        self.left[key] = answers[size:]
        return answers[:size, None]

    def answers(self, data: Any, groups: int) -> Any:
        """Of one query, (groups,)."""
        raise NotImplementedError


class Groups(Queried):
    """The answer to a query for each group; NaN where the group is left out.

    query, settings : a method of a grouped QueryBuilder, and its arguments after the column.
    epsilon, rho : the budget, of which one is there. unit : "row"; "two rows", all alike, under
    AddMaxRows(2); "id", three rows, all alike, of which an id may give two. suppress : least count.
    """

    def __init__(
        self,
        query: str,
        settings: Sequence[float] = (),
        epsilon: float | None = None,
        rho: float | None = None,
        unit: str = "row",
        suppress: float | None = None,
    ) -> None:
        super().__init__()
        self.query, self.settings, self.unit, self.suppress = query, settings, unit, suppress
        self.epsilon, self.rho = epsilon, rho

    def answers(self, data: Any, groups: int) -> Any:
        from tmlt.analytics import KeySet, PureDPBudget, RhoZCDPBudget, Session

        budget = RhoZCDPBudget(self.rho) if self.epsilon is None else PureDPBudget(self.epsilon)
        change = {"row": _protected(1), "two rows": _protected(2), "id": _protected(0)}[self.unit]
        rows = {"row": 1, "two rows": 2, "id": 3}[self.unit]
        session = Session.from_dataframe(budget, "table", _table(data, groups, rows), change)
        keys = KeySet.from_dataframe(
            _spark().createDataFrame([(i,) for i in range(groups)], "g int")
        )
        answer = session.evaluate(self._asked(keys), budget).toPandas().set_index("g")["out"]
        return answer.reindex(range(groups)).to_numpy(dtype=float)

    def _asked(self, keys: Any) -> Any:
        from tmlt.analytics import MaxRowsPerID, QueryBuilder

        table = QueryBuilder("table")
        if self.unit == "id":
            table = table.enforce(MaxRowsPerID(2))
        grouped = table.groupby(keys)
        if self.query.startswith("count"):
            columns = [["value"]] if self.query == "count_distinct" else []
            asked = getattr(grouped, self.query)(*columns, name="out")
        else:
            asked = getattr(grouped, self.query)("value", *self.settings, name="out")
        return asked if self.suppress is None else asked.suppress(self.suppress)


class Chosen(Queried):
    """Whether a group is in the answer to get_groups: partition selection, (ε, δ)."""

    def __init__(self, epsilon: float, delta: float) -> None:
        super().__init__()
        self.epsilon, self.delta = epsilon, delta

    def answers(self, data: Any, groups: int) -> Any:
        from tmlt.analytics import ApproxDPBudget, QueryBuilder, Session

        budget = ApproxDPBudget(self.epsilon, self.delta)
        session = Session.from_dataframe(budget, "table", _table(data, groups, 1), _protected(1))
        answer = session.evaluate(QueryBuilder("table").get_groups(["g"]), budget).toPandas()["g"]
        return np.isin(np.arange(groups), answer).astype(float)


def _protected(rows: int) -> Any:
    from tmlt.analytics import AddMaxRows, AddRowsWithID

    return AddMaxRows(rows) if rows else AddRowsWithID("id")


def _table(data: Any, groups: int, rows: int) -> Any:
    """Spark's table of so many groups that hold the database, each record as so many rows."""
    import pandas as pd
    from pyspark.sql import functions as of

    values = np.repeat(data[:, 0], rows)
    frame = pd.DataFrame(
        {
            "g": np.repeat(np.arange(groups, dtype=np.int32), len(values)),
            "id": np.repeat(np.arange(groups * len(data)), rows),
            "value": np.tile(values, groups),
        }
    )
    table = _spark().createDataFrame(frame, "g int, id bigint, value double")
    value = of.when(of.col("value") == NAN, float("nan")).when(of.col("value") == NULL, None)
    value = value.when(of.col("value") == INFINITY, float("inf")).otherwise(of.col("value"))
    table = table.withColumn("value", value)
    return table if rows == 3 else table.drop("id")


@cache
def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    return SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
