"""Records what a program does with PyTorch.

`recorder.py` puts the rooms together; each of them alone writes its attributes, and none imports the recorder:

* `counts.py` numbers and limits · `sites.py` places in the source · `thread_state.py` what a thread is in the middle of
* `outbox.py` events until they are sent · `lifetimes.py` what ceased to exist
* `tensor_facts.py` what a tensor says of itself · `figures.py`, `pictures.py` large ones in short
* `safe_repr.py` other values, without running code of the program's
* `tensor_state.py`, `tensors.py` its recorded states
* `storages.py` shared memory, and what of it was never written
* `nodes.py` autograd nodes · `saved_tensors.py` what they keep · `updates.py` values changed outside the graph

What stands between the program and PyTorch uses the recorder:

* `ops.py` every call of an op · `op_names.py`, `cells_read.py` their facts
* `passes.py` calls of the engine · `hooks.py` hooks of the user's · `checkpoints.py` recomputation
* `custom_functions.py` lines behind the program's own Functions · `batches.py` of a `DataLoader`
* `modules.py`, `module_apply.py` modules · `optimizers.py` steps · `edits_by_hand.py` `.grad` and `.data`
* `python_calls.py` the program's own functions · `final_state.py` what is known only at the end
"""
