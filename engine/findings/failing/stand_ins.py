"""What stands in for things that a program names and does not have: data in files, a library, a sketch's names."""

import ast

from engine.findings.failing.case import Case
from engine.program.edits import Edits
from engine.program.names import called, dotted, names_read

SAMPLE_SETS = dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST"), "1, 28, 28") | dict.fromkeys(
    ("CIFAR10", "ImageFolder", "FakeData", "SVHN"), "3, 32, 32"
)
"""Sets of pictures that `torchvision.datasets` reads from files, and the size of one picture."""
_SPLIT = """\
def train_test_split(*arrays, test_size=0.25, random_state=None):
    import torch
    order = torch.randperm(len(arrays[0]))
    unseen, known = order[:round(test_size * len(order))], order[round(test_size * len(order)):]
    return [part for array in arrays for part in (array[known], array[unseen])]
"""
_SKETCH = """\
import numpy as np
import torch
nb_epochs, learning_rate = 10, 0.05
params = torch.zeros(1)
data = np.linspace([-1.0, -3.0], [1.0, 3.0], 40)  # rows of x and y = 3x
def loss_function(rows, params):
    return ((params * rows[..., 0] - rows[..., 1]) ** 2).mean()
def evaluate_gradient(loss_function, rows, params):
    w = params.detach().requires_grad_()
    loss_function(torch.tensor(rows), w).backward()
    return w.grad
def get_batches(data, batch_size):
    return np.array_split(data, max(1, len(data) // batch_size))
"""
_SKETCHED = frozenset(
    "nb_epochs learning_rate params data loss_function evaluate_gradient get_batches np torch".split()
)
"""Names of the sketch of gradient descent that textbooks share."""


def sample_sets(case: Case) -> Edits:
    """Pictures made here in place of those in files: the import, and each call that reads a set."""
    code, statement = case.code, case.node
    calls = [call for call in code.calls if dotted(call.func).rpartition(".")[2] in SAMPLE_SETS]
    if not calls or not isinstance(statement, ast.Import | ast.ImportFrom):
        return ()
    imports = [one for one in code.nodes if isinstance(one, ast.Import | ast.ImportFrom) and _is_of(one, "torchvision")]
    names = {(each.asname or each.name).partition(".")[0] for one in imports for each in one.names}
    inside = {node for call in calls for node in ast.walk(call)}
    made_of = [one for one in code.bindings if dotted(one.targets[0]) and names & names_read(one.value)]
    for_sets = [one for one in made_of if not any(call in ast.walk(one.value) for call in calls)]
    names |= {dotted(one.targets[0]) for one in for_sets}  # as what turns pictures into tensors
    inside |= {node for one in (*imports, *for_sets) for node in ast.walk(one)}
    if any(isinstance(node, ast.Name) and node.id in names and node not in inside for node in code.nodes):
        return ()
    made = [
        code.replace(
            call,
            "torch.utils.data.TensorDataset("
            f"torch.rand(100, {SAMPLE_SETS[dotted(call.func).rpartition('.')[2]]}), torch.randint(10, (100,)))",
        )
        for call in calls
    ]
    others = [code.replace(one, "pass") for one in imports if one is not statement]
    others += [code.replace(one.value, "None") for one in for_sets]
    return (code.replace(statement, "import torch.utils.data"), *others, *made)


def _is_of(statement: ast.Import | ast.ImportFrom, package: str) -> bool:
    """Whether an import is of a package or what is in it."""
    names = [one.name for one in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
    return all(name.partition(".")[0] == package for name in names)


def split(case: Case) -> Edits:
    """The one function of scikit-learn's that a first training needs, written out in place of its import."""
    statement = case.node
    if not isinstance(statement, ast.ImportFrom) or statement.module != "sklearn.model_selection":
        return ()
    (first, *others) = statement.names
    words = [word for call in case.code.calls if called(call) == first.name for word in call.keywords]
    is_whole = any(word.arg == "test_size" and "." not in ast.unparse(word.value) for word in words)
    if others or first.asname or first.name not in ("train_test_split", "test_train_split"):
        return ()
    if is_whole or not {word.arg for word in words} <= {"test_size", "random_state"}:  # it asks for more than that
        return ()
    return (case.code.replace(statement, _SPLIT.rstrip().replace("train_test_split", first.name)),)


def sketch(case: Case, name: str) -> Edits:
    """What `evaluate_gradient` and its like stand for, for a straight line, above a program that gives none of it."""
    code = case.code
    is_sketch = any(dotted(call.func) == "evaluate_gradient" for call in code.calls)
    if name not in _SKETCHED or not is_sketch or any(code.is_bound(given) for given in ("data", "evaluate_gradient")):
        return ()
    return (code.line_above(code.tree.body[0], _SKETCH.rstrip()),)
