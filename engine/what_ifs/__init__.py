"""What a run could be done otherwise in: edits to its program, to be run and seen beside it. Pure: others run them."""

from engine.what_ifs.find import what_ifs
from engine.what_ifs.types import FORMAT, WhatIf, WhatIfs

__all__ = ["FORMAT", "WhatIf", "WhatIfs", "what_ifs"]
