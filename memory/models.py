"""Django finds an app's models here; each room keeps its own."""

from memory.claims.models import Artifact, Lineage, ScanReport
from memory.graph.models import Edge
from memory.recall.models import ReadLog, ServingRow, TermStatistics

__all__ = ["Artifact", "Edge", "Lineage", "ReadLog", "ScanReport", "ServingRow", "TermStatistics"]
