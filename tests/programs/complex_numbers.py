import torch

z = torch.tensor([1 + 2j, -0.5j], requires_grad=True)
w = z * z.conj() + torch.exp(1j * z)
loss = w.abs().sum() + z.real.sum() - w.imag[0]
loss.backward()
print(w, z.grad, torch.fft.fft(z.detach()))
