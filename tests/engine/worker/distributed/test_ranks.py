"""Ranks that are threads do what ranks that are processes do; where those would hang, a sentence says why."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import engine
from engine.export.dot import dot
from engine.export.mermaid import mermaid
from engine.graph import Level, view
from engine.laws import broken
from engine.trace import Op, Tensor, Trace

TWO_RANKS = Path(__file__).parents[3] / "programs" / "ranks" / "two_ranks.py"
HEAD = """import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

def begin(rank, size):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=size)

"""
TAIL = '\nif __name__ == "__main__":\n    mp.spawn(work, args=(2,), nprocs=2)\n'


def run(code: str) -> Trace:
    return engine.run(code)


def said(trace: Trace) -> str:
    return "".join(each.text for each in trace.output if each.stream == "stdout")


def why(work: str, tail: str = TAIL) -> str:
    """The message of the failure that a function of two ranks ends with."""
    failure = run(HEAD + work + tail).failure
    assert failure is not None
    return failure.message


def _free_port() -> int:
    try:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])
    except OSError as error:
        pytest.skip(f"no sockets for a real group: {error}")


@pytest.mark.slow
def test_threads_say_what_two_processes_with_gloo_say() -> None:
    environment = os.environ | {"FREE_PORT": str(_free_port()), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    real = subprocess.run([sys.executable, TWO_RANKS], env=environment, capture_output=True, text=True, check=False)
    if "Cannot resolve" in real.stderr or "Unable to find" in real.stderr:
        pytest.skip("gloo finds no network here")
    assert real.returncode == 0, real.stderr
    trace = run(TWO_RANKS.read_text())
    assert trace.failure is None
    assert sorted(said(trace).splitlines()) == sorted(real.stdout.splitlines())
    assert [finding.code for finding in trace.findings].count("ranks_are_threads") == 1


def test_gradients_are_those_of_the_whole_batch() -> None:
    lines = [line for line in said(run(TWO_RANKS.read_text())).splitlines() if line.startswith("whole")]
    assert len(lines) == 8
    assert all(line.endswith("True") for line in lines)


def test_a_rank_that_waits_for_one_that_has_ended_says_so() -> None:
    message = why("def work(rank, size):\n    begin(rank, size)\n    if rank == 0:\n        dist.barrier()\n")
    assert message.startswith("rank 0 waits in barrier, line 14 for ever: rank 1 has ended.")


def test_a_rank_that_never_comes_is_missed() -> None:
    message = why("def work(rank, size):\n    begin(rank, 3)\n")
    assert "waits in init_process_group, line 9 for ever" in message


def test_other_calls_of_other_ranks_are_told_apart() -> None:
    work = "def work(rank, size):\n    begin(rank, size)\n    t = torch.ones(1)\n"
    work += "    dist.all_reduce(t) if rank == 0 else dist.broadcast(t, src=0)\n"
    assert why(work).startswith("rank 1 calls broadcast where rank 0 calls all_reduce: ")


def test_tensors_of_different_shapes_do_not_meet() -> None:
    message = why("def work(rank, size):\n    begin(rank, size)\n    dist.all_reduce(torch.ones(rank + 1))\n")
    assert "all_reduce of tensors that do not fit together (rank 0: (1,) of torch.float32; rank 1: (2,)" in message


@pytest.mark.parametrize(
    ("work", "tail", "words"),
    [
        ("def work(rank, size):\n    begin(rank, 5)\n", TAIL, "world_size=5: ranks are threads of one process here"),
        ("def work(rank, size):\n    begin(rank, size + rank)\n", TAIL, "this rank says world_size=3, another says 2"),
        ("def work(rank, size):\n    begin(0, size)\n", TAIL, "two ranks say rank=0"),
        ("def work(rank, size):\n    pass\n", TAIL.replace("nprocs=2", "nprocs=8"), "nprocs=8: ranks are threads"),
        (
            "net = nn.Linear(2, 1)\ndef work(rank, size):\n    begin(rank, size)\n    DDP(net)\n",
            TAIL,
            "rank 1 wraps the parameters that rank 0 has wrapped",
        ),
    ],
)
def test_what_cannot_be_is_said(work: str, tail: str, words: str) -> None:
    assert words in why(work, tail)


def test_the_line_of_a_failure_is_the_ranks_own() -> None:
    trace = run(HEAD + "def work(rank, size):\n    begin(rank, size)\n    torch.ones(2) @ torch.ones(3)\n" + TAIL)
    assert trace.failure is not None and trace.failure.span is not None
    assert (trace.failure.type, trace.failure.span.line) == ("RuntimeError", 13)
    assert "-- Process 0 terminated with the following error:" in trace.failure.traceback


def test_processes_one_by_one_pass_what_they_made_through_a_queue() -> None:
    code = (
        HEAD
        + """
def work(rank, size, queue):
    begin(rank, size)
    total = torch.tensor([1.0 + rank])
    dist.all_reduce(total)
    queue.put((rank, total.item()))

if __name__ == "__main__":
    mp.set_start_method("spawn")
    queue = mp.Queue()
    processes = [mp.Process(target=work, args=(rank, 2, queue)) for rank in range(2)]
    for process in processes:
        process.start()
    print(sorted(queue.get() for _ in processes))
    for process in processes:
        process.join()
    print([process.exitcode for process in processes])
"""
    )
    trace = run(code)
    assert said(trace) == "[(0, 3.0), (1, 3.0)]\n[0, 0]\n"


def test_what_a_process_of_its_own_raises_is_printed_and_the_program_goes_on() -> None:
    code = HEAD + "def work():\n    raise ValueError('mine')\np = mp.Process(target=work)\np.start()\np.join()\n"
    trace = run(code + "print(p.exitcode)\n")
    assert (trace.failure, said(trace)) == (None, "1\n")
    assert "ValueError: mine" in "".join(each.text for each in trace.output if each.stream == "stderr")


def test_one_process_may_be_a_group() -> None:
    code = HEAD + "begin(0, 1)\nt = torch.ones(2)\ndist.all_reduce(t)\nprint(t, dist.get_world_size())\n"
    assert said(run(code)) == "tensor([1., 1.]) 1\n"


def test_no_ranks_are_remarked_on() -> None:
    code = HEAD + "def work(rank):\n    pass\nmp.spawn(work, nprocs=torch.cuda.device_count())\n"
    trace = run(code)
    assert [finding.code for finding in trace.findings] == ["no_ranks"]


def test_a_program_for_a_launcher_is_the_only_rank() -> None:
    code = (
        HEAD
        + """
rank, size = int(os.environ["LOCAL_RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("nccl")
model = DDP(nn.Linear(2, 1))
model(torch.ones(1, 2)).sum().backward()
print(rank, size, dist.get_rank(), model.module.weight.grad.tolist())
"""
    )
    code = code.replace(HEAD[HEAD.index("def begin") :], "\n")
    trace = run(code)
    assert said(trace) == "0 1 0 [[1.0, 1.0]]\n"
    assert "launched_alone" in [finding.code for finding in trace.findings]


LAUNCHED = """import os
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.manual_seed(rank)
model = DDP(nn.Linear(2, 1))
model(torch.ones(1, 2) * (rank + 1)).sum().backward()
print(rank, os.environ["WORLD_SIZE"], model.module.weight.grad.tolist())
"""


@pytest.mark.parametrize(
    "command",
    [
        "# torchrun --nproc_per_node=2 train.py",
        "#!/usr/bin/env python\n# $ torchrun --standalone --nnodes 1 --nproc-per-node 2 train.py",
        "\n# python -m torch.distributed.launch --nproc_per_node=2 train.py",
    ],
)
def test_the_command_of_a_launcher_says_how_many_ranks_run_the_program(command: str) -> None:
    trace = run(f"{command}\n{LAUNCHED}")
    assert trace.failure is None
    assert sorted(said(trace).splitlines()) == ["0 2 [[1.5, 1.5]]", "1 2 [[1.5, 1.5]]"]
    (finding,) = trace.findings
    assert (finding.code, finding.span and finding.span.line) == ("launched_ranks", 1 + command.count("\n"))
    assert broken(trace) == []
    assert {group.title for group in view(trace).groups if group.kind == "rank"} == {"rank 0", "rank 1"}
    assert next(one.text for one in trace.variables if one.name == "rank") == "0"


def test_more_ranks_than_there_can_be_are_as_many_as_can() -> None:
    trace = run(f"# torchrun --nproc_per_node=8 train.py\n{LAUNCHED}")
    assert len(said(trace).splitlines()) == 4
    (finding,) = trace.findings
    assert finding.parameters == {"asked": "8", "ranks": "4"}


@pytest.mark.parametrize("command", ["# torchrun train.py", "x = 1  # torchrun --nproc_per_node=2 train.py"])
def test_without_a_number_above_the_first_statement_the_program_is_the_only_rank(command: str) -> None:
    trace = run(f"{command}\n{LAUNCHED}")
    assert said(trace) == "0 1 [[1.0, 1.0]]\n"
    assert "launched_alone" in [finding.code for finding in trace.findings]


def test_the_command_of_a_launcher_also_counts_where_the_program_names_its_own_rank() -> None:
    own = (
        "import torch\nimport torch.distributed as dist\ndist.init_process_group('gloo', rank=0, world_size=1)\n"
        "x = torch.ones(2)\ndist.all_reduce(x)\nprint(x.tolist())\n"
    )
    assert said(run(f"# torchrun --nproc_per_node=1 own.py\n{own}")) == "[1.0, 1.0]\n"


def test_a_launched_rank_that_fails_says_where() -> None:
    trace = run(f"# torchrun --nproc_per_node=2 train.py\n{LAUNCHED}torch.ones(2) @ torch.ones(rank + 2)\n")
    assert trace.failure is not None and trace.failure.span is not None
    assert (trace.failure.type, trace.failure.span.line) == ("RuntimeError", 14)
    assert "-- Process 1 terminated with the following error:" in trace.failure.traceback
    assert "launched.py" not in trace.failure.traceback


def test_data_parallel_without_a_gpu_says_what_it_would_do() -> None:
    trace = run("import torch\nmodel = torch.nn.DataParallel(torch.nn.Linear(2, 1))\nmodel(torch.ones(1, 2))\n")
    assert ("data_parallel_alone", 2) in [(it.code, it.span and it.span.line) for it in trace.findings]


def test_runs_go_the_same_way_each_time() -> None:
    code = TWO_RANKS.read_text()
    first, second = run(code), run(code)
    assert [(step.kind) for step in first.timeline] == [(step.kind) for step in second.timeline]
    assert said(first) == said(second)


# What is recorded

TWO_STEPS = (
    HEAD
    + """
def work(rank, size):
    begin(rank, size)
    torch.manual_seed(rank)
    model = DDP(nn.Linear(2, 1, bias=False))
    x = torch.tensor([[1.0, 2.0]]) * (rank + 1)
    model(x).sum().backward()
    total = torch.tensor([rank + 1.0])
    dist.all_reduce(total)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
"""
    + TAIL
)


def tensor(trace: Trace, id_: str | None) -> Tensor:
    return next(tensor for tensor in trace.tensors if tensor.id == id_)


def values(trace: Trace, id_: str | None) -> list[float]:
    given = tensor(trace, id_).data
    assert given is not None
    return [float(value) for value in given]


def collectives(trace: Trace) -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in trace.ops:
        if op.collective is not None:
            found.setdefault(op.collective, []).append(op)
    return found


def test_every_op_pass_and_update_is_a_ranks() -> None:
    trace = run(TWO_STEPS)
    assert broken(trace) == []
    assert {op.rank for op in trace.ops} == {0, 1}
    assert sorted(str(pass_.rank) for pass_ in trace.passes) == ["0", "1"]
    assert {update.rank for update in trace.updates if update.kind == "step"} == {0, 1}


def test_what_is_printed_and_warned_is_a_ranks() -> None:
    body = "def work(rank, size):\n    begin(rank, size)\n    print('mine', rank)\n"
    trace = run(HEAD + body + "    import warnings; warnings.warn(f'of {rank}')\n" + TAIL + "    print('over')\n")
    said = {one.text.strip(): one.rank for one in trace.output if one.stream == "stdout"}
    assert said == {"mine 0": 0, "mine 1": 1, "over": None}
    assert {one.message: one.rank for one in trace.warnings} == {"of 0": 0, "of 1": 1}


def test_a_collective_is_an_op_of_each_rank_with_what_it_gave_and_got() -> None:
    trace = run(TWO_STEPS)
    met = list(collectives(trace).values())
    assert [[(op.name, op.rank) for op in ops] for ops in met] == [
        [("broadcast", 0), ("broadcast", 1)],
        [("all_reduce", 0), ("all_reduce", 1)],
        [("all_reduce", 0), ("all_reduce", 1)],
    ]
    gave = [values(trace, op.inputs[0]) for op in met[2]]
    got = [values(trace, op.outputs[0]) for op in met[2]]
    assert (gave, got) == ([[1.0], [2.0]], [[3.0], [3.0]])


def test_a_bucket_is_reduced_in_the_pass_after_its_last_gradient() -> None:
    trace = run(TWO_STEPS)
    for pass_ in trace.passes:
        (bucket,) = [op for op in trace.ops if op.pass_id == pass_.id and op.collective]
        steps = [(step.kind, step.op or step.update) for step in trace.timeline]
        start = steps.index(("op", bucket.id))
        before = [step.kind for step in trace.timeline[:start] if step.pass_id == pass_.id]
        assert before[-1] == "accumulate"


def test_gradients_before_and_after_the_all_reduce_are_told() -> None:
    trace = run(TWO_STEPS)
    for pass_ in trace.passes:
        assert pass_.rank is not None
        (added,) = pass_.accumulations
        (reduced,) = [update for update in trace.updates if update.kind == "collective" and update.pass_id == pass_.id]
        (change,) = reduced.changes
        assert change.before == added.after
        assert values(trace, change.before) == [1.0 + pass_.rank, 2.0 + 2 * pass_.rank]
        assert values(trace, change.after) == [1.5, 3.0]


BUCKETS = (
    HEAD
    + """
def work(rank, size):
    begin(rank, size)
    net = DDP(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)), bucket_cap_mb=1e-5)
    for _ in range(3):
        net(torch.ones(1, 2)).sum().backward()
"""
    + TAIL
)


def test_every_all_reduce_of_a_pass_names_its_parameters() -> None:
    trace = run(BUCKETS)
    assert broken(trace) == []
    for pass_ in trace.passes:
        reduced = [op for op in trace.ops if op.pass_id == pass_.id and op.collective]
        shapes = [tensor(trace, id_).shape for op in reduced for id_ in op.bucket]
        assert sorted(shapes) == [(1,), (1, 3), (3,), (3, 2)]


def test_buckets_made_anew_hold_what_was_ready_first() -> None:
    trace = run(BUCKETS)
    for pass_ in trace.passes[2:]:
        reduced = [op.bucket for op in trace.ops if op.pass_id == pass_.id and op.collective]
        assert len(reduced) > 1
        added = [tensor(trace, one.tensor).identity or one.tensor for one in pass_.accumulations]
        assert [id_ for bucket in reduced for id_ in bucket] == added


def test_of_two_parallel_models_no_bucket_is_told() -> None:
    code = BUCKETS.replace("    for _", "    other = DDP(nn.Linear(2, 1))\n    for _")
    trace = run(code)
    assert trace.failure is None
    assert {op.bucket for op in trace.ops} == {()}


def test_passes_that_exchanged_gradients_are_drawn_in_lanes() -> None:
    trace = run(TWO_STEPS)
    drawn = view(trace)
    assert drawn.passes == tuple(pass_.id for pass_ in trace.passes)
    lanes = {group.id: group.title for group in drawn.groups if group.kind == "rank"}
    assert sorted(lanes.values()) == ["rank 0", "rank 1"]
    around = {group.id: group.parent for group in drawn.groups}
    for box in drawn.boxes:
        if box.kind == "collective":
            continue
        assert box.group is not None
        lane = box.group
        while around[lane] is not None:
            lane = str(around[lane])
        assert lane in lanes


CUT = """# torchrun --nproc_per_node=2 pipeline.py
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
torch.manual_seed(0)
if dist.get_rank() == 0:
    lower = nn.Sequential(nn.Linear(4, 3), nn.Tanh())
    hidden = lower(torch.ones(2, 4))
    dist.send(hidden.detach(), dst=1)
    back = torch.empty(2, 3)
    dist.recv(back, src=1)
    hidden.backward(back)
else:
    upper = nn.Linear(3, 1)
    received = torch.empty(2, 3)
    dist.recv(received, src=0)
    received.requires_grad_()
    loss = upper(received).pow(2).mean()
    loss.backward()
    dist.send(received.grad, dst=0)
"""


def test_passes_of_a_model_cut_between_two_ranks_are_drawn_in_lanes() -> None:
    trace = run(CUT)
    drawn = view(trace)
    assert [trace.passes[at].rank for at in range(2)] == [1, 0]
    assert drawn.passes == tuple(pass_.id for pass_ in trace.passes)
    assert {group.title for group in drawn.groups if group.kind == "rank"} == {"rank 0", "rank 1"}
    forward, back = (ops[0].inputs[0] for ops in collectives(trace).values())
    assert tensor(trace, forward).shape == tensor(trace, back).shape == (2, 3)


def test_what_a_rank_received_came_out_of_the_call_that_waited_for_it() -> None:
    asked = "work = dist.irecv(received, src=0)\n    work.wait()"
    for code in (CUT, CUT.replace("dist.recv(received, src=0)", asked)):
        trace = run(code)
        assert broken(trace) == []
        for sent, received in collectives(trace).values():
            assert (sent.name, received.name) == ("send", "recv")
            assert values(trace, received.outputs[0]) == values(trace, sent.inputs[0])


def test_how_a_collective_reduces_is_told() -> None:
    told = {argument.text for op in run(TWO_STEPS).ops for argument in op.arguments if argument.name == "op"}
    assert told == {"ReduceOp.SUM"}


def test_a_pass_that_met_no_other_stays_alone() -> None:
    alone = "upper(torch.ones(2, 3, requires_grad=True))"
    trace = run(
        CUT.replace("hidden.backward(back)", "hidden.backward(torch.ones(2, 3))")
        .replace("upper(received)", alone)
        .replace("dist.send(received.grad, dst=0)", "dist.send(torch.ones(2, 3), dst=0)")
    )
    assert trace.failure is None
    assert [len(view(trace, pass_id=pass_.id).passes) for pass_ in trace.passes] == [1, 1]


# Collectives as boxes


def exchanged(trace: Trace, level: Level = "both") -> dict[str, list[tuple[str, str, str]]]:
    """For each collective of the picture its links, each with the rank, and what goes down and up."""
    drawn = view(trace, level=level)
    ranks = {op.id: op.rank for op in trace.ops}
    numbers = {one.id: str([round(float(value), 3) for value in one.data or ()]) for one in trace.tensors}
    return {
        f"{box.title} {box.name}": [
            (f"rank {ranks[link.op]}", numbers.get(link.tensor or "", ""), numbers.get(link.back or "", ""))
            for link in drawn.links
            if link.op is not None and box.id in (link.source, link.target)
        ]
        for box in drawn.boxes
        if box.kind == "collective"
    }


def test_a_bucket_is_one_box_above_the_lanes_that_gradients_go_up_to_and_come_down_from() -> None:
    trace = run(TWO_STEPS)
    assert exchanged(trace)["all_reduce mean"] == [
        ("rank 0", "[1.5, 3.0]", "[0.5, 1.0]"),
        ("rank 1", "[1.5, 3.0]", "[1.0, 2.0]"),
    ]
    box = next(box for box in view(trace).boxes if box.title == "all_reduce")
    assert box.group is None
    assert [op.rank for id_ in box.ops for op in trace.ops if op.id == id_] == [0, 1]


BUFFERS = (
    HEAD
    + """
def work(rank, size):
    begin(rank, size)
    torch.manual_seed(rank)
    model = DDP(nn.BatchNorm1d(2))
    for _ in range(2):
        model(torch.randn(4, 2)).pow(3).sum().backward()
"""
    + TAIL
)


def test_the_start_of_a_parallel_model_is_one_box_with_what_rank_0_gave() -> None:
    trace = run(BUFFERS)
    assert broken(trace) == []
    start = [op for op in trace.ops if op.function == "torch.nn.parallel.DistributedDataParallel"]
    assert [(op.name, op.rank, len(op.gave), len(op.outputs)) for op in start] == [
        ("broadcast", 0, 5, 5),
        ("broadcast", 1, 0, 5),
    ]
    got = [[tensor(trace, id_).data for id_ in op.outputs] for op in start]
    assert got[0] == got[1] == [tensor(trace, id_).data for id_ in start[0].gave]
    drawn = view(trace, pass_id=trace.passes[0].id)
    (box,) = [box for box in drawn.boxes if box.name == "start"]
    assert box.ops == tuple(op.id for op in start)
    assert {link.tensor for link in drawn.links if link.source == box.id} <= {id_ for op in start for id_ in op.outputs}


def test_buffers_that_a_forward_takes_over_come_through_a_box() -> None:
    trace = run(BUFFERS)
    spread = [op for op in trace.ops if op.function.endswith("._sync_buffers")]
    first, second = spread[2:]
    assert [tensor(trace, id_).data for id_ in second.outputs] == [tensor(trace, id_).data for id_ in first.gave[:2]]
    drawn = view(trace, pass_id=trace.passes[-1].id)
    (box,) = [box for box in drawn.boxes if box.name == "copy"]
    ends = [(link.op, link.tensor, link.back) for link in drawn.links if link.source == box.id]
    assert ends == [(first.id, None, id_) for id_ in first.gave[:2]] + [
        (second.id, id_, None) for id_ in second.outputs
    ]


def test_only_nodes_are_drawn_where_nodes_were_asked_for() -> None:
    assert exchanged(run(TWO_STEPS), level="autograd") == {}


def test_what_is_sent_goes_through_a_box_and_its_gradient_back_through_another() -> None:
    drawn = view(run(CUT))
    boxes = {box.id: box for box in drawn.boxes}
    met = [box for box in drawn.boxes if box.kind == "collective"]
    assert [(box.title, box.name) for box in met] == [("send → recv", "copy")] * 2
    ends = [(boxes[link.source].title, boxes[link.target].title, bool(link.tensor)) for link in drawn.links]
    assert ("detach", "send → recv", True) in ends
    assert ("send → recv", "leaf", True) in ends
    assert ("TanhBackward0", "send → recv", False) in ends
    assert ("send → recv", "leaf", False) in ends


BY_HAND = """# torchrun --nproc_per_node=2 by_hand.py
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo")
rank = dist.get_rank()
layer = nn.Linear(2, 1, bias=False)
layer.weight.data.fill_(rank + 1.0)
dist.broadcast(layer.weight.data, src=1)
loss = layer(torch.tensor([1.0, rank + 2.0])).sum()
loss.backward()
dist.all_reduce(layer.weight.grad)
losses = [torch.zeros(()) for _ in range(2)]
dist.all_gather(losses, loss.detach())
print(torch.stack(losses))
"""


def test_weights_gradients_and_losses_exchanged_by_hand_join_the_passes() -> None:
    trace = run(BY_HAND)
    assert broken(trace) == []
    assert exchanged(trace) == {
        "broadcast copy": [("rank 0", "[2.0, 2.0]", ""), ("rank 1", "", "[2.0, 2.0]")],
        "all_reduce sum": [("rank 0", "[2.0, 5.0]", "[1.0, 2.0]"), ("rank 1", "[2.0, 5.0]", "[1.0, 3.0]")],
        "all_gather copy": [],
    }
    drawn = view(trace)
    assert drawn.passes == tuple(pass_.id for pass_ in trace.passes)
    (gathered,) = [box.id for box in drawn.boxes if box.title == "all_gather"]
    given = [link.tensor for link in drawn.links if link.target == gathered]
    assert [values(trace, id_) for id_ in given] == [[6.0], [8.0]]


def test_what_runs_after_a_collective_is_another_stretch_of_its_lane() -> None:
    mean = "mean = loss.detach().clone()\ndist.all_reduce(mean)\nmean = mean / 2\nloss.backward()"
    drawn = view(run(BY_HAND.replace("loss.backward()", mean)))
    group = {box.title: box.group for box in drawn.boxes}
    titles = [each.title for each in drawn.groups if each.parent is None]
    assert titles == ["rank 0", "rank 1", "rank 0", "rank 1"]
    assert group["div"] != group["SumBackward0"]


def test_exports_draw_the_box_once() -> None:
    trace = run(TWO_STEPS)
    drawn = view(trace)
    for text in (dot(drawn, trace), mermaid(drawn, trace)):
        assert text.count("all_reduce · mean") == 1
        assert "rank 1: [1 2] → [1.5 3]" in text
    assert "all_reduce · 平均" in dot(drawn, trace, "zh")


def test_a_program_of_all_there_is_keeps_the_laws() -> None:
    assert broken(run(TWO_RANKS.read_text())) == []


def test_a_program_without_ranks_says_nothing_of_them() -> None:
    trace = run("import torch\nx = torch.ones(2, requires_grad=True)\n(x * 2).sum().backward()\n")
    assert {op.rank for op in trace.ops} == {None}
