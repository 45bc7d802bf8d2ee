"""The catalog of /mcp: the seed's names in the seed's order, flat schemas that cannot drift from the
operations."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from jsonschema import Draft202012Validator
from mcp_types.methods import serialize_server_result

from memory.api import operations
from oml.core.actor import Role
from oml.mcp.catalog import AGENTS, CATALOG, INSTRUCTIONS
from tests.support.mcp_lab import Caller
from tests.support.world import World

TOOLS = [
    "oml_remember",
    "oml_recall",
    "oml_learn",
    "oml_relate_propose",
    "oml_my_work",
    "oml_workarea_info",
    "oml_graph",
    "oml_events_tail",
]
# Fields of the shapes that no tool shows: uploads have no verb here yet; learn has one kind.
NOT_SHOWN = {
    "oml_remember": {"attachments"},
    "oml_learn": {"attachments", "kind"},
}
EACH = pytest.mark.parametrize("tool", CATALOG, ids=[tool.name for tool in CATALOG])


def test_catalog__as_listed__is_the_seed_s_names_in_the_seed_s_order():
    assert [tool.name for tool in CATALOG] == TOOLS


def test_catalog__of_verbs__has_none_that_changes_what_others_may_read():
    forbidden = re.compile(r"promote|sign|demote|delete|erase|admin|grant|issue|ratify|verdict|ban|review")
    assert [tool.name for tool in CATALOG if forbidden.search(tool.name)] == []


@EACH
def test_tool__its_schema__is_flat_open_and_valid(tool):
    schema = tool.input_schema
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert not {"oneOf", "anyOf", "allOf", "not", "$ref", "additionalProperties"} & set(schema)
    assert set(schema.get("required", [])) <= set(schema["properties"])
    assert all(inner.get("description") for inner in schema["properties"].values())


@EACH
def test_tool__its_schema__names_the_fields_of_its_operation_and_no_other(tool):
    shape = tool.operation.shape()
    known = {name: field for name, field in shape.fields.items() if name not in NOT_SHOWN.get(tool.name, ())}
    assert set(tool.input_schema["properties"]) == set(known)
    needed = {name for name, field in known.items() if field.required}
    # learn's lineage has its own refusal; the schema asks for it all the same.
    assert set(tool.input_schema.get("required", [])) - {"derives_from"} == needed


@EACH
def test_tool__its_limits__are_those_of_its_operation(tool):
    for name, schema in tool.input_schema["properties"].items():
        field = tool.operation.shape().fields[name]
        if "maxItems" in schema:
            assert schema["maxItems"] == field.max_length
        if "enum" in schema and hasattr(field, "words"):
            assert tuple(schema["enum"]) == field.words
        if name in ("text", "query"):
            assert schema["maxLength"] == field.max_length


@EACH
def test_tool__its_description__tells_a_model_what_to_do(tool):
    assert "On refusal:" in tool.description
    assert 200 < len(tool.description) < 2000
    if not tool.read_only:
        assert re.search(r"\b(held|pending)\b", tool.description)
        assert "ratifies" in tool.description


@EACH
def test_tool__its_description__names_only_codes_that_exist(tool):
    from oml.core.errors import OmlError

    prefixes = {code.partition(".")[0] for code in OmlError.registry}
    named = re.findall(r"\b([a-z]+\.[a-z_]+)\b", tool.description)
    codes = {word for word in named if word.partition(".")[0] in prefixes}
    assert codes
    assert codes <= set(OmlError.registry)


@EACH
def test_tool__its_annotations__say_what_the_call_changes(tool):
    submits = tool.name in ("oml_remember", "oml_learn")
    annotations = tool.as_dict()["annotations"]
    assert annotations["readOnlyHint"] is not (submits or tool.name == "oml_relate_propose")
    # The same edge again is the existing edge; a submission is only idempotent by its key.
    assert annotations["idempotentHint"] is not submits
    assert annotations["destructiveHint"] is False
    assert "outputSchema" not in tool.as_dict()


def test_instructions__for_a_model__name_only_tools_that_exist():
    assert set(re.findall(r"\boml_[a-z_]+", INSTRUCTIONS)) <= set(TOOLS)
    for tool in CATALOG:
        assert set(re.findall(r"\boml_[a-z_]+", tool.description)) <= set(TOOLS)


def test_catalog__its_operations__are_those_of_the_http_api():
    assert [tool.operation for tool in CATALOG] == [
        operations.remember,
        operations.recall,
        operations.learn,
        operations.propose_relation,
        operations.my_work,
        operations.workarea_info,
        operations.scoped_graph,
        operations.events_tail,
    ]
    assert AGENTS.path == "mcp"


@pytest.mark.django_db
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_tools_list__for_keys_of_every_role__is_the_same_list(world: World, client: Client, era: str):
    actors = [world.reader, world.writer, world.reviewer, world.admin, world.operator, world.bare_key(Role.WRITER)]
    answers = []
    for actor in actors:
        caller = Caller(client.generic, key=world.secret[actor])
        answers.append(getattr(caller, era)("tools/list").result)
    assert [tool["name"] for tool in answers[0]["tools"]] == TOOLS
    assert all(answer == answers[0] for answer in answers)
    serialize_server_result("tools/list", "2026-07-28" if era == "modern" else "2025-11-25", answers[0])
