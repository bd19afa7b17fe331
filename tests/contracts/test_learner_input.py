"""What a learner does with sets that say little, and with input that is not one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

import likewise as lw
from likewise.errors import InputError, LikewiseError, LikewiseWarning

RNG = np.random.default_rng(0)
PAIR = np.repeat([0, 1], 10)
SETS = [RNG.normal(size=(20, 3)) + 6.0 * PAIR[:, None] for _ in range(3)]
LABELS = [PAIR] * 3
# Distances, some of which are negative.
STACKS = [np.abs(X[:, None, 0] - X[None, :, 0]) - 0.5 for X in SETS]


def learner(**options) -> lw.ExemplarLearner:
    return lw.ExemplarLearner(**{"strength": 0.1, **options})


def fit(X, y, groups=None, **options) -> Callable[[], object]:
    return lambda: learner(**options).fit(X, y, groups)


class TestSetsThatSayLittle:
    """Both ends of partitions are learnt as they are; silent sets are left out."""

    @pytest.mark.parametrize("strength", ["auto", 0.1])
    def test_one_cluster_only(self, strength):
        labels = [np.zeros(20, dtype=int)] * 3
        with pytest.warns(LikewiseWarning, match="nothing says how much features count"):
            found = learner(strength=strength).fit(SETS, labels)
        assert [own.max() for own in found.cluster(SETS)] == [0, 0, 0]
        assert found.score(SETS, labels) == 1.0
        assert np.isfinite(found.weights_).all()

    @pytest.mark.parametrize("strength", ["auto", 0.1])
    def test_all_alone(self, strength):
        labels = [np.arange(20)] * 3
        with pytest.warns(LikewiseWarning, match="nothing says how much features count"):
            found = learner(strength=strength).fit(SETS, labels)
        # Rows that are next to each other by chance may still go together.
        assert min(own.max() + 1 for own in found.cluster(SETS)) >= 18

    def test_a_set_with_one_row(self):
        with pytest.warns(LikewiseWarning, match=r"sets \[3\] were left out"):
            found = learner().fit([*SETS, SETS[0][:1]], [*LABELS, np.array([0])])
        np.testing.assert_array_equal(found.weights_, learner().fit(SETS, LABELS).weights_)
        np.testing.assert_array_equal(found.cluster([SETS[0][:1]])[0], [0])

    def test_a_set_of_which_nothing_is_shown(self):
        with pytest.warns(LikewiseWarning, match=r"sets \[1\] were left out"):
            found = learner().fit(SETS, [PAIR, np.full(20, -1), PAIR])
        other = learner().fit([SETS[0], SETS[2]], [PAIR, PAIR])
        np.testing.assert_array_equal(found.weights_, other.weights_)

    def test_constant_features_are_named_and_dropped(self):
        wider = [np.c_[X, np.full(20, 7.0), X[:, 0]] for X in SETS]
        with pytest.warns(LikewiseWarning, match=r"features \['x3'\] \(1 in total\) are constant"):
            found = learner().fit(wider, LABELS)
        assert found.weights_[3] == 0.0
        assert np.all(found.weights_[[0, 4]] > 0.0)
        assert found.feature_names_ == ["x0", "x1", "x2", "x3", "x4"]

    def test_two_rows(self):
        with pytest.warns(LikewiseWarning, match="nothing says how much features count"):
            found = learner(strength="auto").fit(SETS[0][[0, -1]], [0, 1])
        assert np.isfinite(found.weights_).all()

    def test_too_few_rows_to_hold_any_out(self):
        found = learner(strength="auto").fit(SETS[0][[0, 1, -1]], [0, 0, 1])
        assert found.held_out_ == "nothing"
        assert found.chosen_ == "contrast"
        assert "too little is shown" in found.summary()

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    @pytest.mark.parametrize("cost", ["learn", 3.0])
    def test_margins_and_costs_are_in_a_unit_of_the_user(self, scale: float, cost):
        """All of them in another unit: the same partitions, and no collapse."""
        fixed = cost if cost == "learn" else cost * scale
        options = {"regulariser": "l1", "strength": 0.01, "paths": None}
        one = learner(opening_cost=cost, **options).fit(SETS, LABELS)
        other = learner(opening_cost=fixed, alpha=scale, beta=scale, **options).fit(SETS, LABELS)
        assert other.status_ == one.status_ == "converged"
        # Both are within the gap of a minimum, which need not be that of the same exemplars.
        assert other.objective_ == pytest.approx(scale * one.objective_, rel=0.2)
        for X in SETS:
            assert lw.metrics.rand_loss(one.cluster([X])[0], other.cluster([X])[0]) == 0.0


class TestLabels:
    """Whatever they are, they are compared only; -1 is "not shown" in every form."""

    @pytest.mark.parametrize(
        "labels",
        [
            np.where(np.arange(20) % 5, PAIR, -1).astype(object),
            [("ab"[own] if k % 5 else -1) for k, own in enumerate(PAIR)],
            np.array([(own if k % 5 else -1.0) for k, own in enumerate(PAIR)], dtype=object),
        ],
        ids=["objects", "text and numbers", "mixed numbers"],
    )
    def test_not_shown(self, labels):
        hidden = np.where(np.arange(20) % 5, PAIR, -1)
        expected = learner().fit(SETS[0], hidden)
        found = learner().fit(SETS[0], labels)
        np.testing.assert_array_equal(found.weights_, expected.weights_)
        assert found.n_rows_seen_ == [16, 16]


class TestNegativeDistances:
    """They have no paths: not tried, and refused where asked for."""

    def test_paths_are_not_tried(self):
        found = lw.ExemplarLearner(features="precomputed").fit(STACKS, LABELS)
        assert found.paths_ is None
        assert found.score(STACKS, LABELS) > 0.9

    def test_paths_that_were_asked_for_are_refused(self):
        with pytest.raises(InputError, match=r"paths=1\.5 needs distances >= 0"):
            learner(features="precomputed", paths=1.5).fit(STACKS, LABELS)

    def test_so_are_new_sets(self):
        shown = [np.maximum(stack, 0.0) for stack in STACKS]
        found = learner(features="precomputed", paths=2.0).fit(shown, LABELS)
        with pytest.raises(InputError, match=r"paths=2 needs distances >= 0"):
            found.cluster(STACKS)
        with pytest.raises(InputError, match="path distances were learnt, which need all pairs"):
            found.cluster([sparse.csr_array(shown[0])])

    def test_the_diagonal_is_ignored(self):
        stack = np.abs(STACKS[0])
        found = learner(features="precomputed", paths=None).fit([stack], [PAIR])
        np.fill_diagonal(stack, np.nan)
        np.testing.assert_array_equal(np.diag(found.distances(stack)), np.zeros(20))


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no labels": (fit(SETS, None), "requires y to be passed"),
    "labels of the wrong length": (
        fit(SETS, [PAIR, PAIR[:-1], PAIR]), "set 1 has 20 rows and 19 labels"
    ),
    "too few arrays of labels": (fit(SETS, LABELS[:2]), "X has 3 sets, y has 2"),
    "no row is shown": (
        fit(SETS, [np.full(20, -1)] * 3), r"fewer than two rows of every set \(3 sets\)"
    ),
    "NaN in a label": (
        fit(SETS[0], np.where(np.arange(20) == 4, np.nan, PAIR)), "contains NaN at row 4; use -1"
    ),
    "NaN in a row": (
        fit([SETS[0], np.where(SETS[1] == SETS[1][6, 1], np.nan, SETS[1])], LABELS[:2]),
        "NaN at row 6, column 1",
    ),
    "all features constant": (fit([np.ones((20, 2))] * 2, LABELS[:2]), "all are constant"),
    "features beyond the largest number": (
        fit([X * [1.0, 1e200, 1.0] for X in SETS], LABELS),
        r"features \['x1'\] \(1 in total\) are too large.* power of ten",
    ),
    "other columns in another set": (fit([SETS[0], SETS[1][:, :2]], LABELS[:2]), "2 features"),
    "sparse features of pairs": (
        fit([sparse.csr_array(np.ones((20, 20)))], [PAIR], features="precomputed"),
        "Pass a dense array",
    ),
    "another regulariser": (fit(SETS, LABELS, regulariser="l3"), "must be one of 'auto', 'l1'"),
    "a constraint that cannot project": (fit(SETS, LABELS, constraint=3), r"project\(weights\)"),
    "another optimiser": (fit(SETS, LABELS, optimiser="adam"), "optimiser must be one of"),
    "a negative tolerance": (fit(SETS, LABELS, tol=-1.0), r"tol must be a finite number >= 0"),
    "no passes": (fit(SETS, LABELS, max_iter=0), "max_iter must be an integer >= 1"),
    "another opening cost": (fit(SETS, LABELS, opening_cost="high"), "must be 'learn' or a number"),
    "local scales of columns": (fit(SETS, LABELS, local_scale=3), "needs comparisons of rows"),
    "opening features of too few sets": (
        fit(SETS, LABELS, opening_features=[np.ones((20, 1))] * 2), "got 2 for 3 sets"
    ),
    "rows of a new set beyond the largest number": (
        lambda: learner().fit(SETS, LABELS).cluster([SETS[0] * 1e200]), "too large. Scale"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_message_of_its_own(case: str):
    call, message = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        call()
    ours = case != "other columns in another set"
    assert isinstance(caught.value, LikewiseError) == ours


def test_contradictory_links_are_named_with_their_chain():
    with pytest.raises(
        InputError, match=r"items 0 and 2 apart, but must_link joins them: 0 - 1 - 2"
    ):
        lw.ExemplarClusterer().fit(SETS[0], must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
