"""Tensor states, as the trace has them."""

from collections.abc import Iterator, Mapping

import msgspec

from engine import events as ev
from engine.assemble.ids import Ids
from engine.assemble.recorded import LaterWords
from engine.trace import OutputOf, Summary, Tensor, Thumbnail

_NOTHING = LaterWords()


def tensors(
    seen: Mapping[int, ev.TensorSeen],
    later_words: Mapping[int, LaterWords],
    ids: Ids,
    names: Mapping[str, tuple[str, ...]],
) -> Iterator[Tensor]:
    """All of them; `names` are by the first record of each object."""
    tensor_ids, nodes, storages = ids.tensor, ids.node, ids.storage
    for number, event in seen.items():
        later = later_words.get(number)
        if later is None:
            node, nr, role, requires_grad = event.node, event.output_nr, event.role, event.requires_grad
        else:
            node, nr = later.node or event.node, later.output_nr or event.output_nr
            role = later.role or event.role
            requires_grad = event.requires_grad if later.requires_grad is None else later.requires_grad
        tensor_id = tensor_ids[number]
        identity = tensor_ids[event.identity] if event.identity else None
        usual = Tensor(
            id=tensor_id,
            shape=event.shape,
            dtype=event.dtype,
            role=role,
            identity=identity,
            names=names.get(identity or tensor_id, ()),
            storage=storages[event.storage] if event.storage else None,
            size_bytes=event.size_bytes,
            version=version if (version := event.version) > 0 else 0,
            requires_grad=requires_grad,
            is_leaf=not node and not (requires_grad and role == "result"),  # a written view's node is not asked for
            grad_fn=OutputOf(node=nodes[node], output_nr=nr) if node else None,
            data=event.data,
        )
        yield usual if later is None and _is_usual(event) else _with_the_rest(usual, event, later or _NOTHING, ids)


def _is_usual(event: ev.TensorSeen) -> bool:
    """Whether a tensor has only what nearly all of them have: records with many fields take long to make."""
    return not (
        event.summary is not None
        or event.base
        or event.strides is not None
        or event.thumbnail is not None
        or event.device != "cpu"
        or event.contents != "known"
        or event.layout != "strided"
        or event.reason
    )


def _with_the_rest(usual: Tensor, event: ev.TensorSeen, later: LaterWords, ids: Ids) -> Tensor:
    return msgspec.structs.replace(
        usual,
        device="cpu" if event.device == "cpu" else event.device,  # msgspec leaves out the default object only
        layout="strided" if event.layout == "strided" else event.layout,
        strides=event.strides,
        base=ids.tensor.optional(later.base or event.base),
        summary=None if event.summary is None else _summary(event.summary),
        thumbnail=None if event.thumbnail is None else _thumbnail(event.thumbnail),
        stored=later.stored,
        contents=event.contents,
        reason=event.reason,
        grad=ids.tensor.optional(later.grad),
    )


def _summary(figures: ev.Figures) -> Summary:
    least, most, mean, std, norm, zeros, nan, inf, over = figures
    return Summary(
        min=least,
        max=most,
        mean=mean,
        std=std,
        norm=norm,
        zeros=zeros,
        nan=nan,
        inf=inf,
        over=over or None,
    )


def _thumbnail(picture: ev.Picture) -> Thumbnail:
    rows, columns, cells, scale = picture
    return Thumbnail(rows=rows, columns=columns, cells=cells, scale=scale)
