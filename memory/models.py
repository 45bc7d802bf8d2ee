"""Django finds an app's models here; each room keeps its own."""

from memory.claims.models import Artifact, Evidence, Lineage, ScanReport
from memory.graph.models import Edge
from memory.recall.models import ReadLog, ServingRow, TermStatistics
from memory.records.models import (
    ContentBlob,
    ContentPiece,
    Engine,
    Lane,
    Record,
    RecordChunk,
    RecordEntry,
    RecordGroup,
    RecordGroupMember,
    RecordLink,
    RecordProperty,
    RecordTag,
    SourceType,
)
from memory.runs.models import Agent, AgentMemory, Run, SharedWrite

__all__ = [
    "Agent",
    "AgentMemory",
    "Artifact",
    "ContentBlob",
    "ContentPiece",
    "Edge",
    "Engine",
    "Evidence",
    "Lane",
    "Lineage",
    "ReadLog",
    "Record",
    "RecordChunk",
    "RecordEntry",
    "RecordGroup",
    "RecordGroupMember",
    "RecordLink",
    "RecordProperty",
    "RecordTag",
    "Run",
    "ScanReport",
    "ServingRow",
    "SharedWrite",
    "SourceType",
    "TermStatistics",
]
