"""Bytes of a text or CSV report to text and back, byte for byte: UTF-8 or UTF-16, with or without a mark."""

import codecs
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


_ERRORS = {"utf-8": "surrogateescape", "utf-16-le": "surrogatepass", "utf-16-be": "surrogatepass"}


@dataclass(frozen=True)
class Decoded:
    """Text as it stood in the file (line ends kept), its encoding, and the byte-order mark it began with."""

    text: str
    encoding: str
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """`text` as bytes in this file's encoding, with its mark."""
        return self.mark + text.encode(self.encoding, errors=_ERRORS[self.encoding])


def decode(data: bytes) -> Decoded:
    """Text of any report file. Bytes that are no UTF-8 survive a round trip as lone surrogates; never
    raises.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, mark)
    if data[:400:2].count(0) * 4 > len(data[:400]):
        return _decoded(data, "utf-16-be", b"")
    if data[1:400:2].count(0) * 4 > len(data[:400]):
        return _decoded(data, "utf-16-le", b"")
    return _decoded(data, "utf-8", b"")


def _decoded(data: bytes, encoding: str, mark: bytes) -> Decoded:
    if encoding == "utf-8":
        return Decoded(data.decode("utf-8", errors="surrogateescape"), encoding, mark)
    try:
        return Decoded(data.decode(encoding, errors="surrogatepass"), encoding, mark)
    except UnicodeDecodeError:  # an odd byte at the end: a file cut off
        even = data[: len(data) // 2 * 2]
        return Decoded(even.decode(encoding, errors="replace"), encoding, mark)
