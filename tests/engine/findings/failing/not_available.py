"""What `engine/findings/failing/not_available.py` explains, and programs near to it. `#<` ends the line a finding names."""

from tests.engine.findings.failures import NET, Row

TRIGGERS: dict[str, list[Row]] = {
    "no_network": [
        Row("import urllib.request\nurllib.request.urlopen('http://example.com') #<\n", {"line": "6"}),
        Row("import socket\nsocket.create_connection(('127.0.0.1', 80), 1) #<\n", {"line": "6"}),
    ],
    "no_processes": [
        Row("import subprocess\nsubprocess.run(['ls']) #<\n", {"line": "6"}),
        Row("import multiprocessing as mp\np = mp.Process(target=print)\np.start() #<\n", {"line": "7"}),
    ],
    "not_allowed": [
        Row("import os\nos.kill(1, 9) #<\n", {"code": "os.kill(1, 9)"}),
        Row("import os\nopen('mine', 'w').close()\nos.chmod('mine', 0o777) #<\n", {"line": "7"}),
    ],
    "out_of_memory": [
        Row("import numpy\nnumpy.ones(10 ** 12) #<\n", {"amount": "8,000.0 GB", "is_part": "0"}),
        Row(
            "store = []\nfor i in range(99):\n    store.append(torch.ones(8000, 8000)) #<\n",
            {"amount": "256.0 MB", "is_part": "1", "name": "store"},
        ),
        Row("x = torch.ones(1000000, 1000000) #<\n", {"amount": "4,000.0 GB"}),
        Row("def big(n):\n    return torch.zeros(n) #<\nbig(10 ** 12)\n", {"code": "torch.zeros(n)"}),
    ],
    "recursion": [
        Row("def f(n):\n    return f(n + 1) #<\nf(1)\n", {"function": "f", "defined_line": "5"}),
        Row(
            NET + "    def forward(self, x):\n        return self(x) #<\nNet()(torch.ones(1))\n",
            {"function": "forward"},
        ),
    ],
}  # fmt: skip

NEAR_MISSES: dict[str, str] = {
    "no_network": "import socket\nprint(socket.gethostname.__name__)\n",
    "no_processes": "import os\nprint(os.getpid() > 0)\n",
    "not_allowed": "raise PermissionError('not today')\n",
    "out_of_memory": "x = torch.ones(1000, 1000)\n",
    "recursion": "def f(n):\n    return 0 if n == 0 else f(n - 1)\nf(100)\n",
}  # fmt: skip
