"""Laws of finite differences and Jacobians."""

from collections.abc import Iterator

from engine.trace_index import TraceIndex


def checks(index: TraceIndex) -> Iterator[str]:
    """Every breach of these laws."""
    yield from _differences(index)
    yield from _jacobians(index)


def _differences(index: TraceIndex) -> Iterator[str]:
    """A check points into a leaf that its pass reached."""
    for check in index.trace.checks:
        where = f"the check of {check.tensor} in pass {check.pass_id}"
        leaf = index.tensors.get(check.tensor)
        if leaf is None:
            continue  # another law says so
        shape = (*leaf.shape, 2) if leaf.dtype.startswith("complex") else leaf.shape
        for element in check.elements:
            if len(element.index) != len(shape) or any(
                at >= size for at, size in zip(element.index, shape, strict=False)
            ):
                yield f"{where} has the place {element.index} in a leaf of shape {shape}"
        if (check.verdict == "not_checked") != (not check.elements) and check.verdict != "random":
            yield f"{where} is {check.verdict} with {len(check.elements)} elements"
        if (check.verdict == "agrees") != (check.reason in ("", "left")):
            yield f"{where} is {check.verdict} for the reason {check.reason!r}"


def _jacobians(index: TraceIndex) -> Iterator[str]:
    """A Jacobian has as many values as rows and columns say."""
    for jacobian in index.trace.jacobians:
        where = f"the Jacobian of {jacobian.output or jacobian.node} in pass {jacobian.pass_id}"
        if (jacobian.node is None) == (jacobian.output is None or jacobian.input is None):
            yield f"{where} belongs to neither a root and a leaf nor a node"
        if len(jacobian.values) != jacobian.rows * jacobian.columns or jacobian.rows_checked > jacobian.rows:
            yield f"{where} has {len(jacobian.values)} values for {jacobian.rows} rows of {jacobian.columns}"
        node = index.nodes.get(jacobian.node or "")
        if jacobian.node is not None and (node is None or jacobian.slot >= len(node.edges)):
            yield f"{where} names slot {jacobian.slot} of a node that has none"
