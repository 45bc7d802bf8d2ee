"""Django finds an app's models here; each room keeps its own."""

from memory.claims.models import Artifact, Lineage, ScanReport
from memory.recall.models import ReadLog, ServingRow, TermStatistics

__all__ = ["Artifact", "Lineage", "ReadLog", "ScanReport", "ServingRow", "TermStatistics"]
