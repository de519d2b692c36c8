"""Tensors: making, operations, views and memory, broadcasting, devices. Rows 1 to 49 of the curriculum.

Each test's name begins with the rows it holds; `test_every_row.py` counts them."""

import numpy as np
import pytest

from tests.curriculum.seen import Seen, same, words

pytestmark = pytest.mark.slow


def test_001_rand_and_randn_repeat_with_the_seed() -> None:
    code = "u = torch.rand(40, 50)\ng = torch.randn(40, 50)\n"
    first, again = Seen(code), Seen(code)
    uniform, normal = first.tensor("u").summary, first.tensor("g").summary
    assert uniform is not None
    assert normal is not None
    assert 0 <= float(uniform.min) < float(uniform.max) < 1
    assert float(normal.min) < -2
    assert first.tensor("u").summary == again.tensor("u").summary
    words("inspect.histogram")


def test_002_randint_leaves_its_end_out() -> None:
    seen = Seen("dice = torch.randint(1, 4, (2, 3, 2))\norder = torch.randperm(3)\n")
    assert set(seen.value("dice").ravel()) <= {1.0, 2.0, 3.0}
    assert sorted(seen.value("order")) == [0, 1, 2]
    words("make.high")


def test_003_zeros_ones_and_eye_have_a_dtype() -> None:
    seen = Seen(
        "z = torch.zeros(5, 3, dtype=torch.long)\no = torch.ones(5, 3, dtype=torch.double)\ni = torch.eye(5, 3)\n"
    )
    assert (seen.tensor("z").dtype, seen.tensor("o").dtype) == ("int64", "float64")
    assert seen.tensor("z").shape == (5, 3)
    assert same(np.diag(seen.value("i")[:3]), [1, 1, 1])


def test_004_zero_in_place_or_a_new_tensor() -> None:
    seen = Seen("x = torch.ones(2, 2)\nnew = torch.zeros_like(x)\nx.zero_()\n")
    assert seen.tensor("x").version == 1
    assert [state.ravel()[0] for state in seen.states("x")] == [1, 0]
    assert seen.tensor("new").storage != seen.tensor("x").storage


def test_005_a_list_becomes_a_tensor() -> None:
    seen = Seen("x = torch.tensor([5.5, 3])\ntable = torch.tensor([[1, 2], [3, 4]])\n")
    assert same(seen.value("x"), [5.5, 3])
    assert seen.tensor("table").shape == (2, 2)
    called = Seen("x = torch([5.5, 3])\n")
    assert called.told["module_not_callable"]["suggestion"] == "torch.tensor"


def test_006_empty_has_no_contents() -> None:
    seen = Seen("x = torch.empty(5, 3)\nprint(x.shape)\ny = x + 1\n")
    assert seen.tensor("x").contents == "uninitialised"
    assert seen.tensor("x").data is None
    assert "uninitialised_read" in seen.told


def test_007_typed_constructors_take_sizes_or_data() -> None:
    seen = Seen("d = torch.FloatTensor(2, 3)\ne = torch.IntTensor(3)\nf = torch.IntTensor([1, 2, 3, 4])\n")
    assert (seen.tensor("d").shape, seen.tensor("e").shape, seen.tensor("f").shape) == ((2, 3), (3,), (4,))
    assert [seen.tensor(name).contents for name in "def"] == ["uninitialised", "uninitialised", "known"]
    assert same(seen.value("f"), [1, 2, 3, 4])
    words("make.typed", "inspect.uninitialised")
    printed = Seen("d = torch.FloatTensor(2, 3)\ne = torch.IntTensor(3)\nprint(d, '\\n', e)\n")
    assert printed.told["uninitialised_print"]["names"] == "`d`, `e`"


def test_008_arange_stops_before_its_end_and_linspace_reaches_it() -> None:
    seen = Seen("a = torch.arange(2, 10, 2)\nb = torch.linspace(2, 10, 3)\n")
    assert same(seen.value("a"), [2, 4, 6, 8])
    assert same(seen.value("b"), [2, 6, 10])
    words("make.end", "make.steps")


def test_009_normal_and_uniform() -> None:
    seen = Seen("g = torch.normal(0.0, 3.0, (30, 20))\nu = torch.Tensor(30, 20).uniform_(-1, 1)\n")
    wide, flat = seen.tensor("g").summary, seen.tensor("u").summary
    assert wide is not None
    assert flat is not None
    assert 2 < float(wide.std) < 4
    assert -1 <= float(flat.min) < float(flat.max) < 1


def test_010_new_tensors_from_old_ones() -> None:
    seen = Seen(
        "x = torch.zeros(1)\na = x.new_ones(4, 3, dtype=torch.double)\nb = torch.randn_like(a, dtype=torch.float)\n"
        "c = torch.ones_like(a)\n"
    )
    assert [seen.tensor(name).dtype for name in "abc"] == ["float64", "float32", "float64"]
    assert seen.tensor("b").shape == (4, 3)
    assert [link.kind for link in seen.links_to("b")] == ["ghost"]
    assert "tensor_method" in Seen("x = torch.new_ones(5, 3)\n").told
    words("make.like")


def test_011_a_dtype_says_what_fits() -> None:
    seen = Seen("a = torch.tensor(1.0)\nb = torch.tensor(1)\nc = torch.tensor(2.9).to(torch.int8)\n")
    assert [seen.tensor(name).size_bytes for name in "abc"] == [4, 8, 1]
    assert seen.value("c") == 2
    words("field.itemsize")


def test_012_mixed_dtypes_promote_or_fail() -> None:
    seen = Seen("a = torch.ones(2)\nb = torch.ones(2, dtype=torch.long)\nc = a + b\n")
    promotion = seen.op("add").promotion
    assert promotion is not None
    assert promotion.result == "float32"
    failed = Seen("a = torch.ones(2, 2)\nb = torch.ones(2, 2, dtype=torch.long)\na @ b\n")
    assert "dtype_mismatch" in failed.told


def test_013_the_parameters_of_torch_tensor() -> None:
    seen = Seen("x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)\n")
    assert [given.name for given in seen.op("tensor").arguments] == ["", "dtype", "requires_grad"]
    words("make.data", "make.dtype_of_data", "make.device", "make.requires_grad", "make.pin_memory")
    misspelt = Seen("x = torch.tensor([1.0], pin_momemory=True)\n")
    assert misspelt.told["keyword_misspelt"]["suggestion"] == "pin_memory"


def test_014_a_size_is_a_tuple() -> None:
    seen = Seen("x = torch.rand(5, 3)\nrows, cols = x.size()\nsame = x.size() == x.shape\n")
    assert (seen.variable("rows").text, seen.variable("cols").text) == ("5", "3")
    assert seen.variable("same").text == "True"
    assert "attribute_called" in Seen("k = torch.rand(2, 3)\nk.shape()\n").told


def test_015_scalar_vector_matrix_and_more_axes() -> None:
    seen = Seen(
        "a = torch.tensor(3.0)\nb = torch.ones(4)\nphoto = torch.rand(4, 6, 3)\nbatch = torch.rand(2, 4, 6, 3)\n"
    )
    assert [len(seen.tensor(name).shape) for name in ("a", "b", "photo", "batch")] == [0, 1, 3, 4]
    words("inspect.order.0", "inspect.order.1", "inspect.order.2", "inspect.order.n", "inspect.slice")


def test_016_four_ways_to_add() -> None:
    seen = Seen(
        "x = torch.ones(2, 2)\ny = torch.full((2, 2), 2.0)\na = x + y\nb = torch.add(x, y)\n"
        "c = torch.empty(2, 2)\ntorch.add(x, y, out=c)\ny.add_(x)\n"
    )
    assert all(same(seen.value(name), [[3, 3], [3, 3]]) for name in "abcy")
    assert [op.in_place for op in seen.trace.ops if op.name.startswith("add")] == [False, False, True, True]


def test_017_an_underscore_changes_the_tensor() -> None:
    seen = Seen("x = torch.ones(2, 3)\ny = torch.zeros(2, 3)\ny.add_(1)\ny.copy_(x)\ny.t_()\n")
    assert seen.tensor("y").shape == (3, 2)
    assert seen.tensor("y").version == 3


def test_018_an_index_picks_cells() -> None:
    seen = Seen("x = torch.arange(6.0).view(2, 3)\ncolumn = x[:, 1]\n")
    assert same(seen.value("column"), [1, 4])
    assert seen.op("getitem").reads[0].cells == (1, 4)
    words("cells.say.getitem")


def test_019_index_select_takes_rows() -> None:
    seen = Seen("x = torch.arange(10.0).view(5, 2)\nr = x.index_select(0, torch.tensor([0, 4], dtype=torch.int32))\n")
    assert same(seen.value("r"), [[0, 1], [8, 9]])
    assert seen.op("index_select").reads[0].cells == (0, 1, 8, 9)


def test_020_masked_select_loses_positions_and_nonzero_has_them() -> None:
    seen = Seen("x = torch.tensor([[1.0, 6.0], [7.0, 8.0]])\na = x.masked_select(x > 5)\nb = (x < 2).nonzero()\n")
    assert same(seen.value("a"), [6, 7, 8])
    assert same(seen.value("b"), [[0, 0]])
    words("cells.say.masked_select", "cells.say.nonzero")


def test_021_gather_reads_where_the_index_says() -> None:
    seen = Seen("t = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\ng = torch.gather(t, 1, torch.tensor([[0, 0], [1, 0]]))\n")
    assert same(seen.value("g"), [[1, 1], [4, 3]])
    assert seen.op("gather").reads[0].cells == (0, 0, 3, 2)


def test_022_a_product_of_a_row_and_a_column() -> None:
    seen = Seen("a = torch.tensor([[1.0, 2.0, 3.0]])\nb = torch.ones(1, 3)\np = a @ b.t()\nq = a.t() @ b\n")
    assert (seen.tensor("p").shape, seen.tensor("q").shape) == ((1, 1), (3, 3))
    words("product.title", "product.cell")


def test_023_item_leaves_the_tensors() -> None:
    seen = Seen(
        "x = torch.tensor(2.0, requires_grad=True)\nn = (x * 3).item()\ny = torch.tensor(n) * x\ny.backward()\n"
    )
    assert seen.variable("n").type == "float"
    assert seen.grad("x") == 6
    assert seen.op("item").nodes == ()


def test_024_powers_products_and_means_are_nodes() -> None:
    seen = Seen("x = torch.ones(2, 2, requires_grad=True)\ny = x ** 2\nz = y * y * 3\nout = z.mean()\n")
    assert seen.types() == ["PowBackward0", "MulBackward0", "MulBackward0", "MeanBackward0"]
    assert [box.name for box in seen.graph.boxes] == ["x", "y", "y * y", "z", "out"]


def test_025_026_027_a_view_shares_a_clone_does_not_and_reshape_says_which() -> None:
    seen = Seen(
        "x = torch.zeros(4, 4)\ny = x.view(16)\nz = x.view(-1, 8)\nown = x.clone().view(16)\n"
        "flat = x.reshape(16)\nturned = x.t().reshape(16)\ny[0] = 9\nfirst = x[0, 0].item()\n"
    )
    assert {"x", "y", "z", "flat"} <= seen.memory_of("x")
    assert not {"own", "turned"} & seen.memory_of("x")
    assert seen.variable("first").text == "9.0"
    write = next(storage for storage in seen.trace.storages if "y" in seen.memory_of("x") and storage.writes).writes[0]
    assert write.bumped
    assert [op.view for op in seen.trace.ops if op.name == "reshape"] == [True, False]
    words("say.copied", "say.not_copied")


def test_028_a_size_of_minus_one_is_worked_out() -> None:
    seen = Seen("x = torch.zeros(4, 4)\nz = x.view(-1, 8)\n")
    assert seen.tensor("z").shape == (2, 8)


def test_029_axes_of_size_one_come_and_go() -> None:
    seen = Seen("o = torch.ones(2, 3)\nr = o.unsqueeze(1)\nback = r.squeeze()\nsame = o.squeeze()\n")
    assert seen.tensor("r").shape == (2, 1, 3)
    assert seen.tensor("back").shape == (2, 3)
    assert seen.told["squeeze_without_effect"]["line"] == "5"


def test_030_t_of_a_vector_is_the_vector() -> None:
    seen = Seen("x = torch.tensor([1, 2, 30])\ny = x.view(1, 3)\nz = x.t()\n")
    assert seen.memory_of("x") == {"x", "y", "z"}
    assert seen.tensor("z").shape == (3,)
    assert seen.told["transpose_without_effect"]["line"] == "4"
    assert "transpose_without_effect" not in Seen("x = torch.ones(2, 3)\nz = x.t()\n").told


def test_031_032_arrays_share_or_are_copied() -> None:
    seen = Seen(
        "a = torch.ones(5)\nb = a.numpy()\na.add_(1)\n"
        "g = np.array([[1, 2], [3, 4]])\nh = torch.tensor(g)\ni = torch.from_numpy(g)\nj = h.numpy()\ng[0, 0] = 100\n",
        imports="import numpy as np\nimport torch\n",
    )
    assert {"a", "b"} <= seen.memory_of("a")
    assert {"g", "i"} <= seen.memory_of("i")
    assert {"h", "j"} <= seen.memory_of("h")
    assert seen.value("i")[0, 0] == 100
    assert seen.value("h")[0, 0] == 1


def test_033_out_writes_and_an_assignment_does_not() -> None:
    seen = Seen(
        "a = np.ones(2)\nb = torch.from_numpy(a)\nnp.add(a, 1, out=a)\na = a + 1\n",
        imports="import numpy as np\nimport torch\n",
    )
    assert same(seen.value("b"), [2, 2])
    parted = [part for storage in seen.trace.storages for part in storage.parted]
    assert [(part.name, part.how) for part in parted] == [("a", "rebound")]


def test_034_a_written_view_rewrites_the_history() -> None:
    seen = Seen(
        "x = torch.ones(4, requires_grad=True)\ny = x * 2\nrow = y.view(2, 2)[0]\nrow.mul_(5)\ny.sum().backward()\n"
    )
    assert "CopySlices" in seen.types()
    assert same(seen.grad("x"), [10, 10, 2, 2])
    words("say.copy_slices")


def test_035_two_shapes_are_stretched() -> None:
    seen = Seen("p = torch.arange(1, 3).view(1, 2)\nq = torch.arange(1, 4).view(3, 1)\ns = p + q\n")
    assert same(seen.value("s"), [[2, 3], [3, 4], [4, 5]])
    assert [(part.input, part.axes) for part in seen.op("add").broadcast] == [(0, (0,)), (1, (1,))]
    words("cells.say.stretched", "inspect.broadcast_axes")


def test_036_shapes_that_clash() -> None:
    seen = Seen("a = torch.ones(2, 3)\nb = torch.ones(2, 4)\na + b\n")
    assert "shape_mismatch_sizes" in seen.told
    words("findings.shapes")


def test_037_a_number_is_stretched_over_a_tensor() -> None:
    seen = Seen("o = torch.ones(1, 3, requires_grad=True)\nb = o * 3\nc = b + 2\n")
    assert same(seen.value("c"), [[5, 5, 5]])
    assert seen.box("b").constants == ("3",)


def test_038_nothing_is_copied_for_it() -> None:
    seen = Seen("p = torch.ones(1, 2).expand(3, 2)\nq = torch.ones(3, 1).expand(3, 2)\n")
    assert (seen.tensor("p").strides, seen.tensor("q").strides) == ((0, 1), (1, 0))


def test_039_gradients_of_what_was_stretched_are_summed() -> None:
    seen = Seen(
        "b = torch.tensor([1.0, 2.0], requires_grad=True)\nx = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\n"
        "y = (x * b).sum()\ny.backward()\n"
    )
    assert same(seen.grad("b"), [9, 12])
    assert [link.broadcast for link in seen.links_to("x * b") if link.kind == "data"] == [(0,)]
    assert any(visit.reduced for visit in seen.trace.passes[0].visits)
    spelled = Seen("b = torch.ones(1, 2, requires_grad=True)\nb.expand(3, 2).sum().backward()\n")
    assert "ExpandBackward0" in spelled.types()


GUARDED = """
x = torch.ones(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
moved = x.to(device)
again = moved is x
if torch.cuda.is_available():
    y = torch.ones_like(x, device="cuda")
    print(x + y)
"""


def test_040_a_guard_lets_it_run_anywhere() -> None:
    seen = Seen(GUARDED)
    assert seen.trace.status == "ok"
    assert seen.variable("again").text == "True"
    assert set(seen.trace.lines_not_run) == {8, 9}
    assert seen.tensor("moved").device == "cpu"


def test_041_to_changes_the_dtype_too() -> None:
    seen = Seen('z = torch.ones(2, requires_grad=True)\nw = z.to("cpu", torch.double)\n')
    assert seen.tensor("w").dtype == "float64"
    assert seen.types() == ["ToCopyBackward0"]


def test_042_a_tensor_says_where_it_is() -> None:
    seen = Seen("where = torch.ones(2).device\n")
    assert seen.variable("where").text is not None
    words("field.device")


def test_043_cuda_means_the_first_gpu_and_bytes_to_it() -> None:
    model = (
        "model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.BatchNorm1d(5))\n"
        "size = sum(t.nbytes for t in model.state_dict().values())\nmodel.cuda()\n"
    )
    seen = Seen(model)
    (foreseen,) = seen.trace.transfers
    assert (foreseen.predicted, foreseen.to) == (True, "cuda")
    assert str(foreseen.size_bytes) == seen.variable("size").text
    assert foreseen.tensors == 7
    words("transfer.fact.cuda", "glossary.CUDA")


def test_044_which_gpus_a_program_sees() -> None:
    seen = Seen('import os\nos.environ["CUDA_VISIBLE_DEVICE"] = "2"\n')
    assert seen.told["visible_devices_misspelt"]["right"] == "CUDA_VISIBLE_DEVICES"
    assert "cuda_visible_shell" in Seen("CUDA_VISIBLE_DEVICES=0,1 python train.py\n").told
    broken = Seen("CUDA_VISIBLE_DEVICES=0,1 python train.py # uses\n0, 1两块GPU\n", imports="")
    assert "cuda_visible_shell" in broken.told
    torn = Seen('import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"  # use\n0, 1两块GPU\n', imports="")
    assert [(finding.code, len(finding.fix)) for finding in torn.trace.findings] == [("prose_line", 1)]


def test_045_more_memory_than_there_is() -> None:
    seen = Seen("x = torch.zeros(10 ** 13)\n")
    assert seen.trace.status == "failed"
    assert "out_of_memory" in seen.told


def test_046_copies_are_counted() -> None:
    seen = Seen(
        'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nx = torch.ones(100)\n'
        "for turn in range(3):\n    y = x.to(device)\n    z = y.cpu()\n"
    )
    assert [(copy.to, copy.times, copy.size_bytes) for copy in seen.trace.transfers] == [
        ("cuda", 3, 1200),
        ("cpu", 3, 1200),
    ]
    words("transfer.fact.small", "transfer.again")


def test_047_tensors_on_two_devices_do_not_mix() -> None:
    seen = Seen('a = torch.ones(2)\nb = torch.ones(2, device="meta")\nc = a + b\n')
    told = seen.told["device_mismatch"]
    assert {told["device"], told["other_device"]} == {"cpu", "meta"}
    words("transfer.fact.stay")


def test_048_to_walks_the_module_tree() -> None:
    seen = Seen(
        "from torch import nn\nmodel = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.BatchNorm1d(2))\n"
        "weight = model[0][0].weight\nmodel.to(torch.float64)\nkept = model[0][0].weight is weight\n"
    )
    (walk,) = seen.trace.walks
    assert {visit.path for visit in walk.visits} == {"", "0", "0.0", "1"}
    assert seen.variable("kept").text == "True"
    (counter,) = [moved for visit in walk.visits for moved in visit.moved if moved.name == "num_batches_tracked"]
    assert counter.dtype == counter.dtype_after == "int64"


def test_049_cudnn_stands_on_cuda() -> None:
    words("glossary.cuDNN", "glossary.CUDA")
