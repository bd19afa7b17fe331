"""The JSON text of a manifest: strict both ways, and bounded in what it can make of memory.

What JSON makes takes up to about 100 bytes of memory for every token counted here, and its text up
to six times its length while it is parsed. The limits keep both, and the values that are made of
them afterwards, well below 64 MiB.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from likewise.errors import ModelFileError
from likewise.persistence.archive import DamageError

MAX_BYTES: Final = 4 << 20
_MAX_TOKENS: Final = 400_000
_MAX_DEPTH: Final = 32
_MAX_DIGITS: Final = 20  # of a 64-bit integer, with its sign

# A text, closed or not, or a mark. Possessive repeats have nothing to go back to, so they take no
# memory for that, and a text that is never closed is scanned once.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_LEVELS: Final = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


def render(content: dict[str, Any]) -> bytes:
    """Write a manifest; refuse one that is too large to be read again."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")
    try:
        _check_limits(text)
    except DamageError as error:
        raise ModelFileError(
            f"the model has too many single values for a model file: {error}; fit on an array "
            "instead of a table with that many columns, or give lists of numbers as arrays"
        ) from error
    return text


def parse(text: bytes) -> Any:
    """Read a manifest.

    Raises
    ------
    DamageError
        If it is not strict JSON in ASCII, has a key twice, or is too large or too deep.

    Examples
    --------
    >>> from likewise.persistence.manifest import parse
    >>> parse(b'{"format": 1}')
    {'format': 1}
    """
    _check_limits(text)
    try:
        return json.loads(
            text.decode("ascii"),
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError) as error:
        raise DamageError("the manifest is not JSON") from error


def _check_limits(text: bytes) -> None:
    if len(text) > MAX_BYTES:
        raise DamageError(
            f"the manifest has {len(text)} bytes, and at most {MAX_BYTES} are allowed"
        )
    depth = 0
    for number, token in enumerate(_TOKEN.finditer(text)):
        depth += _LEVELS.get(token[0], 0)
        if number >= _MAX_TOKENS or depth > _MAX_DEPTH:
            raise DamageError(
                f"the manifest has more than {_MAX_TOKENS} tokens or {_MAX_DEPTH} levels"
            )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise DamageError("the manifest has a key twice")
    return content


def _integer(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise DamageError("the manifest has an integer of more than 64 bits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise DamageError("the manifest has a number that is too large")
    return value


def _refuse_constant(text: str) -> float:
    raise DamageError(f"the manifest has {text}, which is not JSON")
