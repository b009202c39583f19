"""The numbers of this room, each with what a wrong one costs.

No constant affects validity: a score never sees a draw that certifies, so a bad constant costs
certified δ or time. Those of the models were set on the fourteen tasks T1 to T14, so that

    python -m reports.make oracle               # many draws: share of what the true loss certifies
    python -m reports.make few                  # few draws
    python -m reports.make time rates           # CPU time of audits, and of each draw

measure them again; a group set by another command names it. "Too few" draws make a model noisy, so
that it loses the contest; "too many" take time and change the certified bound little.
"""

import numpy as np

# --- draws are scored a chunk at a time; larger chunks take memory, smaller ones time ---
CHUNK_ROWS = 1 << 16
CHUNK_NUMBERS = 1 << 19  # numbers in a chunk, at most: the copies that a score makes fit a cache
LOOKED_UP = 1 << 20  # neighbours to look up at a time

# --- how a score is used ---
ENOUGH_TO_CHOOSE = 20_000  # choosing draws a side; from so many, training draws set no thresholds
ROWS_ALONE = 8  # rows that are scored alone, half of each side, to see whether a batch matters
ROWS_BESIDE = 256  # rows a side that stand beside them in a batch, at most
# A tolerance relative to 1 + |score|: a score in single precision varies by 1e-5 with the batch. A
# smaller tolerance refuses such scores, a larger one lets scores pass that depend on other draws.
SAME_SCORE = 1e-4
LEAST_CLASS_PROBABILITY = 1e-6  # a classifier's probabilities are clipped here

# --- which rows are encoded, and how (`encode`): python -m reports.make museum zoo ---
LARGEST = 1e100  # a larger number counts as infinite: its square must not overflow
MEDIAN_NUMBERS, MEDIAN_DRAWS = 2_000_000, 20_000  # at most, a side, for the median in place of NaN
BIT_DRAWS = 20_000  # draws a side that decide which bits vary
MOST_COLUMNS = 1000  # columns used, at most: closed forms take time in proportion to their cube
RANKED_DRAWS = 1000  # draws a side whose ranks decide which columns differ and which views exist
REMAINDER_NUMBERS, REMAINDER_DRAWS = 1 << 15, 200  # numbers a side; least draws a side
LATTICE_DRAWS = 16  # draws a side to detect a lattice; with fewer draws no remainder is tried
REMAINDER_SPREAD = 8.0  # interquartile range in units of the modulus, where smooth laws look alike
BY_CHANCE = 1e-6  # probability that remainders are added although the sides do not differ
REPEATED = 8  # draws a value on average, from which a column is left to cells
MODULUS_PARTS = 4096  # parts of the modulus to which remainders are rounded, so that ties stay ties
ROUNDING = 2.0**-30  # share of the largest number below which a gap counts as 0
FINEST_LATTICE = 2.0**-24  # share of the largest number: rounding alone makes finer lattices

# --- views of bags, series and rankings (`views`) ---
LOOK_DRAWS, LOOK_NUMBERS = 4000, 500_000  # a side, at most, that the look reads
# numbers that set the ranks of all, and numbers a side that the look at bags takes where columns
# are few: with fewer draws, columns of other laws pass for parts, whose views are fitted in vain
RANKED_NUMBERS = 40_000
LEAST_LOOK = 40  # draws a side; with fewer there is no look
VIEW_DRAWS = 100_000  # draws a side, at most, that train and choose a view
FAR_BEHIND = 0.5  # share of a view's gain below which plain rows get no trees
VIEW_BETTER = 0.5  # standard errors of the gain; fewer let a view win by chance
SAME_LAW = 6.0  # standard errors by which places of a bag may differ; fewer miss bags of many parts
LEAST_PARTS, PART_WIDTH = 3, 12  # parts of a bag, at least; numbers of a part, at most
SORTED_NUMBERS = 64  # numbers of a bag, at most, that are sorted
RANKED_ITEMS = 30  # items of a ranking, at most; they have 435 pairs
SERIES = 0.6  # correlation of neighbours from which differences are tried
PARTS_SHARE, PARTS_TRAIN = 0.5, 0.8  # share of the training draws whose parts teach; of it, train
PARTS = 100_000  # parts a side, at most, that teach their score
PARTS_REACH = (1e-4, 1.0 - 1e-4)  # quantiles of parts beyond which no score is extrapolated
ALIKE_PIXELS, LEAST_IMAGE = 0.2, 8  # correlation of neighbours, and pixels a side, of an image
# Pixels a side of a pattern and of the margin around the image, steps of the fit, and draws a side,
# at most. A larger first pattern may start in the wrong place, a smaller last one sees less of
# a large pattern; few steps with more draws make it less noisy in little time.
PATCHES = ((4, 0, 30, 5000), (6, 1, 12, 5000), (6, 1, 4, 30_000))
FIRST_SHIFT = 2.5  # standard deviations of the first shift
NO_PATCH = 0.05  # weight of a row without the pattern, against all places together
MOST_COMPONENTS = 50  # columns, at most, among which independent components are looked for
UNMIXING_STEPS, UNMIXED = 30, 1e-3  # steps, at most; relative size of the last one
LEAST_CURVATURE = 0.1  # of a block of the Hessian; less makes steps of mixed columns too long
SEPARATED = 0.5  # share of the dependence of squares that components may have, for them to be used

# --- whitening ---
WHITENING_NUMBERS, WHITENING_DRAWS = 2_000_000, 20_000  # at most, a side, to set the coordinates
CLIP = 6.0  # robust units at which columns are clipped, so that heavy tails do not set the scale
CONSTANT = 1e-10  # share of the largest variance below which a direction counts as constant
SIDES_APART = 1e-7  # robust units; a larger gap in what is constant is more than rounding

# --- which columns differ (`models.screen`) ---
SCREEN_BINS = 16  # bins of equal probability, for a column without repeated values
SCREEN_SAMPLE = 2_000  # draws a side that set the bins' limits
MISCALIBRATED = 0.001  # probability of such a difference by chance, below which trees are fitted

# --- closed forms ---
WIDE = 100  # columns; wider rows are scored and corrected in cheaper ways
WELL_CONDITIONED = 1e-6  # least eigenvalue over the largest; 6 of 16 digits may be lost
MOST_DIRECTIONS = 5  # directions in which the structure `directions` lets the sides differ
ENOUGH_A_COLUMN = 100  # training draws a column beyond which choosing draws do not train, too
FARTHEST_DISTANCE = 1e9  # squared Mahalanobis distance at which distances are clipped

# --- logistic regression ---
GAIN_PER_DRAW = 1e-9  # nats; a Newton step that lowers the mean loss by no more is the last
SETTLED_FIT = 1e-8  # nats; the same for the total loss of few draws
INTERCEPT_RIDGE = 1e-6  # per draw: keeps the intercept finite if a regression separates the sides
JITTER = 1e-12  # share of the Hessian's trace added to it: repeated features make it singular
CORRECTION_PENALTIES = (1e4, 3e2, 1e1)  # on standardised features, the heaviest first
CORRECTION_DRAWS = 30_000  # draws a side, at most, that fit a correction
CORRECTION_NUMBERS = 2_000_000  # numbers a side, at most, that fit the distances' correction
CORRECTION_WORK = 2e8  # draws a side × features² of a Newton step, at most
DRAWS_A_FEATURE = 10  # with fewer, squares and products are not fitted
FARTHEST_FEATURE = 50.0  # standard deviations: no outlier decides a slope

# --- the contest of scores (`portfolio`) ---
CLEARLY_BETTER = 2.0  # standard errors of the gain; fewer let scores win that overfit
WEAK_SIGNAL = 0.02  # nats a draw: with less gain, models for weak signals take part
WORTH_A_NETWORK = 0.005  # nats a draw that trees must gain for costlier models
WORSE_THAN_NOTHING = 0.02  # nats a draw beyond ln 2, by which rare large values spoil moments
SKETCH_DRAWS = 10_000  # draws a side that show whether sums over columns are of use
CELL_DRAWS = 500_000  # draws a side, at most, that fill cells
NEAREST_COLUMNS = 4  # among more columns the nearest neighbours are far away

# --- splines ---
SPLINE_COLUMNS = 2
SPLINE_BINS = {1: 512, 2: 64}  # bins in each dimension, by the number of dimensions
SPLINE_SEGMENTS = {1: 48, 2: 14}  # spline segments in each dimension, likewise
NORMAL_SCORES = 1024  # points of the map to normal scores
TAIL_DRAWS = 5  # pooled draws beyond the last point of that map
SPLINE_PENALTIES = 10.0 ** np.arange(-2.0, 5.0)
SPLINE_RIDGE = 1e-6  # added to the penalty, which is 0 for linear functions
BIN_GAIN = 5.0  # nats of evidence that the bins' own odds must gain to be used
PENALTY_GAIN = 2.0  # nats that a weaker penalty must gain on all choosing draws to be taken

# --- sums over columns ---
ADDITIVE_DRAWS = 100_000  # draws a side, at most
SUMMANDS = 16  # up to so many columns all take part; of more, only those that differ by themselves
MOST_SUMMANDS = 32  # columns that differ by themselves and take part, at most
ADDITIVE_PENALTY = 1e-2  # on features of unit spread
COLUMN_GAIN = 1.0  # nats that a column must gain on the choosing draws; less may be noise

# --- cells of values that repeat ---
# draws a side, and numbers of them, at most; a column of which no two agree has no atoms
ATOM_LOOK, ATOM_NUMBERS = 20_000, 2_000_000
ATOM_DRAWS = 5  # pooled draws that share an atom: reals rounded to 32 bits coincide less often
DRAWS_A_CELL = 20  # pooled draws a cell on average, at least
KEY_DRAWS = 50_000  # draws a side, at most, that choose the columns of the key
FEWEST_CELLS = 16  # cells that are allowed whatever the number of draws

# --- nearest neighbours ---
VOTERS, CENTRES = 50_000, 2048  # draws a side, at most
NEIGHBOURS = (32, 128, 512)  # candidates for k; at most a quarter of all voters, but for the first
CENTRES_AROUND = (1, 8)  # candidates for the number of centres whose log-odds are averaged
CENTRES_OF_A_ROW = 4  # centres that a row averages; more take time in proportion
NEAREST_CHECKS = 5000  # choosing draws a side, at most, that choose among these candidates

# --- products of signs ---
PRODUCT_COLUMNS = 24  # columns, at most; they have 276 pairs and 2,024 triples
PRODUCT_DRAWS = 20_000  # draws a side that show which products are of use
PRODUCT_LEVEL = 0.001  # probability that a product of no use is taken, over all products
FEW_ABOVE = 0.25  # share of a column's values above its median, below which a bit is rare
MOST_PRODUCTS = 30  # products used, at most: the most significant ones

# --- trees ---
STOPPING_DRAWS = 50_000  # choosing draws a side, at most, that stop training trees and networks
TREE_PROBE = 20_000  # draws a side; a score that these cannot clearly improve gets no more trees
TREE_DRAWS = 100_000  # draws a side; more change the certified bound by less than its gap to δ
RAW_COLUMNS = 16  # up to so many columns trees also see unwhitened, with flags and counts apart
# columns, at most, that all enter: a first split finds a column's own difference
TREE_COLUMNS = 256
FEWER_TREE_COLUMNS = 64  # columns of wider rows that enter, those that differ most
# a leaf has the draws over the one number, at least, or as many as the other
LEAVES_AT_MOST, LEAF_DRAWS = 100, 200
TREE_RATE, TREE_LEAVES = 0.1, 15  # learning rate; leaves of a tree
TREE_ROUNDS, TREE_PATIENCE = 200, 10  # trees at most; trees without a gain, after which none follow
LIGHTGBM: dict[str, str | float | bool] = {
    "objective": "binary",
    # with row-wise histograms the trees do not depend on the number of threads
    "deterministic": True,
    "force_row_wise": True,
    # more threads cost small tables far more than they save large ones
    "num_threads": 1,
    "verbosity": -1,
}

# --- pairs of columns ---
PAIR_COLUMNS = 40  # columns, at most; they have 780 pairs
PAIR_DRAWS, PAIR_BINS = 20_000, 8  # draws a side that show which pairs matter; bins of a column
PAIR_LEVEL = 0.001  # probability that a pair of no use is taken, over all pairs
MOST_PAIRS = 6  # pairs that take part, at most: the most significant ones
# degree of polynomials of the columns' ranks: lower ones miss waves, higher ones need more draws
PAIR_DEGREE, PAIR_POINTS = 6, 1025  # quantiles that set the rank
SPLINE_OF_PAIR = 5_000  # draws a side; fewer leave most bins of a pair's spline empty
CUT_BINS, CUT_DRAWS = 256, 8  # bins of a column, at most, between which cuts lie; draws of a bin
CUT_LEVEL = 0.01  # probability that a cut, or two amounts for one, is kept though of no use
CUT_PAIRS, CUTS = 2, 12  # the most significant pairs that are cut, at most; cuts of one, at most

# --- networks ---
NETWORK_DRAWS = 40_000  # draws a side, at most, with which a network takes some ten CPU seconds
HIDDEN_UNITS = (64, 64)
BATCH, NETWORK_RATE, NETWORK_PENALTY = 500, 3e-3, 0.02
PASSES, PASSES_WITHOUT_GAIN = 60, 12  # a network may gain nothing in the first ten
FARTHEST_INPUT = 8.0  # standard deviations at which inputs are clipped: no outlier decides a weight
MOST_ACTIVE = 3  # directions of a plane, at most; in more, neighbours are far away
ACTIVE_SHARE = 0.02  # share of the largest eigenvalue from which one of the gradients counts

# --- few draws: python -m reports.make few ---
FOLDS = 5
SPARSE_PREFERENCE = 5.0  # nats; prior log-odds of few columns against each other kind
LEAST_WEIGHT = 0.01  # a kind of smaller weight is left out
MOST_FEW_ODDS = 10.0  # nats at which held-out log-odds are clipped, so that no single draw decides
UNFITTED_LOSS = 1e3  # nats, the loss of a draw that a kind cannot score: the kind gets no weight
FEW_COLUMNS = 100  # up to so many columns closed forms take part: they need the draws' covariance
SLAB = 0.7  # standard deviations; prior spread of the difference of a column that differs
EXPECTED_COLUMNS = 0.5  # prior number of columns that differ
PRIOR_SCALES = np.array([0.1, 0.3, 1.0])  # prior spread of the first component's weight, nats
SCALE_PRIOR = np.array([0.03, 0.07, 0.9])  # prior probability of each scale
RANK_DEGREES = ((1, 12), (4, 6), (16, 3), (100, 2))  # up to so many columns, polynomials of each
RADIAL_DEGREE = 4  # polynomials of the rank of the distance
RANK_COLUMNS = 100  # columns, at most, that enter: those whose ranks differ most
LEAST_PROBABILITY = 1e-12  # the least probability of a side, so that log-odds are finite
