"""What is told of the variables at the end."""

import torch

import engine


def test_a_list_of_many_is_printed_no_further_than_it_is_shown() -> None:
    trace = engine.run("import torch\nmany = [torch.tensor(i) for i in range(3000)]\nfew = list(range(150))\n")
    texts = {variable.name: variable.text for variable in trace.variables}
    assert texts["many"] == str([torch.tensor(i) for i in range(3000)])[:3999] + "…"
    assert texts["few"] == str(list(range(150)))
