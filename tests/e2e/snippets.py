"""What the share box writes for each kind of place, by its own code."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITING_S = 60


def snippets(host: str, snapshot: str, step: int) -> dict[str, str]:
    """The texts by place, of a snapshot in Chinese at a step."""
    shared = json.dumps({"host": host, "id": snapshot, "step": step, "lang": "zh", "theme": "auto"})
    command = [sys.executable, "build_frontend.py", "run", "--silent", "snippets", "--", shared]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WRITING_S, check=True)
    texts: dict[str, str] = json.loads(done.stdout)
    return texts
