"""The errors a user can meet: each says what happened, where, and what to do next."""


class SparkTraceError(Exception):
    """A failure with a message for the user; `exit_status` is what the command line exits with."""

    exit_status = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class BadInput(SparkTraceError):
    """A file or reply from outside is not what it should be."""


class UsageError(SparkTraceError):
    """The command's words are off; an unknown family counts as one."""

    exit_status = 2


class MissingTool(SparkTraceError):
    """Something this machine lacks is needed: a compiler, a reader, a GPU, a key."""

    exit_status = 3


class CannotReadOrWrite(SparkTraceError):
    """The file system said no."""

    exit_status = 4
