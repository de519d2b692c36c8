"""The sentences of a finding as they are read, and whether the code that they quote is the program's own."""

import builtins
import inspect
import json
import keyword
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch
from torch import nn, optim
from torch.distributions import constraints
from torch.utils.data import DataLoader

import engine
from engine.trace import Finding

WORDS = Path(engine.__file__).parents[1] / "frontend" / "words"
PARTS = ("title", "text", "fix")
PYTHON = {
    *dir(builtins),
    *keyword.kwlist,
    *"self cls ctx _ sys os environ math time copy deepcopy removeprefix".split(),
}
MARKS = {"Out", "In", "torchrun", "SIGINT", "CUDA_VISIBLE_DEVICES", "devices"}
"""What notebooks, terminals, drivers and comments call things."""
CALLED = (
    *(nn.utils.rnn.pad_sequence, nn.CrossEntropyLoss, nn.Transformer.forward),
    *(torch.autograd.grad, torch.Tensor.backward, torch.load, torch.vmap, torch.func.grad, torch.export.export),
    *(nn.Module.load_state_dict, nn.Embedding, nn.Embedding.from_pretrained, nn.utils.rnn.pack_padded_sequence),
    *(optim.Optimizer.zero_grad, optim.SGD, DataLoader, nn.BatchNorm1d),
    *(torch.distributions.Categorical, torch.distributions.Normal),
)
"""Whose arguments are spoken of."""
ROOMS = (
    torch,
    nn,
    nn.functional,
    nn.init,
    nn.Module,
    torch.Tensor,
    optim,
    torch.linalg,
    constraints,
    nn.utils.rnn,
    torch.distributions,
    torch.distributions.Distribution,
    torch.amp.GradScaler,
)
SHORT = {
    "nn",
    "optim",
    "device",
    "module",
    "inputs",
    "grad_output",
    "kaiming_",
    "xavier_",
    "rsample",
    "apply",
    "cross_entropy_loss",
}
"""What people and PyTorch's own pages call its parts."""


@cache
def words(language: str) -> dict[str, str]:
    """All sentences of a language."""
    texts: dict[str, str] = {}
    for folder in (WORDS, WORDS / "findings"):
        texts |= json.loads((folder / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def told(finding: Finding, part: str, language: str) -> str:
    """One part of what is said of a finding, filled in as the page does it."""

    def filled(text: str) -> str:
        return re.sub(r"\{(\w+)(?:\|((?:\{\w+\}|[^|}])*)\|((?:\{\w+\}|[^}])*))?\}", value, text)

    def value(mark: re.Match[str]) -> str:
        said = finding.parameters[mark[1]]
        return said if mark[2] is None else filled(mark[2] if said == "1" else mark[3])

    return filled(words(language)[f"finding.{finding.code}.{part}"])


@cache
def _of_pytorch() -> frozenset[str]:
    """The names of PyTorch's interface: functions, classes, methods, and what they call their arguments."""
    optimizer = optim.Adam([torch.ones(1)])  # not at the top: the first one loads torch._dynamo, for a second
    names = {name for room in (*ROOMS, optimizer) for name in dir(room) if len(name) > 1}
    names |= {name.removeprefix("_") for name in dir(constraints)}
    arguments = {name for function in CALLED for name in inspect.signature(function).parameters}
    overloads = (Path(torch.__file__).parent / "_C" / "_VariableFunctions.pyi").read_text()
    written = {name for name in re.findall(r"\b(\w+): ", overloads) if len(name) > 2}
    return frozenset(names | arguments | written | SHORT)


def quoted(sentence: str) -> Iterator[str]:
    """The code that a sentence quotes."""
    yield from re.findall(r"`([^`]+)`", sentence)


def strange(program: str, sentence: str) -> set[str]:
    """The names in quoted code that are neither in the program nor Python's or PyTorch's own; a name made of one of the
    program's (`lambda_`, `_Net__init`) counts as its own."""
    own = set(re.findall(r"\w+", program))
    code = " ".join(re.sub(r"'[^']*'|\"[^\"]*\"", "''", code) for code in quoted(sentence))
    names = set(re.findall(r"(?<![\w.])[^\W\d]\w*", code))
    return {
        name
        for name in names - own - PYTHON - MARKS - _of_pytorch()
        if not own & {name.rstrip("_"), "__" + name.rpartition("__")[2]} and not re.fullmatch(r"\w+Backward\d", name)
    }


def holes(program: str, sentence: str) -> list[str]:
    """What stands in a sentence for something that was not known: no place, or an id of the trace for a name."""
    found = re.findall(r"line \?|line 0\b|第 \? 行|[`{]\?|None|\{\w+|\0|(?<![\w.])[tn]\d+\b", sentence)
    return [hole for hole in found if hole not in program]


def check(program: str, finding: Finding, language: str) -> None:
    """Holds what can be held of a sentence: it asks only for what the finding says, and quotes whole tokens and the
    program's own names."""
    for part in PARTS:
        asked = set(re.findall(r"\{(\w+)", words(language)[f"finding.{finding.code}.{part}"]))
        assert asked <= set(finding.parameters), (finding.code, part)
        sentence = told(finding, part, language)
        assert not strange(program, sentence), (finding.code, part, sentence)
        assert not holes(program + words(language)[f"finding.{finding.code}.{part}"], sentence), (
            finding.code,
            sentence,
        )
        assert not any(re.search(r"\w…", code) for code in quoted(sentence)), (finding.code, part, sentence)
