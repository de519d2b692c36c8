"""The table: a row names ops that have the same traits, below the family they belong to.

Names are those of the trace: `add` is `torch.add`, `Tensor.add` and `+`; `rdiv` is `1 / x`. Some are only what autograd
calls a node (`native_batch_norm` of `NativeBatchNormBackward0`). A twin that writes into its first argument has `_`
behind the name; where a row says `in_place`, there is one, and only those that are no twin of another op have rows of
their own. `tests/engine/ops` asks PyTorch about every trait.
"""

ROWS = {
    "add": """
        add: in_place broadcasts promotes updates numbers
        addcmul addcdiv: in_place broadcasts updates numbers
        logaddexp: broadcasts promotes
        cumsum: in_place updates
    """,
    "minus": """
        sub: in_place broadcasts promotes updates numbers
        rsub: broadcasts promotes numbers
    """,
    "mul": """
        mul: in_place broadcasts promotes updates numbers
        neg square: in_place updates
        cumprod: in_place updates
        dot outer prod
    """,
    "div": """
        div: in_place broadcasts promotes updates numbers
        rdiv: broadcasts promotes numbers
        true_divide: in_place broadcasts promotes updates numbers
        remainder fmod: in_place broadcasts promotes updates numbers
        reciprocal: in_place updates
    """,
    "pow": """
        pow: in_place broadcasts promotes updates numbers
        rpow: broadcasts promotes numbers
        exp expm1 exp2 sqrt rsqrt: in_place updates
    """,
    "mean": """
        mean median nanmean
    """,
    "sum": """
        sum nansum max min amax amin logsumexp var std var_mean std_mean norm linalg_vector_norm trace
        topk sort kthvalue aminmax
    """,
    "mat": """
        addmm addmv addbmm baddbmm: in_place updates
        mm mv bmm matmul linear rmatmul bilinear einsum kron tensordot cdist lstm gru rnn mkldnn_rnn_layer
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
        convolution convolution_overrideable mkldnn_convolution
    """,
    "norm": """
        batch_norm instance_norm: writes_silently
        native_batch_norm layer_norm native_layer_norm group_norm native_group_norm rms_norm fused_rms_norm normalize
    """,
    "act": """
        sigmoid tanh relu erf abs: in_place updates
        softplus
        clamp clip: in_place updates numbers
        relu6 leaky_relu elu selu celu silu mish hardtanh hardsigmoid hardswish threshold rrelu: updates
        dropout alpha_dropout: updates
        softmax log_softmax logsigmoid gelu prelu glu softsign softshrink hardshrink tanhshrink
        native_dropout feature_dropout
    """,
    "emb": "embedding embedding_bag one_hot",
    "attn": """
        scaled_dot_product_attention scaled_dot_product_flash_attention scaled_dot_product_flash_attention_for_cpu
        scaled_dot_product_efficient_attention multi_head_attention_forward native_multi_head_attention
    """,
    "loss": """
        mse_loss l1_loss smooth_l1_loss huber_loss: broadcasts
        cross_entropy cross_entropy_loss nll_loss nll_loss2d nll_loss_nd binary_cross_entropy
        binary_cross_entropy_with_logits bce_loss kl_div soft_margin_loss hinge_embedding_loss ctc_loss
        cosine_embedding_loss margin_ranking_loss triplet_margin_loss poisson_nll_loss gaussian_nll_loss
    """,
    "acc": "accumulate_grad",
    "view": """
        t transpose squeeze unsqueeze swapaxes as_strided: in_place view
        view permute select narrow split split_with_sizes chunk unbind diagonal movedim alias unflatten: view
        view_as_real view_as_complex: view
        detach: in_place view detaches
        data: view detaches property
        Variable: view detaches
        T: view property
        expand expand_as: view broadcasts
        masked_fill: in_place broadcasts sets numbers
        scatter index_put: in_place sets
        setitem: sets
        copy_: fills
        cat concat stack: joins promotes
        where: broadcasts promotes numbers
        tril triu: in_place updates
        to: view moves
        contiguous reshape flatten slice: view
        clone copy to_copy reshape_alias unsafe_view repeat index getitem gather index_select
        take masked_select flip roll meshgrid pad constant_pad_nd as_strided_scatter copy_slices index_put_impl
        max_pool1d max_pool2d max_pool2d_with_indices avg_pool1d avg_pool2d adaptive_avg_pool2d
    """,
    "op": """
        log log1p log2 log10 sin cos tan asin acos atan sinh cosh: in_place updates
        multiply subtract floor_divide: in_place broadcasts promotes updates numbers
        divide: in_place broadcasts promotes updates numbers
        atan2: in_place broadcasts promotes updates
        hypot bitwise_and bitwise_or bitwise_xor: in_place broadcasts promotes updates
        eq ne lt le gt ge: in_place broadcasts promotes compares updates numbers
        logical_and logical_or logical_xor: in_place broadcasts promotes compares updates
        maximum minimum fmax fmin: broadcasts promotes
        lerp: in_place broadcasts updates numbers
        greater less copysign xlogy float_power: in_place broadcasts updates
        dist: broadcasts
        asinh acosh atanh round floor ceil trunc fix frac erfc erfinv sign sgn digamma lgamma polygamma nan_to_num
            conj_physical logical_not bitwise_not: in_place updates
        clamp_min clamp_max: in_place updates numbers
        addr index_add scatter_add scatter_reduce index_reduce: in_place updates
        resize_ resize_as_ requires_grad_: updates
        fill_: fills numbers
        zero_ normal_ uniform_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_: fills
        index_copy index_fill masked_scatter: in_place sets
        put_: sets
        swapdims: in_place view
        broadcast_to: view broadcasts
        mT H mH real imag: view property
        hstack vstack: joins promotes
        cuda cpu: view moves
        item tolist: reads
        numpy: reads lends
        numpy_force dlpack from_dlpack from_numpy frombuffer: lends
        as_tensor: view lends copies
        asarray: lends copies
        tensor: copies makes_leaf
        ones zeros full linspace arange eye rand randn normal: makes_leaf
        zeros_like ones_like rand_like randn_like: like makes_leaf
        full_like: like makes_leaf numbers
        randint_like new_zeros new_ones new_full: like
        empty empty_strided empty_permuted: uninitialised makes_leaf
        empty_like: like uninitialised makes_leaf
        new new_empty new_empty_strided: like uninitialised
        grad backward: passes
        _amp_foreach_non_finite_check_and_unscale_: writes_silently
    """,
}
