import torch

inputs = torch.tensor([1.0, 0.0, -1.0, 0.5])
w_in = torch.tensor(0.8, requires_grad=True)  # ~ -2..2
w_state = torch.tensor(0.5, requires_grad=True)  # ~ -2..2

state = torch.tensor(0.0)
for x in inputs:
    state = torch.tanh(w_in * x + w_state * state)  # ? state

loss = (state - 1) ** 2
loss.backward()  # ? inputs.grad is None
print(f"last state {state.item():.4f}")
print(f"w_in.grad {w_in.grad.item():.4f}")
print(f"w_state.grad {w_state.grad.item():.4f}")
