"""The browser of this machine."""

import shutil


def browser() -> str | None:
    """Path of a Chromium, of one without windows first: it takes a third less of the processor. None where none is."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)
