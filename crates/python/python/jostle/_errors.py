"""Exceptions. Each is also the built-in one that a caller would think of first."""


class Error(Exception):
    """Whatever can go wrong in Jostle itself."""


class BoxError(Error, ValueError):
    """A box is not a box, or a batch does not fit together."""


class IdError(Error, LookupError):
    """An id names no box or body, or one that was removed."""


class PairLimitError(Error, RuntimeError):
    """More pairs overlap than may be held; raise the limit or filter."""


class ShapeError(Error, ValueError):
    """A shape cannot be made."""


class PoseError(Error, ValueError):
    """A pose or a motion is refused."""


class SnapshotError(Error, ValueError):
    """What was pickled is damaged."""


class ClosedError(Error, ValueError):
    """The object was closed."""


class ArrayChangedError(Error, RuntimeError):
    """Another thread wrote to an array while a call read it."""
