import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

words = [torch.randn(3, 2), torch.randn(1, 2)]
padded = pad_sequence(words, batch_first=True)
packed = pack_padded_sequence(padded, torch.tensor([3, 1]), batch_first=True)
lstm = nn.LSTM(2, 3, batch_first=True)
out, (h, c) = lstm(packed)
unpacked, lengths = pad_packed_sequence(out, batch_first=True)
(unpacked.sum() + c.sum()).backward()
print(unpacked.shape, lengths, lstm.weight_ih_l0.grad.norm())
