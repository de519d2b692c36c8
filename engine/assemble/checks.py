"""Gradients beside finite differences and Jacobians, as the trace has them."""

from collections.abc import Iterator

from engine.assemble.ids import Ids
from engine.assemble.recorded import Recorded
from engine.trace import Check, CheckedElement, Jacobian


def checks(recorded: Recorded, ids: Ids) -> Iterator[Check]:
    """The checks of leaves that were met."""
    for event in recorded.checked:
        if event.tensor in recorded.tensors:
            yield Check(
                pass_id=ids.pass_[event.pass_id],
                tensor=ids.tensor[event.tensor],
                verdict=event.verdict,
                relative_error=event.relative_error,
                step=event.step,
                elements=tuple(
                    CheckedElement(index=index, autograd=autograd, difference=difference)
                    for index, autograd, difference in event.elements
                ),
                reason=event.reason,
                parameters=event.parameters,
                nodes=(ids.node[event.node],) if event.node in recorded.nodes else (),
                span=recorded.spans.get(event.site),
            )


def jacobians(recorded: Recorded, ids: Ids) -> Iterator[Jacobian]:
    """All of them."""
    for event in recorded.jacobians:
        yield Jacobian(
            pass_id=ids.pass_[event.pass_id],
            rows=event.rows,
            columns=event.columns,
            values=event.values,
            output=ids.tensor.optional(event.output),
            input=ids.tensor.optional(event.input),
            node=ids.node.among(event.node, recorded.nodes),
            slot=event.slot,
            rows_checked=event.rows_checked,
            largest_error=event.largest_error,
        )
