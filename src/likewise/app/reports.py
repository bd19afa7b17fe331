"""Reports as JSON: small typed results, turned into what JSON knows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np


def as_json(report: Any) -> str:
    """Write a report as one line of JSON; numbers that JSON does not know become null."""
    return json.dumps(plain(asdict(report)), allow_nan=False)


def plain(value: Any) -> Any:
    """Turn what an estimator holds into what JSON knows."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else repr(value)
