"""Values edited after a node saved them, beside a search through every edit, node and pass."""

import pytest

from engine.findings.diagnosis import Diagnosis
from engine.findings.saved_values import data_edits
from tests.engine.worker.forked import record

HEAD = "import torch\nw = torch.randn(3, requires_grad=True)\nx = torch.randn(3)\n"
PROGRAMS = {
    "each turn, in time": "for _ in range(4):\n    (x * w * w).sum().backward()\n    w.data -= 0.1 * w.grad\n",
    "each turn, too early": "for _ in range(4):\n    y = (x * w * w).sum()\n    w.data -= 0.1\n    y.backward()\n",
    "two lines, one pass": "y = w * w\nfor _ in range(3):\n    y = y * w\n    w.data.mul_(0.5)\n    w.data.add_(1)\ny.sum().backward()\n",
    "kept graph": "y = (w * w).sum()\nfor _ in range(3):\n    y.backward(retain_graph=True)\n    w.data += 1\ny.backward()\n",
    "two tensors": "v = torch.ones(3, requires_grad=True)\ny = (w * v * w).sum()\nw.data += 1\nz = y * v.sum()\nv.data += 1\nz.backward()\n",
    "past PyTorch": "a = w.detach().numpy()\ny = (w * w).sum()\na += 1\ny = y * w.sum()\ny.backward()\n",
    "library code": "w = w.detach().double().requires_grad_()\ntorch.autograd.gradcheck(lambda t: t * t, w)\n",
    "put back": "y = (w * w).sum()\nfor _ in range(2):\n    w.data += 1\n    w.data -= 1\ny.backward()\n",
    "put back at first": "w = torch.ones(2, requires_grad=True)\ny = (w * w).sum()\nfor _ in range(3):\n    w.data += 1\n    if _ == 0:\n        w.data -= 1\n    y.backward(retain_graph=True)\n",
    "large": "w = torch.randn(40, 40, requires_grad=True)\ny = (w * w).sum()\nw.data += 1\ny.backward()\n",
    "never used": "y = w * w\nw.data += 1\n",
}


def searched(diagnosis: Diagnosis) -> set[tuple[str, str]]:
    """Nodes and lines of edits, by looking at everything."""
    found = set()
    for update in diagnosis.trace.updates:
        for change in update.changes if update.kind in ("data", "outside") else ():
            before, after = diagnosis.tensors.get(change.before or ""), diagnosis.tensors.get(change.after or "")
            if before is None or after is None or before.version != after.version:
                continue
            for node in diagnosis.trace.nodes:
                kept = [
                    saved.tensor
                    for saved in node.saved
                    if diagnosis.identity(saved.tensor or "") == diagnosis.identity(before.id)
                ]
                op, edited = diagnosis.op_of_node(node.id), diagnosis.update_step[update.id]
                passes = [
                    pass_ for pass_ in diagnosis.trace.passes if any(visit.node == node.id for visit in pass_.visits)
                ]
                later = [step for pass_ in passes if (step := diagnosis.pass_step[pass_.id]) > edited]
                if op is None or not kept or not later or diagnosis.op_step[op.id] > edited:
                    continue
                if any(values_at(diagnosis, later[0], before.id) != values(diagnosis, tensor) for tensor in kept):
                    found.add((node.id, str(update.span.line) if update.span is not None else "?"))
    return found


def values_at(diagnosis: Diagnosis, step: int, tensor: str) -> object:
    """What a tensor held when a pass began."""
    states = [
        change.after
        for update in diagnosis.trace.updates
        for change in update.changes
        if diagnosis.update_step.get(update.id, step) < step
        and diagnosis.identity(change.after or "") == diagnosis.identity(tensor)
    ]
    return values(diagnosis, states[-1])


def values(diagnosis: Diagnosis, tensor: str | None) -> object:
    """The values, of a large one the figures."""
    record = diagnosis.tensors[tensor or ""]
    return record.data or record.summary


SPARED = {"each turn, in time", "library code", "put back", "never used"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_edit_between_saving_and_use_is_told_once(name: str) -> None:
    diagnosis = Diagnosis(record(HEAD + PROGRAMS[name]))
    told = [(finding.nodes[0], finding.parameters["changed_line"]) for finding in data_edits(diagnosis)]
    assert len(told) == len(set(told))
    assert set(told) == searched(diagnosis)
    assert (not told) == (name in SPARED)
