"""The bundle's container, read strictly: a zip of stored members of which every byte is known beforehand.

An ordinary zip reader looks away from much of a zip file: dates, attributes, comments, gaps. Here the file must be
byte for byte what its members make of it, so that a changed byte anywhere is found.
"""

from __future__ import annotations

import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from oml_verify.findings import Unusable
from oml_verify.strict import Malformed

_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_DATE = 0x21  # 1980-01-01, midnight


class Container:
    """An open bundle: its members by name, as views into the file.

    Attributes:
        problems: what is not as it must be, as far as the members could still be found; reading goes on, because
            the contents may say more exactly what was changed.
    """

    def __init__(self, path: Path) -> None:
        """Open and check the container.

        Raises:
            Unusable: no such file.
            Malformed: not a container at all.
        """
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror}") from None
        except ValueError:
            raise Malformed("the file is empty") from None
        self._members: dict[str, tuple[int, int]] = {}
        self.problems: list[str] = []
        self._read()
        if not self._members:
            raise Malformed("this is no evidence bundle")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def names(self) -> list[str]:
        return list(self._members)

    def read(self, name: str) -> bytes:
        """A member's bytes.

        Raises:
            Malformed: there is no such member.
        """
        start, end = self._place(name)
        return self._map[start:end]

    def blocks(self, name: str) -> Iterator[bytes]:
        """A member's bytes, a megabyte at a time."""
        start, end = self._place(name)
        for at in range(start, end, 1 << 20):
            yield self._map[at : min(at + (1 << 20), end)]

    def lines(self, name: str) -> Iterator[bytes]:
        """A member's lines without their newline; a last one without newline comes as it is."""
        start, end = self._place(name)
        while start < end:
            stop = self._map.find(b"\n", start, end)
            stop = end if stop < 0 else stop
            yield self._map[start:stop]
            start = stop + 1

    def ends_with_newline(self, name: str) -> bool:
        start, end = self._place(name)
        return start == end or self._map[end - 1] == 0x0A

    def size(self, name: str) -> int:
        start, end = self._place(name)
        return end - start

    def _place(self, name: str) -> tuple[int, int]:
        if name not in self._members:
            raise Malformed(f"the bundle has no {name}")
        return self._members[name]

    def _read(self) -> None:
        at, last_name, central = 0, "", b""
        while self._map[at : at + 4] == _LOCAL:
            fixed = self._map[at + 4 : at + 30]
            if len(fixed) != 26:
                break
            crc, _, size, name_length, _ = struct.unpack("<IIIHH", fixed[10:])
            start = at + 30 + name_length
            end = start + size
            raw_name = self._map[at + 30 : start]
            name = raw_name.decode("ascii", "replace")
            if end > len(self._map):
                self.problems.append(f"the member at byte {at} is cut short")
                return
            crc_found = zlib.crc32(self._map[start:end])
            if crc_found != crc:
                self.problems.append(f"{name} is not what its checksum says")
            body = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, _DATE, crc_found, size, size, name_length, 0)
            if (
                (crc_found == crc and fixed != body)
                or not name.isascii()
                or not name.isprintable()
                or name <= last_name
            ):
                self.problems.append(f"the header at byte {at} is not the one a bundle must have")
            central += _CENTRAL + struct.pack("<BB", 20, 3) + fixed + struct.pack("<HHHII", 0, 0, 0, 0o100644 << 16, at)
            central += raw_name
            self._members.setdefault(name, (start, end))
            at, last_name = end, name
        count = len(self._members)
        tail = central + _END + struct.pack("<HHHHIIH", 0, 0, count, count, len(central), at, 0)
        if self._map[at:] != tail:
            self.problems.append(f"the directory at byte {at} is not the one a bundle must have")
