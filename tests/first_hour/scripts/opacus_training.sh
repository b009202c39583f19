# A training script with Opacus and four lines more: the verdict, the ε, a saved report, a test with
# pytest, and the same script with half of the noise that it claims. Without Opacus there is nothing
# to do.

python -c "import opacus" || exit 0

cat > train.py <<'PYTHON'
import sys

import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

import dpaudit as dp  # added


def train(noise_added=1.0):
    torch.manual_seed(0)
    X = torch.randn(1_000, 20)
    rows = TensorDataset(X, (X[:, 0] > 0).long())
    model, loss = torch.nn.Linear(20, 2), torch.nn.CrossEntropyLoss()
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=0.5),
        data_loader=DataLoader(rows, batch_size=100),
        noise_multiplier=1.0,
        max_grad_norm=1.0,
    )
    audit = dp.training.OpacusAudit(optimizer, loader, level=0.99, rng=0)  # added
    optimizer.noise_multiplier = noise_added  # the bug: what the accountant was told is 1
    for _ in range(5):
        for batch, labels in loader:
            optimizer.zero_grad()
            loss(model(batch), labels).backward()
            optimizer.step()
    return audit


if __name__ == "__main__":
    result = train(float(sys.argv[1])).result()  # added
    print(result.verdict, result.epsilon_at(1e-5), result.headline.claimed)
    result.save(sys.argv[2])
PYTHON

export PYTHONWARNINGS=ignore
python train.py 1.0 sound | tee sound.txt
grep -q "^not violated" sound.txt
python train.py 0.5 broken | tee broken.txt
grep -q "^violated" broken.txt
test -s sound/report.html && test -s broken/report.html
grep -q "does not stand" broken/result.json

cat > test_train.py <<'PYTHON'
import pytest
import dpaudit as dp
from train import train


@pytest.mark.parametrize("noise", [1.0, 0.5])
def test_training_is_private(noise):
    dp.testing.assert_private_training(train(noise))
PYTHON
status=0; pytest -p no:cacheprovider test_train.py > pytest.txt || status=$?
test $status -eq 1
grep -q "1 failed, 1 passed" pytest.txt
grep -q "VIOLATED" pytest.txt
