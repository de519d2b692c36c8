"""What the sandbox refuses is told as refused, whatever the library that was refused makes of it."""

import pytest

from tests.conftest import TraceOf

PROCESSES = {
    "a pool": "import multiprocessing\nmultiprocessing.Pool(2)",
    "a queue": "import multiprocessing\nmultiprocessing.Queue()",
    "a process": "import multiprocessing\nmultiprocessing.Process(target=print).start()",
    "an executor": "import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor(2).map(print, [1])",
}


@pytest.mark.parametrize("name", PROCESSES)
def test_other_processes_are_refused(trace: TraceOf, name: str) -> None:
    told = trace(PROCESSES[name])
    assert told.failure is not None
    assert (told.failure.kind, told.failure.type) == ("forbidden", "PermissionError")
    assert [finding.code for finding in told.findings] == ["no_processes"]


def test_shared_memory_is_refused(trace: TraceOf) -> None:
    told = trace("import torch\ntorch.ones(3).share_memory_()")
    assert told.failure is not None
    assert told.failure.kind == "forbidden"
    assert [finding.code for finding in told.findings] == ["no_processes"]


def test_inductor_has_a_folder_of_the_run(trace: TraceOf) -> None:
    told = trace(
        """import os, torch
from torch._inductor.runtime.cache_dir_utils import cache_dir
os.makedirs(cache_dir(), exist_ok=True)
print(os.path.commonpath([cache_dir(), os.environ["HOME"]]) == os.environ["HOME"])
class Twice(torch.nn.Module):
    def forward(self, x):
        return x * 2
print(torch.export.export(Twice(), (torch.ones(1),)).module()(torch.ones(1)))"""
    )
    assert told.failure is None
    assert "".join(output.text for output in told.output) == "True\ntensor([2.])\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cond", "map"])
def test_what_pytorch_compiles_itself_gives_its_own_gradients(trace: TraceOf, kind: str) -> None:
    calls = {
        "cond": "torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))",
        "map": "mapped(lambda v: v.sin(), x)",
    }
    told = trace(
        f"""import torch
from torch._higher_order_ops.map import map as mapped
x = torch.arange(1., 4., requires_grad=True)
{calls[kind]}.sum().backward()
print(torch.equal(x.grad, x.cos()))"""
    )
    assert told.failure is None
    assert told.output[0].text == "True\n"
