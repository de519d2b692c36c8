from dataclasses import dataclass, field
import torch

@dataclass
class State:
    weight: torch.Tensor
    history: list = field(default_factory=list)

    def step(self, lr):
        loss = (self.weight - 1).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            self.weight -= lr * self.weight.grad
        self.weight.grad = None
        self.history.append(round(loss.item(), 5))

state = State(torch.zeros(2, requires_grad=True))
for _ in range(3):
    state.step(0.25)
print(state.history, state.weight)
