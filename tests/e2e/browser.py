"""The browser of this machine."""

import shutil


def browser() -> str | None:
    """Path of a Chromium; None when there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
