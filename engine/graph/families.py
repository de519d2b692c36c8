"""Which icon a node type or an op name gets."""

import re
from functools import lru_cache

_FAMILIES = {
    "add": "add sub rsub addcmul addcdiv radd iadd isub cumsum logaddexp",
    "mul": "mul rmul imul neg dot outer prod cumprod square",
    "div": "div rdiv truedivide idiv reciprocal remainder fmod",
    "pow": "pow rpow sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh",
    "mean": "mean median nanmean",
    "sum": "sum nansum max min amax amin maximum minimum logsumexp var std varmean stdmean norm linalgvectornorm"
    " trace topk sort kthvalue aminmax",
    "mat": "mm mv bmm matmul rmatmul addmm addmv addbmm baddbmm linear bilinear einsum convolution conv1d conv2d conv3d"
    " convtranspose1d convtranspose2d convtranspose3d convolutionoverrideable mkldnnconvolution lstm gru rnn"
    " mkldnnrnnlayer kron tensordot cdist",
    "norm": "nativebatchnorm batchnorm nativelayernorm layernorm nativegroupnorm groupnorm instancenorm rmsnorm"
    " fusedrmsnorm normalize",
    "act": "relu relu6 leakyrelu elu selu celu gelu silu mish softplus sigmoid tanh hardtanh hardsigmoid hardswish"
    " softmax logsoftmax logsigmoid threshold prelu rrelu glu softsign clamp clip dropout nativedropout erf abs"
    " alphadropout featuredropout softshrink hardshrink tanhshrink",
    "emb": "embedding embeddingbag onehot",
    "attn": "scaleddotproductattention scaleddotproductflashattentionforcpu scaleddotproductefficientattention"
    " scaleddotproductflashattention multiheadattentionforward nativemultiheadattention",
    "loss": "mseloss l1loss smoothl1loss huberloss nllloss nllloss2d nlllossnd crossentropy crossentropyloss"
    " binarycrossentropy binarycrossentropywithlogits kldiv bceloss softmarginloss hingeembeddingloss ctcloss"
    " cosineembeddingloss marginrankingloss tripletmarginloss poissonnllloss gaussiannllloss",
    "acc": "accumulategrad",
    "view": "view reshape reshapealias unsafeview t transpose permute expand squeeze unsqueeze select slice index"
    " getitem narrow split splitwithsizes chunk unbind cat concat stack flatten unflatten alias asstrided diagonal"
    " repeat expandas gather indexselect take flip roll movedim swapaxes clone copy tocopy to contiguous"
    " pad constantpadnd viewasreal viewascomplex tril triu copyslices asstridedscatter maskedselect setitem indexput"
    " indexputimpl maxpool2d maxpool2dwithindices avgpool2d adaptiveavgpool2d maxpool1d avgpool1d meshgrid"
    " maskedfill where scatter detach data",
}
_OF = {word: family for family, words in _FAMILIES.items() for word in words.split()}
_BACKWARD = re.compile(r"Backward\d*[A-Za-z]*$")


@lru_cache(maxsize=4096)  # programs name Functions of their own
def family_of(name: str) -> str:
    """The icon for a node type (`MulBackward0`) or an op name (`mul_`, `layer_norm`)."""
    base = _BACKWARD.sub("", name).replace("_", "").lower()
    return _OF.get(base) or "op"
