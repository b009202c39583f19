import os

# Boosting a few thousand draws: threads that wait for each other on busy cores cost 100 times the
# work itself.
os.environ.setdefault("OMP_NUM_THREADS", "1")
