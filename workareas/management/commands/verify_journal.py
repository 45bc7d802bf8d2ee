"""``manage.py verify_journal``: is every tenant's history whole, in order and unchanged (D1)?

Exit code 1 and the number of the first broken entry otherwise. It reads only. Each intact line ends with the
tenant's head: written down elsewhere and given back with ``--kept`` it also shows that the whole history was not
rewritten or put back to an older state, which no check inside the database can. Signed checkpoints do the same: those
in the database and in ``OML_CHECKPOINT_DIR`` are always compared, copies kept elsewhere with ``--checkpoint``.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections import defaultdict
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from oml.journal import outside
from oml.journal.blocks import BLOCK
from oml.journal.chain_check import Break
from oml.journal.verify import Verified, entry_count, journalled_tenants, verify_tenant
from oml.journal.workers import processes
from workareas.selectors.tenants import tenant_ids

Kept = tuple[str, int, bytes]


def kept_head(text: str) -> Kept:
    """Parse ``tenant:seq:chain`` as the command printed it."""
    try:
        tenant_id, seq, chain = text.split(":")
        if int(seq) < 1 or len(bytes.fromhex(chain)) != 32:
            raise ValueError
        return tenant_id, int(seq), bytes.fromhex(chain)
    except ValueError:
        raise ArgumentTypeError("a kept head is tenant:number:64 hex digits, as verify_journal prints it") from None


class Command(BaseCommand):
    help = "Check every tenant's journal: gapless, unchanged, each entry continuing the one before. Reads only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", metavar="TEN", help="only this tenant (ten_…)")
        parser.add_argument(
            "--kept",
            action="append",
            default=[],
            type=kept_head,
            metavar="TEN:SEQ:CHAIN",
            help="a head that an earlier run printed; the chain must still go through it; may be repeated",
        )
        parser.add_argument(
            "--checkpoint",
            action="append",
            default=[],
            type=Path,
            metavar="FILE",
            help="signed checkpoints that were kept elsewhere: a note, or a copied file of them; may be repeated",
        )

        parser.add_argument(
            "--jobs",
            type=int,
            default=os.cpu_count() or 1,
            metavar="N",
            help="processes that check a long journal's blocks at once (default: as many as processors)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        kept: dict[str, dict[int, bytes]] = defaultdict(dict)
        for tenant_id, seq, chain in options["kept"]:
            kept[tenant_id][seq] = chain
        notes = _notes(options["checkpoint"])
        # A tenant whose journal was removed to the last row is still a tenant, and its first event is missing.
        tenants = sorted({*tenant_ids(), *journalled_tenants(), *kept, *notes})
        if options["tenant"]:
            if options["tenant"] not in tenants:
                raise CommandError(f"there is no tenant {options['tenant']}")
            tenants = [options["tenant"]]
        broken = 0
        with _progress() as progress, ExitStack() as stack:
            workers = None
            if options["jobs"] > 1 and any(entry_count(tenant_id) >= 2 * BLOCK for tenant_id in tenants):
                workers = stack.enter_context(processes(options["jobs"]))
            for tenant_id in tenants:
                verified = _verify(tenant_id, kept[tenant_id], notes.get(tenant_id, []), progress, workers)
                broken += verified.broken is not None
                self.stdout.write(_line(verified))
        if broken:
            raise CommandError(f"{broken} of {len(tenants)} journals broken")
        self.stdout.write(self.style.SUCCESS(f"{len(tenants)} of {len(tenants)} journals intact"))


def _progress() -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def _notes(files: list[Path]) -> dict[str, list[str]]:
    """Kept notes by the tenant that their origin names."""
    notes: dict[str, list[str]] = defaultdict(list)
    for path in files:
        try:
            found = outside.notes_in(path.read_bytes())
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        if not found:
            raise CommandError(f"{path} holds no checkpoint")
        for kept in found:
            notes[kept.origin.rpartition("/")[2]].append(kept.text)
    return notes


def _verify(
    tenant_id: str, kept: dict[int, bytes], notes: list[str], progress: Progress, workers: Executor | None
) -> Verified:
    count = entry_count(tenant_id)
    task = progress.add_task(tenant_id, total=count)
    try:
        return verify_tenant(
            tenant_id,
            kept=kept,
            notes=notes,
            advance=lambda more: progress.advance(task, more),
            workers=workers if count >= 2 * BLOCK else None,
        )
    finally:
        progress.remove_task(task)


def _line(verified: Verified) -> str:
    count = f"{verified.tenant_id}  {verified.entries:,} entries, {verified.entries / verified.seconds:,.0f}/s"
    if verified.broken:
        return f"{count}  BROKEN at {_where(verified.broken)}: {_why(verified.broken)}"
    head = f"{verified.tenant_id}:{verified.head.seq}:{verified.head.chain_hash.hex()}"
    return f"{count}  intact, head {head}, signed up to {verified.confirmed}"


def _where(broken: Break) -> str:
    if broken.until is None or broken.until == broken.seq:
        return str(broken.seq)
    return f"{broken.seq} to {broken.until}"


def _why(broken: Break) -> str:
    return f"{broken.fault} ({broken.column})" if broken.column else str(broken.fault)
