"""PyTorch's engine played again: a trace and one of its passes become the engine's state before each node it took up.
Pure."""

from engine.replay.play import Replay, failed_node
from engine.replay.types import FORMAT, Arrived, Engine, EngineState, EngineStep, Open
from engine.replay.view import MOST_STEPS, NoSuchPass, engine_view

__all__ = [
    "FORMAT",
    "MOST_STEPS",
    "Arrived",
    "Engine",
    "EngineState",
    "EngineStep",
    "NoSuchPass",
    "Open",
    "Replay",
    "engine_view",
    "failed_node",
]
