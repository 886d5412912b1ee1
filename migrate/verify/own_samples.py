"""What torch's databases leave out, written as people write it; names are explained in own.py.

`a; b` are two statements, the last of which is returned.
"""

from __future__ import annotations

_LINEAR = "torch.nn.Linear(80, 60)"
_CONV = "torch.nn.Conv2d(24, 16, 3)"

# torch name -> (layer whose weight is initialised, further arguments)
INITS: dict[str, tuple[tuple[str, str], ...]] = {
    "torch.nn.init.uniform_": ((_LINEAR, ""), (_LINEAR, "-0.5, 0.25"), (_CONV, "a=-1.0, b=2.0")),
    "torch.nn.init.normal_": ((_LINEAR, ""), (_LINEAR, "0.5, 0.02"), (_CONV, "mean=-1.0, std=2.0")),
    "torch.nn.init.trunc_normal_": (
        (_LINEAR, ""),
        (_LINEAR, "std=0.02"),
        (_CONV, "0.1, 1.0, -1.0, 0.5"),
    ),
    "torch.nn.init.constant_": ((_LINEAR, "0.3"), (_CONV, "val=-2.0")),
    "torch.nn.init.ones_": ((_LINEAR, ""), (_CONV, "")),
    "torch.nn.init.zeros_": ((_LINEAR, ""), (_CONV, "")),
    "torch.nn.init.eye_": ((_LINEAR, ""), ("torch.nn.Linear(4, 4)", "")),
    "torch.nn.init.dirac_": ((_CONV, ""), ("torch.nn.Conv2d(6, 6, 3)", "groups=2")),
    "torch.nn.init.xavier_uniform_": ((_LINEAR, ""), (_LINEAR, "gain=2.0"), (_CONV, "")),
    "torch.nn.init.xavier_normal_": ((_LINEAR, ""), (_LINEAR, "gain=0.5"), (_CONV, "")),
    "torch.nn.init.kaiming_uniform_": (
        (_LINEAR, ""),
        (_LINEAR, "a=5**0.5"),
        (_CONV, "mode='fan_out', nonlinearity='relu'"),
    ),
    "torch.nn.init.kaiming_normal_": (
        (_LINEAR, ""),
        (_LINEAR, "mode='fan_out', nonlinearity='relu'"),
        (_CONV, "0.2, 'fan_out', 'leaky_relu'"),
    ),
    "torch.nn.init.sparse_": ((_LINEAR, "0.3"),),
}


SAMPLES: dict[str, tuple[str, ...]] = {
    "torch.nn.init.calculate_gain": (
        "torch.nn.init.calculate_gain('relu')",
        "torch.nn.init.calculate_gain('leaky_relu', 0.2)",
        "torch.nn.init.calculate_gain('tanh')",
        "torch.nn.init.calculate_gain('conv2d')",
    ),
    "torch.Tensor.size": ("x.size()", "x.size(1)", "x.size(-1)", "x.size(dim=0)"),
    "torch.Tensor.shape": ("x.shape", "x.shape[1:]", "x.reshape(x.shape[0], -1)"),
    "torch.Tensor.dim": ("x.dim()",),
    "torch.Tensor.ndim": ("x.ndim",),
    "torch.Tensor.numel": ("x.numel()",),
    "torch.Tensor.nelement": ("x.nelement()",),
    "torch.Tensor.element_size": ("x.element_size()",),
    "torch.Tensor.itemsize": ("x.itemsize",),
    "torch.Tensor.nbytes": ("x.nbytes",),
    "torch.Tensor.is_floating_point": ("x.is_floating_point()", "i.is_floating_point()"),
    "torch.Tensor.is_complex": ("x.is_complex()",),
    "torch.Tensor.is_signed": ("i.is_signed()", "b.is_signed()"),
    "torch.Tensor.is_contiguous": ("x.is_contiguous()",),
    "torch.Tensor.stride": ("x.stride()", "x.stride(1)"),
    "torch.Tensor.tolist": ("i.tolist()", "x.tolist()"),
    "torch.Tensor.item": ("one.item()", "i[0, 1].item()", "b[0, 0].item()"),
    "torch.Tensor.detach": ("x.detach() * 2", "x.detach() * y"),
    "torch.Tensor.data": ("x.data * 2",),
    "torch.Tensor.clone": ("x.clone()", "x.clone().detach()"),
    "torch.Tensor.contiguous": ("x.permute(2, 0, 1).contiguous()",),
    "torch.Tensor.cpu": ("x.cpu() + 1",),
    "torch.Tensor.to": (
        "x.to(torch.float16)",
        "x.to(torch.int64)",
        "x.to(i)",
        "x.to('cpu')",
        "x.to(torch.device('cpu'), torch.float64)",
        "i.to(dtype=torch.float32)",
    ),
    "torch.Tensor.type": ("x.type(torch.int32)", "i.type(torch.float32)"),
    "torch.Tensor.type_as": ("i.type_as(x)", "x.type_as(b)"),
    "torch.Tensor.float": ("i.float()", "b.float()"),
    "torch.Tensor.double": ("x.double()",),
    "torch.Tensor.half": ("x.half()",),
    "torch.Tensor.int": ("(x * 3).int()",),
    "torch.Tensor.long": ("(x * 3).long()", "b.long()"),
    "torch.Tensor.short": ("(x * 3).short()",),
    "torch.Tensor.char": ("(x * 3).char()",),
    "torch.Tensor.byte": ("b.byte()",),
    "torch.Tensor.bool": ("x.bool()", "i.bool()"),
    "torch.Tensor.view": ("x.view(6, 4)", "x.view(-1)", "x.view(x.size(0), -1)", "x.view((2, 12))"),
    "torch.Tensor.view_as": ("x.view_as(y)",),
    "torch.Tensor.reshape": ("x.reshape(4, -1)", "x.reshape((24,))"),
    "torch.Tensor.reshape_as": ("x.reshape_as(y)",),
    "torch.Tensor.expand": ("one.expand(3, 4)", "m.unsqueeze(0).expand(2, -1, -1)"),
    "torch.Tensor.expand_as": ("one.expand_as(m)",),
    "torch.Tensor.repeat": ("m.repeat(2, 1)", "m.repeat(2, 1, 3)"),
    "torch.Tensor.new_zeros": ("x.new_zeros(2, 3)", "x.new_zeros((2, 3))", "i.new_zeros(4)"),
    "torch.Tensor.new_ones": ("x.new_ones(2, 3)", "x.new_ones((2,), dtype=torch.int64)"),
    "torch.Tensor.new_full": ("x.new_full((2, 3), 7.5)",),
    "torch.Tensor.new_tensor": ("x.new_tensor([1.0, 2.0])", "i.new_tensor([1, 2])"),
    "torch.Tensor.fill_": ("z = x.clone(); z.fill_(2.5); z",),
    "torch.Tensor.zero_": ("z = x.clone(); z.zero_(); z",),
    "torch.Tensor.copy_": ("z = x.clone(); z.copy_(y); z",),
    "torch.Tensor.masked_fill_": ("z = m.clone(); z.masked_fill_(b, -1.0); z",),
    "torch.Tensor.clamp_": ("z = x.clone(); z.clamp_(-0.5, 0.5); z",),
    "torch.Tensor.uniform_": (
        "z = big.clone(); z.uniform_(); z",
        "z = big.clone(); z.uniform_(-2.0, 3.0); z",
    ),
    "torch.Tensor.normal_": (
        "z = big.clone(); z.normal_(); z",
        "z = big.clone(); z.normal_(1.0, 0.1); z",
    ),
    "torch.Tensor.exponential_": ("z = big.clone(); z.exponential_(2.0); z",),
    "torch.Tensor.bernoulli_": ("z = big.clone(); z.bernoulli_(0.3); z",),
    "torch.Tensor.unfold": ("v.unfold(0, 3, 2)", "m.unfold(1, 2, 1)"),
    "torch.Tensor.index_put": ("m.index_put((k[:3],), one)",),
    "torch.Tensor.scatter_add_": ("z = m.clone(); z.scatter_add_(0, i % 3, m); z",),
    "torch.Tensor.__len__": ("len(x)",),
    "torch.Tensor.__getitem__": (
        "x[0]",
        "x[:, 1:]",
        "x[..., -1]",
        "x[:, None]",
        "m[b]",
        "v[k]",
        "m[1, ::2]",
    ),
    "torch.Tensor.__setitem__": (
        "z = x.clone(); z[0] = 1.0; z",
        "z = x.clone(); z[:, 1:] = y[:, 1:]; z",
        "z = m.clone(); z[b] = 0.0; z",
        "z = v.clone(); z[k] = 5.0; z",
    ),
    "torch.rand": ("torch.rand(60, 50)", "torch.rand((3, 4), dtype=torch.float32)"),
    "torch.randn": ("torch.randn(60, 50)", "torch.randn(3, 4)"),
    "torch.randint": ("torch.randint(5, (60, 50))", "torch.randint(-3, 9, (2500,))"),
    "torch.randperm": ("torch.randperm(3000)",),
    "torch.rand_like": ("torch.rand_like(big)",),
    "torch.randn_like": ("torch.randn_like(big)",),
    "torch.normal": ("torch.normal(0.5, 2.0, (60, 50))", "torch.normal(big, 0.1)"),
    "torch.bernoulli": ("torch.bernoulli(big.sigmoid())",),
    "torch.nn.functional.dropout": (
        "torch.nn.functional.dropout(big, 0.3)",
        "torch.nn.functional.dropout(big, p=0.3, training=False)",
    ),
    "torch.tensor": (
        "torch.tensor([1.0, 2.5])",
        "torch.tensor([[1, 2], [3, 4]])",
        "torch.tensor(3)",
        "torch.tensor([True])",
    ),
    "torch.from_numpy": (),
    "torch.is_tensor": ("torch.is_tensor(x)",),
    "torch.is_floating_point": ("torch.is_floating_point(x)",),
    "torch.numel": ("torch.numel(x)",),
    "torch.nn.functional.affine_grid": (
        "torch.nn.functional.affine_grid(x[:, :2, :3], (2, 3, 4, 5))",
        "torch.nn.functional.affine_grid(x[:, :2, :3], (2, 1, 3, 2), align_corners=True)",
    ),
    "torch.nn.functional.conv_tbc": (
        "torch.nn.functional.conv_tbc(x, torch.stack([s, s]), s[0])",
        "torch.nn.functional.conv_tbc(x, torch.stack([s, s, s]), s[0], pad=1)",
    ),
    "torch.nn.functional.dropout1d": (
        "torch.nn.functional.dropout1d(x, 0.0)",
        "torch.nn.functional.dropout1d(x, p=0.4)",
        "torch.nn.functional.dropout1d(m, 0.0)",
    ),
    "torch.nn.functional.fold": ("torch.nn.functional.fold(q.reshape(2, 12, 12), (4, 5), (2, 2))",),
    "torch.nn.functional.gumbel_softmax": (
        "torch.nn.functional.gumbel_softmax(big, tau=0.5)",
        "torch.nn.functional.gumbel_softmax(big, hard=True)",
    ),
    "torch.nn.functional.one_hot": (
        "torch.nn.functional.one_hot(i)",
        "torch.nn.functional.one_hot(i, 6)",
        "torch.nn.functional.one_hot(k, num_classes=4)",
    ),
    "torch.nn.functional.upsample": (
        "torch.nn.functional.upsample(q, scale_factor=2)",
        "torch.nn.functional.upsample(q, (5, 7), mode='bilinear')",
    ),
    "torch.nn.functional.upsample_bilinear": (
        "torch.nn.functional.upsample_bilinear(q, scale_factor=2)",
    ),
    "torch.nn.functional.upsample_nearest": ("torch.nn.functional.upsample_nearest(q, (16, 9))",),
    "torch.nn.functional.lp_pool1d": (
        "torch.nn.functional.lp_pool1d(x.abs(), 2, 2)",
        "torch.nn.functional.lp_pool1d(x.abs(), 3.0, 2, stride=1, ceil_mode=True)",
    ),
    "torch.nn.functional.lp_pool2d": (
        "torch.nn.functional.lp_pool2d(q.abs(), 2, 2)",
        "torch.nn.functional.lp_pool2d(q.abs(), 1.5, (2, 3), stride=1)",
    ),
    "torch.nn.functional.lp_pool3d": (
        "torch.nn.functional.lp_pool3d(c.abs(), 2, 2)",
        "torch.nn.functional.lp_pool3d(c.abs(), 3.0, (2, 1, 3))",
    ),
    "torch.nn.functional.adaptive_max_pool1d_with_indices": (
        "torch.nn.functional.adaptive_max_pool1d_with_indices(x, 2)",
    ),
    "torch.nn.functional.adaptive_max_pool2d_with_indices": (
        "torch.nn.functional.adaptive_max_pool2d_with_indices(q, (3, 2))",
    ),
    "torch.nn.functional.adaptive_max_pool3d_with_indices": (
        "torch.nn.functional.adaptive_max_pool3d_with_indices(c, (3, 2, 4))",
    ),
    "torch.nn.functional.max_pool1d_with_indices": (
        "torch.nn.functional.max_pool1d_with_indices(x, 2)",
    ),
    "torch.nn.functional.max_pool2d_with_indices": (
        "torch.nn.functional.max_pool2d_with_indices(q, 3, 2, 1)",
    ),
    "torch.nn.functional.max_pool3d_with_indices": (
        "torch.nn.functional.max_pool3d_with_indices(c, 2)",
    ),
    "torch.nn.functional.hardtanh_": ("z = x * 2; torch.nn.functional.hardtanh_(z); z",),
    "torch.nn.functional.leaky_relu_": ("z = x * 2; torch.nn.functional.leaky_relu_(z, 0.2); z",),
    "torch.nn.functional.relu_": ("z = x * 2; torch.nn.functional.relu_(z); z",),
    "torch.nn.functional.selu_": ("z = x * 2; torch.nn.functional.selu_(z); z",),
    "torch.nn.functional.celu_": ("z = x * 2; torch.nn.functional.celu_(z); z",),
    "torch.nn.functional.elu_": ("z = x * 2; torch.nn.functional.elu_(z); z",),
    "torch.nn.functional.threshold_": (
        "z = x * 2; torch.nn.functional.threshold_(z, 0.1, 2.0); z",
    ),
    "torch.nn.functional.rrelu_": ("z = x * 2; torch.nn.functional.rrelu_(z, 0.2, 0.2); z",),
    "torch.nn.Transformer.generate_square_subsequent_mask": (
        "torch.nn.Transformer.generate_square_subsequent_mask(4)",
    ),
    "torch.nn.init.orthogonal_": (
        "t = torch.nn.Linear(7, 4).weight; torch.nn.init.orthogonal_(t); t @ t.T",
        "t = torch.nn.Linear(4, 7).weight; torch.nn.init.orthogonal_(t, gain=2.0); t.T @ t",
    ),
    "torch.nn.utils.parameters_to_vector": ("torch.nn.utils.parameters_to_vector([x, m])",),
    "torch.nn.utils.get_total_norm": (
        "torch.nn.utils.get_total_norm([x, m])",
        "torch.nn.utils.get_total_norm([x, m], norm_type=float('inf'))",
    ),
    "torch.nn.utils.rnn.pad_sequence": (
        "torch.nn.utils.rnn.pad_sequence([v, w[:3]])",
        "torch.nn.utils.rnn.pad_sequence([m, m[:2]], batch_first=True, padding_value=-1.0)",
    ),
    "torch.nn.utils.rnn.unpad_sequence": (
        "torch.nn.utils.rnn.unpad_sequence(m, torch.tensor([2, 1, 3]), batch_first=True)",
    ),
    "torch.nn.utils.rnn.invert_permutation": (
        "torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))",
    ),
    "torch.nn.modules.utils._pair": ("torch.nn.modules.utils._pair(3)",),
    "torch.nn.modules.utils._single": ("torch.nn.modules.utils._single(3)",),
    "torch.nn.modules.utils._triple": ("torch.nn.modules.utils._triple((1, 2, 3))",),
    "torch.nn.modules.utils._quadruple": ("torch.nn.modules.utils._quadruple(2)",),
    "torch.finfo": ("torch.finfo(torch.float32).eps", "torch.finfo(torch.float16).max"),
    "torch.iinfo": ("torch.iinfo(torch.int64).max",),
}
SAMPLES = {api: samples for api, samples in SAMPLES.items() if samples}
INITS = {api: samples for api, samples in INITS.items() if samples}
