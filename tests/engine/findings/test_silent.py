"""Silent mistakes are found in programs that make them, at their line; a right program has none; a fix mends."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from textwrap import indent

import msgspec
import pytest

from engine import findings
from engine.findings import find
from engine.findings.telling import POSSIBLE
from engine.limits import DEFAULT_LIMITS
from engine.local import LocalEngine
from engine.program.edits import applied
from engine.request import RunRequest
from engine.trace import Finding, Program, Trace
from engine.worker.compact import sampling
from tests.engine.findings import healthy, silent
from tests.engine.findings.mistakes import DRIFTING, HEAD, LOOP, STEP, TRAIN, Mistake
from tests.engine.findings.quick import first_quick
from tests.engine.findings.sentences import PARTS, check, holes, told, words
from tests.engine.findings.silent import MISTAKES, NEAR_MISSES
from tests.engine.worker.forked import record

CASES = first_quick((case.code, case) for case in MISTAKES)
MISSES = first_quick(NEAR_MISSES)
HOLES = ("tensors", "ops", "nodes", "passes", "updates", "modules", "variables", "timeline", "calls", "warnings")


def found(trace: Trace, code: str) -> Finding | None:
    return next((finding for finding in trace.findings if finding.code == code), None)


@pytest.mark.parametrize(("code", "case"), CASES)
def test_the_mistake_is_found_at_its_line(once: Callable[[str], Trace], code: str, case: Mistake) -> None:
    trace = once(HEAD + case.program)
    finding = found(trace, code)
    assert trace.status == "ok"
    assert finding is not None
    assert finding.span is not None
    assert finding.span.line == case.line
    assert finding.certainty == "possible" or code not in POSSIBLE
    assert case.says.items() <= finding.parameters.items()
    known = {tensor.id for tensor in trace.tensors} | {node.id for node in trace.nodes}
    assert known.issuperset((*finding.tensors, *finding.nodes))


def test_a_weight_before_dead_units_is_told_as_it_was(once: Callable[[str], Trace]) -> None:
    program = next(case.program for case in MISTAKES if case.code == "dead_relu")
    finding = found(trace := once(HEAD + program), "dead_relu")
    assert finding is not None
    assert [one.contents for one in trace.tensors if one.id in finding.tensors] == ["known", "known"]


@pytest.mark.slow
@pytest.mark.parametrize(("code", "case"), {case.code: case for case in reversed(MISTAKES)}.items())
def test_it_is_found_in_a_function_too(engine: LocalEngine, code: str, case: Mistake) -> None:
    trace = engine.run(RunRequest(program=Program(code=f"{HEAD}def main():\n{indent(case.program, '    ')}main()\n")))
    places = [finding.span.line for finding in trace.findings if finding.code == code and finding.span is not None]
    assert case.line + 1 in places


@pytest.mark.parametrize(("code", "case"), CASES)
def test_its_sentences_ask_only_for_what_it_says(once: Callable[[str], Trace], code: str, case: Mistake) -> None:
    finding = found(once(HEAD + case.program), code)
    assert finding is not None
    for language in ("zh", "en"):
        check(HEAD + case.program, finding, language)


@pytest.mark.parametrize(("code", "case"), CASES)
def test_a_fix_mends_the_program(once: Callable[[str], Trace], code: str, case: Mistake) -> None:
    finding = found(once(HEAD + case.program), code)
    assert finding is not None
    assert (bool(finding.fix) and not finding.is_experiment) == case.mends
    if case.mends:
        mended = once(applied(HEAD + case.program, finding.fix))
        assert mended.status == "ok"
        assert found(mended, code) is None


@pytest.mark.parametrize(("code", "program"), MISSES)
def test_a_near_miss_is_left_alone(once: Callable[[str], Trace], code: str, program: str) -> None:
    trace = once(HEAD + program)
    assert trace.status == "ok"
    assert found(trace, code) is None


@pytest.mark.parametrize(("code", "case"), CASES)
def test_a_trace_with_holes_is_read_all_the_same(
    once: Callable[[str], Trace], code: str, case: Mistake, caplog: pytest.LogCaptureFixture
) -> None:
    draw = Random(case.program)
    trace = once(HEAD + case.program)
    shares = {name: draw.choice((0.0, 0.1, 0.5, 1.0)) for name in HOLES}
    kept = {
        name: tuple(one for one in getattr(trace, name) if draw.random() >= share) for name, share in shares.items()
    }
    holed = msgspec.structs.replace(trace, **kept)
    known = {one.id for part in (holed.tensors, holed.nodes, trace.tensors, trace.nodes) for one in part}
    for finding in find(holed):
        assert known.issuperset((*finding.tensors, *finding.nodes))
        for part in PARTS:
            shape = words("en")[f"finding.{finding.code}.{part}"]
            assert not holes(trace.program.code + shape, told(finding, part, "en")), (finding.code, part)
    failed = [record.exc_info[0] for record in caplog.records if record.exc_info]
    assert set(failed) <= {KeyError}, "it may miss what the trace lacks, and go wrong in no other way"


@pytest.mark.parametrize(("before", "severity"), [("", "note"), ("    F.mse_loss(model(x), y)\n", "error")])
def test_steps_that_only_show_a_plan_are_no_mistake(once: Callable[[str], Trace], before: str, severity: str) -> None:
    plan = f"{TRAIN}plan = torch.optim.lr_scheduler.StepLR(opt, 2)\nfor i in range(4):\n{before}    opt.step(); plan.step()\n"
    told = found(once(HEAD + plan), "step_without_backward")
    assert told is not None
    assert told.severity == severity


def test_a_graver_cause_stands_above_what_follows_from_it(once: Callable[[str], Trace]) -> None:
    trace = once(HEAD + next(case.program for case in MISTAKES if case.code == "cut_for_two_passes"))
    assert [(finding.code, finding.follows) for finding in trace.findings if finding.severity != "note"] == [
        ("cut_for_two_passes", None),
        ("step_moves_nothing", 0),
    ]
    assert trace.findings[0].severity == trace.findings[1].severity == "error"


def test_each_model_that_is_loaded_from_itself_is_told(once: Callable[[str], Trace]) -> None:
    program = (
        DRIFTING + "other = copy.deepcopy(net)\nfor i in range(2):\n    loss = net(torch.randn(6, 3)).pow(2).mean()\n"
    )
    loads = "for one in range(2):\n    twin.load_state_dict(twin.state_dict())\n    other.load_state_dict(other.state_dict())\n"
    told = once(HEAD + program + STEP + loads).findings
    assert [finding.parameters["model"] for finding in told if finding.code == "loaded_from_itself"] == [
        "twin",
        "other",
    ]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (
            "w = torch.randn(3, requires_grad=True) * 0.5\n(w * w).sum().backward()\nw.grad.zero_()\n",
            [("leaf_made_non_leaf", None), ("grad_none_non_leaf", 0)],
        ),
        (
            "w = torch.ones(2, requires_grad=True)\nfor i in range(2):\n    (w * w).sum().backward()\n    w = w - 0.1 * w.grad\n",
            [("leaf_rebound", None), ("grad_none_non_leaf", 0), ("gradient_added_up", 0)],
        ),
    ],
)
def test_a_gradient_missing_at_a_leaf_that_lost_its_name_comes_of_that(
    once: Callable[[str], Trace], program: str, told: list[tuple[str, int | None]]
) -> None:
    assert [(finding.code, finding.follows) for finding in once(HEAD + program).findings] == told


def test_a_gradient_added_up_comes_of_what_lets_nobody_zero_it(once: Callable[[str], Trace]) -> None:
    case = next(case for case in MISTAKES if case.code == "not_in_optimizer")
    told = once(HEAD + case.program).findings
    assert [(finding.code, finding.follows) for finding in told] == [
        ("not_in_optimizer", None),
        ("gradient_added_up", 0),
    ]


TWO_OPTIMIZERS = """
a, b = nn.Linear(2, 1), nn.Linear(2, 1)
of_a, of_b = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
x, y = torch.randn(4, 2), torch.randn(4, 1)
for i in range(3):
    of_a.zero_grad()
    nn.functional.mse_loss(a(x), y).backward()
    {steps}
"""


@pytest.mark.parametrize(
    ("program", "told"),
    [
        # about no tensors, and about one thing
        (TWO_OPTIMIZERS.format(steps="of_a.step"), ["method_not_called 11", "  backward_without_step 10"]),
        # the method of another optimizer
        (TWO_OPTIMIZERS.format(steps="of_b.step"), ["method_not_called 11", "backward_without_step 10"]),
        # of one tensor
        (
            "net = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for i in range(2):\n    out = net(x)\n    out.squeeze(1)\n    opt.zero_grad()\n    ((out - y) ** 2).mean().backward()\n"
            "    opt.step()\n",
            ["result_dropped 9", "  difference_broadcast 11"],
        ),
        # of two
        (
            "net = nn.Linear(2, 1)\nx, y = torch.randn(4, 2), torch.randn(4)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for i in range(2):\n    out = net(x)\n    x.abs()\n    opt.zero_grad()\n    ((out - y) ** 2).mean().backward()\n"
            "    opt.step()\n",
            ["result_dropped 9", "difference_broadcast 11"],
        ),
        # of what was to prevent it
        (
            "net = nn.RNN(1, 8, nonlinearity='relu')\nx = torch.rand(20, 6, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.3)\n"
            "for i in range(20):\n    opt.zero_grad()\n    ((net(x)[0][-1].sum(1) - x.sum((0, 2))) ** 2).mean().backward()\n"
            "    opt.step()\n    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n",
            ["clip_after_step 11", "  diverged 9"],
        ),
        # of what threw off the weights before it
        (
            "net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))\nx = torch.rand(32, 4) * 20\n"
            "opt = torch.optim.SGD(net.parameters(), lr=0.001)\nfor i in range(30):\n"
            "    ((net(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()\n    opt.step()\n",
            ["step_without_zero_grad 8", "  dead_relu 8"],
        ),
        # of weights that are all zeros
        (
            "net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))\n"
            "for p in net.parameters():\n    nn.init.zeros_(p)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for i in range(4):\n    loss = (net(torch.randn(8, 4)) - 1).pow(2).mean()\n" + STEP,
            ["dead_relu 9", "  zeros_hold_each_other 9"],
        ),
        # of gradients that nobody zeroes, those of each optimizer for itself
        (
            "made, judge = nn.Linear(2, 3), nn.Linear(3, 1)\nof_made = torch.optim.SGD(made.parameters(), lr=0.1)\n"
            "of_judge = torch.optim.SGD(judge.parameters(), lr=0.1)\nfor i in range(3):\n"
            "    z = torch.randn(4, 2)\n    (judge(made(z).detach()) - judge(torch.randn(4, 3))).mean().backward()\n"
            "    of_judge.step()\n    (-judge(made(z))).mean().backward()\n    of_made.step()\n",
            ["step_without_zero_grad 9", "  gradient_left_by_another 9", "step_without_zero_grad 11"],
        ),
        # of values that a wrong argument led to
        (
            "net = nn.Linear(3, 3)\nx, y = torch.randn(4, 3), torch.full((4, 3), 1 / 3).log()\n"
            "nn.functional.kl_div(net(x).log_softmax(1), y, reduction='batchmean').backward()\n",
            ["kl_target_logarithms 6", "  first_nan_forward 6"],
        ),
        (
            "net = nn.Linear(3, 3)\nx, y = torch.randn(4, 3), torch.full((4, 3), 1 / 3)\n"
            "nn.functional.kl_div(y, net(x).log_softmax(1), reduction='batchmean').backward()\n",
            ["kl_of_probabilities 6", "  first_nan_forward 6"],
        ),
        (
            TRAIN + LOOP.replace("opt.zero_grad()", "opt.zero_grad"),
            ["method_not_called 8", "  step_without_zero_grad 10"],
        ),
        (
            "net = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.Linear(3, 1))\n"
            "x, y = torch.randn(8, 2), torch.randn(8, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
            "for i in range(2):\n    net.train()\n"
            "    opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\n"
            "    net.eval\n    with torch.no_grad():\n        print(F.mse_loss(net(x), y))\n",
            ["method_not_called 10", "  evaluated_in_train 12"],
        ),
        # of one optimizer
        (
            "x, y = torch.randn(8, 2), torch.randn(8, 1)\nnet = nn.Linear(2, 1)\n"
            "opt = torch.optim.SGD(net.parameters(), lr=0.1)\ndef fit(net):\n    for i in range(2):\n"
            "        opt.zero_grad(); F.mse_loss(net(x), y).backward(); opt.step()\n"
            "for fold in range(3):\n    net = nn.Linear(2, 1)\n    fit(net)\n",
            ["optimizer_holds_others 9", "  optimizer_of_old_model 11"],
        ),
    ],
)
def test_what_follows_from_a_cause_stands_under_it_and_another_cause_beside_it(
    once: Callable[[str], Trace], program: str, told: list[str]
) -> None:
    found = [each for each in once(HEAD + program).findings if each.severity != "note"]
    places = [f"{'  ' * (each.follows is not None)}{each.code} {each.span.line}" for each in found if each.span]
    assert places == told


def test_a_loss_that_came_to_nan_is_told_to_its_end(once: Callable[[str], Trace]) -> None:
    program = """net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=5.0)
x, t = torch.randn(8, 2), torch.randn(8, 1)
for i in range(10):
    opt.zero_grad(); F.mse_loss(net(x), t).backward(); opt.step()
"""
    told = once(HEAD + "torch.manual_seed(0)\n" + program).findings[0]
    assert (told.code, told.parameters["most"], told.parameters["last"]) == ("steps_too_long", "inf", "nan")


X_AND_Y = """x = torch.tensor([0., 4.], requires_grad=True)
y = torch.tensor([-1., 2.], requires_grad=True)
"""


@pytest.mark.parametrize(
    ("program", "causes"),
    [
        (  # two in the forward
            "a = x.log()\nb = y.sqrt()\n(a.sum() + b.sum()).backward()\n",
            ["log_of_zero 6", "root_of_negative 7"],
        ),
        (  # one in the forward, one in the backward of another branch, made before it or after
            "a = y.log()\nb = x.sqrt()\n(a.sum() + b.sum()).backward()\n",
            ["log_of_negative 6", "root_at_zero 7"],
        ),
        (
            "b = x.sqrt()\na = y.log()\n(a.sum() + b.sum()).backward()\n",
            ["root_at_zero 6", "log_of_negative 7"],
        ),
        (  # two in one backward
            "z = torch.zeros(2, requires_grad=True)\na = x.sqrt()\nb = z.sqrt()\n(a.sum() + b.sum()).backward()\n",
            ["root_at_zero 7", "root_at_zero 8"],
        ),
        (  # in the data, and in a result
            "z = torch.tensor([float('nan'), 1.])\na = x.log()\n(a * z).sum().backward()\n",
            ["nan_in_data 6", "log_of_zero 7"],
        ),
        (  # neither infinity goes on
            "a = x.detach().log()\nb = 1 / x.detach()\n",
            ["log_of_zero 6", "division_by_zero 7"],
        ),
        # the same value and the same mistake, in two lines; in each turn; in each call
        ("a = x.log()\nb = x.log()\n(a.sum() + b.sum()).backward()\n", ["log_of_zero 6"]),
        (
            "for turn in range(3):\n    z = x * turn\n    z.log().sum().backward()\n    x.grad = None\n",
            ["log_of_zero 8"],
        ),
        (
            "def logarithm(t):\n    return t.log()\nz = x * 2\n(logarithm(x) + logarithm(z)).sum().backward()\n",
            ["log_of_zero 7"],
        ),
        # what is too large is so in two places
        ("a = (x * 300).exp()\nb = (x * 400).exp()\n(a + b).sum().backward()\n", ["overflow 6"]),
        # what comes of the first: through an infinity that is finite again, as a number, and through a step
        ("a = (1 / x).sum() + x.sum()\nb = 1 / a\nc = b.log()\n(a + c).backward()\n", ["division_by_zero 6"]),
        (
            "a = x.log().sum()\nb = (y * a.item()).sum()\n(a + b).backward()\n",
            ["log_of_zero 6"],
        ),
        (
            "opt = torch.optim.SGD([x], lr=0.1)\nx.sqrt().sum().backward()\n"
            "nn.utils.clip_grad_value_([x], 1.0)\nopt.step()\n(x - x).log()\n",
            ["root_at_zero 7"],
        ),
    ],
)
def test_each_cause_of_nan_and_infinity_is_told_once(
    once: Callable[[str], Trace], program: str, causes: list[str]
) -> None:
    told = [f"{each.code} {each.span.line}" for each in once(HEAD + X_AND_Y + program).findings if each.span]
    assert sorted(told, key=lambda cause: cause.rpartition(" ")[2]) == causes


@pytest.mark.parametrize("code", sorted(POSSIBLE))
def test_what_is_not_proven_is_worded_so(code: str) -> None:
    assert "seem" in words("en")[f"finding.{code}.title"]
    assert "像" in words("zh")[f"finding.{code}.title"]


def test_the_programs_stand_in_files_named_like_those_that_find_their_mistakes() -> None:
    programs = {path.name for path in Path(silent.__path__[0]).glob("[!_]*.py")}
    assert programs <= {path.name for path in Path(findings.__path__[0]).glob("*.py")}


def test_every_code_has_two_programs_and_a_near_miss() -> None:
    triggers = Counter(case.code for case in MISTAKES)
    assert min(triggers.values()) >= 2
    assert set(triggers) <= {code for code, _ in NEAR_MISSES}


@pytest.mark.parametrize("name", healthy.HEALTHY)
def test_a_right_program_has_only_true_notes(once: Callable[[str], Trace], name: str) -> None:
    program, notes = healthy.HEALTHY[name]
    trace = once(healthy.HEAD + program.removeprefix("\n"))
    assert trace.status == "ok"
    assert {finding.code for finding in trace.findings} == notes
    assert all(finding.severity == "note" for finding in trace.findings)


@pytest.mark.parametrize(("turns", "severity"), [(19, "warning"), (20, "note")])
def test_an_optimizer_made_anew_is_noted_where_few_steps_are_its_first(
    once: Callable[[str], Trace], turns: int, severity: str
) -> None:
    program = (
        "net, x = nn.Linear(2, 1), torch.randn(4, 2)\nfor epoch in range(2):\n    opt = torch.optim.Adam(net.parameters())\n"
        f"    for i in range({turns}):\n        opt.zero_grad(); net(x).pow(2).mean().backward(); opt.step()\n"
    )
    told = found(once(HEAD + program), "optimizer_made_anew")
    assert told is not None
    assert told.severity == severity


SAMPLED = {
    "a GAN whose two inner loops turn twice": """import torch
from torch import nn
G, D = nn.Linear(1, 2), nn.Linear(2, 1)
of_d, of_g = torch.optim.SGD(D.parameters(), lr=0.01), torch.optim.SGD(G.parameters(), lr=0.01)
for epoch in range(40):
    for _ in range(2):
        D.zero_grad()
        (1 - D(torch.randn(4, 2))).relu().mean().backward()
        (1 + D(G(torch.randn(4, 1)).detach())).relu().mean().backward()
        of_d.step()
    for _ in range(2):
        G.zero_grad()
        (-D(G(torch.randn(4, 1))).mean()).backward()
        of_g.step()
""",
    "tasks whose gradients add up, first zeroed when there are none": """import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters())
for step in range(30):
    opt.zero_grad()
    for _ in range(4):
        fast = dict(net.named_parameters())
        for _ in range(2):
            loss = torch.func.functional_call(net, fast, (torch.randn(8, 3),)).pow(2).mean()
            slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: each - 0.01 * slope for (name, each), slope in zip(fast.items(), slopes)}
        torch.func.functional_call(net, fast, (torch.randn(8, 3),)).pow(2).mean().backward()
    opt.step()
""",
    "micro-batches that are zeroed after the step": """import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters())
for step in range(30):
    for _ in range(4):
        (net(torch.randn(8, 3)).pow(2).mean() / 4).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    opt.zero_grad(set_to_none=True)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SAMPLED, *healthy.HEALTHY])
def test_a_long_loop_that_is_sampled_has_no_more_findings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "FULL", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 200)
    program = SAMPLED[name] if name in SAMPLED else healthy.HEAD + healthy.HEALTHY[name][0].removeprefix("\n")
    trace = record(program, patched=True)
    assert {finding.code for finding in trace.findings if finding.severity != "note"} == set()
    assert trace.gaps or name in healthy.HEALTHY


WARMED_UP = """import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters())
plan = torch.optim.lr_scheduler.LambdaLR(opt, lambda n: n / 80)
for i in range(80):
    net(torch.randn(8, 3)).pow(2).mean().backward()
    opt.step()
    plan.step()
    opt.zero_grad()
"""


def test_one_step_of_a_long_loop_is_not_taken_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "FULL", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 200)
    trace = record(WARMED_UP, patched=True)
    steps = [update for update in trace.updates if update.kind == "step"]
    few = tuple(update for update in trace.updates if update not in steps[1:])
    assert trace.gaps
    assert steps[0].settings[0]["lr"] == "0.0"
    told = find(msgspec.structs.replace(trace, updates=few))
    assert "learning_rate_zero" not in {finding.code for finding in told}


QUANTIZED = """import torch
from torch import nn
from torch.nn import functional as F
encoder, codes, decoder = nn.Linear(5, 4), nn.Embedding(6, 4), nn.Linear(4, 5)
opt = torch.optim.Adam([*encoder.parameters(), *codes.parameters(), *decoder.parameters()], lr=0.01)
for i in range(90):
    x = torch.randn(8, 5)
    z = encoder(x)
    q = codes(torch.cdist(z, codes.weight).argmin(1))
    q = z + (q - z).detach()
    loss = F.mse_loss(decoder(q), x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    opt.zero_grad(); loss.backward(); opt.step()
"""


COLLECTED = """import torch
from torch import nn
policy = nn.Linear(4, 3)
opt = torch.optim.Adam(policy.parameters())
for episode in range(90):
    scores = []
    for _ in range(5):
        likely = policy(torch.randn(4)).log_softmax(0)
        scores.append(likely[int(torch.randint(3, ()))])
    scores = torch.tensor(scores, requires_grad=True)
    loss = -(scores * torch.randn(5)).sum()
    opt.zero_grad(); loss.backward(); opt.step()
"""


@pytest.mark.parametrize(
    ("program", "codes"),
    [
        (QUANTIZED, ["taken_straight_through", "cut_by_integer"]),
        (COLLECTED, ["leaf_recreated", "ends_in_new_leaf"]),
    ],
)
def test_a_cut_in_every_turn_is_found_where_the_last_turns_are_left_out(
    program: str, codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "FULL", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 200)
    trace = record(program, patched=True)
    assert trace.gaps
    assert [finding.code for finding in trace.findings] == codes
    assert [finding.follows for finding in trace.findings] == [None, 0][: len(codes)]


PLANNED = """import torch
from torch import nn
from torch.nn import functional as F
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.StepLR(opt, step_size=10)
data = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range({batches})]
for epoch in range(30):
    for x, y in data:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        plan.step()
"""


@pytest.mark.parametrize(("batches", "codes"), [(4, {"scheduled_per_batch"}), (1, set())])
def test_a_plan_is_held_against_the_turns_left_out_too(
    batches: int, codes: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "FULL", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 200)
    trace = record(PLANNED.format(batches=batches), patched=True)
    assert len([update for update in trace.updates if update.kind == "step"]) < 60
    assert {(finding.code, finding.parameters["times"]) for finding in trace.findings} == {
        (code, "120") for code in codes
    }


BEST_KEPT = """import torch
from torch import nn
from torch.nn import functional as F
x, y, model = torch.randn(16, 3), torch.randn(16, 1), nn.Linear(3, 1)
opt, best, kept = torch.optim.SGD(model.parameters(), lr=0.1), 9e9, model.state_dict()
for epoch in range(9):
    opt.zero_grad(); F.mse_loss(model(x), y).backward(); opt.step()
    with torch.no_grad():
        lost = sum(F.mse_loss(model(one), of) for one, of in zip(x, y))
    if lost < best:
        best, since = lost, epoch
        kept = {state}
model.load_state_dict(kept)
"""


@pytest.mark.parametrize(
    ("state", "codes"),
    [
        ("model.state_dict()", ["state_dict_shared"]),
        ("dict(model.state_dict())", ["state_dict_shared"]),
        ("{k: v.clone() for k, v in model.state_dict().items()}", []),
        ("model.state_dict()\n        kept = {k: v.clone() for k, v in kept.items()}", []),
    ],
)
def test_a_state_kept_without_a_copy_is_found_where_its_load_is_not_recorded(state: str, codes: list[str]) -> None:
    limits = msgspec.structs.replace(DEFAULT_LIMITS, ops=200)
    trace = record(BEST_KEPT.replace("{state}", state), limits)
    assert any(left.limit == "ops" for left in trace.truncated)
    assert [finding.code for finding in trace.findings] == codes
    assert [finding.span and finding.span.line for finding in trace.findings] == [12] * len(codes)


@pytest.mark.parametrize(
    ("state", "codes"),
    [
        ("model.state_dict().copy()", ["state_dict_shared"]),
        ("{k: v.clone() for k, v in model.state_dict().items()}", []),
    ],
)
def test_a_state_kept_without_a_copy_is_found_where_the_turn_that_kept_it_is_left_out(
    state: str, codes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "FULL", 100)
    monkeypatch.setattr(sampling, "SAMPLE", 200)
    program = BEST_KEPT.replace("{state}", state).replace("range(9)", "range(60)")
    trace = record(program.replace("if lost < best", "if lost < best and epoch < 40"), patched=True)
    assert trace.gaps
    assert [finding.code for finding in trace.findings] == codes


def test_checkpoints_of_which_pytorch_warns_once_have_one_diagnosis(trace: Callable[[str], Trace]) -> None:
    ran = trace(
        f"""{HEAD}from torch.utils.checkpoint import checkpoint
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)
    def forward(self, x):
        return self.net(x)
one, two, head = Block(), Block(), nn.Linear(3, 1)
opt = torch.optim.SGD([*one.parameters(), *two.parameters(), *head.parameters()], lr=0.1)
for i in range(3):
    x = checkpoint(one, torch.randn(4, 3), use_reentrant=True)
    x = checkpoint(two, x, use_reentrant=True)
    opt.zero_grad(); head(x).sum().backward(); opt.step()
with torch.no_grad():
    print(head(two(one(torch.ones(1, 3)))))
"""
    )
    assert [finding.code for finding in ran.findings if finding.severity != "note"] == ["checkpoint_without_gradient"]


def test_units_that_rounding_alone_sets_apart_are_copies(trace: Callable[[str], Trace]) -> None:
    ran = trace(
        f"""{HEAD}net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
nn.init.constant_(net[0].weight, 0.1); nn.init.zeros_(net[0].bias); nn.init.constant_(net[2].weight, 0.1)
x = torch.linspace(-3, 3, 50).unsqueeze(1); opt = torch.optim.Adam(net.parameters(), lr=0.05)
for i in range(60):
    opt.zero_grad(); F.mse_loss(net(x), torch.sin(2 * x)).backward(); opt.step()
"""
    )
    assert "symmetric_units" in {finding.code for finding in ran.findings}
