"""Options of layers that PyTorch takes as they come and that no call of the layer can work with."""

import ast
import re
from collections.abc import Iterator

from engine.findings.diagnosis import Diagnosis
from engine.program.names import called
from engine.trace import Finding

_LETTERS = re.compile(r"(?P<option>\w+)=\('\w'(, '\w')+\)")
_OF_PADDING = ("same", "valid")


def word_for_sizes(diagnosis: Diagnosis) -> Iterator[Finding]:
    """`Conv2d(..., stride='same')`: a word where numbers belong is taken apart into its letters."""
    code = diagnosis.code
    for module in diagnosis.trace.modules:
        found = _LETTERS.search(module.text) if not module.calls else None
        makers = [call for call in code.calls if called(call) == module.type] if found is not None else []
        words = [word for call in makers for word in call.keywords if found is not None and word.arg == found["option"]]
        for word in words:
            match word.value:
                case ast.Constant(value=str(text)) if found is not None and diagnosis.has_run(word.value):
                    is_plain = found["option"] in ("stride", "dilation")
                    yield diagnosis.warning(
                        "word_for_sizes",
                        word.value,
                        fix=(code.replace(word.value, "1"),) if is_plain else (),
                        layer=module.path,
                        type=module.type,
                        option=found["option"],
                        text=text,
                        is_of_padding=str(int(text in _OF_PADDING)),
                    )
                    return
