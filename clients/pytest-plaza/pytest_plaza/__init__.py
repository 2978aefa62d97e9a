"""Fixtures for tests against Plaza (docs/guides/testing.md)."""

from .control import ControlRefusal, UnmetExpectation
from .receiver import ReceivedWebhook, Receiver
from .world import World

__all__ = ["ControlRefusal", "ReceivedWebhook", "Receiver", "UnmetExpectation", "World"]
