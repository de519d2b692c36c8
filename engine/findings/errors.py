"""Common errors of PyTorch and Python: exception type and message to the key of an explanation."""

import re

from engine.trace import Failure

PREFIX = "explain."

_TABLE: tuple[tuple[str, str, str], ...] = (
    # key, exception type, pattern in the message
    ("second_backward", "RuntimeError", r"backward through the graph a second time"),
    ("non_scalar_backward", "RuntimeError", r"grad can be implicitly created only for scalar outputs"),
    ("no_graph", "RuntimeError", r"does not require grad and does not have a grad_fn"),
    ("saved_changed", "RuntimeError", r"modified by an inplace operation"),
    ("leaf_in_place", "RuntimeError", r"leaf Variable that requires grad is being used in an in-place"),
    ("leaf_view_in_place", "RuntimeError", r"view of a leaf Variable that requires grad"),
    ("only_floats_require_grad", "RuntimeError", r"[Oo]nly Tensors of floating point"),
    ("numpy_of_tracked", "RuntimeError", r"Can't call numpy\(\) on Tensor that requires grad"),
    ("seed_shape", "RuntimeError", r"Mismatch in shape: grad_output"),
    ("unused_in_grad", "RuntimeError", r"appears to not have been used in the graph"),
    ("shape_mismatch_matmul", "RuntimeError", r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got"),
    ("shape_mismatch_broadcast", "RuntimeError", r"The size of tensor a \(\d+\) must match the size of tensor b"),
    ("shape_invalid", "RuntimeError", r"shape '.*' is invalid for input of size"),
    ("view_not_contiguous", "RuntimeError", r"view size is not compatible"),
    ("dtype_mismatch", "RuntimeError", r"must have the same dtype|expected scalar type|expected m1 and m2"),
    ("bool_of_many", "RuntimeError", r"Boolean value of Tensor with more than one value is ambiguous"),
    ("scalar_of_many", "RuntimeError", r"a Tensor with \d+ elements cannot be converted to Scalar"),
    ("not_a_leaf_in_optimizer", "ValueError", r"can't optimize a non-leaf Tensor"),
    ("optimizer_empty", "ValueError", r"optimizer got an empty parameter list"),
    ("no_cuda", "", r"Torch not compiled with CUDA enabled|No CUDA GPUs|Found no NVIDIA driver"),
    ("target_out_of_range", "IndexError", r"Target -?\d+ is out of bounds"),
    ("index_out_of_range", "IndexError", r"out of (?:range|bounds)"),
    ("module_not_callable", "TypeError", r"'module' object is not callable"),
    ("size_not_callable", "TypeError", r"'torch\.Size' object is not callable"),
    ("tensor_method", "AttributeError", r"module 'torch' has no attribute"),
    ("grad_is_none", "AttributeError", r"'NoneType' object has no attribute '(?:data|zero_|add_|norm|item|sum)'"),
    ("name_not_defined", "NameError", r"name '.*' is not defined"),
    ("no_module", "ModuleNotFoundError", r"No module named"),
    ("full_width", "SyntaxError", r"invalid (?:non-printable )?character '.' \(U\+(?:FF|30|20)"),
    ("never_closed", "SyntaxError", r"was never closed|unmatched"),
    ("indentation", "IndentationError", r""),
    ("input_not_available", "EOFError", r""),
    ("recursion", "RecursionError", r""),
)
_COMPILED = tuple((PREFIX + key, kind, re.compile(pattern)) for key, kind, pattern in _TABLE)
KEYS = tuple(key for key, _, _ in _COMPILED)
_LIMITS = {"limit": "explain.limit", "memory": "explain.memory", "forbidden": "explain.forbidden"}


def explanation(failure: Failure) -> str | None:
    """The key of the explanation in the word lists; None when there is none for this failure."""
    if failure.kind in _LIMITS:
        return _LIMITS[failure.kind]
    for key, kind, pattern in _COMPILED:
        if kind in ("", failure.type) and pattern.search(failure.message):
            return key
    return None
