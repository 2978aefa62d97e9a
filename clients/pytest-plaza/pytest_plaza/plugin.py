"""The fixtures of the plugin. pytest loads this file through the package's entry point."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .server import Server
from .world import World, open_world

_SCOPES = ("function", "class", "module", "package", "session")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("plaza").addoption("--plaza-program", metavar="PROGRAM", help="the program of Plaza (default: plaza on PATH)")
    parser.addini("plaza_scope", f"what has a world of its own: {', '.join(_SCOPES)}", default="function")


def _scope(fixture_name: str, config: pytest.Config) -> str:
    scope = config.getini("plaza_scope")
    if scope not in _SCOPES:
        raise pytest.UsageError(f"plaza_scope is one of {', '.join(_SCOPES)}, not {scope}")
    return scope


@pytest.fixture(scope="session")
def plaza_server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One server for the whole run of tests."""
    with Server(request.config.getoption("--plaza-program"), request.config.rootpath) as server:
        yield server


@pytest.fixture(scope=_scope)
def plaza_world() -> Any:
    """The first content of a world: a world file as a dict or as YAML. Override this fixture in conftest.py or in a
    test file. None: a copy of the server's first world, which is the demo world or the world of `plaza exec --world`."""
    return None


@pytest.fixture(scope=_scope)
def plaza(plaza_server: Server, plaza_world: Any) -> Iterator[World]:
    """A world of its own for each test, or for each of the larger scopes that `plaza_scope` sets."""
    file = plaza_server.first_world if plaza_world is None else plaza_world
    world = open_world(plaza_server.addresses, plaza_server.connection, file)
    yield world
    world.close()
