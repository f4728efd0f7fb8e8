"""What a chain raises."""


class Difference(AssertionError):
    """The two sides disagree."""
