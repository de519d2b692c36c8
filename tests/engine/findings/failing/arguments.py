"""What `engine/findings/failing/arguments.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import DATA, Row, X

PACKED = (
    "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\nrnn, head = nn.GRU(3, 4), nn.Linear(4, 2)\n"
    "packed = pack_padded_sequence(torch.ones(5, 2, 3), [5, 3])\nout, _ = rnn(packed)\n"
)

TRIGGERS: dict[str, list[Row]] = {
    "packed_for_tensor": [
        Row(PACKED + "head(out) #<\n", {"name": "out", "right": "pad_packed_sequence(out)[0]"}),
        Row(PACKED + "head(out[:, -1]) #<\n", {"name": "out"}),
        Row(PACKED + "print(out.size(0)) #<\n", {"name": "out"}),
        Row(PACKED.replace("[5, 3])", "[3, 2, 2, 1, 1], batch_first=True, enforce_sorted=False)").replace("5, 2, 3", "5, 3, 3") + "torch.tanh(out) #<\n", {"right": "pad_packed_sequence(out, batch_first=True)[0]"}),
    ],
    "dataset_of_arrays": [
        Row(DATA + "x, y = np.ones((4, 2)), np.ones(4)\ndata = TensorDataset(x, y) #<\n", {"arrays": "`x`, `y`"}, True),
        Row(DATA + "y = np.ones(4)\nTensorDataset(torch.ones(4, 2), y) #<\n", {"arrays": "`y`"}, True),
    ],
    "array_backwards": [
        Row("bgr = np.zeros((4, 5, 3), dtype=np.uint8)\nrgb = bgr[:, :, ::-1]\nimage = rgb.transpose(2, 0, 1)\nx = torch.from_numpy(image).float() #<\n", {"name": "image"}, True),
        Row("a = np.arange(6.)\nprint(torch.tensor(np.flip(a))) #<\n", {"name": "np.flip(a)"}, True),
    ],
    "operand_types": [
        Row(X + "y = x + [1., 2., 3.] #<\n", {"got": "list", "operator": "+"}, True),
        Row(X + "y = x - [x, x] #<\n", {"got": "list"}),
    ],
    "none_for_tensor": [
        Row("target = None\nF.mse_loss(torch.ones(2, requires_grad=True) * 1, torch.ones(2)).backward()\ntorch.exp(target) #<\n", {"function": "exp", "argument": "input"}),
        Row("nn.CrossEntropyLoss()(torch.ones(2, 3), None) #<\n", {"argument": "target"}),
    ],
    "tensors_not_listed": [
        Row("a, b = torch.ones(2), torch.zeros(2)\nc = torch.cat(a, b) #<\n", {"names": "a, b", "function": "cat"}, True),
        Row(X + "torch.stack(x, x, dim=0) #<\n", {"function": "stack"}, True),
    ],
    "size_not_whole": [
        Row("n = 10 / 2 #<\nx = torch.zeros(n, 3)\n", {"name": "n", "used_line": "6"}, True),
        Row("torch.ones(6).view(2, 6 / 2) #<\n", {"name": "6 / 2"}, True),
        Row("width = 4.0\nnn.Linear(width, 2) #<\n", {"name": "width"}, True),
    ],
    "tensor_of_text": [
        Row("labels = torch.tensor(['cat', 'dog']) #<\n", {"line": "5"}),
        Row("torch.tensor([['1', '2']]) #<\n", {"line": "5", "is_array": "0"}),
        Row("rows = [line.split(',') for line in ('1,2', '3,4.5')]\nx = torch.from_numpy(np.array(rows)) #<\n", {"is_read": "1"}, True),
        Row("table = np.array([[1, 2.5], ['3', 4]], dtype=object)\nx = torch.tensor(table[:, 0]) #<\n", {"is_objects": "1"}, True),
    ],
    "joined_tensors": [
        Row("a, b = torch.ones(3) > 0, torch.ones(3) > 1\nboth = (a and b).sum() #<\n", {"word": "and", "sign": "&"}, True),
        Row("x = torch.ones(3)\nif x > 0 or x < -1: #<\n    pass\n", {"sign": "|", "shape": "[3]"}),
        Row("x = torch.ones(3)\nif x.any() and x: #<\n    pass\n", {"shape": "[3]"}),
    ],
    "min_of_tensors": [
        Row("r, adv = torch.ones(4), torch.tensor([1., -1., 2., 0.])\nloss = -min(r * adv, r.clamp(0.8, 1.2) * adv).mean() #<\n", {"function": "min", "shape": "[4]"}, True),
        Row("a, b = torch.ones(2, 3), torch.zeros(3)\nc = max(a, b) #<\n", {"right": "torch.maximum(a, b)"}, True),
        Row("def relu(x):\n    return max(0, x) #<\nrelu(torch.randn(5))\n", {"right": "x.clamp(min=0)", "is_one": "0"}, True),
        Row("x, top = torch.ones(5), 0.5\ny = min(x - 1, top) #<\n", {"right": "(x - 1).clamp(max=top)"}, True),
        Row("x = torch.ones(5, 2)\nprint(max(x)) #<\n", {"right": "x.max()", "is_one": "1"}, True),
    ],
    "pair_inside": [
        Row("net = nn.Sequential(nn.GRU(2, 3), nn.Linear(3, 1))\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("net = nn.Sequential(nn.RNN(2, 3), nn.Flatten())\nnet(torch.ones(4, 1, 2)) #<\n", {"layer": "net.0"}),
        Row("seq = nn.Sequential(nn.LSTM(2, 3), nn.ReLU())\ny = seq(torch.ones(4, 1, 2)) #<\n", {"type": "LSTM"}),
    ],
    "operand_other": [
        Row(X + "act = nn.ReLU()\ny = x + act #<\n", {"other": "act", "got": "ReLU"}),
        Row(X + "y = x + 'a' #<\n", {"got": "str"}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "packed_for_tensor": PACKED + "pairs = (1, 2)\nprint(out.data.size(0))\npairs[:, -1]\n",
    "dataset_of_arrays": DATA + "x = torch.ones(4, 2)\ndata = TensorDataset(x)\nlen(data)(3)\n",
    "array_backwards": "a = np.arange(6)[::-1]\ntorch.from_numpy(a.copy())\ntorch.tensor([1, 2, 3]).flip(0)\n",
    "operand_types": "y = 3 + 'a'\n",
    "none_for_tensor": "F.mse_loss(torch.ones(2), torch.ones(2), weight=None)\n",
    "tensors_not_listed": "a = torch.ones(2)\ntorch.cat([a, a])\ntorch.cat((a, a))\n",
    "size_not_whole": "n = 10\ntorch.full((n * 0.5,), fill_value=1 / 2)\n",
    "tensor_of_text": "torch.tensor([1, 2])\ntorch.from_numpy(np.array(['1', '2']).astype(int))\nprint('too many dimensions')\n",
    "joined_tensors": "a, n = torch.ones(3), 2\nif a > 0 and n > 1:\n    pass\n",
    "min_of_tensors": "def min(a, b):\n    return a if a < b else b\nmin(torch.ones(2), torch.zeros(2))\n",
    "pair_inside": "net = nn.Sequential(nn.Linear(2, 3))\nnet((1, 2))\n",
    "operand_other": X + "y = x + [1, 2]\n",
}  # fmt: skip
