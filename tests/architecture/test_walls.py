"""Walls that import-linter cannot see: one door each, said over the syntax of the whole product (architecture)."""

from __future__ import annotations

import ast

from tests.support.source import Module, modules

USE_CASES = [
    one for one in modules() if "/actions/" in one.name or "/selectors/" in one.name or "/selectors.py" in one.name
]


def test_modules__are_all_read() -> None:
    """A wall over nothing would hold for ever."""
    names = {one.name for one in modules()}
    assert {"memory/claims/actions/admit.py", "workareas/access.py", "oml/journal/append.py"} <= names
    assert len(USE_CASES) > 20


def test_state__wherever_it_is_assigned__is_what_a_machine_answered() -> None:
    """Next state is one door: ``x.state = MACHINE.next(…)`` and nothing else, and no queryset writes one."""
    wrong = []
    for module in modules():
        for node in ast.walk(module.tree):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            # One of several assigned at once has no value of its own to look at, so it is refused as it stands.
            parts = [part for target in targets if isinstance(target, ast.Tuple) for part in target.elts]
            wrong += [f"{module.name}:{part.lineno}" for part in parts if _is_state(part) and not _is_self(part)]
            for target in targets:
                if not _is_state(target):
                    continue
                if not _is_self(target) and not _asks_a_machine(getattr(node, "value", None), module):
                    wrong.append(f"{module.name}:{target.lineno}")
        for call in module.calls("update"):
            if {keyword.arg for keyword in call.keywords} & {"state", "status"}:
                wrong.append(f"{module.name}:{call.lineno}")
    assert not wrong


def _is_state(target: ast.AST | None) -> bool:
    return isinstance(target, ast.Attribute) and target.attr in {"state", "status"}


def _is_self(target: ast.AST | None) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"


def _asks_a_machine(value: ast.expr | None, module: Module) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr == "next"
    if isinstance(value, ast.Name):  # a local that a machine answered just before
        return any(
            isinstance(node, ast.Assign)
            and any(isinstance(target, ast.Name) and target.id == value.id for target in node.targets)
            and _asks_a_machine(node.value, module)
            for node in ast.walk(module.tree)
        )
    return False


def test_admit__is_imported_by_the_ceremony_alone() -> None:
    users = {one.name for one in modules() if "memory.claims.actions.admit.admit" in set(one.imports())}
    assert users == {"review/ceremony.py"}


def test_consume_serve__is_called_by_the_verdict_and_the_self_signature_alone() -> None:
    users = {one.name for one in modules() if any(one.calls("consume_serve"))}
    assert users == {"review/actions/verdict.py", "review/actions/self_sign.py"}


def test_use_cases__know_no_transport() -> None:
    transports = ("rest_framework", "mcp", "mcp_types", "celery", "drf_spectacular", "django.http", "django.shortcuts")
    used = {
        f"{module.name}: {name}"
        for module in USE_CASES
        for name in module.imports()
        if any(name == one or name.startswith(f"{one}.") for one in transports)
    }
    assert not used


def test_guardian__is_imported_where_its_rows_are_declared_and_written_and_nowhere_else() -> None:
    users = {one.name for one in modules() if any(name.split(".")[0] == "guardian" for name in one.imports())}
    assert users == {"workareas/models.py", "workareas/actions/keys.py"}


def test_guardian_rows__are_read_by_access_alone() -> None:
    rows = {"workareas.models.WorkareaUserPermission", "workareas.models.WorkareaGroupPermission"}
    users = {one.name for one in modules() if rows & set(one.imports())}
    assert users <= {"workareas/access.py", "workareas/admin/nodes.py", "workareas/admin/people.py"}
    assert "workareas/access.py" in users


def test_row_locks__leave_foreign_keys_alone() -> None:
    """FOR UPDATE conflicts with the key check of every row that refers to the locked one, and that check runs while
    the journal's head is held: the two would wait for each other. FOR NO KEY UPDATE does not (TestTree in
    tests/actions/test_concurrency.py). Nothing refers to an outbox row."""
    strong = [
        f"{module.name}:{call.lineno}"
        for module in modules()
        if module.name != "oml/jobs/outbox.py"
        for call in module.calls("select_for_update")
        if not any(word.arg == "no_key" and _is_true(word.value) for word in call.keywords)
    ]
    assert not strong


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def test_clock__is_read_in_one_module() -> None:
    readers = {
        f"{module.name}:{call.lineno}"
        for module in modules()
        if module.name != "oml/core/clock.py"
        for method in ("now", "utcnow", "today")
        for call in module.calls(method)
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in {"datetime", "date"}
    }
    assert not readers


def test_actor__is_never_ambient() -> None:
    """The actor is an argument (architecture, principle 6); the request id is for log lines and decides nothing."""
    ambient = {"threading.local", "contextvars.ContextVar", "asgiref.local.Local"}
    users = {one.name for one in modules() if ambient & set(one.imports())}
    assert users <= {"oml/http/request_id.py"}


def test_modules__say_why_they_exist() -> None:
    silent = [
        module.name
        for module in modules()
        if module.tree.body and not module.name.endswith(("/apps.py", "/__init__.py"))
        if ast.get_docstring(module.tree) is None
    ]
    assert not silent
