"""What `engine/findings/devices.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("test_without_call", 4, """device = "cuda:1" if torch.cuda.is_available else "cpu"
print(device)
""", says={"code": "torch.cuda.is_available"}, mends=True),
    Mistake("test_without_call", 5, """device = "cpu"
if not torch.backends.mps.is_available:
    device = "cpu"
x = torch.ones(2, device=device)
""", says={"code": "torch.backends.mps.is_available"}, mends=True),
    Mistake("visible_devices_misspelt", 5, """import os
os.environ["CUDA_VISIBLE_DEVICE"] = "0"
x = torch.ones(2)
""", says={"written": "CUDA_VISIBLE_DEVICE"}, mends=True),
    Mistake("visible_devices_misspelt", 5, """import os
os.environ.setdefault('CUDA_VISBLE_DEVICES', '0,1')
x = torch.ones(2)
""", says={"written": "CUDA_VISBLE_DEVICES"}, mends=True),
    Mistake("visible_devices_too_late", 6, """import os
has_gpu = torch.cuda.is_available()
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
x = torch.ones(2)
""", says={"asked_line": "5"}),
    Mistake("visible_devices_too_late", 7, """import os
n = 1 if torch.cuda.is_available() else 0
x = torch.ones(n + 1)
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
""", says={"asked_line": "5"}),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("test_without_call", "check = torch.cuda.is_available\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\nprint(check())\n"),
    ("visible_devices_misspelt", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nx = torch.ones(2)\n"),
    ("visible_devices_too_late", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nprint(torch.cuda.is_available())\n"),
    ("visible_devices_too_late", "import os\nprint(torch.cuda.device_count())\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"),
)  # fmt: skip
