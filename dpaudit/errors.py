"""The errors that dpaudit raises itself; the command line makes each one line and exit status 2."""


class DpauditError(Exception):
    """Base of all errors raised by dpaudit."""


class InvalidInput(DpauditError, ValueError):
    """An argument is wrong; the message names it, what it was and what was expected.

    Attributes
    ----------
    argument : str or None
        The name of the argument, or None where no single argument is at fault.
    detail : str
        The message without that name: "must be ..., got ...".
    """

    def __init__(self, message: str = "", *, argument: str | None = None) -> None:
        super().__init__(message)
        self.argument = argument
        self.detail = message if argument is None else message.removeprefix(f"{argument} ")


class ScenarioError(InvalidInput):
    """A scenario file is not valid; the message lists every fault with its place."""


class DataNotFound(DpauditError, FileNotFoundError):
    """A data set is neither embedded nor at the path given."""


class DegenerateData(InvalidInput):
    """The data leave the quantity undefined: dependent features, zero residuals, too few rows."""


class NoExactSpectrum(DpauditError, NotImplementedError):
    """No exact spectrum is known for mechanism and pair; the message says what to use instead."""


class MechanismError(DpauditError, RuntimeError):
    """A mechanism raised, or returned what cannot be audited; the message says in which draws.

    It is chained to what the mechanism raised, with the mechanism's own frames. Numbers that tell
    values of the data are left out of the text there and here, and the frames have no variables.

    Attributes
    ----------
    raised : object or None
        Names and places of the mechanism's own exception, None where there was none.
    """

    def __init__(self, message: str = "", *, raised: object = None) -> None:
        super().__init__(message)
        self.raised = raised


def message_of(error: BaseException) -> str | None:
    """What people read of an error of dpaudit or of the system; None for any other error."""
    if isinstance(error, DpauditError):
        return str(error)
    if isinstance(error, OSError):
        text = error.strerror or str(error)
        return f"{text}: {error.filename}" if error.filename else text
    return f"not enough memory: {error}" if isinstance(error, MemoryError) else None
