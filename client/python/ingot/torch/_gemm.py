"""Matrix products: mm, addmm, linear."""

from __future__ import annotations

import math
from typing import Optional

import torch

import ingot

from . import _tensors
from ._runtime import Fallback, runtime

GEMM_DTYPES = (torch.bfloat16, torch.float16)


class _Matrix:
    """An operand [rows, inner] as it lies in memory."""

    __slots__ = ("tensor", "stride", "dense", "alignment")

    def __init__(self, tensor: torch.Tensor, inner: int, stride: int):
        self.tensor = tensor
        self.stride = stride
        self.dense = stride == inner
        self.alignment = _tensors.alignment_of(tensor)


def _added(tensor: torch.Tensor, like: torch.Tensor) -> _Matrix:
    stride = _tensors.row_stride(tensor) if tensor.dim() == 2 else None
    rows, n = like.shape
    if tensor.shape != like.shape or tensor.dtype != like.dtype:
        raise Fallback("dtype or shape of what is added")
    if stride is None or (rows > 1 and stride < n):
        raise Fallback("strides")
    return _Matrix(tensor, n, stride if rows > 1 else n)


def gemm(op: str, a: torch.Tensor, b: torch.Tensor, *, c: Optional[torch.Tensor] = None,
         bias: Optional[torch.Tensor] = None, alpha: float = 1.0, beta: float = 1.0, act: str = "none",
         residual: Optional[torch.Tensor] = None, remember: Optional[tuple] = None) -> torch.Tensor:
    """act(alpha * a @ b + beta * c + bias) + residual for matrices a [m, k] and
    b [k, n]; Fallback where that is not for us. `remember`: a key for _again."""
    if a.dim() != 2 or b.dim() != 2 or a.shape[1] != b.shape[0]:
        raise Fallback("shape")  # which ATen has words for
    m, k = a.shape
    n = b.shape[1]
    runtime.device.check(a)
    if a.dtype not in GEMM_DTYPES or b.dtype != a.dtype or b.device != a.device:
        raise Fallback("dtype")
    if k == 0:
        raise Fallback("empty sum")
    out = torch.empty((m, n), dtype=a.dtype, device=a.device)
    if m == 0 or n == 0:
        return out
    layout_a, stride_a = _tensors.layout_of(a)
    layout_b, stride_b = _tensors.layout_of(b)
    # In the order of the spec's operands, which is that of a launch.
    matrices = [_Matrix(a, k if layout_a == "n" else m, stride_a), _Matrix(b, n if layout_b == "n" else k, stride_b),
                _Matrix(out, n, n)]
    names = "abd"
    for name, tensor in (("c", c), ("r", residual)):
        if tensor is not None:
            matrices.append(_added(tensor, out))
            names += name
    if bias is not None and (bias.dim() != 1 or bias.shape[0] != n or (n > 1 and bias.stride(0) != 1)):
        raise Fallback("strides")
    bias_key = None if bias is None else (bias.dtype, _tensors.alignment_of(bias))
    key = ("gemm", n, k, layout_a, layout_b, a.dtype, act, names, bias_key,
           *[(matrix.dense, matrix.alignment) for matrix in matrices])
    prepared = runtime.prepared(key, lambda: _spec(n, k, layout_a + layout_b, act, names, matrices, bias))
    launch = runtime.arguments(key, prepared)
    launch.dims[:] = (m, n, k)
    pointers = [matrix.tensor.data_ptr() for matrix in matrices]
    tensors = [matrix.tensor for matrix in matrices]
    if bias is not None:
        pointers.append(bias.data_ptr())
        tensors.append(bias)
    launch.operands[:] = pointers
    for place, matrix in enumerate(matrices):
        if not matrix.dense:
            launch.set_strides(place, (matrix.stride, 1))
    launch.set_scalars((alpha,) if c is None else (alpha, beta))
    runtime.run(op, launch, tensors)
    runtime.remember(remember, launch)
    return out


def _again(op: str, key: Optional[tuple], shape: tuple, a: torch.Tensor, b: torch.Tensor,
           bias: Optional[torch.Tensor] = None) -> Optional[torch.Tensor]:
    """The result, where the key was remembered."""
    repeat = runtime.repeat(key)
    if repeat is None:
        return None
    out = torch.empty(shape, dtype=a.dtype, device=a.device)
    runtime.run_again(op, repeat, (a, b, out) if bias is None else (a, b, out, bias))
    return out


def mm(op: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [m, k] @ b [k, n]; Fallback where that is not for us."""
    key = _tensors.likeness(("mm",), a, b)
    out = _again(op, key, (a.shape[0], b.shape[-1]), a, b) if a.dim() else None
    return gemm(op, a, b, remember=key) if out is None else out


def addmm(op: str, c: torch.Tensor, a: torch.Tensor, b: torch.Tensor, beta: float, alpha: float) -> torch.Tensor:
    """beta * c + alpha * a @ b; Fallback where that is not for us."""
    if c.dim() != 1 or beta != 1 or a.dim() != 2:
        return gemm(op, a, b, c=c.expand(a.shape[0], b.shape[1]), alpha=alpha, beta=beta)
    # As a bias it is not read for every row.
    key = _tensors.likeness(("addmm", alpha), a, b, c)
    out = _again(op, key, (a.shape[0], b.shape[-1]), a, b, c)
    return gemm(op, a, b, bias=c, alpha=alpha, remember=key) if out is None else out


def linear(op: str, x: torch.Tensor, weight: torch.Tensor, bias: Optional[torch.Tensor] = None,
           act: str = "none") -> torch.Tensor:
    """act(x [..., k] @ weight [n, k]^T + bias [n]); Fallback where that is not
    for us."""
    key = _tensors.likeness(("linear", act), x, weight, bias)
    out = _again(op, key, (*x.shape[:-1], weight.shape[0]), x, weight, bias)
    if out is not None:
        return out
    k = x.shape[-1]
    rows = x.reshape(-1, k) if k else x.new_empty((math.prod(x.shape[:-1]), 0))
    # A copy of x will have another pointer next time.
    remember = key if rows.data_ptr() == x.data_ptr() else None
    out = gemm(op, rows, weight.t(), bias=bias, act=act, remember=remember)
    return out.view(*x.shape[:-1], weight.shape[0])


_OPERANDS = {"a": "a", "b": "b", "d": "d", "c": "c", "r": "residual"}


def _spec(n, k, layout, act, names, matrices, bias) -> ingot.Spec:
    operands = {}
    for name, matrix in zip(names, matrices):
        operands[_OPERANDS[name]] = ingot.Operand(_tensors.dtype_of(matrix.tensor),
                                                  strides=None if matrix.dense else ingot.DYNAMIC,
                                                  alignment=matrix.alignment)
    if bias is not None:
        operands["bias"] = ingot.Operand(_tensors.dtype_of(bias), alignment=_tensors.alignment_of(bias))
    attrs = {"layout": layout}
    if act != "none":
        attrs["act"] = act
    return ingot.Spec("gemm", dims={"m": ingot.ANY, "n": n, "k": k}, operands=operands, attrs=attrs)
