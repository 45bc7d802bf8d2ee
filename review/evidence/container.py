"""The bundle's container: a zip that the same contents always make byte for byte the same.

Members are stored, not compressed (compressors differ between versions), in the order of their names, all dated
1980-01-01. So a verifier can say what every byte of the file must be, and a changed one has nowhere to hide.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping
from typing import IO

from oml.core.errors import SizeExceeded

_EPOCH = (1980, 1, 1, 0, 0, 0)
_LARGEST = 2**31 - 1  # beyond it zip needs other headers, and nobody's auditor wants one file of it


def write(target: IO[bytes], members: Mapping[str, IO[bytes]]) -> None:
    """Write the members, each an open file at any position, into ``target``.

    Raises:
        SizeExceeded: ``limit.size``; two gigabytes or more.
    """
    sizes = {name: file.seek(0, 2) for name, file in members.items()}
    if sum(sizes.values()) > _LARGEST:
        raise SizeExceeded("a bundle has less than two gigabytes; export a smaller range", param="to_seq")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as container:
        for name in sorted(members):
            about = zipfile.ZipInfo(name, date_time=_EPOCH)
            about.compress_type = zipfile.ZIP_STORED
            about.create_system = 3
            about.external_attr = 0o100644 << 16
            about.file_size = sizes[name]
            members[name].seek(0)
            with container.open(about, "w") as member:
                shutil.copyfileobj(members[name], member, 1 << 20)
