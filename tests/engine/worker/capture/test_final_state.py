"""What is told of the variables at the end."""

import torch

import engine


def test_a_list_of_many_is_printed_no_further_than_it_is_shown() -> None:
    trace = engine.run("import torch\nmany = [torch.tensor(i) for i in range(3000)]\nfew = list(range(150))\n")
    texts = {variable.name: variable.text for variable in trace.variables}
    assert texts["many"] == str([torch.tensor(i) for i in range(3000)])[:3999] + "…"
    assert texts["few"] == str(list(range(150)))


def test_each_leaf_in_a_long_list_is_named_by_its_place_and_nothing_else_of_it_is_told() -> None:
    trace = engine.run(
        "import torch\n"
        "ps = [torch.tensor(1.0, requires_grad=True) for _ in range(1200)]\n"
        "again = {'ps': ps[::-1] * 5, 'x': list(torch.ones(200_000))}\n"
        "torch.stack(ps).sum().backward()\n"
    )
    leaves = [tensor for tensor in trace.tensors if tensor.requires_grad and tensor.is_leaf]
    assert [leaf.names[0] for leaf in leaves] == [f"ps[{at}]" for at in range(1200)]
    assert [len(variable.tensors) for variable in trace.variables if variable.name == "ps"] == [64]
    assert sum(any("again[" in name for name in tensor.names) for tensor in trace.tensors) == 3 * 64
