"""Errors that PyTorch's message alone tells: no rule reads the program, so none comes near. `#<` ends the line named."""

from tests.engine.findings.failures import DATA, INIT, NET, Row, W, X

MAPPED = "from torch.func import vmap, functional_call\n"

TRIGGERS: dict[str, list[Row]] = {
    "interrupted": [
        Row("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass #<\n", {}),
        Row("raise KeyboardInterrupt #<\n", {"line": "5"}),
    ],
    "ended_itself": [
        Row("import sys\nsys.exit('no data\\nfound') #<\n", {"said": "no data found", "code": "sys.exit('no data\\nfound')"}),
        Row("raise SystemExit('x' * 10_000) #<\n", {"said": "x" * 159 + "…"}),
    ],
    "lengths_unsorted": [
        Row("from torch.nn.utils.rnn import pack_padded_sequence\npack_padded_sequence(torch.ones(3, 2, 1), torch.tensor([2, 3])) #<\n", {"line": "6"}, True),
    ],
    "sequence_empty": [
        Row("from torch.nn.utils.rnn import pack_padded_sequence\nlens = torch.tensor([2, 0, 1])\npack_padded_sequence(torch.ones(3, 2, 1), lens, batch_first=True, enforce_sorted=False) #<\n", {"name": "lens", "places": "1"}),
        Row("from torch.nn.utils.rnn import pack_padded_sequence as pack\nlens = [len(words) for words in (['a', 'b'], [])]\npack(torch.ones(2, 2, 1), lens) #<\n", {"name": "lens", "is_known": "0"}),
    ],
    "text_and_value": [
        Row("print('loss: ' + torch.tensor(.5)) #<\n", {"got": "Tensor"}),
    ],
    "einsum_sizes": [
        Row("a, b = torch.ones(2, 3), torch.ones(4, 5)\ntorch.einsum('ij,jk->ik', a, b) #<\n", {"letter": "j", "a": "3", "b": "4"}),
    ],
    "class_weights": [
        Row("y = torch.tensor([0, 1, 1, 0])\nweights = 1 / y.unique(return_counts=True)[1]\nF.cross_entropy(torch.ones(4, 3), y, weight=weights) #<\n", {"classes": "3", "count": "2"}),
        Row("loss = nn.NLLLoss(torch.ones(4))\nloss(torch.zeros(2, 3), torch.tensor([0, 1])) #<\n", {"classes": "3", "count": "4"}),
    ],
    "parameter_invalid": [
        Row("s = torch.tensor(-1.)\ntorch.distributions.Normal(torch.tensor(0.), s) #<\n", {"parameter": "scale", "name": "s", "condition": "scale > 0", "values": "-1", "is_trained": "0"}),
        Row("s = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([s], lr=3.)\ntorch.distributions.Normal(0., s).log_prob(torch.zeros(2)).mean().neg().backward()\nopt.step()\ntorch.distributions.Normal(0., s) #<\n", {"values": "-0.5", "before": "1", "step_line": "8", "is_positive": "1"}),
    ],
    "parameter_nan": [
        Row("p = torch.zeros(2)\np = p / p.sum()\ntorch.distributions.Categorical(p) #<\n", {"name": "p", "type": "Categorical"}),
        Row("mu = torch.tensor([1., float('nan')])\ntorch.distributions.Normal(mu, 1.) #<\n", {"name": "mu"}),
    ],
    "probs_invalid": [
        Row("out = torch.tensor([[-1., 2.]])\ntorch.distributions.Categorical(out) #<\n", {"name": "out"}),
        Row(X + "out = nn.Linear(3, 2)(9 * x)\ntorch.distributions.Binomial(10, out) #<\n", {"name": "out"}, True),
    ],
    "sample_not_batched": [
        Row(DATA + "next(iter(DataLoader([{1}, {2}]))) #<\n", {"type": "set"}),
    ],
    "state_dict_of_path": [
        Row("net = nn.Linear(1, 1)\ntorch.save(net.state_dict(), 'n.pt')\nnet.load_state_dict('n.pt') #<\n", {"given": "'n.pt'"}, True),
    ],
    "weights_only": [
        Row("import argparse\ntorch.save({'options': argparse.Namespace(lr=0.1), 'weight': torch.ones(2)}, 'n.pt')\ntorch.load('n.pt') #<\n", {"object": "argparse.Namespace"}, True),
        Row("net = nn.Linear(1, 1)\ntorch.save(net, 'n.pt')\ntorch.load('n.pt') #<\n", {"line": "7"}, True),
    ],
    "iterator_next": [
        Row(DATA + "batches = iter(DataLoader([1, 2]))\nbatches.next() #<\n", {"right": "next(batches)"}, True),
    ],
    "optimizer_attribute": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nprint(opt.lr) #<\n", {"name": "lr", "groups": "opt"}, True),
        Row(W + "opt = torch.optim.AdamW([w])\nfor e in range(2):\n    rate = opt.betas #<\n", {"name": "betas"}, True),
    ],
    "state_dict_of_model": [
        Row("a, b = nn.Linear(1, 1), nn.Linear(1, 1)\na.load_state_dict(b.parameters()) #<\n", {"type": "generator"}, True),
        Row("a, b = nn.Linear(1, 1), nn.Linear(1, 1)\na.load_state_dict(b) #<\n", {"given": "b"}, True),
        Row("a = nn.Linear(1, 1)\ntorch.save(a, 'n.pt')\na.load_state_dict(torch.load('n.pt', weights_only=False)) #<\n", {}, True),
    ],
    "generators_added": [
        Row("a, b = nn.Linear(1, 1), nn.Linear(1, 1)\ntorch.optim.SGD(a.parameters() + b.parameters(), lr=.1) #<\n", {"right": "[*a.parameters(), *b.parameters()]"}, True),
        Row("a, b = nn.Linear(1, 1), nn.Linear(1, 1)\ntorch.optim.SGD(list(a.parameters()) + b.parameters(), lr=.1) #<\n", {}, True),
    ],
    "groups_attribute": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nopt.param_groups.lr = 0.2 #<\n", {"groups": "opt.param_groups"}, True),
    ],
    "group_attribute": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nfor group in opt.param_groups:\n    group.lr = 0.2 #<\n", {"right": "group['lr']"}, True),
        Row(W + "opt = torch.optim.Adam([w])\nprint(opt.param_groups[0].betas) #<\n", {"group": "opt.param_groups[0]"}, True),
    ],
    "metric_missing": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nplateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)\nplateau.step() #<\n", {"line": "8"}),
    ],
    "anomaly_nan": [
        Row(W + "with torch.autograd.detect_anomaly(check_nan=True):\n    y = torch.sqrt(w * 0) * 0 #<\n    y.sum().backward()\n", {"op": "sqrt", "pass_line": "8"}),
    ],
    "distributed": [
        Row("import torch.distributed as dist\ndist.TCPStore('127.0.0.1', 29500, 1, True) #<\n", {"line": "6"}),
    ],
    "meeting_place_unknown": [
        Row('import torch.distributed as dist\ndist.init_process_group("gloo", rank=0, world_size=1) #<\n', {"name": "MASTER_ADDR"}, True),
    ],
    "too_many_ranks": [
        Row('import torch.distributed as dist\ndist.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=0, world_size=5) #<\n', {"line": "6"}),
    ],
    "ranks_apart": [
        Row('import torch.distributed as dist\ndist.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=0, world_size=2) #<\n', {"line": "6"}),
    ],
    "signal_handler": [
        Row("import signal\nsignal.signal(signal.SIGALRM, print) #<\n", {"line": "6"}),
    ],
    "element_not_tensor": [
        Row("torch.stack([torch.ones(2), 3.0]) #<\n", {"at": "1", "got": "float"}),
        Row("follows = tuple(None if at == 2 else torch.ones(1, 3) for at in range(3))\ntorch.cat(follows) #<\n", {"at": "2", "is_none": "1"}),
    ],
    "element_put_in": [
        Row("xs = []\nfor i in range(2):\n    xs.append(torch.ones(1).item()) #<\ntorch.stack(xs)\n", {"used_line": "8"}, True),
    ],
    "format_refused": [
        Row("losses = [1., 2.]\nprint(f'{losses:.3f}') #<\n", {"name": "losses", "spec": ".3f"}),
    ],
    "format_of_many": [
        Row(X + "print(f'sum {x.sum():.1f}', f'{x:.3f}') #<\n", {"name": "x", "shape": "[2, 3]"}),
    ],
    "not_indexable": [
        Row("def scores(): return [1]\nscores[0] #<\n", {"type": "function", "name": "scores"}),
    ],
    "loader_indexed": [
        Row(DATA + "loader = DataLoader([1, 2])\nloader[0] #<\n", {"name": "loader"}, True),
    ],
    "gradient_layout": [
        Row("table = nn.Embedding(5, 2, sparse=True)\nopt = torch.optim.Adam(table.parameters())\ntable(torch.tensor([1, 2])).sum().backward()\nopt.step() #<\n", {"optimizer": "Adam", "is_asked": "1", "lines": "5"}, True),
        Row("bag = nn.EmbeddingBag(5, 2, sparse=True)\nopt = torch.optim.RMSprop(bag.parameters())\nbag(torch.tensor([[1, 2]])).sum().backward()\nopt.step() #<\n", {"optimizer": "RMSprop", "is_sparse": "1"}, True),
        Row("edges = nn.Parameter(torch.eye(3).to_sparse())\nopt = torch.optim.Adam([edges])\ntorch.sparse.mm(edges, torch.ones(3, 2)).sum().backward()\nopt.step() #<\n", {"is_kept": "1", "is_asked": "0"}),
        Row("net = nn.Linear(2, 1)\nopt = torch.optim.SparseAdam(net.parameters())\nnet(torch.ones(2)).backward()\nopt.step() #<\n", {"is_sparse": "0", "is_asked": "0"}),
    ],
    "scheduler_steps": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, total_steps=1)\nfor i in range(3):\n    plan.step() #<\n", {"total": "1", "is_floored": "0"}),
        Row(W + DATA + "data = TensorDataset(torch.ones(7, 2))\nloader = DataLoader(data, batch_size=3)\nopt = torch.optim.SGD([w], lr=.1)\neach = len(data) // 3 #<\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, epochs=2, steps_per_epoch=each)\nfor epoch in range(2):\n    for i, (x,) in enumerate(loader):\n        (x * w).sum().backward()\n        opt.step()\n        plan.step()\n", {"is_floored": "1", "whole": "2", "batches": "3", "loader": "loader"}, True),
        Row(W + DATA + "data = TensorDataset(torch.ones(7, 2))\nloader = DataLoader(data, batch_size=3)\nopt = torch.optim.SGD([w], lr=.1)\neach = len(data) // 3 #<\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, epochs=2, steps_per_epoch=each)\ndef train():\n    for (x,) in loader:\n        (x * w).sum().backward()\n        opt.step()\n        plan.step()\nfor epoch in range(2):\n    train()\n", {"is_floored": "1", "batches": "3"}),
        Row(W + DATA + "data, size = TensorDataset(torch.ones(7, 2)), 3\nloader = DataLoader(data, batch_size=size)\nopt = torch.optim.SGD([w], lr=.1)\nplan = torch.optim.lr_scheduler.OneCycleLR(opt, .1, epochs=2, steps_per_epoch=int(len(data) / size)) #<\nfor epoch in range(2):\n    for (x,) in loader:\n        (x * w).sum().backward()\n        opt.step()\n        plan.step()\n", {"is_floored": "1", "code": "int(len(data) / size)"}, True),
    ],
    "written_shape": [
        Row(
            "d = 5\npe, wave = torch.zeros(1, 9, d), torch.ones(9, 3)\npe[0, :, 0::2] = wave\npe[0, :, 1::2] = wave * 2 #<\n",
            {"is_odd": "1", "places": "5"},
            True,
        ),
        Row(
            "pe = torch.zeros(9, 7)\npe[:, 1::2] = torch.ones(9, 5) #<\n",
            {"is_odd": "0"},
        ),
        Row("x = torch.zeros(4, 3)\nx[:, 1:] = torch.ones(4, 3) #<\n", {"target_name": "x[:, 1:]", "value": "torch.ones(4, 3)"}),
    ],
    "index_tensor_out_of_range": [
        Row(X + "rows = torch.tensor([0, 2])\nx[rows] #<\n", {"place": "rows", "index": "2"}),
        Row("weights, labels = torch.rand(4), torch.tensor([0, 4])\nweights.gather(0, labels) #<\n", {"place": "labels", "index": "4", "last": "3", "is_added": "0"}),
        Row("table = torch.rand(6)\ndef every(n):\n    return torch.arange(0, 6, n) + 1\ntimes = every(1)\ntable[times] #<\n", {"place": "times", "is_added": "1", "made_line": "7"}),
        Row("labels = torch.tensor([[0], [-1]])\ntorch.ones(2, 3).gather(1, labels) #<\n", {"is_low": "1", "is_next": "0", "is_far": "0"}),
        Row("ids, sums = torch.tensor([11, 15, 11]), torch.zeros(3)\nsums.scatter_add_(0, ids, torch.ones(3)) #<\n", {"place": "ids", "is_written": "1", "is_far": "1", "count": "2", "most": "15"}),
        Row("labels = torch.tensor([1, 2, 3])\none_hot = torch.zeros(3, 3).scatter_(1, labels.unsqueeze(1), 1.) #<\n", {"place": "labels.unsqueeze(1)", "is_next": "1"}),
    ],
    "result_meant": [
        Row("criterion = nn.MSELoss()\nw = torch.ones(2, requires_grad=True)\nloss = criterion(w, w * 2)\ncriterion.backward() #<\n", {"result": "loss"}, True),
    ],
    "sample_holds_none": [
        Row(DATA + "class Data(Dataset):\n    def __len__(self):\n        return 2\n    def __getitem__(self, i):\n        return i, None #<\nnext(iter(DataLoader(Data())))\n", {"cls": "Data"}),
    ],
    "deepcopy_of_holder": [
        Row(W + "import copy\nkept = [w * 2]\ncopy.deepcopy(kept) #<\n", {"name": "kept"}),
    ],
    "deepcopy_of_state": [
        Row("import copy\n" + NET + INIT + "        self.fc = nn.Linear(2, 2)\n    def forward(self, x):\n        self.h = self.fc(x) #<\n        return self.h\nnet = Net()\nnet(torch.ones(1, 2))\ncopy.deepcopy(net)\n", {"held": "self.h", "name": "net", "is_several": "0"}),
        Row("import copy\n" + NET + INIT + "        self.v = nn.Parameter(torch.ones(2, 2))\n        self.w = self.v / self.v.norm() #<\n    def forward(self, x):\n        self.w = self.v / self.v.norm()\n        return x @ self.w\nnet = Net()\ncopy.deepcopy(net)\n", {"held": "self.w", "is_several": "1"}),
    ],
    "ended_with_code": [
        Row("import sys\nif True:\n    sys.exit(3) #<\n", {"said": "3"}),
    ],
    "ended_for_arguments": [
        Row("import sys\nif len(sys.argv) < 2:\n    sys.exit(1) #<\n", {"said": "1"}),
    ],
    "ctc_lengths": [
        Row("scores = torch.zeros(9, 2, 5).log_softmax(-1)\nF.ctc_loss(scores, torch.ones(2, 3).long(), torch.full((2,), 12), torch.full((2,), 3)) #<\n", {"value": "12", "most": "9", "name": "scores"}),
    ],
    "not_positive_definite": [
        Row("k = torch.ones(3, 3)\ntorch.linalg.cholesky(k - 2) #<\n", {"name": "k - 2", "is_askew": "0", "is_far": "1"}),
        Row("x = torch.randn(3, 5)\nx = x - x.mean(0)\nc = x.T @ x / 2\ntorch.distributions.MultivariateNormal(x.mean(0), covariance_matrix=c) #<\n", {"name": "c", "is_near": "1", "is_far": "0"}),
        Row("j = torch.arange(6.).view(2, 3).sin()\nnormal = j.T @ -j\ntorch.linalg.cholesky(normal) #<\n", {"is_low": "0"}),
        Row("j = torch.tensor([[1., 0., 2.]])\nnormal = j.T @ j\ntorch.linalg.cholesky(normal) #<\n", {"is_low": "1", "inner": "1", "zeros": "2", "made_line": "6"}),
        Row("raw = torch.arange(8.).view(2, 2, 2)\ntorch.distributions.MultivariateNormal(torch.zeros(2), covariance_matrix=raw) #<\n", {"is_askew": "1", "is_near": "0"}),
    ],
    "matrix_singular": [
        Row("X = torch.tensor([[1., 1., 0.], [1., 0., 1.], [1., 1., 0.], [1., 0., 1.]])\nG = X.T @ X\ntorch.linalg.inv(G) #<\n", {"is_sum": "1", "at": "0", "others": "1, 2", "data": "X"}),
        Row("G = torch.tensor([[2., 0., 1.], [3., 0., 4.], [1., 0., 1.]])\ntorch.linalg.inv(G) #<\n", {"is_empty": "1", "at": "1", "is_squared": "0"}),
        Row("G = torch.tensor([[1., 2., 0.], [2., 4., 0.], [0., 0., 1.]])\ntorch.linalg.inv(G) #<\n", {"is_sum": "0", "is_same": "0", "is_empty": "0"}),
        Row("k = torch.ones(3, 3)\ntorch.linalg.inv(k) #<\n", {"name": "k"}),
    ],
    "vmap_value_asked": [
        Row(MAPPED + "seen = []\ndef f(x):\n    seen.append(x.item()) #<\n    return x * 2\nvmap(f)(torch.ones(3))\n", {"code": "x.item()", "is_number": "1"}),
        Row(MAPPED + "def f(x):\n    return x if x.item() > 0 else -x #<\nvmap(f)(torch.ones(3))\n", {"is_number": "0", "is_choice": "1"}),
        Row(MAPPED + "def crop(x, start):\n    return x[start:start + 2] #<\nvmap(crop)(torch.ones(3, 5), torch.tensor([0, 1, 2]))\n", {"is_slice": "1", "is_choice": "0"}),
        Row(MAPPED + "def f(x):\n    if x > 0: #<\n        return x\n    return -x\nvmap(f)(torch.ones(3))\n", {"code": "x > 0", "transform": "vmap"}),
        Row(MAPPED + "def f(x):\n    bad = x.isnan()\n    if bad: #<\n        raise ValueError('NaN')\n    return x * 2\nvmap(f)(torch.ones(3))\n", {"is_check": "1", "is_choice": "0"}),
        Row(MAPPED + "def f(x):\n    assert x > 0, 'too small' #<\n    return x.log()\nvmap(f)(torch.ones(3))\n", {"code": "x > 0", "is_check": "1"}),
        Row("from torch import fx\n" + NET + "    def forward(self, x):\n        while x.sum() > 1: #<\n            x = x / 2\n        return x\nfx.symbolic_trace(Net())\n", {"code": "x.sum() > 1", "transform": "symbolic_trace", "is_traced": "1"}),
    ],
    "vmap_in_place": [
        Row(MAPPED + "def turn(v):\n    m = torch.zeros(2, 2) #<\n    m[0, 1], m[1, 0] = -v[1], v[0]\n    return m\nvmap(turn)(torch.ones(3, 2))\n", {"name": "m", "used_line": "8"}),
        Row(MAPPED + "def f(x):\n    total = torch.zeros(3) #<\n    total[1] = x.sum()\n    return total\nvmap(f)(torch.ones(3, 2))\n", {"name": "total"}),
    ],
    "func_not_scalar": [
        Row(MAPPED + "from torch.func import grad\ndef loss(w, x):\n    return w * x #<\ngrad(loss)(torch.ones(3), torch.ones(3))\n", {"function": "loss", "value": "w * x", "axes": "1"}),
        Row(MAPPED + "from torch.func import grad\ndef inner(w):\n    return w * w #<\ndef outer(w):\n    return (grad(inner)(w) * 2).sum()\ngrad(outer)(torch.ones(3))\n", {"function": "inner", "value": "w * w"}),
        Row(MAPPED + "def error(w):\n    squared = w ** 2\n    return squared #<\nstep = torch.func.grad_and_value(error)\nstep(torch.ones(2, 3))\n", {"axes": "2"}),
    ],
    "scheduler_resumed": [
        Row(W + "opt = torch.optim.SGD([w], lr=.1)\ntorch.optim.lr_scheduler.StepLR(opt, 2, last_epoch=4) #<\n", {}),
    ],
    "vmap_random": [
        Row(MAPPED + "def f(x):\n    return F.dropout(x, 0.5) #<\nvmap(f)(torch.ones(3, 2))\n", {}),
    ],
    "vmap_sizes": [
        Row(MAPPED + "vmap(torch.add)(torch.ones(3), torch.ones(4)) #<\n", {"sizes": "[3, 4]"}),
        Row(MAPPED + "a, b, c = torch.ones(5), torch.ones(5, 2), torch.ones(3)\nvmap(lambda a, b, c: a * b.sum() * c)(a, b, c) #<\n", {"odd": "c", "most": "5", "given": "a: 5, b: 5, c: 3"}),
        Row(MAPPED + "w, x = {'a': torch.ones(2), 'b': torch.ones(2)}, torch.ones(5)\nvmap(lambda w, x: w['a'] * w['b'] * x)(w, x) #<\n", {"is_known": "0", "is_odd": "0"}),
    ],
    "optimizer_state_groups": [
        Row(W + "v = torch.ones(1, requires_grad=True)\na = torch.optim.SGD([{'params': [w]}, {'params': [v], 'lr': .2}], lr=.1)\nb = torch.optim.SGD([w, v], lr=.1)\nb.load_state_dict(a.state_dict()) #<\n", {"name": "b"}),
        Row("net = nn.Linear(2, 1)\nopt = torch.optim.Adam([{'params': [p]} for p in net.parameters()])\nstate = {'opt': opt.state_dict()}\ntorch.optim.Adam(net.parameters()).load_state_dict(state['opt']) #<\n", {"given": "state['opt']"}),
    ],
    "optimizer_state_size": [
        Row(W + "a = torch.optim.SGD([w], lr=.1)\nb = torch.optim.SGD([w, torch.ones(1, requires_grad=True)], lr=.1)\nb.load_state_dict(a.state_dict()) #<\n", {"name": "b", "saved": "1", "held": "2", "is_less": "0"}),
        Row("net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\nkept = torch.optim.Adam(net.parameters()).state_dict()\nnet[0].requires_grad_(False)\nagain = torch.optim.Adam(filter(lambda each: each.requires_grad, net.parameters()))\nagain.load_state_dict(kept) #<\n", {"given": "kept", "saved": "4", "held": "2", "is_less": "1"}),
        Row("net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))\na, b, c, d = net.parameters()\nkept = torch.optim.Adam([{'params': [a, b, c]}, {'params': [d]}]).state_dict()\nagain = torch.optim.Adam([{'params': [a, b]}, {'params': [c, d]}])\nagain.load_state_dict(kept) #<\n", {"is_split": "1", "saved_groups": "3 + 1", "held_groups": "2 + 2"}),
    ],
    "saved_to_object": [
        Row(X + "torch.save('x.pt', x) #<\n", {"right": "torch.save(x, 'x.pt')"}, True),
    ],
}  # fmt: skip
