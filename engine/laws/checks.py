"""Laws of finite differences and Jacobians."""

from collections.abc import Iterator

from engine.trace_index import TraceIndex


def checks(looked: TraceIndex) -> Iterator[str]:
    """A check points into a leaf that its pass reached; a Jacobian has as many values as rows and columns say."""
    for check in looked.trace.checks:
        where = f"the check of {check.tensor} in pass {check.pass_id}"
        leaf = looked.tensors.get(check.tensor)
        if leaf is None or check.pass_id not in looked.passes:
            yield f"{where} names a tensor or pass that does not exist"
            continue
        if any(node not in looked.nodes for node in check.nodes):
            yield f"{where} names a node that does not exist"
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
    for one in looked.trace.jacobians:
        where = f"the Jacobian of {one.output or one.node} in pass {one.pass_id}"
        if one.pass_id not in looked.passes or (one.node is None) == (one.output is None or one.input is None):
            yield f"{where} belongs to no pass, or to neither a root and a leaf nor a node"
        if any(end is not None and end not in looked.tensors for end in (one.output, one.input)):
            yield f"{where} names a tensor that does not exist"
        if len(one.values) != one.rows * one.columns or one.rows_checked > one.rows:
            yield f"{where} has {len(one.values)} values for {one.rows} rows of {one.columns}"
        node = looked.nodes.get(one.node or "")
        if one.node is not None and (node is None or one.slot >= len(node.edges)):
            yield f"{where} names slot {one.slot} of a node that has none"
