# Draws that stand on both sides show nothing: the same file twice, a copy, a shuffled copy.

python - <<'PYTHON'
import numpy as np

rng = np.random.default_rng(0)
draws = rng.normal(size=(5000, 2))
np.save("P.npy", draws)
np.save("shuffled.npy", rng.permutation(draws))
np.save("mostly.npy", np.concatenate([rng.permutation(draws)[:4000], rng.normal(size=(1000, 2))]))
np.save("other.npy", rng.normal(size=(5000, 2)))
PYTHON
cp P.npy copy.npy

for other in P copy shuffled mostly; do
    status=0; dpaudit samples P.npy $other.npy --claim 1,1e-2 2> error.txt || status=$?
    test $status -eq 2
    grep -q "dpaudit: error:" error.txt
done
dpaudit samples P.npy other.npy --claim 1,0.3 | grep -q "would have been shown with"
