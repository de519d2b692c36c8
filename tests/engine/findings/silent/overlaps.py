"""What `engine/findings/overlaps.py` finds, and right programs near to it."""

from tests.engine.findings.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = (
    Mistake("overlap_counted_once", 9, """net = nn.Conv2d(1, 1, 3, padding=1)
spots = (torch.rand(6, 1, 5, 5) > 0.6).float()
opt = torch.optim.Adam(net.parameters())
for _ in range(3):
    made = torch.sigmoid(net(spots + 0.1 * torch.randn(6, 1, 5, 5))).flatten(1)
    share = ((made * spots.flatten(1)).sum(1) + 1) / (made.sum(1) + spots.flatten(1).sum(1) + 1)
    loss = (1 - share).mean()
    opt.zero_grad(); loss.backward(); opt.step()
""", cure=(
        ("((made * spots", "(2 * (made * spots"),
    )),
    Mistake("overlap_counted_once", 7, """class Overlap(nn.Module):
    def forward(self, scores, mask):
        p = scores.sigmoid()
        shared = torch.sum(p * mask, (1, 2))
        both = (p ** 2).sum((1, 2)) + mask.square().sum((1, 2))
        return 1 - (shared / both).mean()
net, measure = nn.Linear(5, 5), Overlap()
mask = (torch.rand(6, 5, 5) > 0.6).float()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad(); measure(net(mask), mask).backward(); opt.step()
""", cure=(
        ("shared / both)", "shared / (both - shared))"),
    )),
)  # fmt: skip
RIGHT: tuple[tuple[str, str], ...] = (
    ("overlap_counted_once", """made = torch.rand(6, 9, requires_grad=True)
mask = (torch.rand(6, 9) > 0.6).float()
shared, both = (made * mask).sum(1), (made + mask).sum(1)
loss = (1 - 2 * (shared / both)).mean() + (1 - shared / (both / 2)).mean() + (1 - (shared + shared) / both).mean()
loss = loss - (shared / both).mean() + (1 - shared / (both - shared)).mean() + (1 - torch.mul(shared, 2) / both).mean()
loss.backward()
other = torch.rand(6, 9, requires_grad=True)
(1 - (made * other).sum(1) / (made.sum(1) + other.sum(1))).mean().backward()
"""),
)  # fmt: skip
