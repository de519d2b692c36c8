"""Errors that learners meet: exception type and message to a diagnosis of the failing line.

A rule that cannot be sure of line and cause makes no finding. Its code is then still the failure's explanation.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from engine.findings.diagnosis import Diagnosis
from engine.findings.failing import (
    arguments,
    autograd,
    calls,
    classes,
    dtypes,
    layers,
    names,
    not_available,
    passes,
    saved_changed,
    shapes,
    transforms,
    values,
    walked_again,
)
from engine.findings.failing.case import RAISED, Case, Rule, first_told, instead, of_call, of_one, of_two, plain
from engine.trace import Failure, Finding


class Row(NamedTuple):
    """An error and what explains it."""

    code: str
    type: str
    """Exception class; empty for any."""
    pattern: re.Pattern[str]
    """Found in the message; its named groups become parameters."""
    rules: tuple[Rule, ...]
    """Asked in turn; none for errors that another family tells from the trace."""


_TABLE: tuple[tuple[str, str, str, *tuple[Rule, ...]], ...] = (
    # Passes; why nothing requires a gradient is told from the trace by the family of cuts
    ("second_backward", "RuntimeError", r"backward through the graph a second time", walked_again.second_time),
    ("gradcheck_differs", "", r"^Jacobian mismatch for output (?P<output>\d+) with respect to input (?P<input>\d+)", passes.gradcheck_differs),
    ("non_scalar_backward", "RuntimeError", r"grad can be implicitly created only for scalar outputs", passes.not_scalar),
    ("complex_loss", "RuntimeError", r"grad can be implicitly created only for real scalar outputs", passes.complex_loss),
    ("nothing_requires_grad", "RuntimeError", r"does not require grad and does not have a grad_fn"),
    ("saved_tensor_changed", "RuntimeError", r"modified by an inplace operation", saved_changed.saved_changed),
    ("no_derivative", "RuntimeError", r"derivative for aten::\w+ is not implemented", autograd.no_derivative),
    # A value of another kind than was meant, whatever was asked of it
    ("packed_for_tensor", "", r"PackedSequence|^tuple indices must be|^can only concatenate tuple", arguments.packed),
    ("class_without_module", "", r"^'(?P<type>\w+)' object (?:is not callable|has no attribute '(?P<name>\w+)')", classes.without_module),
    ("keys_taken_for_model", "", r"'_IncompatibleKeys' object", calls.keys_taken_for_model),
    ("", "AttributeError", r"^'tuple' object has no attribute", arguments.pair_inside),
    ("", "AttributeError", r"object has no attribute", values.odd_value),
    ("", "TypeError", r"must be (?:a )?(?:Tensor|tuple of Tensors|integers)|unsupported operand|can only concatenate|can't multiply sequence|indices must be|not callable|not iterable|not subscriptable|(?P<nothing>NoneType)|'(?:\w+_)?method", values.odd_value),
    # Autograd
    ("leaf_view_in_place", "RuntimeError", r"a view of a leaf Variable that requires grad", autograd.leaf_written),
    ("hooked_layer_in_place", "RuntimeError", r"Output \d+ of BackwardHookFunction is a view and is being modified inplace", autograd.hooked_in_place),
    ("output_is_input", "RuntimeError", r"Output \d+ of (?P<function>\w+) is a view and is being modified inplace\. This view was created inside a custom Function", autograd.input_handed_on),
    ("leaf_in_place", "RuntimeError", r"a leaf Variable that requires grad is being used in an in-place", autograd.leaf_written),
    ("only_floats_require_grad", "RuntimeError", r"[Oo]nly Tensors of floating point", dtypes.cannot_require),
    ("numpy_of_tracked", "RuntimeError", r"Can't call numpy\(\) on Tensor that requires grad", dtypes.numpy_in_loss, instead("NAME.numpy()", "NAME.detach().numpy()", is_in_loss="0", root="", pass_line=""), dtypes.numpy_of_tracked),
    ("seed_shape", "RuntimeError", r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(?P<given>.*?)\]\) and output\[\d+\] has a shape of torch\.Size\(\[(?P<wanted>.*?)\]\)", autograd.seed_shape),
    ("unused_in_grad", "RuntimeError", r"differentiated Tensor at index (?P<at>\d+) appears to not have been used", autograd.unused_part, autograd.unused_in_grad),
    ("grad_asked_untracked", "RuntimeError", r"One of the differentiated Tensors does not require grad", autograd.unused_in_grad),
    ("cannot_stop_tracking", "RuntimeError", r"you can only change requires_grad flags of leaf variables", autograd.tracked_already, instead("NAME.requires_grad = False", "NAME = NAME.detach()", is_on="0"), instead("NAME.requires_grad = VALUE", is_on="0"), instead("NAME.requires_grad_(...)", is_on="0")),
    ("untracked_asked", "RuntimeError", r"can't retain_grad on Tensor|cannot register a hook on a tensor that doesn't require", instead("NAME.METHOD(...)")),
    ("inference_tensor", "RuntimeError", r"Inference tensors cannot be saved for backward", autograd.inference),
    ("deepcopy_of_result", "RuntimeError", r"Only Tensors created explicitly by the user .* support the deepcopy", autograd.deepcopied, autograd.holder_copied),
    ("grad_shape", "RuntimeError", r"attempting to assign a gradient of size '(?P<given>\[.*?\])' to a tensor of size '(?P<wanted>\[.*?\])'", autograd.grad_assigned),
    ("grad_through_checkpoint", "RuntimeError", r"torch\.utils\.checkpoint is incompatible with \.grad\(\)", autograd.through_checkpoint),
    ("custom_backward_count", "RuntimeError", r"function (?P<function>\w+) returned an incorrect number of gradients \(expected (?P<expected>\d+), got (?P<got>\d+)\)", classes.custom_gradient),
    ("custom_backward_not_none", "RuntimeError", r"function (?P<function>\w+) returned a gradient different than None at position (?P<place>\d+)", classes.custom_gradient_not_none),
    ("custom_backward_missing", "NotImplementedError", r"must implement either the backward or vjp method", classes.custom_backward_missing),
    ("function_not_applied", "RuntimeError", r"Legacy autograd function with non-static forward", classes.function_called),
    ("custom_backward_shape", "RuntimeError", r"Function (?P<function>\w+) returned an invalid gradient at index (?P<at>\d+) - got (?P<got>\[.*?\]) but expected shape compatible with (?P<wanted>\[.*?\])", classes.custom_gradient),
    ("grad_not_a_tensor", "TypeError", r"assigned grad expected to be a Tensor or None but got grad of type (?P<got>\w+)", autograd.grad_assigned),
    ("anomaly_nan", "RuntimeError", r"Function '(?P<node>\w+)' returned nan values in its", autograd.anomaly),
    # Shapes
    ("", "", r"out of bounds|out of range|must match|cannot be multiplied|size mismatch|is invalid for input of size|number of dimensions|too many indices|mask at index|expected to be in range|to have \d+ channels|not enough values|Expected size|doesn't match", layers.batch_squeezed_now),
    ("", "", r"^too many indices for tensor|^expected \dD(?: or \dD)? input|^Dimension out of range", transforms.sample_alone),
    ("shape_mismatch_matmul", "RuntimeError", r"mat1 and mat2 shapes cannot be multiplied|size mismatch, got|inconsistent tensor size, expected tensor|Expected size for first two dimensions of batch2", layers.not_flattened, layers.batch_flattened, layers.linear, shapes.batch_behind, shapes.product),
    ("product_axes", "RuntimeError", r"(?:self|mat2|mat1|batch1|batch2) must be a (?:matrix|3D tensor)|1D tensors expected|vector \+ matrix|at least 1D", shapes.product_of_batches),
    ("shape_mismatch_broadcast", "RuntimeError", r"The size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\) at non-singleton dimension (?P<axis>\d+)", shapes.nothing_kept, shapes.cut_short, shapes.reduced, shapes.broadcast),
    ("in_place_shape", "RuntimeError", r"output with shape \[.*\] doesn't match the broadcast shape (?P<result>\[.*\])", of_two),
    ("cat_shapes", "RuntimeError", r"Sizes of tensors must match except in dimension (?P<along>\d+)\. Expected size (?P<expected>\d+) but got size (?P<got>\d+) for tensor number (?P<at>\d+)", shapes.rounded, shapes.joined),
    ("cat_axes", "RuntimeError", r"Tensors must have same number of dimensions", shapes.joined_scalars, shapes.joined_axes),
    ("cat_scalars", "RuntimeError", r"zero-dimensional tensor \(at position \d+\) cannot be concatenated", shapes.joined_scalars, shapes.joined_axes),
    ("stack_shapes", "RuntimeError", r"stack expects each tensor to be equal size, but got (?P<first_shape>\[.*?\]) at entry (?P<first>\d+) and (?P<other_shape>\[.*?\]) at entry (?P<other>\d+)", shapes.stacked),
    ("", "RuntimeError", r"^each element in list of batch should be of equal size", shapes.not_padded),
    ("shape_invalid", "RuntimeError", r"shape '(?P<shape>\[.*\])' is invalid for input of size (?P<count>\d+)", layers.batch_counted_on, shapes.reshaped),
    ("view_not_contiguous", "RuntimeError", r"view size is not compatible", shapes.not_contiguous),
    ("expand_size", "RuntimeError", r"The expanded size of the tensor \((?P<wanted>\d+)\) must match the existing size \((?P<got>\d+)\) at non-singleton dimension (?P<axis>\d+)\.\s+Target sizes: (?P<target>\[.*?\])\.\s+Tensor sizes: (?P<shape>\[.*?\])", shapes.expanded),
    ("axis_out_of_range", "IndexError", r"Dimension out of range \(expected to be in range of \[(?P<low>-?\d+), (?P<high>-?\d+)\], but got (?P<axis>-?\d+)\)", shapes.axis_out_of_range),
    ("axis_out_of_range", "RuntimeError", r"^permute\(.*input\.dim\(\) = (?P<has>\d+) is not equal to len\(dims\) = (?P<asked>\d+)", shapes.permuted_too_far),
    ("target_out_of_range", "RuntimeError", r"^Class values must be (?:smaller than num_classes|non-negative)", layers.one_hot_range),
    ("target_out_of_range", "IndexError", r"Target (?P<value>-?\d+) is out of bounds", layers.target_range),
    ("index_out_of_range", "", r"index (?P<index>-?\d+) is out of bounds for dimension (?P<axis>\d+) with size (?P<size>\d+)", layers.lstm_state, shapes.index),
    ("embedding_index", "IndexError", r"index out of range in self", shapes.one_row_more, shapes.embedding),
    ("list_index", "IndexError", r"(?:list|tuple) index out of range|^index -?\d+ is out of range", instead("NAME[INDEX]")),
    ("indices_many", "IndexError", r"too many indices for tensor of dimension \d+", of_one),
    ("index_of_scalar", "IndexError", r"invalid index of a 0-dim tensor", instead("NAME.data[0]", "NAME.item()"), instead("NAME[0]", "NAME.item()"), instead("NAME.data[PLACE]"), instead("NAME[PLACE]")),
    ("mask_shape", "IndexError", r"The shape of the mask (?P<mask>\[.*?\]) at index (?P<axis>\d+) does not match the shape of the indexed tensor (?P<shape>\[.*?\]) at index (?P<at>\d+)", dtypes.bytes_for_places, plain),
    ("iterate_scalar", "TypeError", r"iteration over a 0-d tensor|len\(\) of a 0-d tensor", plain),
    ("unpack_count", "ValueError", r"(?:too many|not enough) values to unpack \(expected (?P<expected>\d+)", shapes.parts_of_turn, shapes.unpacked),
    ("conv_channels", "RuntimeError", r"(?:Given groups=(?P<groups>\d+), .*)?to have (?P<wanted>\d+) channels, but got (?P<got>\d+) channels instead", layers.channels),
    ("conv_axes", "RuntimeError", r"Expected \dD \(unbatched\) or \dD \(batched\) input to (?P<op>\w+)", layers.conv_axes),
    ("kernel_too_large", "RuntimeError", r"padded input size per channel: \((?P<size>.*?)\)\. Kernel size: \((?P<kernel>.*?)\)", of_one),
    ("batch_norm_one_value", "ValueError", r"Expected more than 1 value per channel when training", layers.one_value),
    ("recurrent_input", "RuntimeError", r"input\.size\(-1\) must be equal to input_size\. Expected (?P<wanted>\d+), got (?P<got>\d+)", layers.recurrent_input),
    ("recurrent_input", "AssertionError", r"was expecting embedding dimension of (?P<wanted>\d+), but got (?P<got>\d+)", layers.recurrent_input),
    ("hidden_size", "RuntimeError", r"Expected hidden(?:\[\d\])? size \((?P<wanted>.*?)\), got \[(?P<got>.*?)\]", layers.batch_first_missing, layers.hidden_size),
    ("lstm_state", "RuntimeError", r"hx and cx should also be \d-D but got", layers.lstm_state),
    ("hidden_axes", "RuntimeError", r"hx(?: and cx)? should also be (?P<wanted>\d)-D but got \(?(?P<got>\d)-D", layers.hidden_size),
    ("norm_axes", "ValueError", r"^expected (?P<wanted>\dD(?: or \dD)?) input \(got (?P<got>\d)D input\)", layers.norm_axes),
    ("norm_features", "RuntimeError", r"running_mean should contain (?P<got>\d+) elements not (?P<wanted>\d+)", layers.norm_features),
    ("norm_shape", "RuntimeError", r"Given normalized_shape=\[(?P<wanted>.*?)\], expected input with shape .*?, but got input of size ?\[(?P<got>.*?)\]", plain),
    ("gather_axes", "RuntimeError", r"Index tensor must have the same number of dimensions as (?:input|self) tensor", shapes.gathered),
    ("split_sizes", "ValueError", r"Sum of input lengths does not equal the length of the input dataset", plain),
    ("dataset_sizes", "AssertionError", r"^Size mismatch between tensors", plain),
    ("lengths_unsorted", "RuntimeError", r"`lengths` array must be sorted in decreasing order", calls.argument_to_add("enforce_sorted=False")),
    ("sequence_empty", "RuntimeError", r"^Length of all samples has to be greater than 0", calls.sequence_empty),
    ("einsum_sizes", "RuntimeError", r"einsum\(\): subscript (?P<letter>\w) has size (?P<b>\d+) for operand (?P<at>\d+) which does not broadcast with previously seen size (?P<a>\d+)", of_call),
    ("padding_mask_shape", "AssertionError", r"Expected key_padded_mask\.shape\[(?P<axis>[01])\] to be (?P<wanted>\d+), but got (?P<got>\d+)", layers.padding_mask),
    ("attention_mask_shape", "RuntimeError", r"The shape of the \dD attn_mask is torch\.Size\((?P<got>\[[\d, ]*\])\), but should be \((?P<wanted>[\d, ]*)\)", layers.attention_mask),
    ("ctc_lengths", "RuntimeError", r"Expected (?P<argument>(?:input|target)_lengths) to have value at most (?P<most>\d+), but got value (?P<value>\d+)", of_call),
    ("not_positive_definite", "", r"linalg\.cholesky.*: .*input is not positive-definite", arguments.not_positive_definite),
    ("matrix_singular", "", r"linalg\.\w+: .*(?:input matrix is singular|is zero)", arguments.singular),
    ("batch_squeezed", "RuntimeError", r"size mismatch \(got input: \[(?P<classes>\d+)\], target: \[(?P<targets>\d+)\]\)", layers.batch_squeezed),
    ("class_axis", "RuntimeError", r"Expected target size \[|size mismatch \(got input|only batches of spatial targets supported \(3D tensors\)", layers.class_axis),
    ("target_axes", "RuntimeError", r"only batches of spatial targets supported \(3D tensors\)", dtypes.swapped, layers.target_axes),
    ("class_weights", "RuntimeError", r"weight tensor should be defined either for all (?P<classes>\d+) classes or no classes but got weight tensor of shape: \[(?P<count>\d+)\]", of_call),
    ("loss_batch", "ValueError", r"Expected input batch_size \((?P<samples>\d+)\) to match target batch_size \((?P<targets>\d+)\)", layers.batch_cut_anew, layers.loss_batch),
    ("target_axes", "RuntimeError", r"0D or 1D target tensor expected, multi-target not supported", dtypes.swapped, layers.target_axes),
    ("target_shape", "ValueError", r"[Tt]arget size \(torch\.Size\(.*?\)\) (?:that is different to|must be the same as)", layers.batch_squeezed_now, layers.target_shape),
    ("t_of_batch", "RuntimeError", r"t\(\) expects a tensor with <= 2 dimensions, but self is (?P<axes>\d+)D", instead("NAME.t()", "NAME.transpose(-2, -1)")),
    ("two_inferred", "RuntimeError", r"only one dimension can be inferred", of_one),
    ("expanded_written", "RuntimeError", r"more than one element of the written-to tensor refers to a single memory location", shapes.expanded_written),
    ("heads_do_not_divide", "AssertionError", r"embed_dim must be divisible by num_heads", layers.heads),
    ("bce_out_of_range", "RuntimeError", r"all elements of (?P<which>input|target) should be between 0 and 1", layers.probability_range),
    ("ragged_list", "ValueError", r"expected sequence of length (?P<expected>\d+) at dim (?P<axis>\d+) \(got (?P<got>\d+)\)", plain),
    # Types and devices
    ("dtype_mismatch", "", r"(?:must|to) have the same dtype|both vectors to have same dtype|^mixed dtype|^prelu: Type promoting|expected scalar type (?P<expected>\w+) but found|Input type \(.*\) and (?:weight|bias) type|^RNN input dtype", dtypes.expected_long, dtypes.converted, dtypes.mixed),
    ("mean_of_integers", "RuntimeError", r"could not infer output dtype|Input dtype must be either a floating point", dtypes.swapped, dtypes.not_for_type),
    ("dtype_not_supported", "NotImplementedError", r"\"(?P<kernel>\w+)\" not implemented for '(?P<dtype>\w+)'", dtypes.swapped, dtypes.not_for_type),
    ("dtype_not_supported", "RuntimeError", r"(?:Subtraction|Negation), the `-` operator, (?:with|on) a (?P<dtype>bool) tensor is not supported", dtypes.opposite),
    ("target_not_float", "RuntimeError", r"^Subtraction, the `-` operator, with two bool tensors", dtypes.target_float),
    ("in_place_dtype", "RuntimeError", r"result type (?P<result>\w+) can't be cast to the desired output type (?P<own>\w+)", dtypes.target_float, dtypes.cannot_store),
    ("target_not_long", "RuntimeError", r"expected target dtype to be Long", dtypes.swapped, dtypes.target_whole),
    ("scores_chosen", "", r"^For 1D input, 1D target must have size 1|Expected floating point type for target with class prob", dtypes.scores_chosen),
    ("target_not_float", "RuntimeError", r"Found dtype \w+ but expected Float|Expected floating point type for target", dtypes.target_float),
    ("mask_dtype", "RuntimeError", r"masked_fill_? only supports boolean masks, but got mask with dtype (?P<dtype>\w+)", dtypes.mask),
    ("index_dtype", "", r"tensors used as indices must be long|Expected tensor for argument #\d+ 'indices'|one_hot is only applicable to index tensor|Expected dtype int(?:32|64)|Expected a long tensor for index|dtype of indices should be Long", dtypes.indices),
    ("index_not_whole", "IndexError", r"only integers, slices .* are valid indices \(got (?P<type>\w+)\)", instead("NAME[LEFT / RIGHT]", "NAME[LEFT // RIGHT]", index="LEFT / RIGHT"), instead("NAME[INDEX]")),
    ("parameter_nan", "ValueError", r"^Expected (?:parameter|value argument) (?P<parameter>\w+).*of distribution (?P<type>\w+)\((?s:.*)found invalid values:(?s:.*)\bnan\b", arguments.parameter_nan),
    ("probs_invalid", "ValueError", r"^Expected (?:parameter|value argument) (?P<parameter>probs) ?\(?.*of distribution (?P<type>\w+)\(.*to satisfy the constraint (?P<constraint>\w+)\(", arguments.not_probabilities),
    ("parameter_invalid", "ValueError", r"^Expected (?:parameter|value argument) (?P<parameter>\w*) ?\(?.*of distribution (?P<type>\w+)\(.*to satisfy the constraint (?P<constraint>\w+)\(", arguments.parameter_invalid),
    ("numpy_lacks_type", "TypeError", r"Got unsupported ScalarType (?P<type>\w+)", instead("NAME.numpy()", "NAME.float().numpy()")),
    ("device_mismatch", "RuntimeError", r"Expected all tensors to be on the same device|is not on the expected device", dtypes.devices),
    ("tensor_of_tensors", "ValueError", r"only one element tensors can be converted to Python scalars", dtypes.number_of_many, dtypes.tensors_in_list),
    ("scalar_of_many", "RuntimeError", r"a Tensor with (?P<count>\d+) elements cannot be converted to Scalar", values.class_called, values.maker_called, arguments.joined_tensors, arguments.many_values),
    ("bool_of_many", "RuntimeError", r"Boolean value of Tensor with more than one value is ambiguous", values.class_called, values.maker_called, arguments.joined_tensors, arguments.compared_as_wholes, arguments.many_values),
    # Functions of functions
    ("vmap_value_asked", "", r"vmap: It looks like you're |^symbolically traced variables cannot be used as inputs to control flow", calls.value_asked),
    ("vmap_random", "RuntimeError", r"vmap: called random operation while in randomness error mode", plain),
    ("vmap_in_place", "RuntimeError", r"^vmap: inplace arithmetic\(self, \*extra_args\) is not possible", autograd.written_under_vmap),
    ("func_asked_to_track", "RuntimeError", r"^You are attempting to call Tensor\.requires_grad_\(\)", transforms.asked_to_track),
    ("func_captured_written", "RuntimeError", r"attempted to call in-place operation \(aten::\w+\.\w+\) that would mutate a captured Tensor", transforms.captured_written),
    ("func_not_scalar", "RuntimeError", r"Expected f\(\*args\) to return a scalar [Tt]ensor, got tensor with (?P<axes>\d+) dims", calls.not_scalar),
    ("func_returns_more", "RuntimeError", r"Expected f\(\*args\) to return a [Tt]ensor, got <class '(?P<got>\w+)'>", calls.returns_more),
    ("vmap_sizes", "ValueError", r"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes (?P<sizes>\[.*?\])", transforms.mapped_sizes),
    ("saved_no_tensor", "TypeError", r"^save_for_backward can only save variables, but argument (?P<at>\d+) is of type (?P<kind>\w+)", classes.saved_no_tensor),
    # Modules, optimizers, calls
    ("super_init_missing", "AttributeError", r"cannot assign \w+ before Module\.__init__\(\) call|object has no attribute '(?:_backward_hooks|_parameters|_modules|_forward_hooks|training)'", calls.super_init),
    ("super_underscores", "AttributeError", r"'super' object has no attribute '(?P<mangled>_\w+?__(?P<short>\w+?))'$", names.mangled),
    ("rsample_missing", "NotImplementedError", r"^$", calls.rsample_missing),
    ("scaler_without_gradients", "AssertionError", r"^No inf checks were recorded for this optimizer", calls.scaler_without_gradients),
    ("forward_missing", "NotImplementedError", r"Module \[(?P<type>\w+)\] is missing the required \"forward\" function", calls.forward_missing),
    ("sample_not_batched", "TypeError", r"'(?P<type>NoneType)' (?:has no len|object is not (?:iterable|subscriptable))", classes.sample_of_none),
    ("dataset_method_missing", "", r"object of type '(?P<type>\w+)' has no len\(\)|Subclasses of Dataset should implement __getitem__|'(?P<owner>\w+)' object is not subscriptable", classes.dataset_method),
    ("loader_indexed", "TypeError", r"'DataLoader' object is not subscriptable", instead("NAME[0]", "next(iter(NAME))"), instead("NAME[PLACE]")),
    ("not_indexable", "TypeError", r"'(?P<type>\w+)' object is not subscriptable", instead("NAME[PLACE]")),
    ("sample_not_batched", "TypeError", r"batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class '(?P<type>[\w.]+)'>", classes.sample_of_none, plain),
    ("modules_in_list", "TypeError", r"^list is not a Module subclass", instead("CONTAINER(WRITTEN)", "CONTAINER(*WRITTEN)")),
    ("function_among_layers", "TypeError", r"^(?P<got>[\w.<>]+) is not a Module subclass", classes.not_a_module),
    ("tied_transposed", "TypeError", r"cannot assign 'torch[\w.]*Tensor' as parameter '(?P<attribute>\w+)'", *(instead(f"OWNER.ATTRIBUTE = SHARED.{turned}", name="OWNER.ATTRIBUTE") for turned in ("t()", "T", "transpose(...)"))),
    ("parameter_overwritten", "TypeError", r"cannot assign '(?P<given>torch[\w.]*Tensor)' as parameter '(?P<attribute>\w+)'", autograd.result_named, instead("OWNER.ATTRIBUTE = VALUE", "with torch.no_grad(): OWNER.ATTRIBUTE.copy_(VALUE)", name="OWNER.ATTRIBUTE")),
    ("parameter_overwritten", "TypeError", r"cannot assign '(?P<given>[\w.]+)' as parameter '(?P<attribute>\w+)'", instead("OWNER.ATTRIBUTE = VALUE", name="OWNER.ATTRIBUTE")),
    ("layer_overwritten", "TypeError", r"cannot assign '(?P<given>[\w.]+)' as child module '(?P<attribute>\w+)'", instead("OWNER.ATTRIBUTE = VALUE", name="OWNER.ATTRIBUTE")),
    ("no_cuda_several", "", r"Torch not compiled with CUDA enabled|No CUDA GPUs|Found no NVIDIA driver|accelerator device when none", calls.several_devices),
    ("no_cuda", "", r"Torch not compiled with CUDA enabled|No CUDA GPUs|Found no NVIDIA driver", instead("VALUE.cuda(...)", "VALUE"), calls.no_device),
    ("device_absent", "", r"(?:Torch not compiled with |with arguments from the '|No module named 'torch\.)(?P<name>XPU|MPS|HPU|MTIA|MAIA|xpu|mps|hpu|mtia|maia)\b", instead("VALUE.cuda(...)", "VALUE"), calls.no_device),
    ("device_unknown", "RuntimeError", r"device type at start of device string: (?P<name>\w+)", instead("VALUE.cuda(...)", "VALUE"), calls.no_device),
    ("pin_memory", "RuntimeError", r"pin_memory=True requires a CUDA", plain),
    ("weights_only", "UnpicklingError", r"[Ww]eights only load failed", calls.more_than_tensors),
    ("state_dict_of_path", "TypeError", r"Expected state_dict to be dict-like, got <class '(?P<type>str)'>", instead("FUNCTION(GIVEN, ...)", "FUNCTION(torch.load(GIVEN), ...)")),
    ("state_dict_of_model", "TypeError", r"Expected state_dict to be dict-like, got <class '(?P<type>generator)'>", instead("FUNCTION(GIVEN.parameters())", "FUNCTION(GIVEN.state_dict())")),
    ("state_dict_of_model", "TypeError", r"Expected state_dict to be dict-like, got <class '(?P<type>torch\.nn\.[\w.]+|__main__\.\w+)'>", instead("FUNCTION(GIVEN, ...)", "FUNCTION(GIVEN.state_dict(), ...)")),
    ("state_dict_keys", "RuntimeError", r"Error\(s\) in loading state_dict for (?P<type>\w+):", calls.state_dict),
    ("optimizer_empty", "ValueError", r"optimizer got an empty parameter list", calls.never_made, calls.optimizer_empty),
    ("parameter_in_two_groups", "ValueError", r"some parameters appear in more than one parameter group", calls.groups_given),
    ("optimizer_state_groups", "ValueError", r"loaded state dict has a different number of parameter groups", instead("NAME.load_state_dict(GIVEN)")),
    ("optimizer_state_size", "ValueError", r"loaded state dict contains a parameter group that doesn't match the size", calls.optimizer_state),
    ("not_a_leaf_in_optimizer", "ValueError", r"can't optimize a non-leaf Tensor", calls.optimizer_not_leaf),
    ("optimizer_of_tensor", "TypeError", r"params argument given to the optimizer should be an iterable", instead("FUNCTION(NAME, ...)", "FUNCTION([NAME], ...)")),
    ("parameters_inside_list", "TypeError", r"optimizer can only optimize Tensors, but one of the params is (?:Module\.parameters|list|generator)", calls.parameters_inside_list),
    ("optimizer_of_module", "TypeError", r"'(?P<module>\w+)' object is not iterable|optimizer can only optimize Tensors, but one of the params is torch\.nn", calls.module_for_parameters),
    ("saved_to_object", "AttributeError", r"expected 'f' to be string, path, or a file-like object", instead("FUNCTION(FIRST, SECOND)", "FUNCTION(SECOND, FIRST)", right="FUNCTION(SECOND, FIRST)")),
    ("context_not_made", "TypeError", r"'(?P<type>type|function)' object does not support the context manager protocol", calls.context_not_made),
    ("module_as_base", "TypeError", r"^module\(\) takes at most 2 arguments", classes.module_as_base),
    ("module_not_callable", "TypeError", r"'module' object is not callable", calls.module_called),
    ("step_given_loss", "TypeError", r"'(?:Tensor|float)' object is not callable", calls.step_given_loss),
    ("dataset_of_arrays", "TypeError", r"'int' object is not callable", arguments.dataset_of_arrays),
    ("not_callable", "TypeError", r"'(?P<type>torch\.Size|Tensor|int|float|bool|str|list|tuple|dict|torch\.dtype|torch\.device|NoneType)' object is not callable", calls.property_called, calls.name_taken, calls.value_called),
    ("iterator_next", "AttributeError", r"'_\w+DataLoaderIter' object has no attribute 'next'", instead("RECEIVER.next()", "next(RECEIVER)", written="RECEIVER.next()", right="next(RECEIVER)")),
    ("optimizer_attribute", "AttributeError", r"'(?:SGD|Adam|AdamW|RMSprop|Adagrad)' object has no attribute '(?P<name>lr|momentum|weight_decay|betas|eps)'", instead("GROUPS.NAME", "GROUPS.param_groups[0]['NAME']", right="GROUPS.param_groups[0]['NAME']")),
    ("groups_attribute", "AttributeError", r"'list' object has no attribute '(?P<name>lr|momentum|weight_decay|params|betas|eps)'", instead("GROUPS.NAME", "GROUPS[0]['NAME']", right="GROUPS[0]['NAME']")),
    ("group_attribute", "AttributeError", r"'dict' object has no attribute '(?P<name>lr|momentum|weight_decay|params|betas|eps)'", instead("GROUP.NAME", "GROUP['NAME']", right="GROUP['NAME']")),
    ("gradient_layout", "RuntimeError", r"^(?P<optimizer>\w+) does not support (?P<layout>sparse|dense) gradients", calls.gradient_layout),
    ("scheduler_steps", "ValueError", r"Tried to step (?P<steps>\d+) times\. The specified number of total steps is (?P<total>\d+)", calls.steps_floored, calls.steps_planned),
    ("metric_missing", "TypeError", r"^ReduceLROnPlateau\.step\(\) missing 1 required positional argument: 'metrics'", plain),
    ("method_without_tensor", "TypeError", r"^(?P<name>\w+)\(\) missing 1 required positional arguments: \"input\"", plain),
    ("format_refused", "TypeError", r"unsupported format string passed to (?P<type>\w+)\.__format__", arguments.format_refused),
    ("text_and_value", "TypeError", r"can only concatenate str \(not \"(?P<got>\w+)\"\) to str", plain),
    ("generators_added", "TypeError", r"for \+: 'generator' and|can only concatenate list \(not \"generator\"\)", instead("LEFT + RIGHT", "[*LEFT, *RIGHT]", right="[*LEFT, *RIGHT]")),
    ("operand_types", "TypeError", r"unsupported operand type\(s\) for (?P<operator>.+?): '(?P<left>\w+)' and '(?P<right>\w+)'", arguments.operands),
    ("arguments_invalid", "TypeError", r"^(?P<function>\w+)\(\) received an invalid combination of arguments - got \((?P<got>.*?)(?:, )?\), but expected", arguments.other_forms),
    ("keyword_unknown", "TypeError", r"got an unexpected keyword argument '(?P<name>\w+)'", calls.keyword),
    ("argument_twice", "TypeError", r"^(?P<function>[\w.]+)\(\) got multiple values for argument '(?P<argument>\w+)'", calls.argument_twice),
    ("not_an_iterator", "TypeError", r"'(?P<type>\w+)' object is not an iterator", instead("next(NAME)", "next(iter(NAME))", right="next(iter(NAME))")),
    ("closure_missing", "TypeError", r"^LBFGS\.step\(\) missing 1 required positional argument: 'closure'", plain),
    ("learning_rate_invalid", "ValueError", r"^Invalid learning rate: (?P<value>.+)", plain),
    ("array_backwards", "ValueError", r"At least one stride in the given numpy array is negative", arguments.runs_backwards),
    ("tensor_of_text", "", r"too many dimensions 'str'|^can't convert np\.ndarray of type numpy\.(?P<kind>str_|bytes_|object_)", arguments.text_given),
    ("arguments_missing", "TypeError", r"^(?P<function>[\w.]+)\(\) missing (?P<count>\d+) required positional arguments?: (?P<names>['\"].*)", classes.function_forward, values.class_called, calls.arguments_missing),
    ("size_not_whole", "TypeError", r"^(?:zeros|ones|rand|randn|empty|full|view|reshape|repeat|expand)\(\) (?:takes \d+ positional argument|received an invalid combination)", arguments.size_not_whole),
    ("arguments_many", "TypeError", r"^(?P<function>[\w.<>]+)\(\) takes (?:from \d+ to )?(?P<takes>\d+) positional arguments? but (?P<given>\d+) (?:was|were) given", values.class_called, values.maker_called, calls.method_takes_less, calls.arguments_many),
    ("not_a_tensor", "TypeError", r"^(?P<function>\w+)\(\): argument '(?P<argument>\w+)' \(position (?P<position>\d+)\) must be Tensor, not (?P<got>[\w.]+)", arguments.not_a_tensor),
    ("element_not_tensor", "TypeError", r"^expected Tensor as element (?P<at>\d+) in argument 0, but got (?P<got>\w+)", classes.sample_of_none, arguments.element_not_tensor),
    ("tensors_not_listed", "TypeError", r"^(?P<function>\w+)\(\): argument '(?P<argument>tensors)' \(position \d+\) must be tuple of Tensors, not (?P<got>\w+)", arguments.tensors_not_listed),
    ("size_not_whole", "TypeError", r"must be tuple of ints,? ?(?:not float|but found element of type float|but ?got float)|'float' object cannot be interpreted as an integer|slice indices must be integers", arguments.size_not_whole),
    ("argument_type", "TypeError", r"^(?P<function>\w+)\(\): argument '(?P<argument>\w+)'(?: \(position \d+\))? must be (?P<wanted>[\w. ]+), not (?P<got>[\w.]+)", of_call),
    ("function_removed", "RuntimeError", r"(?s)^This function was deprecated since version (?P<version>[\d.]+) and is now removed\.(?P<advice>.*)", calls.function_removed),
    # Names
    ("unbound_local", "UnboundLocalError", r"local variable '(?P<name>\w+)'", names.unbound_local),
    ("name_not_defined", "NameError", r"name '(?P<name>\w+)' is not defined", names.pasted, names.undefined),
    ("no_module", "ModuleNotFoundError", r"No module named '(?P<name>[\w.]+)'", names.no_module),
    ("no_such_import", "ImportError", r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'", names.no_such_import),
    ("tensor_append", "AttributeError", r"'Tensor' object has no attribute '(?P<name>append|extend)'", plain),
    ("attribute_missing", "AttributeError", r"has no attribute '", names.unmade, names.compared_not_set, names.attribute),
    ("attribute_taken", "KeyError", r"^['\"]*attribute '(?P<name>\w+)' already exists", classes.name_taken),
    ("scheduler_resumed", "KeyError", r"param 'initial_lr' is not specified in param_groups", of_call),
    ("key_missing", "KeyError", r"(?P<key>.*)", names.key),
    # The world outside
    ("division_of_nothing", "ZeroDivisionError", r"division by zero|modulo by zero", instead("LEFT / DIVISOR"), instead("LEFT // DIVISOR"), instead("LEFT % DIVISOR")),
    ("too_many_ranks", "RuntimeError", r"ranks are threads of one process here, and there are at most", plain),
    ("ranks_apart", "RuntimeError", r"for ever: .*Every rank has to make|^rank \d+ calls .* where rank|of tensors that do not fit together \(rank|^two ranks say|^this rank says world_size", plain),
    ("meeting_place_unknown", "ValueError", r"env:// rendezvous: environment variable (?P<name>\w+) expected, but not set", calls.argument_to_add('init_method="tcp://127.0.0.1:29500"')),
    ("distributed", "", r"(?s)torch\.distributed|init_process_group|[Pp]rocess group|server socket has failed", plain),
    ("no_processes", "", r"shared memory|torch_shm_manager|Operation not permitted.*(?:fork|clone)|semaphore|/dev/shm|torch_\d+_\d+", plain),
    ("no_file", "FileNotFoundError", r"No such file or directory: '(?P<path>[^']*)'", plain),
    ("read_only_file", "OSError", r"Read-only file system: '(?P<path>[^']*)'", plain),
    ("no_network", "", r"Temporary failure in name resolution|urlopen error|Network is unreachable|no internet connection", plain),
    ("forbidden", "", r"Operation not permitted|Permission denied", not_available.forbidden),
    ("out_of_memory", "", r"can't allocate memory|[Oo]ut of memory|Unable to allocate", not_available.memory),
    ("signal_handler", "ValueError", r"^signal only works in main thread", plain),
    ("input_not_available", "EOFError", r"EOF when reading a line", plain),
    ("interrupted", "KeyboardInterrupt", r"", plain),
    ("recursion", "RecursionError", r"", not_available.recursion),
)  # fmt: skip

ROWS = tuple(Row(code, kind, re.compile(pattern), tuple(rules)) for code, kind, pattern, *rules in _TABLE)
_LONGEST = 4000  # a program may raise a message of any length
ENDS = frozenset(
    {"limit", "limit_output_bytes", "limit_trace_bytes", "limit_files", "memory", "forbidden", "crash", "lost", "exit"}
)


def errors(diagnosis: Diagnosis) -> Iterator[Finding]:
    """What the exception that ended the program says about its line."""
    failure = diagnosis.trace.failure
    if failure is None or failure.span is None or failure.kind not in RAISED:
        return
    case = Case(diagnosis, failure)
    for row in ROWS:
        found = _matches(row, failure)
        if found is None:
            continue
        if not row.rules:
            return
        case.rule = row.code
        case.groups = {name: text for name, text in found.groupdict().items() if text is not None}
        told = first_told(row.rules, case)
        if told is not None:
            yield told
            return


_WHERE_DEFINED = re.compile(r"\b(?:\w+\.)+<locals>\.")
"""What Python writes before the name of a function or class that another function defines."""


def _matches(row: Row, failure: Failure) -> re.Match[str] | None:
    if row.type not in ("", failure.type):
        return None
    return row.pattern.search(_WHERE_DEFINED.sub("", failure.message[:_LONGEST]))


def explanation(failure: Failure, findings: tuple[Finding, ...]) -> str | None:
    """Code of what explains the failure: the first error of an exception, else the sentence about its kind."""
    told = [finding.code for finding in findings if finding.severity == "error"]
    if told and (failure.kind in RAISED or failure.kind == "syntax"):
        return told[0]
    if failure.kind == "exit" and told and told[0].startswith("ended_"):
        return told[0]
    return next((end for end in (f"{failure.kind}_{failure.limit}", failure.kind) if end in ENDS), None)
