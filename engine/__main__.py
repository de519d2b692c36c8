"""`python -m engine FILE.py` prints the trace of a program: the whole engine without a server."""

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, get_args

import msgspec

from engine.devices import SPELLINGS, checked
from engine.fixes import Trial
from engine.local import run, try_fixes
from engine.program.expression import BadInput, program_of
from engine.request import CheckKind
from engine.trace import Check, Program, Record, Tensor, Trace

_SEEDS = 2**32
_DEVICES = f"{', '.join(SPELLINGS[:-1])} or {SPELLINGS[-1]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when there is a trace, 1 with `--fail` when its status is not ok, 2 for bad arguments."""
    parser = argparse.ArgumentParser(prog="python -m engine", description="Run a PyTorch program, print its trace.")
    add_arguments(parser)
    given = parser.parse_args(arguments)
    trace = traced(parser, given)
    say(trace, given)
    return status(trace, given)


def traced(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Trace:
    """The trace of the program that the arguments name; ends the process where they are wrong."""
    try:
        program = _program(given)
    except BadInput as wrong:
        parser.error(str(wrong))
    return run(program, checks=tuple(sorted(set(given.check))), sandboxed=not given.unsandboxed)


def say(trace: Trace, given: argparse.Namespace) -> None:
    """Prints the trace as the arguments ask for it."""
    fixes = try_fixes(trace, sandboxed=not given.unsandboxed) if given.try_fixes else None
    if given.summary:
        print(_summary(trace, fixes.trials if fixes is not None else ()))
    else:
        print(json_text(trace if fixes is None else fixes, pretty=given.pretty))


def status(trace: Trace, given: argparse.Namespace) -> int:
    """The exit status: with `--fail` it tells how the program ended."""
    return 1 if given.fail and trace.status != "ok" else 0


def until_nobody_reads(command: Callable[[], int]) -> NoReturn:
    """Ends the process with a command's status, or quietly, as other tools do, when whoever read its output left."""
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        code = 128 + signal.SIGPIPE
    sys.exit(code)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What a run is asked for with."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="the program; - reads it from standard input")
    parser.add_argument("--expression", metavar="E", help="a tensor expression instead of a program")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=JSON", help="a named input of the expression; repeatable"
    )
    parser.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="seed of torch, numpy and random (default 0)"
    )
    parser.add_argument("--device", default="cpu", metavar="D", help=f"{_DEVICES} (default cpu)")
    parser.add_argument(
        "--check", action="append", default=[], choices=get_args(CheckKind), metavar="WHAT",
        help="finite-difference compares gradients with differences, jacobian gives Jacobians, surface a function of "
        "two numbers, calls the calls of the program's own functions; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--unsandboxed", action="store_true",
        help="run the program in an ordinary process that may do all you may, for machines without isolation; only for "
        "programs of your own",
    )  # fmt: skip
    parser.add_argument(
        "--try-fixes", action="store_true",
        help="run the program without the cause of each finding, and say instead of the trace which fixes mend and "
        "which causes that proves",
    )  # fmt: skip
    parser.add_argument("--summary", action="store_true", help="a few lines of text instead of JSON")
    parser.add_argument("--pretty", action="store_true", help="indented JSON")
    parser.add_argument("--fail", action="store_true", help="exit with 1 when the program did not end well")


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= _SEEDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed; give a whole number from 0 to {_SEEDS - 1}")
    return int(text)


def _program(given: argparse.Namespace) -> Program:
    if (given.file is None) == (given.expression is None):
        raise BadInput("give either a FILE or --expression, and not both")
    if given.expression is None and given.input:
        raise BadInput("--input belongs to --expression; put values into the program itself")
    try:
        checked(given.device)
    except ValueError as wrong:
        raise BadInput(str(wrong)) from wrong
    if given.expression is not None:
        inputs = dict(_input(text) for text in given.input)
        return program_of(given.expression, inputs, seed=given.seed, device=given.device)
    return Program(code=_read(given.file), seed=given.seed, device=given.device)


def _read(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except OSError as wrong:
        raise BadInput(
            f"cannot read {file!r}: {wrong.strerror}; give the path of a Python file, or - for stdin"
        ) from None
    except UnicodeDecodeError:
        raise BadInput(f"{file!r} is not UTF-8 text; save it as UTF-8") from None


def _input(text: str) -> tuple[str, msgspec.Raw]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"--input {text!r} has no =; write it as NAME=JSON, such as x=[[1,1],[1,1]]")
    return name.strip(), msgspec.Raw(value.encode())


def json_text(record: Record, *, pretty: bool = False) -> str:
    """A record as JSON, on one line or indented."""
    body = msgspec.json.encode(record)
    return (msgspec.json.format(body, indent=2) if pretty else body).decode()


def _summary(trace: Trace, trials: Sequence[Trial]) -> str:
    lines = [
        f"{trace.status}: {len(trace.ops)} ops, {len(trace.nodes)} nodes, {len(trace.passes)} backward passes "
        f"in {trace.timings.total_ms:.0f} ms",
        *(output.text.rstrip("\n") for output in trace.output),
    ]
    if trace.failure:
        where = f" at line {trace.failure.span.line}" if trace.failure.span else ""
        lines.append(f"{trace.failure.type}{where}: {trace.failure.message}")
    records = {tensor.id: tensor for tensor in trace.tensors}
    for tensor in trace.tensors:
        gradient = records.get(tensor.grad) if tensor.grad else None
        if gradient and tensor.names:
            value = json.dumps(gradient.data) if gradient.data else "×".join(map(str, gradient.shape))
            lines.append(f"{tensor.names[0]}.grad {value}")
    lines += [_checked(check, records[check.tensor]) for check in trace.checks if check.tensor in records]
    lines += [_tried(trace, trial) for trial in trials]
    return "\n".join(lines)


def _tried(trace: Trace, trial: Trial) -> str:
    finding = trace.findings[trial.finding]
    where = f" at line {finding.span.line}" if finding.span else ""
    what = "experiment on" if finding.is_experiment else "fix of"
    said = f", {trial.certainty}" if trial.certainty is not None else ""
    return f"{what} {finding.code}{where}: {trial.verdict}{said}"


def _checked(check: Check, leaf: Tensor) -> str:
    """One line: the verdict, what explains it, how large the gap is."""
    words = [
        check.reason,
        *check.parameters.values(),
        *check.nodes,
        *([f"line {check.span.line}"] if check.span else []),
    ]
    why = f" ({', '.join(filter(None, words))})" if any(words) else ""
    gap = f", relative error {check.relative_error:.2g}" if isinstance(check.relative_error, float) else ""
    checked = f"{gap}, {len(check.elements)} elements" if check.elements else ""
    return f"check of {leaf.names[0] if leaf.names else leaf.id}.grad: {check.verdict}{why}{checked}"


if __name__ == "__main__":
    until_nobody_reads(main)
