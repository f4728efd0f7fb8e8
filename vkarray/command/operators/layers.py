"""What the common layers of networks and their training are made of: entries that must pass without the CPU."""

from __future__ import annotations

# Chapter -> names of entries.
LAYERS: dict[str, str] = {
    "Elementwise": (
        "add sub rsub mul div.no_rounding_mode div.floor_rounding div.trunc_rounding pow float_power remainder fmod neg abs sign "
        "reciprocal square sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh "
        "acosh atanh sigmoid erf erfc floor ceil round trunc frac clamp clamp_min clamp_max maximum minimum lerp addcmul addcdiv "
        "nn.functional.relu nn.functional.relu6 nn.functional.gelu nn.functional.silu nn.functional.mish nn.functional.elu "
        "nn.functional.selu nn.functional.celu nn.functional.glu nn.functional.leaky_relu nn.functional.prelu "
        "nn.functional.hardtanh nn.functional.hardswish nn.functional.hardsigmoid nn.functional.softplus nn.functional.softsign "
        "nn.functional.softshrink nn.functional.hardshrink nn.functional.tanhshrink nn.functional.logsigmoid "
        "nn.functional.threshold logaddexp"
    ),
    "Comparison": (
        "eq ne lt le gt ge isnan isinf isfinite isclose logical_and logical_or logical_xor logical_not bitwise_and bitwise_or "
        "bitwise_xor bitwise_not equal allclose max.binary min.binary"
    ),
    "Reduction": (
        "sum mean prod amax amin aminmax max.reduction_with_dim max.reduction_no_dim min.reduction_with_dim min.reduction_no_dim "
        "argmax argmin any all var std var_mean std_mean norm linalg.vector_norm linalg.norm logsumexp count_nonzero nansum "
        "nanmean median"
    ),
    "Softmax": (
        "softmax softmax.with_dtype log_softmax log_softmax.with_dtype nn.functional.softmin masked.softmax masked.log_softmax"
    ),
    "Products": (
        "mm bmm matmul addmm addmv addbmm baddbmm mv dot outer einsum nn.functional.linear nn.functional.bilinear tensordot"
    ),
    "Normalisation": (
        "nn.functional.layer_norm native_layer_norm nn.functional.batch_norm native_batch_norm nn.functional.group_norm "
        "native_group_norm nn.functional.rms_norm nn.functional.instance_norm nn.functional.local_response_norm "
        "nn.functional.normalize"
    ),
    "Convolution": (
        "nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d nn.functional.conv_transpose1d "
        "nn.functional.conv_transpose2d nn.functional.conv_transpose3d nn.functional.unfold"
    ),
    "Pooling": (
        "nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d nn.functional.avg_pool1d "
        "nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d "
        "nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d "
        "nn.functional.adaptive_max_pool3d nn.functional.interpolate.nearest nn.functional.interpolate.bilinear"
    ),
    "Embedding": "nn.functional.embedding nn.functional.one_hot",
    "Indexing": (
        "index_select gather take take_along_dim __getitem__ index_put index_add index_copy index_fill scatter scatter_add "
        "scatter_reduce.sum scatter_reduce.mean scatter_reduce.prod scatter_reduce.amax scatter_reduce.amin masked_select "
        "masked_scatter nonzero"
    ),
    "Joining and shapes": (
        "cat stack hstack vstack split split.list_args split_with_sizes chunk unbind tensor_split nn.functional.pad.constant "
        "nn.functional.pad.reflect nn.functional.pad.replicate nn.functional.pad.circular constant_pad_nd permute transpose t "
        "reshape view flatten unflatten squeeze unsqueeze expand repeat repeat_interleave tile narrow select flip roll tril triu "
        "nn.functional.pixel_shuffle nn.functional.pixel_unshuffle"
    ),
    "Choice": "where masked_fill",
    "Order": "sort argsort topk msort cumsum cumprod kthvalue",
    "Attention": "nn.functional.scaled_dot_product_attention",
    "Losses": (
        "nn.functional.cross_entropy nn.functional.nll_loss nn.functional.mse_loss nn.functional.l1_loss "
        "nn.functional.smooth_l1_loss nn.functional.huber_loss nn.functional.binary_cross_entropy "
        "nn.functional.binary_cross_entropy_with_logits nn.functional.kl_div nn.functional.poisson_nll_loss "
        "nn.functional.gaussian_nll_loss nn.functional.hinge_embedding_loss nn.functional.margin_ranking_loss "
        "nn.functional.cosine_embedding_loss nn.functional.triplet_margin_loss nn.functional.soft_margin_loss "
        "nn.functional.multilabel_soft_margin_loss nn.functional.cosine_similarity"
    ),
    "Dropout and random numbers": (
        "nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d nn.functional.alpha_dropout "
        "nn.functional.feature_alpha_dropout.with_train bernoulli normal normal.in_place uniform exponential multinomial "
        "rand_like randn randn_like randint randint_like zeros ones full empty_like zeros_like ones_like full_like arange linspace"
    ),
    "Optimisers": "optim.SGD optim.Adam optim.AdamW",
}

NAMES: list[str] = [name for names in LAYERS.values() for name in names.split()]
