"""A fix is judged by the edited program's run: real traces, and edits that do harm."""

from textwrap import dedent

import msgspec
import pytest

from engine.fixes import Trial, edited, fixable, judge
from engine.program.edits import applied
from engine.trace import Edit, Finding, Span, Tensor, Trace
from tests.conftest import TraceOf

HEAD = "import torch\n"
CUT = """w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
loss = ((w * 2).detach().sum() + b) ** 2
loss.backward()
"""
TRAINED = """w = torch.tensor([4.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.4)
for _ in range(6):
    loss = (w * w).sum()
    loss.backward()
    optimizer.step()
print(loss.item())
"""
MISSPELT = """x = torch.ones(3, requires_grad=True)
y = (x * 2).sum()
y.backwar()
print(x.grad)
"""


def first(trace: Trace) -> int:
    return fixable(trace)[0]


def mended(trace: TraceOf, program: str) -> tuple[Trace, Trial, Trace]:
    """A program's run, the trial of its first fix, and the edited program's run."""
    before = trace(HEAD + dedent(program))
    at = first(before)
    after = trace(applied(before.program.code, before.findings[at].fix))
    return before, judge(before, at, after), after


def tried(trace: TraceOf, program: str, edited: str, finding: int = 0) -> Trial:
    """The trial of an edit that nobody would offer."""
    before = trace(HEAD + program)
    assert before.findings, "the program was to have a finding"
    return judge(before, finding, trace(HEAD + edited))


def test_a_gradient_that_arrives_is_the_proof(trace: TraceOf) -> None:
    before, trial, after = mended(trace, CUT)
    assert (trial.verdict, trial.run, trial.stops_at) == ("mends", after.id, None)
    shift = trial.proof[0]
    assert (shift.what, shift.name, shift.before) == ("gradient", "w", None)
    assert isinstance(shift.after, Tensor)
    assert shift.after.data == (26.0, 26.0)
    assert before.findings[trial.finding].code == "cut_by_detach"


def test_a_loss_that_falls_is_told_and_one_that_rises_is_not(trace: TraceOf) -> None:
    _, trial, _ = mended(trace, TRAINED)
    assert trial.verdict == "mends"
    assert ("loss", "loss") in {(shift.what, shift.name) for shift in trial.proof}
    rising = judge(*_swapped(trace))
    assert all(shift.what != "loss" for shift in rising.proof)


def test_a_loss_that_is_nan_before_and_after_proves_nothing(trace: TraceOf) -> None:
    _, trial, _ = mended(trace, TRAINED + "\nprint(((w - w) / 0).sum().backward())\n")
    assert all(shift.what != "loss" for shift in trial.proof)


def _swapped(trace: TraceOf) -> tuple[Trace, int, Trace]:
    """The same two runs the other way round, with a finding that only the first one has."""
    before = trace(HEAD + TRAINED)
    after = trace(applied(before.program.code, before.findings[first(before)].fix))
    return msgspec.structs.replace(after, findings=(Finding(code="odd", severity="error"),)), 0, before


def test_what_may_be_meant_is_proven_only_by_something_that_is_better(trace: TraceOf) -> None:
    drawn = """enc, dec = torch.nn.Linear(3, 2), torch.nn.Linear(2, 3)
opt = torch.optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
x = torch.randn(5, 3)
for i in range(2):
    q = torch.distributions.Normal(enc(x), 1.0)
    loss = (dec(q.sample()) - x).square().mean() + 0.1 * q.mean.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    edited = drawn.replace("sample", "rsample")
    assert tried(trace, drawn, edited.replace("loss =", "loss = 9 +")).verdict == "remains"
    starved = drawn.replace(" + 0.1 * q.mean.square().mean()", "")
    assert (
        tried(trace, starved, starved.replace("sample", "rsample").replace("loss =", "loss = 9 +")).verdict == "mends"
    )


def test_an_error_that_is_gone_lets_the_program_run_to_its_end(trace: TraceOf) -> None:
    _, trial, _ = mended(trace, MISSPELT)
    assert (trial.verdict, trial.stops_at) == ("mends", None)


def test_numbers_that_were_only_drawn_later_prove_nothing(trace: TraceOf) -> None:
    program = "net = torch.nn.Linear(3, 2)\nx = torch.randn(4, 5)\ny = net(x).sum()\nprint(y)\n"
    _, trial, _ = mended(trace, program)
    assert trial.verdict == "mends"
    assert "x" not in {shift.name for shift in trial.proof}


def test_a_second_mistake_further_on_does_not_count_against_a_fix(trace: TraceOf) -> None:
    _, trial, after = mended(trace, MISSPELT + "print(x.reqires_grad)\n")
    assert after.status == "failed"
    assert (trial.verdict, trial.stops_at) == ("mends", 6)


def test_of_a_layer_that_no_name_led_to_only_what_changes_is_the_proof(trace: TraceOf) -> None:
    program = """
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(2, 2)]
                self.out = nn.Linear(2, 1)
            def forward(self, x):
                return self.out(self.layers[0](x))
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        net(torch.ones(4, 2)).sum().backward()
        opt.step()
        """
    _, trial, _ = mended(trace, program)
    assert [(shift.what, shift.name) for shift in trial.proof] == [
        ("value", "net.layers.0.weight"),
        ("value", "net.layers.0.bias"),
    ]
    assert all(isinstance(shift.before, Tensor) for shift in trial.proof)


@pytest.mark.parametrize(
    ("verdict", "edited"),
    [
        ("remains", CUT.replace("0.5", "0.75")),
        ("stops", CUT.replace(".detach()", ".detached()")),
        ("stops", "x = (\n"),
        ("new_finding", CUT.replace("(w * 2).detach()", "torch.tensor((w * 2).tolist())")),
        pytest.param("not_finished", CUT.replace(".detach()", "") + "while True: pass\n", marks=pytest.mark.slow),
        pytest.param(
            "not_finished", CUT.replace(".detach()", "") + "while True: print('x' * 10_000)\n", marks=pytest.mark.slow
        ),
    ],
)
def test_an_edit_that_does_not_mend_says_why(trace: TraceOf, verdict: str, edited: str) -> None:
    def hurried(code: str, **limits: float) -> Trace:
        return trace(code, wall_s=2.0, output_bytes=100_000, **limits)

    trial = tried(hurried, CUT, edited)
    assert (trial.verdict, trial.proof) == (verdict, ())


def test_an_edit_that_python_warns_of_does_not_mend(trace: TraceOf) -> None:
    program = "z = torch.ones(2, 2) * 1j\nprint(z @ torch.ones(2, 2))\nprint(z.T.expand(3, 2, 2).mT.shape)\n"
    dropped = tried(trace, program, program.replace("(z @", "(z.float() @"))
    kept = tried(trace, program, program.replace("torch.ones(2, 2))\n", "torch.ones(2, 2).to(z.dtype))\n"))
    further = "import warnings\nwarnings.warn('an old one')\n"
    late = tried(trace, program + further, (program + further).replace("torch.ones(2, 2))\n", "(z * 0 + 1))\n"))
    assert (dropped.verdict, kept.verdict, late.verdict) == ("new_finding", "mends", "mends")


def test_the_same_line_failing_otherwise_is_not_further(trace: TraceOf) -> None:
    swapped = """net = torch.nn.Linear(4, 3)
target = torch.tensor([0, 1, 2])
loss = torch.nn.CrossEntropyLoss()(target, net(torch.ones(3, 4)))
"""
    assert tried(trace, swapped, swapped.replace("(target,", "(target.float(),")).verdict == "stops"
    assert (
        tried(
            trace, swapped, swapped.replace("(target, net(torch.ones(3, 4)))", "(net(torch.ones(3, 4)), target)")
        ).verdict
        == "mends"
    )


def test_a_program_that_leaves_out_what_it_did_is_not_mended(trace: TraceOf) -> None:
    printing = CUT + "if loss > 0:\n    w = w + 1\n    print('positive')\nprint('end')\n"
    without_output = printing.replace(".detach()", "").replace("print('end')\n", "")
    without_lines = printing.replace(".detach()", "").replace("loss > 0", "loss < 0")
    assert tried(trace, printing, without_output).verdict == "output_lost"
    assert tried(trace, printing, without_lines).verdict == "lines_lost"


def test_a_second_mistake_of_the_kind_on_the_line_casts_no_doubt_on_the_first(trace: TraceOf) -> None:
    program = """users, items = torch.ones(2), torch.zeros(2)
table = torch.nn.Embedding(3, 2)
print(table(users) + table(items))
"""
    told = tried(trace, program, program.replace("table(users)", "table(users.long())"))
    assert (told.verdict, told.certainty) == ("stops", None)


def test_a_line_may_print_less_often(trace: TraceOf) -> None:
    often = CUT + "for i in range(2 if loss > 0 else 1):\n    print(i)\n"
    once = often.replace(".detach()", "").replace("2 if", "1 if")
    assert tried(trace, often, once).verdict == "mends"


CARRIED = """rnn, head = torch.nn.GRUCell(3, 5), torch.nn.Linear(5, 1)
h = torch.zeros(2, 5)
for t in range(4):
    h = rnn(torch.randn(2, 3), h)
    loss = head(h).pow(2).mean()
    loss.backward()
"""
TESTED = """net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
X, Y = torch.randn(20, 4), torch.randint(0, 2, (20,))
for epoch in range(3):
    net.train()
    opt.zero_grad()
    torch.nn.functional.cross_entropy(net(X), Y).backward()
    opt.step()
    net.eval()
    test_loss = torch.nn.functional.cross_entropy(net(X), Y)
    test_loss.backward()
    opt.step()
"""
STRETCHED = """encoder, head = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
loss = torch.nn.functional.mse_loss(head(encoder(torch.randn(6, 3))), torch.randn(6))
loss.backward()
"""
ARRAY = """w = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
a = (w * 2).numpy()
((torch.tensor(a) + b) ** 2).sum().backward()
"""


@pytest.mark.parametrize(
    ("verdict", "program", "edited"),
    [
        ("graph_grows", CARRIED, CARRIED.replace("backward()", "backward(retain_graph=True)")),
        (
            "gradient_lost",
            STRETCHED,
            STRETCHED.replace(
                "head(encoder(torch.randn(6, 3)))", "head(encoder(torch.randn(6, 3)).detach()).squeeze(1)"
            ),
        ),
        ("new_finding", ARRAY, ARRAY.replace("(w * 2).numpy()", "(w * 2).detach().numpy()")),
        ("remains", CUT, CUT.replace("(w * 2).detach()", "torch.zeros(2)")),
    ],
    ids=["a kept graph for a detached state", "a cut encoder", "a detached array", "a leaf left out"],
)
def test_a_quieted_symptom_is_no_cure(trace: TraceOf, verdict: str, program: str, edited: str) -> None:
    assert tried(trace, program, edited).verdict == verdict


def test_the_right_cures_of_the_same_programs_mend(trace: TraceOf) -> None:
    detached = CARRIED.replace("backward()", "backward()\n    h = h.detach()")
    assert tried(trace, CARRIED, detached).verdict == "mends"
    squeezed = STRETCHED.replace("(6, 3)))", "(6, 3))).squeeze(1)")
    assert tried(trace, STRETCHED, squeezed).verdict == "mends"


def test_a_model_made_anew_behind_the_failing_line_has_lost_no_gradient(trace: TraceOf) -> None:
    program = """x = torch.ones(3, 2)
model = torch.nn.Linear(2, 1)
model(x).sum().backward()
print(torch.ones(2) @ torch.ones(3))
model = torch.nn.Linear(2, 1)
print(model(x))
"""
    assert tried(trace, program, program.replace("ones(3))", "ones(2))")).verdict == "mends"


def test_a_loop_over_one_graph_does_not_grow(trace: TraceOf) -> None:
    rows = """x = torch.ones(4, requires_grad=True)
y = x.exp() * 2
for i in range(4):
    y[i].backward()
"""
    assert tried(trace, rows, rows.replace("backward()", "backward(retain_graph=True)")).verdict == "mends"


def test_what_follows_from_a_cause_is_not_mended_while_that_is_there(trace: TraceOf) -> None:
    before = trace(HEAD + TESTED)
    at = next(at for at, finding in enumerate(before.findings) if finding.code == "step_without_zero_grad")
    assert before.findings[before.findings[at].follows or 0].code == "trained_while_evaluating"
    trial = judge(before, at, trace(edited(before, at).code))
    assert (trial.verdict, trial.certainty) == ("remains", "possible")


def test_a_cause_is_as_certain_as_its_trial_says(trace: TraceOf) -> None:
    assert tried(trace, CUT, CUT.replace(".detach()", "")).certainty == "certain"
    assert tried(trace, CUT, CUT.replace("0.5", "0.75")).certainty == "possible"
    assert tried(trace, CUT, CUT.replace("detach()", "detached()")).certainty is None
    assert tried(trace, MISSPELT, MISSPELT.replace("print", "repr")).certainty == "possible"
    other_error = MISSPELT.replace("backwar()", "backward(torch.ones(2))")
    assert tried(trace, MISSPELT, other_error).certainty is None


def test_an_error_is_mended_though_no_pass_reaches_its_leaves_yet(trace: TraceOf) -> None:
    program = """
        w = torch.ones(2, requires_grad=True)
        (w * 2).sum().backward()
        layer = torch.nn.Linear(2, 1)
        print(layer(torch.ones(2, dtype=torch.float64)))
        """
    _, trial, after = mended(trace, program)
    assert (trial.verdict, trial.certainty, after.status) == ("mends", "certain", "ok")


def test_what_may_be_meant_stays_possible(trace: TraceOf) -> None:
    before = trace(HEAD + CUT)
    meant = msgspec.structs.replace(before.findings[0], certainty="possible")
    before = msgspec.structs.replace(before, findings=(meant,))
    trial = judge(before, 0, trace(edited(before, 0).code))
    assert (trial.verdict, trial.certainty) == ("mends", None)


UNRECORDED = """net = torch.nn.Linear(3, 2)
with torch.no_grad():
    out = net(torch.ones(4, 3))
out.sum().backward()
"""
COUNTED = """w = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
k = (w * 2).long()
(k * b).sum().backward()
"""


@pytest.mark.parametrize(
    ("program", "leaf"),
    [
        (UNRECORDED, "net.weight"),
        (UNRECORDED.replace("torch.no_grad()", "torch.inference_mode()"), "net.weight"),
        (UNRECORDED.replace("with torch.no_grad():", "with torch.set_grad_enabled(False):"), "net.weight"),
        (COUNTED, "w"),
        (COUNTED.replace("(w * 2).long()", "torch.round(w * 2)"), "w"),
        (COUNTED.replace("(w * 2).long()", "torch.tensor((w * 2).tolist())"), "w"),
        ("x = torch.ones(2, requires_grad=True)\ny = x * x\nx.data.mul_(10)\ny.sum().backward()\n", "x"),
    ],
    ids=["no_grad", "inference_mode", "switched off", "cast", "rounded", "listed", "edited under the graph"],
)
def test_a_cause_without_a_cure_is_proven_by_an_experiment(trace: TraceOf, program: str, leaf: str) -> None:
    before, trial, _ = mended(trace, program)
    assert before.findings[trial.finding].is_experiment
    assert (trial.verdict, trial.certainty) == ("mends", "certain")
    assert ("gradient", leaf) in {(shift.what, shift.name) for shift in trial.proof}


def test_an_experiment_that_breaks_the_program_says_nothing(trace: TraceOf) -> None:
    array = COUNTED.replace("(w * 2).long()", "(w * 2).detach().numpy()").replace(
        "(k * b)", "(torch.tensor(k.copy()) * b)"
    )
    before, trial, after = mended(trace, array)
    assert before.findings[trial.finding].is_experiment
    assert (after.status, trial.verdict, trial.certainty) == ("failed", "stops", None)


def test_a_fix_beside_the_error_need_not_get_further(trace: TraceOf) -> None:
    program = "x = torch.ones(3)\nx.relu()\nx.flurb()\n"
    before = trace(HEAD + program)
    beside = next(at for at in fixable(before) if before.findings[at].code == "result_dropped")
    after = trace(applied(before.program.code, before.findings[beside].fix))
    assert judge(before, beside, after).verdict == "mends"


def test_a_fix_that_changes_nothing_remains(trace: TraceOf) -> None:
    before = trace(HEAD + CUT)
    same = Edit(span=Span(line=1, end_line=1, column=0, end_column=0), text="")
    assert applied(before.program.code, (same,)) == before.program.code
    assert judge(before, 0, before).verdict == "remains"


@pytest.mark.parametrize(
    "program",
    [
        "class Net(torch.nn.Module):\n\tdef __init__(self):\n\t\tself.a = torch.nn.Linear(2, 2)\nNet()\n",
        "x = torch.ones(2, requires_grad=True)\ny = x.exp(); y += 1\ny.sum().backward()\n",
    ],
    ids=["tabs", "two statements on a line"],
)
def test_a_line_more_keeps_to_the_ways_of_the_program(trace: TraceOf, program: str) -> None:
    before = trace(HEAD + program)
    for at in fixable(before):
        edited = trace(applied(before.program.code, before.findings[at].fix))
        assert judge(before, at, edited).verdict == "mends"
