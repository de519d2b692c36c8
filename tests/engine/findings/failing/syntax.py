"""What Python cannot compile: `engine/worker/explain/syntax_errors.py`. `#<` ends the line a finding names."""

from tests.engine.findings.failures import Row

TRIGGERS: dict[str, list[Row]] = {
    "notebook_prompt": [
        Row("In [1]: x = torch.ones(2) #<\nIn [2]: print(x)\n", {"count": "2"}, True),
        Row(
            ">>> x = torch.ones(2) #<\n>>> print(x)\ntensor([1., 1.])\n>>> for i in range(2):\n...     print(i)\n",
            {},
            True,
        ),
        Row("In [None]: #<\nx = 1\nOut[2]: tensor([1.,\n        2.])\n", {}, True),
        Row(
            "In [8]: #<\nx = 1\nMLP(\n  (act): ReLU()\n)\n\n\ntensor([[1., 2.],\n        [3., 4.]])\nIn [9]:\ny = x\n",
            {},
            True,
        ),
    ],
    "shell_line": [
        Row("!pip install torch #<\nx = 1\n", {"word": "!pip"}, True),
        Row("%matplotlib inline #<\n", {"word": "%matplotlib"}, True),
        Row("x = 1\npip install numpy #<\n", {"word": "pip"}, True),
        Row("python train.py --lr 0.1 #<\n", {"word": "python"}, True),
    ],
    "cuda_visible_shell": [
        Row("CUDA_VISIBLE_DEVICES=0,1 python train.py\n#<", {"name": "CUDA_VISIBLE_DEVICES"}, True),
        Row("x = 1\nexport CUDA_VISIBLE_DEVICE=0\n#<", {"right": "CUDA_VISIBLE_DEVICES"}, True),
    ],
    "pasted_output": [
        Row("x = torch.ones(2)\ntensor(5., grad_fn=<AddBackward0>) #<\n", {}, True),
        Row("x = torch.ones(2)\ntensor([[1., 1.], #<\n        [1., 1.]], grad_fn=<AddBackward0>)\ny = x\n", {}, True),
        Row("tensor([1., 2.]) #<\n", {"name": "tensor"}, True),
        Row("x = 1\n tensor([[0., 0.], #<\n        [0., 0.]]) \n tensor([1, 0])\n tensor(2)\n", {}, True),
        Row("x = 1\n[[1 2 3] #<\n [4 5 6]]\n", {}, True),
        Row(
            "x = 1\nMLP( #<\n  (hidden): Linear(in_features=4, bias=True)\n)\n\n\ntensor([[1., 2.],\n        [3., 4.]], grad_fn=<AddmmBackward0>)\n",
            {},
            True,
        ),
    ],
    "full_width": [
        Row(
            "x = torch.tensor([1.，2.]) #<\n",
            {"character": "，", "codepoint": "U+FF0C", "column": "21", "right": ","},
            True,
        ),
        Row("x = torch.ones（3） #<\nprint（x）\n", {"character": "（", "count": "4"}, True),
        Row("print(“你好”) #<\n", {"right": '"'}, True),
        Row("x = 1 ＋ 2 #<\n", {"codepoint": "U+FF0B"}, True),
    ],
    "invisible_character": [
        Row("x = torch.ones(2)\u00a0+ 1 #<\n", {"codepoint": "U+00A0", "column": "18"}, True),
        Row("y\u200b = 3 #<\n", {"codepoint": "U+200B"}, True),
    ],
    "prose_line": [
        Row("x = 1  # 设置\n显卡 编号 与 数量 #<\ny = 2\n", {}, True),
        Row("下面我们创建一个张量 #<\nx = 1\n", {}, True),
    ],
    "print_statement": [
        Row("x = 1\nprint x #<\n", {}, True),
        Row("for i in range(2):\n    print 'a', i #<\nprint i\n", {}, True),
    ],
    "except_comma": [
        Row("try:\n    pass\nexcept ValueError, e: #<\n    pass\n", {"name": "e"}, True),
        Row("try:\n    x = 1\nexcept Exception, error: #<\n    print(error)\n", {"name": "error"}, True),
    ],
    "bracket_open": [
        Row("x = torch.tensor([1., 2.  #<\ny = 3\n", {"bracket": "[", "right": "]"}, True),
        Row("print(torch.ones(3) #<\ny = 3\n", {"bracket": "("}, True),
    ],
    "bracket_extra": [
        Row("x = torch.randn(1, 10)).view(1, 10) #<\n", {"bracket": ")"}, True),
        Row("x = torch.ones(3)) #<\n", {"bracket": ")"}, True),
    ],
    "bracket_mismatch": [
        Row("x = torch.tensor([1., 2.) #<\n", {"bracket": ")", "open": "["}, True),
        Row("x = (1, 2] #<\n", {"right": ")"}, True),
    ],
    "else_if": [
        Row("x = 1\nif x:\n    pass\nelse if x > 2: #<\n    pass\n", {}, True),
        Row("if 0:\n    y = 1\nelse  if 1: #<\n    y = 2\n", {}, True),
    ],
    "colon_missing": [
        Row("for i in range(2) #<\n    print(i)\n", {"word": "for"}, True),
        Row("class Net(nn.Module) #<\n    pass\n", {"word": "class"}, True),
    ],
    "tabs_and_spaces": [
        Row("def f():\n\ta = 1\n        b = 2 #<\n", {}, True),
        Row("if True:\n        x = 1\n\ty = 2 #<\n", {}, True),
    ],
    "block_missing": [
        Row("for i in range(2):\nprint(i) #<\n", {"head": "for", "head_line": "5"}, True),
        Row("def f(x):\nreturn x #<\nf(1)\n", {"head_line": "5"}),
    ],
    "indent_unexpected": [
        Row("x = 1\n  y = 2 #<\n", {"spaces": "2"}, True),
        Row("x = 1\n    print(x) #<\nz = 2\n", {"spaces": "4"}, True),
    ],
    "indent_mismatch": [
        Row("if True:\n    x = 1\n   y = 2 #<\n", {"spaces": "3"}, True),
        Row("if True:\n        x = 1\n    y = 2 #<\n", {"spaces": "4"}),
    ],
    "equals_in_condition": [
        Row("x = 3\nif x = 3: #<\n    pass\n", {}, True),
        Row("x = 3\nwhile x.real = 2: #<\n    pass\n", {}, True),
    ],
    "keyword_as_name": [
        Row("lambda = 0.1 #<\n", {"name": "lambda"}),
        Row("class = 3 #<\n", {"suggestion": "class_"}),
    ],
    "increment": [
        Row("i = 0\ni++ #<\n", {"right": "i += 1"}, True),
        Row("n = 3\nn--; #<\n", {"operator": "--"}, True),
    ],
    "other_operator": [
        Row("if 1 && 2: #<\n    pass\n", {"right": "and"}, True),
        Row("a = 1 || 0 #<\n", {"right": "or"}, True),
    ],
    "string_open": [
        Row('print("abc) #<\n', {"quote": '"'}),
        Row("name = 'abc\n#<", {"quote": "'"}, True),
        Row('x = torch.ones(2)\n"""A note on it. #<\ny = x + 1\nprint(y)\n', {"quote": '"""'}, True),
        Row('def area(x):\n    """The area, #<\n    of a square.\n    return x * x\narea(2)\n', {"quote": '"""'}, True),
    ],
    "comma_missing": [
        Row("x = torch.tensor([1 2]) #<\n", {}, True),
        Row("y = [3, 4 5] #<\n", {}, True),
    ],
    "outside_function": [
        Row("return 3 #<\n", {"word": "return"}),
        Row("x = 1\nyield x #<\n", {"word": "yield"}),
    ],
    "outside_loop": [
        Row("break #<\n", {"word": "break"}),
        Row("if True:\n    continue #<\n", {"word": "continue"}),
    ],
    "fstring_brace": [
        Row('x = 1\nprint(f"{x") #<\n', {}, True),
        Row("loss = 0.5\nprint(f'loss: {loss:.2f') #<\n", {}, True),
    ],
    "syntax_unknown": [
        Row("x = 3 $ 4 #<\n", {"column": "7"}),
        Row("a = 1\na b #<\n", {}),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "notebook_prompt": "In = [1]\nprint(In[0])\n",
    "shell_line": "x = 7\ny = 9 \\\n% x\n",
    "cuda_visible_shell": "CUDA_VISIBLE_DEVICES = 0, 1\n",
    "pasted_output": "from torch import tensor\ntensor([1., 2.])\n",
    "full_width": "text = '（全角，标点）'  # 注释：，\n",
    "invisible_character": "text = 'a\u00a0b'\n",
    "prose_line": "张量 = torch.ones(2)\nprint(张量)\n",
    "print_statement": "print\nprint('print x')\n",
    "except_comma": "try:\n    pass\nexcept (ValueError, TypeError):\n    pass\n",
    "bracket_open": "x = torch.tensor([1., 2.\n])\n",
    "bracket_extra": "text = ')'  # )\n",
    "bracket_mismatch": "x = [(1, 2), {3}]\n",
    "else_if": "x = 1\nif x:\n    pass\nelse:\n    if x > 2:\n        pass\n",
    "colon_missing": "for i in range(2): print(i)\n",
    "tabs_and_spaces": "def f():\n\ta = 1\n\treturn a\nf()\n",
    "block_missing": "for i in range(2):\n    pass\nprint(1)\n",
    "indent_unexpected": "x = (1 +\n        2)\n",
    "indent_mismatch": "if True:\n    x = (1,\n  2)\n",
    "equals_in_condition": "x = abs\nx(1) = 3\n",
    "keyword_as_name": "lambda_ = 0.1\nlambdas = dict(lam=1)\n",
    "increment": "i = 1\ny = i++1\n",
    "other_operator": "text = 'a && b'\nm = torch.ones(2) > 0\nprint(m & m | m)\n",
    "string_open": "text = '''abc\nd'''\n",
    "comma_missing": "text = 'a' 'b'\n",
    "outside_function": "def f():\n    return 3\nf()\n",
    "outside_loop": "while True:\n    break\n",
    "fstring_brace": "print(f'{}')\n",
    "syntax_unknown": "a = b = 1\n",
}  # fmt: skip
