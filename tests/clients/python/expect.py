"""Expectations that name what differs; plain `assert` would only say that something does."""


class Unexpected(Exception):
    """The server did not keep its promise."""


def expect(condition, message):
    if not condition:
        raise Unexpected(message)


def expect_equal(what, actual, expected):
    expect(actual == expected, f"{what}\n  expected: {expected!r}\n  actual:   {actual!r}")


def expect_contains(what, text, *parts):
    for part in parts:
        expect(part in text, f"{what} lacks {part!r}\n  actual:   {text!r}")
