"""What `engine/findings/devices.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("visible_devices_misspelt", 5, """import os
os.environ["CUDA_VISIBLE_DEVICE"] = "0"
x = torch.ones(2)
""", says={"written": "CUDA_VISIBLE_DEVICE"}, mends=True),
    Mistake("visible_devices_misspelt", 5, """import os
os.environ.setdefault('CUDA_VISBLE_DEVICES', '0,1')
x = torch.ones(2)
""", says={"written": "CUDA_VISBLE_DEVICES"}, mends=True),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("visible_devices_misspelt", "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'\nx = torch.ones(2)\n"),
)  # fmt: skip
