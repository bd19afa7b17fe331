"""Every error and warning of the library, in one tree.

::

    LikewiseError
    ├── InputError (ValueError)              data or an argument is wrong
    │   └── DataFileError                    a data file cannot be read
    ├── InputTypeError (TypeError)           data or an argument has the wrong type
    ├── MemoryBudgetError (MemoryError)      refused before allocating
    ├── ModelFileError (ValueError)          a model file is missing, torn, foreign or unsafe
    └── MissingDependencyError (ImportError) an optional package is needed

    LikewiseWarning (UserWarning)
    └── CertificateWarning (ConvergenceWarning)   stopped before the gap that was asked for

Every message says which argument, where in it, what was allowed, what was given and what to do.
"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class LikewiseError(Exception):
    """Base class of all errors raised by the library."""


class InputError(LikewiseError, ValueError):
    """Data or an argument has a value that is not allowed."""


class InputTypeError(LikewiseError, TypeError):
    """Data or an argument has a type that is not allowed."""


class DataFileError(InputError):
    """A data file is missing, unreadable or not a table of numbers."""


class MemoryBudgetError(LikewiseError, MemoryError):
    """A request would not fit into the memory budget; nothing was allocated."""


class ModelFileError(LikewiseError, ValueError):
    """A model file cannot be read, or a model cannot be written to one."""


class MissingDependencyError(LikewiseError, ImportError):
    """A feature needs an optional package that is not installed."""


class LikewiseWarning(UserWarning):
    """Base class of all warnings issued by the library."""


class CertificateWarning(LikewiseWarning, ConvergenceWarning):
    """The solver stopped before it reached the gap that was asked for."""
