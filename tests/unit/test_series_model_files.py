"""Model files of learners of changes: what comes back, and what is refused with its remedy."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import PCA

import likewise as lw
from likewise.datasets import make_segmented_series
from likewise.errors import ModelFileError
from likewise.persistence import format as model_format
from likewise.transformers import HermiteFeatures, WindowFeatures

MADE = make_segmented_series(4, 80, 3, 2, jump=4.0, random_state=0)


def dumped(model) -> bytes:
    stream = io.BytesIO()
    model_format.write_model(model, stream)
    return stream.getvalue()


def loaded(data: bytes):
    return model_format.read_model(io.BytesIO(data))


def learnt(**params) -> lw.ChangePointLearner:
    return lw.ChangePointLearner(**{"strength": 0.1, **params}).fit(MADE.series, MADE.labels)


PARAMS = [
    {},
    {"strength": "auto", "max_iter": 5},
    {"metric": "full", "regulariser": "trace"},
    {"features": "windows", "loss": "rand"},
    {"features": HermiteFeatures(degree=2, widths=[1.0], scale="spread")},
    {"features": WindowFeatures(9), "criterion": "f1"},
    {"penalty": "features", "step": 0.5},
    {"n_segments": "known", "completion_start": "pca"},
]


@pytest.mark.filterwarnings("ignore::likewise.errors.CertificateWarning")
@pytest.mark.parametrize("params", PARAMS, ids=repr)
def test_what_was_learnt_comes_back(params: dict):
    model = learnt(**params)
    data = dumped(model)
    again = loaded(data)
    assert repr(again) == repr(model)
    assert vars(again).keys() == vars(model).keys()
    assert dumped(again) == data
    counts = 3 if model.n_segments == "known" else None
    rows = [*MADE.series, MADE.series[0][:40]]
    for share in (False, True):
        found = model.cluster(rows, n_segments=counts, share_labels=share)
        for one, other in zip(
            found, again.cluster(rows, n_segments=counts, share_labels=share), strict=True
        ):
            np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(model.features_of(rows[0]), again.features_of(rows[0]))
    assert again.summary() == model.summary()


def test_names_of_columns_and_regions_come_back():
    frames = [pl.DataFrame(part, schema=["a", "b", "c"], orient="row") for part in MADE.series]
    regions = [
        lw.RegionLabels([(int(cut), int(cut) + 2, ">=1") for cut in np.flatnonzero(np.diff(own))])
        for own in MADE.labels
    ]
    model = lw.ChangePointLearner(strength=0.1).fit(frames, regions)
    again = loaded(dumped(model))
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    assert again.feature_names_ == ["a", "b", "c"]
    for one, other in zip(model.cluster(frames), again.cluster(frames), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_learner_that_has_learnt_nothing_comes_back():
    model = lw.ChangePointLearner("full", features=HermiteFeatures(), checkpoint="state")
    again = loaded(dumped(model))
    assert repr(again) == repr(model)
    assert not hasattr(again, "metric_")


REFUSED = [
    ({"callbacks": print}, "callbacks is .* set callbacks=None before saving"),
    ({"features": PCA()}, "features is of type PCA.* features='windows', 'hermite'"),
    ({"step": lambda t: 1.0 / t}, "step is .* set step=None before saving"),
    ({"random_state": np.random.RandomState(0)}, "random_state is .* give an integer seed"),
    ({"strength": [0.1]}, "strength is of type list"),
]


@pytest.mark.parametrize(("params", "message"), REFUSED, ids=[m[:16] for _, m in REFUSED])
def test_what_a_file_cannot_keep_is_refused(params: dict, message: str):
    with pytest.raises(ModelFileError, match=message):
        dumped(lw.ChangePointLearner(**params))


def test_a_transformer_of_another_kind_is_refused_with_what_it_made():
    model = learnt()
    model.transformer_ = PCA()
    with pytest.raises(ModelFileError, match=r"transformer_ is of type PCA.*features=None"):
        dumped(model)


def test_attributes_that_do_not_fit_together_are_refused():
    model = learnt()
    model.weights_ = model.weights_[:2]
    with pytest.raises(ModelFileError, match="does not fit in size"):
        dumped(model)
