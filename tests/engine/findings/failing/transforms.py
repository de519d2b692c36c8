"""What `engine/findings/failing/transforms.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import Row

FUNC = "from torch.func import functional_call, grad, jacfwd, jacrev, vjp, vmap\n"

TRIGGERS: dict[str, list[Row]] = {
    "sample_alone": [
        Row(FUNC + "net = nn.Linear(3, 3)\ndef first(x):\n    h = net(x)\n    return h[:, 0] #<\nvmap(first)(torch.ones(4, 3))\n", {"name": "h", "right": "h[..., 0]", "map_line": "10", "is_index": "1"}, True),
        Row(FUNC + "def total(w, x):\n    return (w * x).sum(1).sum() #<\nw, xs = torch.ones(3), torch.ones(4, 3)\nslopes = vmap(grad(total), in_dims=(None, 0))\nslopes(w, xs)\n", {"is_other": "1", "map_line": "10"}),
        Row(FUNC + "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))\nx = torch.ones(4, 1, 6, 6)\nvmap(jacrev(net))(x) #<\n", {"is_norm": "1", "shape": "[2, 4, 4]"}),
    ],
    "func_asked_to_track": [
        Row(FUNC + "def f(x):\n    return (x ** 2).sum()\ndef slopes(x):\n    return torch.autograd.functional.jacobian(f, x) #<\nvmap(slopes)(torch.ones(3, 2))\n", {"instead": "jacrev", "start_line": "10", "is_made": "1"}),
        Row(FUNC + "def f(x):\n    return x.exp().sum()\npulled = vmap(torch.autograd.functional.vjp, in_dims=(None, 0))\npulled(f, torch.ones(3, 2)) #<\n", {"instead": "vjp", "is_pair": "1"}),
        Row(FUNC + "def f(x):\n    x.requires_grad_() #<\n    return (x ** 2).sum()\ngrad(f)(torch.ones(2))\n", {"is_own": "1", "start_line": "9"}),
    ],
    "func_captured_written": [
        Row(FUNC + "seen = torch.zeros(3)\ndef f(x):\n    seen.add_(x) #<\n    return (seen * x).sum()\ngrad(f)(torch.ones(3))\n", {"name": "seen", "is_norm": "0"}),
        Row(FUNC + "net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))\nx, weights = torch.ones(4, 2), dict(net.named_parameters())\ndef loss(weights):\n    return functional_call(net, weights, (x,)).sum() #<\ngrad(loss)(weights)\n", {"layer": "BatchNorm1d", "is_norm": "1"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "sample_alone": FUNC + "def first(x):\n    return x[:, 0].sum()\njacfwd(first)(torch.ones(3))\n",
    "func_asked_to_track": FUNC + "x = torch.ones(2, requires_grad=True)\ngrad(lambda w: (w * x).sum())(torch.ones(2))\n",
    "func_captured_written": FUNC + "def f(x):\n    y = x * 2\n    y.add_(1)\n    return y.sum()\ngrad(f)(torch.ones(3))\n",
}  # fmt: skip
