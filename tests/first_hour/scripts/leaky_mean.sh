# A mean whose noise is ten times too small, in Python: the verdict in ε, the figure, the table, the
# result loaded again, and the pair that was found made again from its record.

python - <<'PYTHON'
import numpy as np

import dpaudit as dp

rng = np.random.default_rng(2)
data = rng.random((50, 1))
data[17] = 0.999


def leaky_mean(data, size, *, rng):
    return data.mean() + rng.laplace(scale=0.1 / 50, size=(size, 1))


found = dp.search_neighbours(leaky_mean, data, claim=(1.0, 0.0), draws=1e4, rng=0)
assert found.audit.verdict == "violated"
assert (found.relation, found.index) == ("zero-out", 17)
head = found.audit.headline
assert (head.claimed, head.delta) == (1.0, 0.0) and head.certified > 2.0
reason = found.audit.reason
assert reason.startswith("No relations were named: this audit is about one row zeroed")
assert " Claimed ε = 1 at δ = 0. At 95 % confidence at least " in reason

found.audit.save("report")
again = dp.AuditResult.load("report")
assert again.verdict == "violated" and again.headline == head
assert again.to_dict() == found.audit.to_dict()
axes = again.plot()
assert "ε" in axes.get_xlabel()

pair = dp.neighbours.from_record(data, "report")
assert np.array_equal(pair.right, found.pair.right) and pair.index == 17
PYTHON
