// What people do with the page, in a real Chromium: two stories at a time, one line of JSON for each.
// GRADGRAPH_URL is the server, CHROMIUM the browser, GRADGRAPH_SHOTS a folder for screenshots (none are taken without);
// PICTURES_OF_THE_PAGE the folder the pictures of README and documents are taken to, GRADGRAPH_EXAMPLES that of the built
// examples (`python -m tests.e2e.examples FOLDER` builds them).

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'

const require = createRequire(new URL('../../frontend/package.json', import.meta.url))
const { chromium } = require('playwright-core')
const axe = require.resolve('axe-core/axe.min.js')

const server = process.env.GRADGRAPH_URL
const shots = process.env.GRADGRAPH_SHOTS
const pictures = process.env.PICTURES_OF_THE_PAGE
const examples = process.env.GRADGRAPH_EXAMPLES
const PICTURE_BYTES = 150_000
const EXAMPLE_BYTES = 60_000
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }
const STORY_MS = 300_000
const VIEWPORT = { width: 1440, height: 900 }

/** Most of the gradient of x comes by the square. */
const FORK = `import torch
x = torch.tensor(1.0, requires_grad=True)
a = x * 3
square = a * a
out = (square + torch.sin(x)).sum()
out.backward()`
const PROGRAM = `import torch
x = torch.ones(2, 2, requires_grad=True)
y = x + 2
z = y * y * 3
out = z.mean()
out.backward()
print(x.grad)`

const FAILING = `import torch
a = torch.ones(2, 3, requires_grad=True)
b = torch.ones(2, 3)
c = (a * 2).sum()
d = a @ b
print(d)`

/** The same tensor twice: to an op, in a sum of a leaf that is too large to be told by elements, and out of a loader. */
const GIVEN_TWICE = `import torch
p = torch.nn.Parameter(torch.ones(2, 2))
x = torch.ones(120, 120, requires_grad=True)
loader = torch.utils.data.DataLoader([1.0, 2.0], collate_fn=lambda samples: (torch.tensor(samples),) * 2)
for a, b in loader:
    (torch.dot(a, b) * (p @ p).sum() + (x + x).sum()).backward()`

const MODEL = `import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8)), nn.Linear(8, 1))
loss = model(torch.ones(3, 4)).pow(2).mean()
loss.backward()`

const LAYERS = `import torch
from torch import nn
model = nn.Sequential(*[nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(6)], nn.Linear(4, 1))
model(torch.ones(3, 4)).pow(2).mean().backward()`
const COMPLEX = `import torch
z = torch.tensor([1 + 2j, 0.5 - 1j], requires_grad=True)
(z * z.conj()).abs().sum().backward()`
const PASSES = `import torch
w = torch.tensor([3.0, 3.0], requires_grad=True)
(3 * w).sum().backward()
(w * w).sum().backward()
print(torch.arange(36.0).reshape(6, 6) * -111.1111)
`
const SCALARS = `import random, torch
random.seed(1)
def neuron(w, b, x):
    act = b
    for wi, xi in zip(w, x):
        act = act + wi * xi
    return torch.tanh(act)
def number():
    return torch.tensor(random.uniform(-1, 1), requires_grad=True)
net = [[([number() for _ in range(n)], number()) for _ in range(m)] for n, m in ((3, 8), (8, 8), (8, 1))]
made = []
for x in ([2.0, 3.0, -1.0], [3.0, -1.0, 0.5], [0.5, 1.0, 1.0]):
    for layer in net:
        x = [neuron(w, b, x) for w, b in layer]
    made.append(x[0])
sum((y - 1) ** 2 for y in made).backward()`

const LOOP = `import torch
x = torch.tensor([1.0, 1.0], requires_grad=True)
y = x * 2
while y.norm() < 200:
    y = y * 2
y.sum().backward()`

const CUT = `import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
s = (w * 2).detach().sum()
loss = (s + b) ** 2
loss.backward()`

/** An optimizer that is made before the layer it is to train; its fix swaps two lines. */
const LATE_HEAD = `import torch
from torch import nn
torch.manual_seed(5)
class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(2)
        self.fc = nn.Linear(2, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.bn(x)))

model = Backbone()
for p in model.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(model.fc.parameters(), lr=0.1)
model.fc = nn.Linear(2, 2)
x, y = torch.randn(4, 2), torch.tensor([0, 1, 1, 0])
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()`

const UNZEROED = `import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
x, t = torch.randn(6, 3), torch.randn(6, 1)
for epoch in range(4):
    loss = nn.functional.mse_loss(model(x), t)
    loss.backward()
    opt.step()`

/** Its fix is a line that draws no box. */
const LINE = `import torch
x, y = torch.tensor([1.5, 1.6, 1.7, 1.8]), torch.tensor([50.0, 56.0, 63.0, 70.0])
slope = torch.tensor(10.0, requires_grad=True)
shift = torch.tensor(0.0, requires_grad=True)
for turn in range(4):
    error = slope * x + shift - y
    loss = (error ** 2).mean()
    loss.backward()
    with torch.no_grad():
        slope -= 0.05 * slope.grad
        shift -= 0.05 * shift.grad
    slope.grad.zero_()`

const TWICE = `import torch
x = torch.tensor(2.0, requires_grad=True)
first = x ** 2
first.backward()
second = 3 * x
second.backward()`

const TRAINING = `import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
x = torch.ones(3, 2)
for _ in range(3):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if loss is None:
    print('never')`

const VECTORS = `import torch
short = torch.ones(5, requires_grad=True)
longer_name = torch.ones(6, requires_grad=True)
loss = short @ torch.tensor([100.0, 20, 3, 4, 5]) + longer_name @ torch.tensor([0.0, 1600, 20, 20, 4000, 0])
loss.backward()`

const PRODUCT = `import torch
a = torch.tensor([[1.37, 2.21], [3.79, 4.57]], requires_grad=True)
b = torch.tensor([[0.12, -2.58], [1.73, 0.27]])
loss = (a.sin() @ b).pow(2).sum()
loss.backward()`

/** Rules of three matrices, in brackets and in a fraction. */
const WIDE_RULES = `import torch
x = torch.tensor([[1.234, -0.4321, 2.345], [-1.111, 0.2222, 0.3333]], requires_grad=True)
p = torch.softmax(x, 1)
q = p / (x + 5.5)
q.pow(2).sum().backward()`

const ADDED = `import torch
w = torch.tensor([1.0, -2.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.01)
for _ in range(2):
    (w * torch.tensor([3.25, -4.75])).pow(2).sum().backward()
    optimizer.step()`

const CHANGED = `import torch
x = torch.ones(3, requires_grad=True)
y = x.exp()
y += 1
y.sum().backward()`

const SILENT = `import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
q = w * w
w.data.mul_(10)
q.sum().backward()`

const PICKS = `import torch
from torch import nn
x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]], requires_grad=True)
chosen = x.gather(1, torch.tensor([[3], [0]]))
y = x * torch.tensor([1, 2, 3, 4])
z = nn.Conv1d(1, 1, 3, stride=2, padding=1)(y[None, :1])
(chosen.sum() + z.sum()).backward()`

const WIDE = `import torch
x = torch.arange(8.0, requires_grad=True)
a, b, c = x[:2], x.exp(), x.sin()
d, e, f = x.cos(), x.tanh(), x.sigmoid()
g, h = x.abs(), x.sqrt()
torch.cat([a, b, c, d, e, f, g, h]).sum().backward()`

const MOVES = `import torch
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.ones(4, 4)
for turn in range(3):
    y = x.to(device) * 2`

const ROSENBROCK = `import torch
p = torch.tensor([-1.0, 1.5], requires_grad=True)
optimizer = torch.optim.SGD([p], lr=0.01)
for _ in range(6):
    optimizer.zero_grad()
    loss = (1 - p[0]) ** 2 + 10 * (p[1] - p[0] ** 2) ** 2
    loss.backward()
    optimizer.step()`

const MOVED = `import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
model(torch.ones(3, 2)).sum().backward()
model.double()`

const OPERATOR = `class Value:
    def __init__(self, data, maker=None):
        self.data = data
        self.maker = maker

    def __sub__(self, other):
        return Sub()(self, other)

class Sub:
    def __call__(self, a, b):
        self.result = a.data - b.data
        return Value(self.result, maker=self)

c = Value(5.0) - Value(2.0)
print(c.data)`

const HOOKED = `import torch
from torch import nn

def halve(module, inputs, output):
    return output / 2

model = nn.Linear(2, 1)
model.register_forward_hook(halve)
out = model(torch.ones(4, 2)).sum()
out.backward()`

const MASKED = `import torch
x = torch.randn(3, 3, requires_grad=True)
hidden = torch.triu(torch.ones(3, 3), diagonal=1).bool()
scores = x.masked_fill(hidden, float('-inf'))
torch.softmax(scores, dim=-1)[2, 0].backward()`

const INSIDE = `import torch
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(9, 2))
out = net(torch.ones(3, 4))`

const TURNED = `import torch
x = torch.tensor([1.0, -2.0], requires_grad=True)
k = 3.0
y = x * k
loss = (y * y).sum()
loss.backward()
print(x.grad)`

const STACKED = `import torch
x = torch.tensor(1.0, requires_grad=True)
y = torch.stack([x, torch.tensor(4.0), torch.tensor(4.0), torch.tensor(2.0), torch.tensor(1.0)])
y.sum().backward()`

const CLAMPED = `import torch
x = torch.tensor([-3.0, 0.5, 4.0], requires_grad=True)
y = torch.clamp(x, min=-1.5, max=2.25)
loss = y.sum()
loss.backward()`

const MANY = `import torch
${Array.from('abcdefghij', (name) => `${name} = torch.arange(4.)`).join('\n')}`

const CLASS = `import torch
x = torch.tensor(2.0, requires_grad=True)
(x * x).backward()
(3 * x).backward()  # ? x.grad
y = x.detach() * 21  # ? y`

const ENDLESS = `import time
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
while True:
    y = y * 1.01
    time.sleep(0.02)`

/** In the page: what a picture of it shows on any machine, a line for each thing. Not what fonts make of it, nor when and
 *  by which PyTorch the program ran. */
function seenOnPage() {
  const shapes = [...document.querySelectorAll('.gg-scene path, .gg-scene rect, .gg-scene text')].map((shape) =>
    [shape.tagName, ...['x', 'y', 'width', 'height', 'd'].flatMap((name) => shape.getAttribute(name) ?? []), shape.childElementCount ? '' : shape.textContent].join(' ').trim())
  const elements = [...document.querySelectorAll('header, section, aside, .player')].filter((each) => !each.parentElement.closest('section, aside, .player'))
  const texts = elements.flatMap((each) => each.innerText.split('\n')).map((text) => text.replace(/\s+/g, ' ').trim())
  const { color, backgroundColor } = getComputedStyle(document.body)
  return [`${color} on ${backgroundColor}`, ...texts.filter((text) => text && !text.startsWith('torch ')), ...shapes]
}

function check(claim, sentence) {
  if (!claim) throw new Error(sentence)
}

function same(found, wanted, what) {
  check(found === wanted, `${what}: wanted ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`)
}

/** Waits until a claim about the page holds; says the last thing it saw when it never does. */
async function until(look, holds, what) {
  let seen
  for (let tries = 0; tries < 200; tries += 1) {
    seen = await look()
    if (holds(seen)) return seen
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${what}: last seen ${JSON.stringify(seen)}`)
}

/** A box of the graph by something written in it. */
const box = (page, text) => page.locator('.gg-scene g:has(> .box)').filter({ hasText: text }).first()
const count = (page) => page.locator('.player .count')
const head = (page) => page.locator('.graph .counts')

/** Waits until something says all of these words. */
const says = (place, ...words) =>
  until(() => place.textContent(), (text) => words.every((word) => text.includes(word)), `something that says ${words.join(' and ')}`)

/** Waits until there are so many of something. */
const number = (places, wanted, what) => until(() => places.count(), (found) => found === wanted, what)

/** Waits until the run that was asked for is over, and the picture is of what the page says. */
const drawn = (page) =>
  page.locator('.panes[aria-busy=false] .gg-scene[aria-busy=false] .box').first().waitFor({ state: 'attached' })

/** Waits until nothing moves: some frames in a row show the same. */
const still = (page) =>
  page.evaluate(async () => {
    await document.fonts.ready
    const frame = () => new Promise(requestAnimationFrame)
    const isMoving = () => document.getAnimations().some(({ playState, effect }) => playState === 'running' && Number.isFinite(effect.getComputedTiming().endTime))
    const places = () => [...document.querySelectorAll('.gg-scene[aria-busy=false] g')].map((one) => one.getAttribute('transform')).join()
    for (let [same, before] = [0, '']; same < 3; ) {
      await frame()
      const now = places()
      same = now === before && !isMoving() ? same + 1 : 0
      before = now
    }
  })

let visits = 0
/** A link that opens the page anew, also where only the hash is another one. */
const anew = (hash = '') => `${server}/?${(visits += 1)}${hash}`

/** Opens the page anew and waits for the run it shows. */
async function open(page, hash = '') {
  await page.goto(anew(hash))
  await page.waitForSelector('.cm-content', { state: 'attached' })
  await drawn(page)
}

/** Puts a program in the place of the one that is there. */
async function write(page, code) {
  await page.locator('.cm-content').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(code)
}

async function run(page, code) {
  await write(page, code)
  await page.keyboard.press('Control+Enter')
  await page.locator('.graph .edited').waitFor({ state: 'detached' })
  await drawn(page)
}

/** Takes a number by the pointer and pulls it sideways, a little in each frame. */
async function pull(page, number, way) {
  await drawn(page)
  await still(page)
  const { x, y, width, height } = await number.boundingBox()
  await page.mouse.move(x + width / 2, y + height / 2)
  await page.mouse.down()
  for (let at = 1; at <= 10; at += 1) {
    await page.mouse.move(x + width / 2 + (way * at) / 10, y + height / 2)
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  await page.mouse.up()
}

/** Gives every worker a program to run, until the answer is called. */
async function blocked() {
  const { workers } = await (await fetch(`${server}/api/v1/health`)).json()
  const blockers = await Promise.all(Array.from({ length: workers }, (_, number) =>
    fetch(`${server}/api/v1/runs`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
      body: JSON.stringify({ code: `import time\ntime.sleep(9)\nprint(${number}, ${Date.now()})` }),
    }),
  ))
  await until(async () => (await (await fetch(`${server}/api/v1/health`)).json()).running, (running) => running === workers, 'programs being run')
  const free = async () => {
    for (const { headers } of blockers) await fetch(`${server}${headers.get('Location')}`, { method: 'DELETE' })
  }
  return { free, told: new RegExp(`${workers} ${workers === 1 ? 'program' : 'programs'} ahead of yours, about \\d+ s`) }
}

/** The trace of a program, run anew. */
async function answered(code) {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
  return (await fetch(`${server}/api/v1/runs`, { method: 'POST', headers, body: JSON.stringify({ code }) })).json()
}

/** What checks an answer is in view, and nothing of its card cuts it off. */
async function isOffItsBorder(page) {
  const [button, card] = [page.locator('.question button', { hasText: 'Check' }), page.locator('.question')]
  const [inner, outer] = [await button.boundingBox(), await card.boundingBox()]
  check(inner.y + inner.height <= outer.y + outer.height - 6, 'Check touches the border of its card')
}

const boxesInView = (page) =>
  page.locator('.gg-scene').evaluate((svg) => {
    const window = svg.getBoundingClientRect()
    const boxes = [...svg.querySelectorAll('[data-id]')].map((box) => box.getBoundingClientRect())
    return boxes.filter((box) => box.right > window.left && box.left < window.right && box.bottom > window.top && box.top < window.bottom).length
  })

/** A site of somebody else: what it answers by path. */
async function site(files) {
  const types = { html: 'text/html', mjs: 'text/javascript', json: 'application/json' }
  const web = createServer((request, answer) => {
    const name = new URL(request.url, 'http://site').pathname.slice(1) || 'index.html'
    answer.writeHead(name in files ? 200 : 404, { 'Content-Type': `${types[name.split('.').pop()]}; charset=utf-8` })
    answer.end(files[name] ?? '')
  })
  await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${web.address().port}/`, close: () => (web.closeAllConnections(), web.close()) }
}

/** Nothing on the page is out of reach of who cannot see it or has no mouse. */
async function faultless(page, name, part = 'html') {
  await still(page)
  await page.evaluate(await readFile(axe, 'utf8'))
  const found = await page.evaluate((within) => axe.run(within, { resultTypes: ['violations'] }), part)
  check(found.violations.length === 0, `${name}: ${found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).slice(0, 4).join(' | ')}`).join('; ')}`)
}

async function shoot(page, name) {
  if (!shots) return
  await still(page)
  await page.screenshot({ path: `${shots}/${name}.png` })
}

/** What stands in the way of reading a graph as it opens: text below 11 px, no box in view, too many boxes, or something
 *  over a box, a constant or a label. */
const illegible = (page) =>
  page.evaluate(() => {
    const svg = document.querySelector('.gg-scene[aria-busy=false]')
    if (!svg) return 'nothing is drawn'
    const window = svg.getBoundingClientRect()
    const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
    const places = (all) => [...all].map((one) => one.getBoundingClientRect())
    const inWindow = (selector) => places(svg.querySelectorAll(selector)).filter((box) => overlap(box, window))
      .map(({ left, right, top, bottom }) => ({ left, right, top: Math.max(top, window.top), bottom: Math.min(bottom, window.bottom) }))
    const boxes = inWindow('.box:not([aria-expanded="true"])')
    const readable = [...boxes, ...inWindow('.stub, text:not(:empty)')]
    const small = [...svg.querySelectorAll('text')].filter((text) => text.textContent && parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a < 10.99)
    const over = [...document.querySelectorAll('section.graph .legend, section.graph .corner > *, section.graph .zoom')].filter((aid) => readable.some((box) => overlap(aid.getBoundingClientRect(), box)))
    return [
      ...small.map((text) => `"${text.textContent}" is small`), ...over.map((aid) => `${aid.className} covers something`),
      ...(boxes.length === 0 ? ['no box is in view'] : boxes.length > 30 ? [`${boxes.length} boxes`] : []),
    ].slice(0, 3).join('; ')
  })

/** Tabs, buttons and heads that something else lies over, or that reach out of the window. */
const covered = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('.dock .strip button, section.graph .bar button, .player button, section.graph .head, .zoom button, .leave, .fold')].flatMap((one) => {
      const { left, top, width, height } = one.getBoundingClientRect()
      if (width === 0 || one.matches('.strip *') && left + width > innerWidth) return []
      const found = document.elementFromPoint(left + Math.min(width / 2, 40), top + height / 2)
      return found && (one.contains(found) || found.contains(one)) ? [] : [one.textContent.trim().slice(0, 30) || one.ariaLabel]
    }),
  )

/** In the page: what comes before the marks that begin a line of its paragraphs. */
function begunWithMarks(words) {
  const found = []
  for (const paragraph of words.querySelectorAll('p')) {
    const { left } = paragraph.getBoundingClientRect()
    const walk = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node; node = walk.nextNode())
      for (const { index } of node.data.matchAll(/[，。；：、]/g)) {
        const range = new Range()
        range.setStart(node, index)
        range.setEnd(node, index + 1)
        if (range.getBoundingClientRect().left < left + 3) found.push(node.data.slice(index, index + 8))
      }
  }
  return found.join('; ')
}

const WIDTHS = [1400, 1100, 800, 390]

const stories = {
  async 'a first visit finds an example that has run, with its text'(page) {
    await open(page)
    await until(() => page.locator('.player .value').textContent({ timeout: 20_000 }), (text) => text.includes('36 + 18 → 54'), 'the sum of the diamond')
    const text = page.locator('.lesson .words')
    await until(() => text.textContent(), (all) => all.includes('They meet at x'), 'the text of the lesson')
    await shoot(page, 'first-visit')
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await until(() => page.locator('.lesson .title').textContent(), (all) => all === 'Leaf or not', 'the next lesson')
    await page.getByRole('button', { name: 'Previous', exact: true }).click()
    await until(() => text.textContent(), (all) => all.includes('They meet at x'), 'the text of the lesson before')
    await page.setViewportSize({ width: 1280, height: 720 })
    await open(page)
    const beyond = () => page.evaluate(() => {
      const [field, scene] = ['.graph .field', '.gg-scene'].map((one) => document.querySelector(one).getBoundingClientRect())
      return Math.max(field.left - scene.left, scene.right - field.right, field.top - scene.top, scene.bottom - field.bottom)
    })
    await until(beyond, (pixels) => pixels <= 0, 'all of the picture in a small window')
    await page.getByRole('button', { name: 'more', exact: true }).click()
    const unseen = () => text.evaluate((words) => words.scrollHeight - words.clientHeight)
    await until(unseen, (pixels) => pixels <= 0, 'all of the text on demand')
    const below = () => page.locator('section.program').evaluate((column) => {
      column.scrollTop = column.scrollHeight
      return column.querySelector('.output').getBoundingClientRect().bottom - column.getBoundingClientRect().bottom
    })
    await until(below, (pixels) => pixels <= 1, 'the output below a whole text')
    await page.getByRole('button', { name: 'less', exact: true }).click()
    await until(unseen, (pixels) => pixels > 0, 'less of it again')
    await page.goto(`${server}/?lesson=leaf_or_not&lang=en`)
    await until(() => page.locator('.lesson .title').textContent(), (all) => all === 'Leaf or not', 'what a query asks for')
    await open(page, '#lesson=diamond&lang=zh')
    for (const width of [1400, 1100, 390]) {
      await page.setViewportSize({ width, height: 900 })
      await until(() => text.evaluate(begunWithMarks), (marks) => marks === '', `no mark begins a line at ${width}`)
    }
  },

  async "a lesson's graph has its share of a small window beside its story and its question"(page) {
    const share = (selector) => page.locator(selector).evaluate((one) => one.getBoundingClientRect().height / innerHeight)
    const leaks = () => page.evaluate(() =>
      [...document.querySelectorAll('.lesson, .question, .question button, .graph .head button')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth)
        .map((one) => one.textContent.trim().slice(0, 40)).join('; '))
    for (const lang of ['zh', 'en']) {
      for (const [lesson, asks] of [['diamond', 'off'], ['rnn_loop', 'on'], ['accumulation', 'on'], ['attention', 'off']]) {
        await page.goto(anew(`#lesson=${lesson}&lang=${lang}`))
        if (asks === 'on') await page.locator('.question').getByRole('button', { name: /^Ask me first|先问我$/ }).click()
        await drawn(page)
        await page.locator(asks === 'on' ? '.question .asked' : '.lesson .words p').first().waitFor()
        for (const [width, height, least] of [[720, 450, 0.4], [640, 360, 0.4], [844, 390, 0.4], [800, 900, 0.38], [800, 700, 0.28], [390, 800, 0.36], [390, 664, 0.23]]) {
          await page.setViewportSize({ width, height })
          const name = `${lesson} at ${width}×${height} in ${lang}`
          await until(() => share('.graph .field'), (found) => found >= least, `${name}: the graph's share`)
          await until(leaks, (all) => all === '', `${name}: what has no room`)
          await until(() => illegible(page), (said) => said === '', name)
        }
        if (asks === 'on') await page.locator('.question').getByRole('button', { name: /^Show everything|不提问，全部显示$/ }).click()
      }
    }
    await shoot(page, 'small-window')
    await page.getByRole('button', { name: 'more', exact: true }).click()
    await page.getByRole('button', { name: 'less', exact: true }).waitFor()
    await page.locator('.question').getByRole('button', { name: 'Next', exact: true }).click()
    await page.getByRole('button', { name: 'more', exact: true }).waitFor()
    await page.setViewportSize({ width: 1100, height: 800 })
    await page.goto(anew('#lesson=linear_regression&lang=en&step=152'))
    await drawn(page)
    await page.locator('.sliders label').first().waitFor()
    const whole = () => page.evaluate(() => {
      const parts = [['.sliders', '.sliders label'], ['.variables', '.variables tr, .variables li']]
      const cut = parts.flatMap(([frame, rows]) => {
        const { top, bottom } = document.querySelector(frame).getBoundingClientRect()
        const shown = [...document.querySelectorAll(rows)].map((row) => row.getBoundingClientRect())
          .filter((row) => row.top < bottom - 2 && row.bottom > top)
        return [...shown.filter((row) => row.bottom > bottom + 2).map(() => `${frame} cut`),
          ...(shown.length < 2 ? [`${frame} shows ${shown.length}`] : [])]
      })
      const output = document.querySelector('.output').getBoundingClientRect()
      const room = document.querySelector('.program').getBoundingClientRect().bottom
      return [...cut, output.height < 80 ? 'output small' : '', output.bottom > room + 1 ? 'output hidden' : ''].join('')
    })
    await until(whole, (said) => said === '', 'sliders, variables and output share a low window, none cut in half')
  },

  async "a lesson's phrases light what they speak of, and its terms are explained"(page) {
    await open(page, '#lesson=zero_init&lang=en')
    const words = page.locator('.lesson .words')
    await words.locator('math').first().waitFor()
    const phrase = words.getByRole('button', { name: 'TanhBackward0' })
    await phrase.hover()
    await number(page.locator('svg .ring-hover'), 1, 'the box that is lit')
    await phrase.click()
    await page.locator('.inspector', { hasText: 'TanhBackward0' }).waitFor()
    await words.getByRole('button', { name: 'gradient', exact: true }).click()
    await page.locator('.lesson .says', { hasText: 'The derivative of a result' }).waitFor()
    await shoot(page, 'lesson-words')
    const leads = async (lesson, phrase, words) => {
      await open(page, `#lesson=${lesson}&lang=en`)
      await page.locator('.lesson .words').getByRole('button', { name: phrase, exact: true }).first().click()
      await until(() => page.locator('.player .told').textContent(), (text) => text.includes(words), `where ${phrase} of ${lesson} leads`)
    }
    await leads('four_additions', 'copy_', 'Change y in place') // not to the text that tells of it
    await leads('shapes_and_axes', 'permute', 'Compute turned')
    await leads('tensor_expression', 'column', 'Compute column')
    await leads('around', 'backward()', 'Start backward')
  },

  async 'a gradient is explained factor by factor, by mouse and by keys'(page) {
    await open(page, '#lesson=mean_grad')
    await box(page, 'leaf').click()
    const why = page.locator('.inspector .why')
    const path = await until(() => why.locator('.path').textContent(), (all) => all.includes('4.5'), 'the path to 4.5')
    for (const part of ['¼', '3', '2·3']) check(path.includes(part), `the factor ${part} is missing in ${path}`)
    await why.getByRole('radio').first().focus()
    await page.keyboard.press('ArrowDown')
    await until(() => why.textContent(), (all) => all.includes('x.grad[1, 0]'), 'the element below')
    await why.getByRole('button', { name: '2·3' }).press('Enter')
    await until(() => page.locator('.inspector header').first().textContent(), (all) => all.includes('PowBackward0'), 'the node of a factor')
    const back = page.locator('.inspector').getByRole('button', { name: '← x.grad' })
    check(await back.evaluate((button) => button === document.activeElement), 'the keys do not go on at the way back')
    await page.keyboard.press('Enter')
    await why.locator('.path').waitFor()
    check(await page.locator('.inspector h2').evaluate((title) => title === document.activeElement), 'the keys do not go on at the leaf')
    await shoot(page, 'why')
    await run(page, COMPLEX)
    await box(page, 'leaf').click()
    await why.locator('.part').first().waitFor()
    check((await why.locator('.cells').count()) === 0, 'cells of complex numbers, which are not explained one by one, can be chosen')
  },

  async 'gradients of vectors and rules with wide matrices stand whole'(page) {
    await open(page, '#lang=en')
    await run(page, VECTORS)
    await until(() => page.locator('.variables .gradient.grad').evaluateAll((all) =>
      all.map(({ textContent, scrollWidth, clientWidth }) => (scrollWidth > clientWidth ? 'cut' : textContent)).join()),
      (told) => told === '.grad [100, 20, 3, …, 5],.grad [0, 1600, 20, …, 0]', 'both gradients')
    await run(page, PRODUCT)
    await box(page, 'loss').waitFor()
    await box(page, 'MmBackward0').click()
    await until(() => page.locator('.inspector .math p').evaluateAll((all) =>
      all.map((one) => `${one.scrollWidth - one.clientWidth} ${one.textContent}`).join('; ')),
      (told) => /≈/.test(told) && !/(^|; )[1-9]/.test(told), 'both sides of the rule')
    for (const type of ['SoftmaxBackward0', 'DivBackward0']) {
      await run(page, WIDE_RULES)
      await box(page, type).click()
      await until(() => page.locator('.inspector .math').evaluate(({ textContent, scrollWidth, clientWidth }) =>
        `${scrollWidth - clientWidth} ${textContent}`), (told) => /^0 .*≈/s.test(told), `the whole rule of ${type}`)
    }
  },

  async 'the ledger shows at a glance what was added to a gradient not reset'(page) {
    await open(page, '#lesson=accumulation&panel=ledger')
    const row = page.locator('.dock tbody tr').first()
    await until(() => row.locator('.over').textContent({ timeout: 20_000 }), (text) => text.includes('[2, −4] + [3, 3] → [5, −1]'), 'the pass that was not reset')
    await number(row.locator('.over'), 1, 'passes added to what was left')
    await page.locator('.dock thead').getByRole('button', { name: '#1' }).press('Enter')
    await until(() => row.textContent(), (text) => text.includes('·') && !text.includes('5'), 'the ledger at the first pass')
    await shoot(page, 'ledger')
    const ofOptimizer = page.locator('.dock .legend', { hasText: 'optimizer' })
    const another = async (program) => {  // closes the panels of the last one
      await run(page, program)
      await page.locator('.dock .strip').getByRole('button', { name: 'Ledger' }).click()
    }
    await another(LATE_HEAD)
    await page.locator('.dock th.step').first().waitFor()
    await number(ofOptimizer, 0, 'words on an optimizer that changes nothing')
    await another(ADDED)
    await number(ofOptimizer, 1, 'words on an optimizer')
    await another('import torch\na = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\na.sum().backward()\n(b > 0).sum()\n')
    await page.locator('.dock tbody tr', { hasText: 'b' }).getByText('None').waitFor()
    await number(ofOptimizer, 0, 'words on an optimizer that is not there')
    await run(page, ADDED)
    const name = page.locator('.inspector section', { hasText: 'Evidence' }).locator('dt')
    check((await name.boundingBox()).width > 30, 'the name of the gradient that was added up is broken into letters')
    await page.setViewportSize({ width: 800, height: 900 })
    await open(page, '#lang=en')
    await run(page, ADDED.replace('range(2)', 'range(5)'))
    await page.locator('.player .count').click()
    await page.keyboard.press('End')
    const list = page.locator('.ledger .accounts')
    await until(() => list.evaluate((one) => one.scrollLeft), (x) => x > 0, 'a row scrolled to its latest sum')
    const cut = await list.evaluate((one) => {
      const [name, ...all] = [...one.querySelectorAll('.account:first-child > *')]
      const [from, to] = [name.getBoundingClientRect().right, one.getBoundingClientRect().right - 28]
      const places = all.map((each) => [each.textContent, each.getBoundingClientRect()])
      return places.filter(([, { left, right }]) => right > from && left < from || left < to && right > to + 1).map(([text]) => text.trim())
    })
    same(cut.join(), '', 'what is cut in the row')
    const told = await list.evaluate((one) => {
      const [name, ...all] = [...one.querySelectorAll('.account:first-child > *')]
      const from = name.getBoundingClientRect().right
      const seen = all.filter((each) => each.getBoundingClientRect().left >= from).map((each) => each.textContent.trim())
      return [getComputedStyle(name.querySelector('.earlier')).visibility, seen.join(' ')]
    })
    check(told[0] === 'visible' && /^(\[.*?\]|\S+) \+ /.test(told[1]), `what is left of the ledger's equations begins as ${told[1]}`)
    const leaves = [...'abcdefgh'].map((letter) => `leaf_${letter}`)
    await run(page, `import torch\n${leaves.map((leaf) => `${leaf} = torch.ones(4, requires_grad=True)\n`).join('')}(${leaves.join(' * ')}).sum().backward()\n`)
    await list.locator('.account.cut .name').first().evaluate((name) => name.click())
    await until(() => list.evaluate((one) => getComputedStyle(one.firstElementChild).opacity), (opacity) => opacity === '1', 'a leaf that comes first in the ledger')
  },

  async 'playing halts at a line whose number was clicked, and strides go over a pass'(page) {
    await open(page, '#lesson=accumulation&step=0')
    await page.keyboard.press('Home')
    await until(() => page.locator('.player .text').evaluate((text) =>
      text.textContent.startsWith('Nothing has run yet') && text.scrollWidth <= text.clientWidth && text.scrollHeight <= text.clientHeight),
      Boolean, 'the whole of what the player says before the first step')
    const line = (number) => page.locator('.cm-lineNumbers .cm-gutterElement:visible', { hasText: new RegExp(`^${number}$`) })
    await line(2).click()
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('No step of the run is on this line'), 'what is said of an empty line')
    await line(9).click()
    await page.locator('.timeline .halt').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Speed: 1×' }).click()
    await page.getByRole('button', { name: 'Speed: 2×' }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor({ timeout: 20_000 })
    await until(() => page.locator('.cm-line-running').textContent(), (line) => line.startsWith('second ='), 'the line it halts at')
    check(!(await count(page).textContent()).includes('Step 31'), 'it played on to the end')
    for (let step = 0; step < 8 && !(await page.locator('.player .text').textContent()).includes('#2 ends'); step += 1)
      await page.keyboard.press('Shift+ArrowRight')
    await until(() => page.locator('.player .text').textContent(), (text) => text.includes('backward() #2 ends'), 'the end of the pass')
    await page.keyboard.press('Shift+ArrowLeft')
    await until(() => page.locator('.cm-line-running').textContent(), (line) => line.startsWith('second ='), 'the line before the pass')
  },

  async 'a long run that plays is in view at each moment'(page) {
    await open(page)
    await run(page, SCALARS)
    await page.keyboard.press('Home')
    await page.getByRole('button', { name: 'Play', exact: true }).click()
    const inView = () => page.locator('.graph .canvas').first().evaluate((canvas) => {
      const { left, right, top, bottom } = canvas.getBoundingClientRect()
      return [...canvas.querySelectorAll('.gg-scene rect.box')].map((box) => box.getBoundingClientRect())
        .filter((box) => box.left < right && box.right > left && box.top < bottom && box.bottom > top).length
    })
    for (let look = 0; look < 12; look += 1) {
      await page.waitForTimeout(250)
      check(await inView() > 0, `no box is in view at "${await page.locator('.player .told').textContent()}"`)
    }
  },

  async 'the tour is offered once, can be left, and walks through what is on the page'(page) {
    await open(page)
    await page.getByRole('button', { name: 'Take the 20-second tour' }).press('Enter')
    const card = page.getByRole('dialog', { name: 'Tour' })
    for (const [at, words] of ['This is the program', 'Each box is an operation', 'Walk step by step', 'Click a box', 'The lessons are here'].entries()) {
      await card.getByText(words).waitFor()
      await card.getByText(`${at + 1} / 5`).waitFor()
      await page.keyboard.press('Enter')
    }
    await card.waitFor({ state: 'detached' })
    await page.locator('main:focus').waitFor()
    await page.reload()
    await drawn(page)
    same(await page.getByRole('button', { name: 'Take the 20-second tour' }).count(), 0, 'offers after the first')
    await page.keyboard.press('?')
    await page.getByRole('button', { name: 'Take the 20-second tour' }).click()
    await card.waitFor()
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
  },

  async 'the tour: offered in small windows too, and on a phone it goes to the tab it speaks of'(page) {
    for (const [width, touches] of [[800, false], [390, true]]) {
      const context = await page.context().browser().newContext({ viewport: { width, height: 844 }, hasTouch: touches, isMobile: touches, locale: 'en-GB' })
      const tab = await context.newPage()
      await tab.goto(`${server}/`)
      if (touches) await tab.getByRole('button', { name: 'Output', exact: true }).waitFor()
      await tab.getByRole('button', { name: 'Take the 20-second tour' }).click()
      const card = tab.getByRole('dialog', { name: 'Tour' })
      const ring = () => tab.locator('.ring').evaluate((one) => [one.clientWidth, one.clientHeight])
      const stops = touches ? [['This is the program', 'Program'], ['Each box', 'Graph'], ['with these buttons', 'Graph'], ['Click a box', 'Node'], ['The lessons', 'Graph']] : [['This is the program'], ['Each box'], ['with ← and →']]
      for (const [words, at] of stops) {
        await card.getByText(words).waitFor()
        await until(ring, ([wide, high]) => wide > 30 && high > 30, `${words}: what is spoken of, in view`)
        if (at) await says(tab.locator('.views [aria-current=page]'), at)
        await card.getByRole('button').last().click()
      }
      await context.close()
    }
  },

  async 'a projector gets large type and nothing to press; the same run reads as text'(page) {
    await open(page, '#lesson=diamond')
    const size = () => page.locator('.cm-content').evaluate((code) => parseFloat(getComputedStyle(code).fontSize))
    const before = await size()
    const zoom = () => page.locator('.gg-scene').evaluate((svg) => svg.querySelector('g').getCTM().a)
    await page.keyboard.press('p')
    await page.locator('header').waitFor({ state: 'detached' })
    await until(size, (now) => now > before, 'larger type of the program')
    await until(zoom, (now) => now > 1.25, 'the graph drawn larger')
    await shoot(page, 'presenting')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Present' }).press('Enter')
    await page.locator('main:focus').waitFor()
    for (let tabs = 0; !(await page.locator('.gg-scene .box:focus').count()) && tabs < 9; tabs += 1) {
      await page.keyboard.press('Tab')
      check(await page.locator('.cm-content:focus').count() === 0, 'Tab comes to the program, and would write into it')
    }
    await page.locator('.gg-scene .box:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('section.graph:focus-within').waitFor()
    await page.locator('.cm-content').focus()
    await page.evaluate(() => document.querySelector('[aria-label="Present"]').click())
    await page.locator('.leave').waitFor()
    await page.locator('.cm-content').press('Escape')
    await page.getByRole('button', { name: 'In words' }).click()
    const walk = page.locator('.walk')
    await walk.getByRole('heading', { name: 'backward() #1' }).waitFor()
    await walk.getByRole('button', { name: 'Visit y, receives: 1, sends 9 → left, 6 → right' }).click()
    await until(() => page.locator('.player .value').textContent(), (value) => value.includes('9 → left'), 'the step that was chosen')
    await run(page, CUT)
    await page.locator('.inspector').getByText('What happened').waitFor()
    await page.getByRole('button', { name: 'Present' }).click()
    for (const width of [1440, 1100, 800]) {
      await page.setViewportSize({ width, height: 900 })
      if (width === 800) await page.locator('.inspector').getByRole('button', { name: 'Close' }).click()
      await still(page)
      same((await covered(page)).join(), '', `what is covered at ${width}`)
    }
    const [whole, code] = await Promise.all(['.program', '.cm-editor'].map((part) => page.locator(part).first().boundingBox()))
    check(code.width > 0.95 * whole.width, `the program has ${code.width} of ${whole.width} pixels`)
  },

  async 'an empty page says how to begin'(page) {
    await open(page)
    await page.locator('.lesson').waitFor()
    await page.getByRole('button', { name: /One variable used twice/ }).first().click()
    await page.getByRole('button', { name: 'Empty program' }).click()
    await page.getByText('Paste a PyTorch program and press Run').waitFor()
    await page.locator('.empty li button').first().waitFor()
    await page.locator('.empty').getByText('What is recorded').waitFor()
    await until(() => page.locator('.empty li button').count(), (n) => n >= 16, 'lessons that are offered')
  },

  async 'a program runs and its graph appears'(page) {
    await open(page)
    await run(page, PROGRAM)
    await until(() => head(page).textContent(), (text) => text.includes('5 nodes') && text.includes('5 edges'), 'counts of the graph')
    await box(page, 'MeanBackward0').waitFor()
    await box(page, '2.25 + 2.25').waitFor()
    await says(page.locator('.output pre'), '4.5000')
    const edges = await page.locator('.gg-scene').getByRole('img').evaluateAll((all) => all.map((edge) => edge.getAttribute('aria-label')))
    check(edges.some((name) => /^value 2×2 from x to y · gradient 2×2 .+ from y to x$/.test(name)), `names of edges: ${edges.join(' | ')}`)
    await shoot(page, 'run')
  },

  async 'what a program gives twice can be looked at, at each step'(page) {
    await open(page)
    await run(page, GIVEN_TWICE)
    const total = Number(await page.locator('[role=slider]').getAttribute('aria-valuemax'))
    await page.locator('[role=slider]').focus()
    await page.keyboard.press('Home')
    for (let step = 1; step <= total; step += 1) {
      await page.keyboard.press('ArrowRight')
      await until(() => page.locator('[role=slider]').getAttribute('aria-valuenow'), (at) => at === `${step}`, 'the step')
    }
    await page.getByRole('rowheader').getByRole('button', { name: 'x', exact: true }).click()
    await page.locator('.inspector .why .part').first().waitFor()
  },

  async 'steps go back and forth by button, key and slider'(page) {
    await open(page)
    await run(page, PROGRAM)
    const total = Number(await page.locator('[role=slider]').getAttribute('aria-valuemax'))
    const now = async () => Number(await page.locator('[role=slider]').getAttribute('aria-valuenow'))
    const at = (step, what) => until(now, (found) => found === step, `${what}, of ${total}`)
    await at(total, 'step after a run')
    await page.getByRole('button', { name: 'Step back' }).click()
    await at(total - 1, 'step after one back')
    await page.locator('.player .count').click()
    await page.keyboard.press('[')
    await at(total - 2, 'step after [')
    await page.keyboard.press('Home')
    await at(0, 'step after Home')
    await page.getByText('Nothing has run yet').first().waitFor()
    await number(page.locator('.output pre'), 0, 'printed pieces before the first step')
    await page.locator('[role=slider]').focus()
    await page.keyboard.press('End')
    await at(total, 'step after End on the slider')
    const slider = await page.locator('[role=slider]').boundingBox()
    await page.mouse.click(slider.x + slider.width / 2, slider.y + 30)
    await until(now, (middle) => middle > 2 && middle < total - 1, `step after a click in the middle, of ${total}`)
  },

  async 'a sum shows each contribution, and nothing moves while stepping'(page) {
    await open(page)
    await run(page, PROGRAM)
    const place = async () => JSON.stringify(await box(page, 'AddBackward0').getAttribute('transform'))
    await page.locator('.player .count').click()
    const before = await place()
    for (let tries = 0; tries < 20; tries += 1) {
      if ((await page.locator('.player .text').textContent()).includes('Sum at y')) break
      await page.keyboard.press('ArrowLeft')
    }
    await until(() => page.locator('.player .value').textContent(), (text) => text.trim() === '2.25 + 2.25 → 4.5', 'the sum at y')
    await still(page)
    same(await place(), before, 'place of a box')
    await page.locator('.cm-sign-gradient').waitFor()
    await shoot(page, 'sum')
  },

  async 'a node explains itself with its numbers'(page) {
    await open(page)
    await run(page, PROGRAM)
    await box(page, 'y * y').click()
    const inspector = page.locator('.inspector')
    await inspector.getByText('sends').first().waitFor()
    const text = await until(() => inspector.textContent(), (all) => all.includes('MulBackward0') && all.includes('2.25'), 'the inspector of y * y')
    check(text.includes('0.75'), 'what arrived (0.75) is missing')
    check(text.includes('_saved_self') && text.includes('_saved_other'), 'saved tensors are missing')
    await until(() => inspector.locator('math').count(), (n) => n >= 3, 'the rule as MathML')
    await until(() => inspector.locator('mtable').count(), (n) => n >= 3, 'the rule with its numbers')
    await page.locator('.cm-span-selected').first().waitFor()
    await shoot(page, 'inspect')
  },

  async 'the ways through a box are lit, by mouse and by keys'(page) {
    await open(page)
    await run(page, FORK)
    await box(page, 'square').click()
    const ways = page.getByRole('group', { name: 'Light', exact: true })
    const lit = () => page.locator('.gg-scene .ring-hover').count()
    await ways.getByRole('button', { name: 'led to it' }).click()
    await until(lit, (n) => n === 2, 'a and x, which led to the square')
    await number(page.locator('.gg-scene .veil'), 1, 'the veil over the rest')
    await page.keyboard.press('d')
    await until(lit, (n) => n === 2, 'the sum and its total, which came of it')
    await page.keyboard.press('g')
    await until(lit, (n) => n === 5, 'the way from the total over the square to x')
    await page.locator('.inspector').getByText('largest norm').waitFor()
    await shoot(page, 'ways')
    await page.keyboard.press('g')
    await until(lit, (n) => n === 0, 'that nothing is lit any more')
    await number(page.locator('.gg-scene .veil'), 0, 'a veil where nothing is lit')
  },

  async 'on paper the whole program stands above the picture'(page) {
    await page.goto(`${server}/#lesson=diamond&lang=en`)
    await page.locator('.cm-line', { hasText: 'x.grad.item()' }).waitFor({ state: 'attached' })
    await page.locator('.program .variables').waitFor({ state: 'attached' })
    await page.emulateMedia({ media: 'print' })
    const cut = () => page.evaluate(() => {
      const [last, next] = [[...document.querySelectorAll('.cm-line')].at(-1), document.querySelector('.program .variables')]
      return last.getBoundingClientRect().bottom - next.getBoundingClientRect().top
    })
    await until(cut, (px) => px <= 1, 'what of the program lies under what follows')
    const sheet = await page.addStyleTag({ content: 'body { width: 300px }' })
    const off = () => page.locator('.ledger').evaluate((ledger) => {
      const parts = [...ledger.querySelectorAll('.name, .slot, .total')].map((part) => part.getBoundingClientRect())
      return Math.max(...parts.map(({ right }) => right)) - ledger.getBoundingClientRect().right
    })
    await until(off, (px) => px <= 1, 'what of the ledger leaves the paper')
    same(await page.locator('.ledger .total').evaluate((total) => total.offsetHeight <= 20), true, 'the number of passes on one line')
    await sheet.evaluate((style) => style.remove())
    await page.emulateMedia({ media: null })
    // as Chromium prints: what is drawn for paper goes again once it was
    await page.evaluate(() => addEventListener('beforeprint', () => {
      const ends = [...document.querySelectorAll('.gg-paper svg')].map((piece) => piece.getBoundingClientRect().bottom)
      window.under = document.querySelector('.ledger').getBoundingClientRect().top - Math.max(...ends)
    }))
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    check((await page.evaluate('window.under')) >= -1, 'the ledger lies over the picture')
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await page.emulateMedia({ media: null })
    await page.getByRole('button', { name: 'Ask me first' }).click()
    await page.emulateMedia({ media: 'print' })
    const field = page.locator('.question input')
    same(await field.evaluate((input) => getComputedStyle(input).borderWidth), '0px 0px 1px', 'a line to write the answer on')
    await number(page.locator('.question form button:visible'), 0, 'buttons on paper')
    await page.emulateMedia({ media: null })
    await page.keyboard.press('p')
    await page.locator('.walk').waitFor()
    await page.emulateMedia({ media: 'print' })
    await number(page.locator('.button:visible'), 0, 'buttons of a presentation on paper')
  },

  async 'a graph that its window cuts is whole on paper, in light colours'(page) {
    await page.setViewportSize({ width: 820, height: 420 })
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: WIDE } })).json()
    const { boxes } = await (await page.request.get(`${server}/api/v1/runs/${id}/graph/layout?lang=en&room=embed`)).json()
    const folder = await mkdtemp(join(tmpdir(), 'gradgraph-'))
    await writeFile(join(folder, 'run.html'), await (await page.request.get(`${server}/api/v1/runs/${id}/graph.html`)).body())
    await writeFile(join(folder, 'page.html'), `<!doctype html><iframe sandbox="allow-scripts" width="420" height="400" title="graph" src="${server}/embed/${id}?lang=en&theme=dark"></iframe>`)
    /** Boxes that leave the paper of what is printed, and how many there are; as the browser asks for the page. */
    const hear = () => addEventListener('beforeprint', () => {
      const pieces = [...document.querySelectorAll('.gg-paper svg')]
      const inside = new Set(pieces.flatMap((piece) => {
        const [x, y, w, h] = piece.getAttribute('viewBox').split(' ').map(Number)
        const turned = piece.querySelector('g').hasAttribute('transform')
        return [...piece.querySelectorAll('.box:not([aria-expanded=true])')].flatMap((box) => {
          const [at, down] = box.parentElement.getAttribute('transform').match(/-?[\d.]+/g).map(Number)
          const [width, height] = [Number(box.getAttribute('width')), Number(box.getAttribute('height'))]
          const [left, top, wide, high] = turned ? [down, -at - width, height, width] : [at, down, width, height]
          return left >= x && top >= y && left + wide <= x + w && top + high <= y + h ? [box.dataset.id] : []
        })
      }))
      window.printed = { whole: inside.size, turned: pieces.some((piece) => piece.querySelector('g').hasAttribute('transform')), texts: pieces.flatMap((piece) => [...piece.querySelectorAll('text')]).length }
    })
    try {
      for (const place of [`${server}/embed/${id}?lang=en&theme=dark`, `file://${folder}/run.html?theme=dark`, `${server}/#run=${id}&lang=en&theme=dark`, `file://${folder}/page.html`]) {
        await page.goto(place)
        const isFramed = place.endsWith('page.html')
        const frame = isFramed ? await (await page.waitForSelector('iframe')).contentFrame() : page
        await frame.waitForSelector('.gg-scene[aria-busy=false] [data-id]', { state: 'attached' })
        await frame.evaluate(hear)
        const camera = () => frame.locator('.field .gg-scene > g').getAttribute('transform')
        await still(frame)
        const before = await camera()
        const printed = async () => {
          await page.pdf()
          return frame.evaluate('window.printed')
        }
        const found = await until(printed, ({ whole }) => whole === boxes.length, `${place}: ${boxes.length} whole boxes on paper`)
        same(found.turned, !isFramed, `${place}: turned on its sheet`)
        check(found.texts > boxes.length, `${place}: ${found.texts} texts`)
        await until(() => frame.locator('.gg-paper').count(), (n) => n === 0, 'what was printed is gone')
        same(await camera(), before, `${place}: where the reader was`)
        await page.emulateMedia({ media: 'print' })
        await frame.evaluate("dispatchEvent(new Event('beforeprint'))")
        same(await frame.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')"), '#FBFAF7', 'colour of paper')
        same(await frame.locator('.field').isVisible(), false, `${place}: the window beside it`)
        const room = await frame.evaluate(() => [...document.querySelectorAll('.gg-paper svg')].every((svg) => { const { left, right, width, height } = svg.getBoundingClientRect(); return width > 100 && height > 100 && left >= 0 && right <= innerWidth }))
        check(room, `${place}: a piece is wider than the paper`)
        const late = await frame.locator('.gg-paper .sum').evaluateAll((all) => all.filter((sum) => getComputedStyle(sum).animationName !== 'none').length)
        same(late, 0, `${place}: sums that come after the page was printed`)
        await page.emulateMedia({ media: null })
      }
    } finally {
      await page.emulateMedia({ media: null })
      await rm(folder, { recursive: true })
    }
  },

  async 'views and aliases light up together'(page) {
    await open(page)
    await run(page, 'import torch\nx = torch.arange(6., requires_grad=True)\nm = x.view(2, 3)\nt = m.transpose(0, 1)\nrow = m[0]\ny = (t * 2).sum() + row.sum()\ny.backward()')
    const lit = () => page.locator('.gg-scene .ring-hover').count()
    await page.locator('.cm-line').nth(2).click()
    await page.mouse.move(0, 0) // a line under the pointer lights its own boxes
    await until(lit, (n) => n === 3, 'x, its transpose and its row')
    await page.locator('.inspector').getByText('3 other boxes in the same memory').waitFor()
    await page.getByRole('group', { name: 'Light', exact: true }).getByRole('button', { name: 'led to it' }).click()
    await until(lit, (n) => n === 1, 'x alone, which led to the view')
    await page.getByRole('group', { name: 'Light', exact: true }).getByRole('button', { name: 'led to it' }).click()
    await page.locator('.cm-line').nth(5).click()
    await page.mouse.move(0, 0) // a line under the pointer lights its own boxes
    await until(lit, (n) => n === 0, 'that the sum has its memory for itself')
  },

  async 'a click on a line selects its box, and a box lights its line'(page) {
    await open(page)
    await run(page, PROGRAM)
    await page.locator('.cm-line').nth(4).click()
    await until(() => page.locator('.inspector header').first().textContent(), (text) => text.includes('MeanBackward0'), 'the inspector after a click on line 5')
    await box(page, 'AddBackward0').hover()
    await page.locator('.cm-line-lit').waitFor()
  },

  async 'the language switches everywhere'(page) {
    await open(page)
    await run(page, PROGRAM)
    await page.getByRole('button', { name: 'Switch to Chinese' }).click()
    await until(() => page.locator('html').getAttribute('lang'), (lang) => lang === 'zh', 'language of the page')
    await page.getByText('计算图').first().waitFor()
    await until(() => head(page).textContent(), (text) => text.includes('5 个节点'), 'counts in Chinese')
    await box(page, '叶子').waitFor()
    await until(() => count(page).textContent(), (text) => text.includes('第'), 'the step in Chinese')
    await until(() => page.url(), (url) => url.includes('lang=zh'), 'language in the address')
    await shoot(page, 'chinese')
  },

  async 'the theme switches and is kept'(page) {
    await open(page)
    await page.getByRole('button', { name: 'Switch between light and dark' }).click()
    await until(() => page.locator('html').getAttribute('data-theme'), (theme) => theme === 'dark', 'theme')
    await open(page)
    await until(() => page.locator('html').getAttribute('data-theme'), (theme) => theme === 'dark', 'theme after a new visit')
  },

  async 'a reload restores the run, the step and the selection'(page) {
    await open(page)
    await run(page, PROGRAM)
    await box(page, 'y * y').click()
    await page.locator('.player .count').click()
    for (let presses = 0; presses < 6; presses += 1) await page.keyboard.press('ArrowLeft')
    const before = await until(() => count(page).textContent(), (text) => /[1-9]/.test(text), 'the step gone back to')
    await until(() => page.url(), (url) => /run=\w+/.test(url) && /sel=/.test(url) && url.includes(`step=${/\d+/.exec(before)[0]}&`), 'state in the address')
    await page.reload()
    await page.waitForSelector('.gg-scene .box', { state: 'attached' })
    await until(() => count(page).textContent(), (text) => text === before, 'step after the reload')
    await until(() => page.locator('.cm-content').textContent(), (text) => text.includes('out.backward()'), 'program after the reload')
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('y * y'), 'selection after the reload')
  },

  async 'a failing program keeps what happened before it'(page) {
    await open(page)
    await run(page, FAILING)
    await page.getByText('Line 5 raised an error. Every step before it is below.').waitFor()
    await says(page.locator('.output .failure'), 'RuntimeError', 'line 5')
    await page.locator('.cm-line-failed').waitFor()
    await box(page, 'SumBackward0').waitFor()
    await shoot(page, 'failure')
    await run(page, FAILING.replace('c = (a', 'c = ((a'))
    await page.getByText('The picture is that of the run before.').waitFor()
    check((await boxesInView(page)) >= 1, 'a program that does not parse takes the picture away')
    await run(page, PROGRAM)
    await until(() => page.locator('.panes.stale').count(), (n) => n === 0, 'a picture of its own')
  },

  async 'a cut graph is found and told at its line'(page) {
    await open(page)
    await run(page, CUT)
    await page.locator('.cm-finding').getByText('detach').first().waitFor()
    await page.getByRole('button', { name: '1 diagnosis' }).waitFor()
    await page.locator('.inspector').getByText('How to fix it').waitFor()
    await page.locator('.ledger').getByText('no gradient arrived in backward() #1').waitFor()
    const names = page.locator('.inspector section', { hasText: 'Evidence' }).locator('dt')
    const broken = await names.evaluateAll((all) => all.filter((each) => each.offsetHeight > 24).map((each) => each.textContent))
    check(await names.count() > 3 && broken.length === 0, `names in the evidence are broken: ${broken}`)
    await shoot(page, 'finding')
  },

  async 'the graph follows the pass the step belongs to'(page) {
    await open(page)
    await run(page, TWICE)
    await box(page, 'second').waitFor()
    await page.locator('.player .count').click()
    await page.keyboard.press('Home')
    await box(page, 'first').waitFor()
    await number(box(page, 'second'), 0, 'boxes of the second pass at the start')
    await page.locator('.ledger').getByText('arrives at step').first().click()
    await until(() => page.locator('.ledger').textContent(), (text) => text.includes('2 backward passes'), 'passes in the ledger')
    await page.keyboard.press('End')
    await box(page, '4 + 3').waitFor()
    await shoot(page, 'passes')
  },

  async 'a second run keeps nothing of the first'(page) {
    const refused = []
    page.on('response', (answer) => answer.status() === 422 && refused.push(answer.url()))
    for (const [lesson, program] of [['small_transformer', TRAINING], ['accumulation', LOOP], ['while_loop', MODEL]]) {
      await open(page, `#lesson=${lesson}&lang=en`)
      await until(() => boxesInView(page), (count) => count > 0, `boxes of ${lesson}`)
      await page.locator('.gg-scene').hover()
      await page.mouse.wheel(-4000, -4000)
      await page.locator('.player .count').click()
      await page.keyboard.press('Home')
      const passes = page.locator('select[title=Pass]')
      if ((await passes.count()) > 0) await passes.selectOption({ index: 1 })
      await run(page, program)
      await until(() => page.url(), (url) => !/lesson=|pass=|root=/.test(url), 'an address without what was chosen before')
      await still(page)
      check((await boxesInView(page)) > 0, `no box is in view after ${lesson}`)
      await until(() => page.title(), (title) => !title.includes('·'), 'a title without the lesson')
      same(await page.locator('.notices [role=alert]').count(), 0, 'problems')
    }
    same(refused.length, 0, `requests that were refused: ${refused}`)
  },

  async 'any program after any other is in view, and red only where a diagnosis stands'(page) {
    // Failing, large and small programs take turns, then lessons as they are drawn.
    const programs = { PROGRAM, FAILING, MODEL, INSIDE, LOOP, CHANGED, CUT, MASKED, TWICE, SILENT, TRAINING, PICKS, HOOKED }
    const gallery = new URL('../../gallery/', import.meta.url)
    const names = (await readdir(gallery)).filter((name) => name.endsWith('.py')).sort()
    for (let drawn = 7; Object.keys(programs).length < 19; drawn = (drawn * 75 + 74) % 65537) {
      const name = names[drawn % names.length]
      programs[name] = await readFile(new URL(name, gallery), 'utf8')
    }
    let found
    page.on('response', (answer) => {
      if (answer.status() === 422) found = 'refused'
    })
    await open(page, '#lang=en')
    const told = []
    for (const [name, program] of Object.entries(programs)) {
      told.push(name)
      const order = told.join(', ')
      const answer = page.waitForResponse((sent) => sent.request().method() === 'POST' && /\/api\/v1\/runs(\?|$)/.test(sent.url()))
      await run(page, program)
      const body = await (await answer).json()
      const { findings, nodes } = body.trace ?? body
      if (nodes.length > 0) await until(() => boxesInView(page), (count) => count > 0, `boxes in view after ${order}`)
      const passes = page.locator('select[title=Pass]')
      await until(() => page.url(), (url) => !/pass=|root=/.test(url), `an address without a choice after ${order}`)
      check(found !== 'refused', `a request was refused after ${order}`)
      const red = await page.locator('.gg-scene .o-trouble, .gg-scene .scissors').count()
      if (!findings.some(({ severity }) => severity !== 'note')) same(red, 0, `red without a diagnosis after ${order}`)
      if ((await passes.count()) > 0) await passes.selectOption({ index: 1 })
      if (nodes.length === 0) continue
      await page.locator('.gg-scene').hover()
      await page.mouse.wheel(-3000, -3000)
    }
  },

  async 'a part of the page that a network loses is fetched again, or when the reader says so'(page) {
    const lost = new Map()
    const lose = (files, times) => page.route(files, (route) => {
      const file = new URL(route.request().url()).pathname
      lost.set(file, (lost.get(file) ?? 0) + 1)
      return lost.get(file) > times() ? route.continue() : route.abort()
    })
    let back = Infinity
    await lose(/assets\/(editor|run|en)-/, () => ((back = Math.min(back, Date.now() + 2000)) > Date.now() ? Infinity : 0))
    await open(page, '#lang=en')
    check([...lost.values()].filter((times) => times > 1).length >= 2, `not lost and fetched again: ${[...lost]}`)
    check(!(await page.locator('#missing').isVisible()), 'what came in the end is said to be missing')
    let isOffline = true
    await lose(/assets\/Help-/, () => (isOffline ? Infinity : 0))
    await page.keyboard.press('?')
    await page.locator('#missing', { hasText: '页面有一部分没有取到' }).filter({ hasText: 'part of this page did not arrive' }).waitFor()
    await faultless(page, 'a page with a part missing')
    await shoot(page, 'part missing')
    isOffline = false
    await page.getByRole('button', { name: 'Fetch it again' }).click()
    const dialogs = async () => (await page.getByRole('dialog').count()) || page.keyboard.press('?') // in a page loaded anew
    await until(dialogs, (count) => count > 0, 'the help')
    check(!(await page.locator('#missing').isVisible()), 'what came is still said to be missing')
    check(!(await page.locator('#lost').isVisible()), 'a page that came is said to be lost')
    await page.goto(anew('#lang=en'))
    await drawn(page)
    await write(page, PROGRAM)
    isOffline = true
    await page.keyboard.press('Escape')
    await page.locator('.head, header').first().click()
    await page.keyboard.press('?')
    const missing = page.locator('#missing')
    await missing.waitFor()
    const loaded = page.waitForEvent('load')
    await page.getByRole('button', { name: 'Fetch it again' }).click() // a browser that remembers the failure never asks again
    await loaded
    isOffline = false
    await drawn(page)
    check(!(await missing.isVisible()), 'a page loaded anew says that a part is missing')
    await until(() => page.locator('.cm-content').textContent(), (text) => text.includes('z.mean()'), 'what was written')
    await page.locator('.head, header').first().click()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.route(/assets\/(index|embed)-[^/]*\.js/, (route) => route.abort())
    for (const path of ['', `embed/${(await answered(PROGRAM)).id}`]) {
      await page.goto(`${server}/${path}`)
      await page.evaluate(() => document.getAnimations().forEach((one) => one.finish()))
      await page.locator('#lost', { hasText: '页面没有加载完整' }).filter({ hasText: 'has not arrived in full' }).waitFor()
    }
    await page.unroute(/assets\/(index|embed)-[^/]*\.js/)
    await page.getByRole('link', { name: 'Reload' }).click()
    await page.locator('.gg-scene .box').first().waitFor()
  },

  async 'an edit marks the graph as from before it'(page) {
    await open(page)
    await run(page, PROGRAM)
    await page.locator('.cm-content').focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' # more')
    await page.getByText('Before your edit').waitFor()
    check((await page.locator('.gg-scene .box').count()) > 3, 'the old picture went away')
    await page.goto(anew('#lesson=diamond&lang=en'))
    await drawn(page)
    const named = page.getByTitle('Choose a lesson')
    await says(named, 'One variable used twice')
    await write(page, PROGRAM) // as somebody pastes it
    await says(named, 'My program')
    await until(() => page.title(), (title) => !title.includes('One variable'), 'a title without the name of the lesson')
  },

  async 'an edit that was not run survives a reload, and back and forward'(page) {
    await open(page)
    await run(page, PROGRAM)
    await until(() => page.url(), (url) => url.includes('run='), 'the run in the address')
    await page.locator('.cm-content').focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' # more')
    const edited = async () => {
      await page.getByText('Before your edit').waitFor()
      await until(() => page.locator('.cm-content').textContent(), (text) => text.endsWith('# more'), 'the edit')
    }
    await page.reload()
    await edited()
    await page.goBack()
    await page.getByText('Before your edit').waitFor({ state: 'hidden' })
    await page.goForward()
    await edited()
    await page.keyboard.press('Control+Enter')
    await until(() => head(page).textContent(), (text) => text.includes('5 nodes'), 'counts of the graph of the edited program')
  },

  async 'a run that waits says how many are ahead'(page) {
    await open(page)
    const { free, told } = await blocked()
    await write(page, `${PROGRAM}\nprint(${Date.now()})`)
    await page.keyboard.press('Control+Enter')
    await page.getByText(told).waitFor()
    await free()
    await box(page, 'MeanBackward0').waitFor()
  },

  async 'a module opens in place'(page) {
    await open(page)
    await run(page, MODEL)
    await page.getByRole('tab', { name: 'Modules' }).click()
    const rows = page.getByRole('treeitem')
    await until(() => rows.count(), (n) => n >= 6, 'rows of the module tree')
    const all = await rows.count()
    const focused = (level) => page.locator(`[role=treeitem][aria-level="${level}"]:focus`).waitFor()
    await rows.nth(0).focus()
    await page.keyboard.press('ArrowRight')
    await focused(2)
    await page.keyboard.press('ArrowLeft')
    await focused(1)
    await page.keyboard.press('ArrowLeft')
    await until(() => rows.count(), (n) => n === 1, 'a folded tree')
    await until(() => rows.nth(0).getAttribute('aria-expanded'), (is) => is === 'false', 'what is said of the folded module')
    await page.keyboard.press('ArrowRight')
    await until(() => rows.count(), (n) => n === all, 'an open tree')
    await page.keyboard.press('End')
    await until(() => rows.nth(all - 1).evaluate((row) => row === document.activeElement), Boolean, 'End leads to the last module')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await until(() => rows.nth(0).getAttribute('aria-selected'), (is) => is === 'true', 'the chosen module')
    await page.locator('.inspector').getByText('Sequential').first().waitFor()
    const boxes = () => page.locator('.gg-scene .box').count()
    const before = await boxes()
    const fold = page.locator('.inspector .button').first()
    const label = await fold.textContent()
    await fold.click()
    await until(boxes, (now) => now !== before, `boxes after “${label}”`)
    await until(() => page.url(), (url) => url.includes('open='), 'open groups in the address')
    await shoot(page, 'modules')
  },

  async 'panels under the graph follow the step and stay in the address'(page) {
    await open(page)
    await run(page, TRAINING)
    const dock = page.locator('.dock')
    await dock.getByRole('button', { name: 'Memory' }).click()
    await until(() => dock.locator('.legend').textContent(), (text) => text.includes('parameters') && text.includes('optimizer state') && text.includes('the .grad of leaves'), 'the four parts of memory')
    await dock.locator('.legend .link').first().click()
    const step = () => page.locator('[role=slider]').getAttribute('aria-valuenow')
    await until(async () => [await dock.locator('.legend').textContent(), await step()], ([text, now]) => text.includes(`after step ${now}`), 'the step of the memory panel and of the player')
    await shoot(page, 'memory')
    await dock.getByRole('button', { name: 'Training' }).click()
    await page.locator('.player .count').click()
    await page.keyboard.press('End')
    await until(() => dock.textContent(), (text) => text.includes('momentum_buffer') && text.includes('lr=0.1') && text.includes('loss'), 'state and settings of the optimizer')
    await until(() => dock.locator('figure').count(), (n) => n >= 2, 'loss and gradient norm are both drawn')
    await until(() => page.url(), (url) => url.includes('panel=training'), 'the panel in the address')
    await page.reload()
    await dock.getByText('momentum_buffer').first().waitFor()
    await shoot(page, 'training')
    await dock.getByRole('button', { name: 'Close' }).click()
    await until(() => page.url(), (url) => !url.includes('panel='), 'the address after closing')
    await number(page.locator('.cm-line-idle'), 1, 'lines that did not run')
  },

  async 'the engine plays node by node'(page) {
    await open(page)
    await run(page, PROGRAM)
    const dock = page.locator('.dock')
    await dock.getByRole('button', { name: 'Engine' }).click()
    await page.locator('.player .count').click()
    await page.keyboard.press('Home')
    await until(() => dock.textContent(), (text) => text.includes('0 of 5 nodes taken'), 'the engine before the pass')
    for (let taken = 1; taken <= 3; taken += 1) await dock.getByRole('button', { name: 'Next node' }).click()
    await until(() => dock.textContent(), (text) => text.includes('3 of 5 nodes taken') && text.includes('AddBackward0'), 'the engine after three nodes')
    await says(page.locator('.player .text'), 'y * y')
    await page.locator('.gg-scene [paint-order]', { hasText: 'ready 1' }).waitFor()
    await shoot(page, 'engine')
  },

  async 'a fix is advice until it was run, and applying it shows both runs'(page) {
    await open(page)
    let letTry = () => undefined
    const held = new Promise((resolve) => (letTry = resolve))
    await page.route('**/fixes', async (route) => {
      await held
      await route.continue()
    })
    await run(page, CHANGED)
    const inspector = page.locator('.inspector')
    await inspector.getByText('Running the program with the fix').waitFor()
    same(await page.getByRole('button', { name: 'Apply the fix' }).count(), 0, 'buttons before the fix was tried')
    letTry()
    await inspector.locator('.diff .new').waitFor()
    const cut = () => inspector.locator('.diff code').evaluateAll((lines) => lines.filter((line) => line.scrollWidth > line.clientWidth).length)
    await until(cut, (n) => n === 0, 'lines of the diff that are cut')
    await until(() => inspector.locator('.proof').textContent(), (text) => text.includes('x.grad') && text.includes('None'), 'what the fix changes')
    await shoot(page, 'fix')
    await page.locator('.cm-finding').getByRole('button', { name: 'Apply the fix' }).first().click()
    await until(() => page.locator('.cm-content').textContent(), (text) => text.includes('.clone()'), 'the program with the fix')
    await until(() => page.locator('.output .failure').count(), (n) => n === 0, 'failures of the fixed program')
    await until(() => page.locator('.dock').textContent(), (text) => text.includes('A and B') && text.includes('RuntimeError'), 'both runs side by side')
    check((await page.locator('.dock').textContent()).includes('before the fix'), 'the run before is not called so')
    const heads = await page.locator('.run-head').evaluateAll((all) => all
      .sort((one, other) => one.getBoundingClientRect().x - other.getBoundingClientRect().x).map((one) => one.textContent))
    check(/^A.*before the fix/s.test(heads[0]) && /^B.*this run/s.test(heads[1]), `heads from left to right: ${heads.join(' | ')}`)
    await shoot(page, 'fixed')
    await page.locator('.cm-content').focus()
    await page.keyboard.press('Control+z')
    await until(() => page.locator('.cm-content').textContent(), (text) => !text.includes('.clone()'), 'the program after undoing')
    await page.setViewportSize({ width: 1440, height: 900 })
    await run(page, UNZEROED)
    await page.locator('.cm-finding').getByRole('button', { name: 'Apply the fix' }).first().click()
    const table = page.locator('.dock section', { hasText: 'model.weight' }).last()
    const hidden = () => table.evaluate((all) => [all.scrollWidth - all.clientWidth, Math.max(...[...all.querySelectorAll('th')].map((name) => name.clientHeight))])
    await until(hidden, ([beyond, height]) => beyond <= 0 && height < 50, 'what the table of tensors hides, and its tallest name')
    await run(page, LATE_HEAD)
    await page.locator('.cm-finding').getByRole('button', { name: 'Apply the fix' }).first().click()
    await until(() => page.locator('.dock section', { hasText: 'running_mean' }).last().evaluate((all) => all.scrollWidth - all.clientWidth), (beyond) => beyond <= 0, 'what a table of long names hides')
    await page.setViewportSize({ width: 1100, height: 800 })
    await run(page, CUT)
    await page.locator('.cm-finding').getByRole('button', { name: 'Apply the fix' }).click()
    const rings = page.locator('.panes .graph .ring')
    await until(() => rings.count(), (n) => n === 2, 'what was mended, before and after')
    await still(page)
    const [after, before] = await rings.evaluateAll((all) => all.map((ring) => {
      const [{ y, height }, pane] = [ring.getBoundingClientRect(), ring.closest('.canvas, .beside-pane').getBoundingClientRect()]
      return y > pane.y && y + height < pane.bottom ? y + height / 2 : NaN
    }))
    check(Math.abs(after - before) < 40, `what was mended stands at ${after} px, and at ${before} px before`)
    same(await inspector.count(), 0, 'panels over the run before')
    await page.setViewportSize(VIEWPORT)
    await run(page, LINE)
    await page.locator('.cm-finding').getByRole('button', { name: 'Apply the fix' }).click()
    await number(page.locator('.panes .gg-scene[aria-busy=false]'), 2, 'pictures')
    await still(page)
    const seen = await page.locator('.panes .gg-scene').evaluateAll((all) => all.map((svg) => {
      const window = svg.getBoundingClientRect()
      const boxes = [...svg.querySelectorAll('g:has(> .box)')].filter((one) => one.textContent.includes('shift') && one.textContent.includes('.grad'))
      return boxes.some((one) => (({ top, bottom }) => top >= window.top && bottom <= window.bottom)(one.getBoundingClientRect()))
    }))
    same(String(seen), 'true,true', 'the leaf that is mended, in view after and before')
  },

  async 'numbers are turned by hand, and nothing moves but what they change'(page) {
    await open(page)
    await run(page, TURNED)
    await box(page, 'MulBackward0').click()
    const inspector = page.locator('.inspector')
    const title = await inspector.locator('h3').first().textContent()
    for (let back = 0; back < 3; back += 1) await page.getByRole('button', { name: 'Step back' }).click()
    const step = await count(page).textContent()
    // A box may grow with its numbers, around the point it stands at.
    const places = () => page.locator('.gg-scene .box').evaluateAll((all) => all.map((each) => {
      const { x, y, width } = each.getBoundingClientRect()
      return [Math.round(x + width / 2), Math.round(y)]
    }).join())
    await still(page)
    const before = await places()
    await pull(page, page.locator('.cm-line').nth(2).locator('.cm-number'), 30)
    const text = await until(() => page.locator('.cm-line').nth(2).locator('.cm-number').textContent(), (now) => now !== '3.0', 'the number that was pulled')
    await drawn(page)
    await still(page)
    same(await places(), before, 'places of boxes')
    same(await inspector.locator('h3').first().textContent(), title, 'the selection')
    same(await count(page).textContent(), step, 'the step')
    const plain = await answered(TURNED.replace('3.0', text))
    await box(page, 'leaf').click()
    await page.locator('.player .count').click()
    await page.keyboard.press('End')
    await until(() => page.locator('.output pre').last().textContent(), (all) => all.trim() === plain.output.at(-1).text.trim(), 'what PyTorch prints of the edited program')
    const turned = inspector.getByRole('spinbutton')
    await turned.first().focus()
    await page.keyboard.press('Shift+ArrowUp')
    await until(() => page.locator('.cm-line').nth(1).textContent(), (line) => line.includes('[2.0, '), 'the element by its key')
    await pull(page, turned.nth(1), -20)
    await until(() => page.locator('.cm-line').nth(1).textContent(), (line) => !line.includes('-2.0]'), 'the element that was pulled')
    await shoot(page, 'turned')
    await page.keyboard.press('Control+z')
    await until(() => page.locator('.cm-line').nth(1).textContent(), (line) => line.includes('[2.0, -2.0]'), 'one stroke undone')
    await turned.first().fill('')
    await turned.first().pressSequentially('7.25')
    await until(() => page.locator('.cm-line').nth(1).textContent(), (line) => line.includes('[7.25, -2.0]'), 'the element that was typed')
    await page.locator('.cm-content').focus()
    await page.keyboard.press('Control+z')
    await until(() => page.locator('.cm-line').nth(1).textContent(), (line) => line.includes('[2.0, -2.0]'), 'what was typed undone in one step')
    await run(page, TURNED.replace('x * k', '3 * x'))
    const constant = () => page.locator('.cm-line').nth(3).textContent()
    await pull(page, page.locator('.stub-text', { hasText: /^3$/ }), 20)
    await until(constant, (line) => line.startsWith('y = 8 * x'), 'the constant that was pulled')
    await until(() => page.locator('.stub-text').textContent(), (text) => text === '8', 'the constant drawn')
    await page.locator('.stub-text').click()
    const handle = inspector.getByRole('spinbutton', { name: 'const' })
    await handle.press('ArrowDown')
    await until(constant, (line) => line.startsWith('y = 7 * x'), 'the constant by its key')
    await handle.fill('-0.5')
    await until(constant, (line) => line.startsWith('y = -0.5 * x'), 'the constant that was typed')
    await run(page, TURNED)
    await pull(page, page.locator('.stub-text', { hasText: /^3$/ }), 20)
    await until(() => page.locator('.cm-line').nth(2).textContent(), (line) => line === 'k = 3.5', 'the constant with a name')
    await run(page, STACKED)
    await pull(page, page.locator('.stub-text', { hasText: /^4 ×2$/ }), 20)
    await until(() => page.locator('.cm-line').nth(2).textContent(), (line) => (line.match(/tensor\(4\.5\)/g) ?? []).length === 2, 'constants that are drawn as one')
  },

  async 'a value that fails is told at its line, and the last good picture stays'(page) {
    await open(page)
    await run(page, `${TURNED}\nz = x.view(2)\nw = x + 1`)
    const place = await page.locator('.cm-number', { hasText: /^2$/ }).last().boundingBox()
    await page.mouse.move(place.x + place.width / 2, place.y + place.height / 2)
    await page.mouse.down()
    for (let by = 2; by <= 8; by += 2) await page.mouse.move(place.x + place.width / 2 + by, place.y + place.height / 2)
    await until(() => page.locator('.cm-finding').textContent(), (text) => text.includes('RuntimeError'), 'the failure at its line')
    const lowest = (lines) => page.locator(lines).evaluateAll((all) => Math.max(...all.map((line) => Math.round(line.getBoundingClientRect().top))))
    same(await lowest('.cm-line'), await lowest('.cm-lineNumbers .cm-gutterElement'), 'where the last line and its number stand while the number is held')
    await page.mouse.up()
    await page.locator('.cm-sign-failed').waitFor()
    await says(page.locator('.status .err'), 'error on line')
    check((await boxesInView(page)) >= 4, 'the picture is gone')
    await page.getByText('Before your edit').waitFor()
    await page.keyboard.press('Control+z')
    await until(() => page.locator('.cm-sign-failed').count(), (n) => n === 0, 'the failure after undoing')
    await drawn(page)
  },

  async 'a switch shows beside a run what one change would make of it'(page) {
    await open(page)
    await run(page, CUT)
    await page.locator('.inspector').getByRole('button', { name: 'Show it' }).click()
    await box(page, 'detach').click()
    const switches = page.locator('.what-ifs')
    await switches.locator('summary').click()
    const gone = switches.getByRole('switch', { name: 'this detach() were gone' })
    await gone.click()
    await until(() => page.locator('.dock').textContent(), (text) => text.includes('A and B') && text.includes('.grad'), 'both runs side by side')
    await until(() => gone.getAttribute('aria-checked'), (on) => on === 'true', 'the switch')
    await says(page.locator('section.graph .panes'), 'this detach() were gone')
    check((await page.locator('.cm-content').textContent()).includes('.detach()'), 'the program was changed')
    await shoot(page, 'what-if')
    await gone.click()
    await until(() => gone.getAttribute('aria-checked'), (on) => on === 'false', 'the switch turned back')
    await gone.click()
    await until(() => gone.getAttribute('aria-checked'), (on) => on === 'true', 'the switch once more')
    await run(page, CUT.replace('2.0]', '3.0]'))
    check(/with=/.test(page.url()), 'an edit of a number takes the run beside it away')
    await run(page, LOOP)
    await page.locator('.beside-pane').waitFor({ state: 'detached' })
    check(!/with=|panel=/.test(page.url()), `another program stands beside a run of the last one: ${page.url()}`)
  },

  async 'a write that autograd cannot see is red in its memory'(page) {
    await open(page)
    await run(page, SILENT)
    const dock = page.locator('.dock')
    await dock.getByRole('button', { name: 'Storage' }).click()
    await until(() => dock.textContent(), (text) => text.includes('w.data') && text.includes('the values are others'), 'the silent write')
    await number(dock.locator('td.err'), 2, 'the two saved tensors in red')
    await shoot(page, 'storage')
  },

  async 'optimizers are compared on one picture'(page) {
    await open(page, '#lesson=optimizers_compared&lang=en&panel=training')
    const dock = page.locator('.dock')
    await until(() => dock.locator('.key li').allTextContents(), (all) => all.length === 7, 'seven optimizers in the key')
    const key = (await dock.locator('.key').textContent()).replace(/\s+/g, ' ')
    for (const name of ['SGD lr=0.045 momentum=0', 'SGD lr=0.02 momentum=0.8', 'Adagrad', 'Adadelta', 'RMSprop', 'Adam']) check(key.includes(name), `${name} is not in the key: ${key}`)
    await until(() => dock.locator('figure .line.passed').count(), (n) => n >= 7, 'seven paths')
    await until(() => dock.locator('.state').textContent(), (text) => text.includes('exp_avg_sq'), "Adam's state")
    await shoot(page, 'optimizers')
  },

  async 'a silent mistake is mended from its lesson'(page) {
    await open(page, '#lesson=silent_broadcast&lang=en')
    await until(() => page.getByRole('region', { name: 'Output' }).textContent(), (text) => text.includes('loss 10.0'), 'the wrong loss')
    const inspector = page.locator('.inspector')
    await inspector.getByRole('button', { name: 'Apply the fix' }).click()
    await until(() => page.getByRole('region', { name: 'Output' }).textContent(), (text) => text.includes('loss 0.0'), 'the loss of the mended program')
  },

  async 'a cut is red only where something suffers'(page) {
    await open(page, '#lesson=detach&lang=en')
    await until(() => page.locator('.gg-scene .scissors-calm').count(), (n) => n === 1, 'the calm cut')
    same(await page.locator('.gg-scene .scissors').count(), 0, 'red cuts where nothing suffers')
    await run(page, CUT)
    await until(() => page.locator('.gg-scene .scissors').count(), (n) => n === 1, 'the red cut')
  },

  async 'a gradient that grad() returned is not called missing'(page) {
    await open(page)
    await run(page, 'import torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x ** 3\ng, = torch.autograd.grad(y, x, create_graph=True)\nh, = torch.autograd.grad(g, x)')
    await until(() => box(page, 'leaf').textContent(), (text) => text.includes('autograd.grad() returned it'), 'what became of the gradient')
    await until(() => page.locator('.gg-scene').textContent(), (text) => ['y', 'grad() #1'].every((name) => text.includes(name)), 'the forward graph and its layer')
    await box(page, 'MulBackward0').first().click()
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('belongs to a derivative'), 'where the node comes from')
    await page.getByTitle('Pass', { exact: true }).selectOption('p1')
    await until(() => page.locator('.gg-scene .box').count(), (n) => n === 2, 'the first pass alone')
  },

  async 'a matrix product shows rows and columns, recorded or not'(page) {
    await open(page)
    await run(page, 'import torch\na = torch.tensor([[1.0, 2.0, 3.0]])\nb = a.t()\nouter = b @ a\nw = torch.ones(3, 2, requires_grad=True)\n(a @ w).sum().backward()')
    const inspector = page.locator('.inspector')
    await page.locator('.cm-line', { hasText: 'outer = b @ a' }).click()
    await until(() => inspector.textContent(), (text) => text.includes('(3 × 1) · (1 × 3) → (3 × 3)'), 'the sizes of a product without a node')
    await inspector.locator('.drawing').focus()
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key)
    await until(() => inspector.textContent(), (text) => text.includes('outer[2][1] = 3·2 = 6'), 'the cell the arrow keys went to')
    await box(page, 'MmBackward0').click()
    await until(() => inspector.textContent(), (text) => text.includes('1·1 + 2·1 + 3·1 = 6'), 'the product of a node')
    await shoot(page, 'product')
  },

  async 'every lesson opens legible, and nothing covers a box'(page) {
    const lessons = await (await page.request.get(`${server}/api/v1/gallery`)).json()
    await open(page)
    for (const [at, lesson] of lessons.entries()) {
      const [width, lang] = [WIDTHS[at % WIDTHS.length], at % 2 ? 'zh' : 'en']
      await page.setViewportSize({ width, height: 850 })
      await page.evaluate((hash) => (location.hash = hash), `#lesson=${lesson.name}&lang=${lang}`)
      const opened = () => page.locator('article.lesson').getAttribute('aria-label')
      await until(opened, (title) => title === lesson[lang].title, `${lesson.name} opens`)
      await drawn(page)
      await until(() => illegible(page), (said) => said === '', `${lesson.name} at ${width}`)
    }
  },

  async 'a large program opens as few boxes that mean something'(page) {
    const folder = new URL('programs/', import.meta.url)
    for (const [at, [file, wanted]] of [['resnet18', 'layer1'], ['gpt12', 'blocks'], ['rnn60', 'cell'], ['scalar_mlp', 'net[0]'], ['scalar_mlp_of_classes', 'model.layers[1].neurons'], ['ten_thousand_ops', 'for i in range(2500)']].entries()) {
      const code = await readFile(new URL(`${file}.py`, folder), 'utf8')
      const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()
      const graph = await (await page.request.get(`${server}/api/v1/runs/${id}/graph?level=both`)).json()
      check(graph.groups.some(({ title, parent }) => title === wanted && (!parent || graph.groups[0].id === parent)), `${file} has no ${wanted} at its top`)
      for (const width of WIDTHS.filter((_, each) => each % 2 === at % 2)) {
        await page.setViewportSize({ width, height: 850 })
        await page.goto(anew(`#run=${id}&lang=en`))
        await until(() => illegible(page), (said) => said === '', `${file} at ${width}`)
      }
      await shoot(page, file)
      if (file === 'rnn60') {
        const steps = graph.groups.filter(({ parent }) => parent === graph.groups.find(({ hands_on }) => hands_on).id)
        await page.locator(`.gg-scene [data-id="${steps.at(-1).id}"]`).waitFor({ state: 'attached' })
      }
      if (file !== 'scalar_mlp') continue
      await page.setViewportSize({ width: 1400, height: 850 })
      await page.goto(anew(`#run=${id}&lang=en&open=${graph.groups.map((group) => group.id).join('.')}`))
      await drawn(page)
      await page.getByRole('button', { name: 'Fit' }).click()
      const all = () => page.locator('.gg-scene').evaluate((svg) => {
        const picture = svg.querySelector('path.frame')?.getBoundingClientRect()
        const window = svg.getBoundingClientRect()
        return picture && picture.left >= window.left && picture.right <= window.right && picture.height > picture.width / 5
      })
      await until(all, (isPicture) => isPicture, 'all of a scalar network as a picture')
    }
  },

  async 'a step changes what it tells of and nothing else in the picture, however long the run'(page) {
    for (const file of ['scalar_mlp', 'ten_thousand_ops']) {
      const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: await readFile(new URL(`programs/${file}.py`, import.meta.url), 'utf8') } })).json()
      await page.goto(anew(`#run=${id}&lang=en&step=600`))
      await page.locator('.gg-scene .box').first().waitFor()
      await still(page)
      const parts = await page.locator('.gg-scene g:has(> .box)').count()
      await page.evaluate(() => {
        window.changed = new Set()
        new MutationObserver((all) => all.forEach(({ target }) => {
          const element = target.nodeType === Node.TEXT_NODE ? target.parentElement : target
          const part = element.closest('.gg-scene > g > g, .gg-scene > g > g > g[role=img]')
          if (part) window.changed.add(part)
        })).observe(document.querySelector('.gg-scene'), { subtree: true, childList: true, attributes: true, characterData: true })
      })
      for (let step = 601; step <= 610; step += 1) {
        await page.evaluate(() => window.changed.clear())
        await page.getByRole('button', { name: 'Step forward' }).click()
        await until(() => page.getByRole('slider', { name: 'Timeline' }).getAttribute('aria-valuenow'), (now) => Number(now) === step, `step ${step}`)
        await still(page)
        const changed = await page.evaluate(() => window.changed.size)
        check(changed <= 8 && changed < parts, `step ${step} of ${file} changes ${changed} parts of a picture of ${parts}`)
      }
    }
  },

  async 'parts that nothing joins stand on lines'(page) {
    await open(page)
    await run(page, MANY)
    await until(() => page.locator('.gg-scene .box').count(), (n) => n === 10, 'ten boxes in sight')
    const tops = await page.locator('.gg-scene g:has(> .box)').evaluateAll((all) => [...new Set(all.map((one) => Math.round(one.getBoundingClientRect().top)))].length)
    check(tops >= 3, `ten unjoined tensors stand on ${tops} lines`)
    await shoot(page, 'lines')
  },

  async 'a long run is stopped and keeps what it did'(page) {
    await open(page)
    await write(page, ENDLESS)
    await page.keyboard.press('Control+Enter')
    await page.locator('.notices').getByText(/[1-9]\d* op/).waitFor()
    await page.reload()
    await page.getByText('gave up the run that was under way').waitFor()
    await page.keyboard.press('Control+Enter')
    await page.locator('.notices').getByText(/[1-9]\d* op/).waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await until(() => page.getByRole('region', { name: 'Graph' }).textContent(), (text) => /stopped/i.test(text), 'that the run was stopped')
    await page.waitForSelector('.gg-scene .box', { state: 'attached' })
    await shoot(page, 'stopped')
  },

  async 'gradients are checked and Jacobians shown when they are asked for'(page) {
    await open(page)
    await run(page, PROGRAM)
    const dock = page.locator('.dock')
    await dock.getByRole('button', { name: 'Checks' }).click()
    await dock.getByRole('button', { name: 'Check the gradients' }).click()
    await until(() => dock.textContent(), (text) => text.includes('The gradient of x agrees with finite differences'), 'the verdict')
    await dock.getByRole('button', { name: 'Jacobians' }).click()
    await until(() => dock.textContent(), (text) => text.includes('Jacobian of out with respect to x') && text.includes('vᵀJ'), 'the Jacobian')
    await shoot(page, 'checks')
  },

  async 'contour lines of the real function lie under the path'(page) {
    await open(page)
    await run(page, ROSENBROCK)
    await page.locator('.strip').getByRole('button', { name: 'Training' }).click()
    same(await page.locator('.dock path.height').count(), 0, 'lines before they are asked for')
    await page.getByRole('button', { name: 'Draw the function' }).click()
    const said = await until(
      () => page.locator('.dock .said').last().textContent(), (text) => text.includes('points'), 'what was evaluated')
    check(await page.locator('.dock path.height').count() >= 5, 'lines of equal height')
    // How fine the grid is depends on the time that is left.
    check(said.includes('backward() #1') && /(\d+) × \1 points/.test(said) && said.includes('all have the value'), `what was evaluated: ${said}`)
    check(/1[.,]?\d*, /.test(await page.locator('.dock .lowest title').textContent()), 'the lowest point is not told')
    await shoot(page, 'contours')
  },

  async 'a walk over the module tree says what became of each tensor'(page) {
    await open(page)
    await run(page, MOVED)
    await page.getByRole('tab', { name: 'Modules' }).click()
    const walk = page.getByRole('region', { name: 'Walk' })
    await walk.waitFor()
    check((await walk.locator('.sum').textContent()).includes('each the same object'), 'what the walk did')
    check((await walk.locator('li').filter({ hasText: 'num_batches_tracked' }).textContent()).includes('untouched'), 'whole numbers are passed over')
    check((await walk.locator('li').filter({ hasText: 'running_mean' }).textContent()).includes('new object'), 'a buffer is replaced')
    const weight = walk.locator('li').filter({ hasText: '0.weight' }).first()
    check((await weight.getAttribute('title')).includes('0.weight: float32 → float64'), 'why a parameter is as it is')
    await shoot(page, 'walk')
  },

  async 'one operator of a class of one’s own is followed call by call'(page) {
    await open(page)
    await write(page, OPERATOR)
    await page.keyboard.press('Control+Enter')
    await page.locator('.graph .edited').waitFor({ state: 'detached' })
    await page.locator('.strip').getByRole('button', { name: 'Calls' }).click()
    await page.getByRole('button', { name: 'Run and record the calls' }).click()
    const rows = page.locator('.calls .tree li')
    await until(() => rows.allTextContents(), (all) => all.some((text) => text.includes('Value.__sub__') && text.includes('Value(5.0) - Value(2.0)')), 'the operator')
    await rows.filter({ hasText: 'Sub.__call__' }).getByRole('button').click()
    const now = page.locator('.calls .now')
    await until(() => now.textContent(), (text) => text.includes('Sub()(self, other) enters Sub.__call__'), 'the call')
    await page.getByRole('button', { name: 'One moment on' }).click()
    await page.getByRole('button', { name: 'One moment on' }).click()
    await until(() => now.textContent(), (text) => text.includes('gave a value to self.result'), 'the assignment')
    await says(page.locator('.calls tr.fresh'), 'self.result3')
    await says(page.locator('.cm-line-lit'), 'self.result = a.data - b.data')
    await shoot(page, 'calls')
  },

  async 'a pass is gone through with matrices'(page) {
    await open(page)
    await run(page, PROGRAM)
    await page.locator('.strip').getByRole('button', { name: 'Jacobian mode' }).click()
    await page.getByRole('button', { name: 'Work out the matrices' }).click()
    await until(() => page.locator('.mode .bar').textContent(), (text) => text.includes('largest difference 0'), 'products that are the vectors')
    for (const what of ['4 of 5 nodes', '3 of 5 nodes']) {
      await page.locator('.mode').getByRole('button', { name: 'Previous node' }).click()
      await until(() => page.locator('.mode .bar').textContent(), (text) => text.includes(what), what)
    }
    await until(() => page.locator('.mode').textContent(), (text) => text.includes('MulBackward0') && text.includes('4×4'), 'a node with its own matrix')
    await until(() => page.locator('.gg-scene [paint-order]').allTextContents(), (all) => all.some((text) => text.includes('∏ 1×4') && text.includes('J 4×4')), 'the shapes beside the nodes')
    await shoot(page, 'jacobian-mode')
  },

  async 'a matrix is printed in its rows, arrows step after a pass was chosen, and a new program has no old search'(page) {
    await open(page, '#lang=en')
    await run(page, PASSES)
    const step = () => page.evaluate(() => Number(new URLSearchParams(location.hash.slice(1)).get('step')))
    const rows = await page.locator('.output pre').evaluate((pre) => Math.round(pre.clientHeight / parseFloat(getComputedStyle(pre).lineHeight)))
    if (rows !== 6) throw new Error(`6 rows of a matrix in ${rows} lines`)
    await page.locator('select[title=Pass]').selectOption({ index: 1 })
    await until(() => page.locator('.gg-scene').textContent(), (text) => text.includes('None + 3 → 3'), 'what that pass added')
    const last = await step()
    for (let at = last; at > last - 4; at -= 1) await page.locator('select[title=Pass]').press('ArrowLeft')
    await says(count(page), 'backward() #2')
    same(await page.locator('.gg-scene .sum').first().evaluate((sum) => getComputedStyle(sum).animationName), 'none',
      'a sum that appears, but was made long before')
    await page.getByRole('button', { name: 'as of step' }).click()
    const over = await until(step, (at) => at < last, 'the step where the chosen pass was over')
    same(await page.getByRole('button', { name: 'as of step' }).count(), 0, 'words for a moment that the page is at')
    await page.keyboard.press('End')
    await page.locator('select[title=Pass]').press('ArrowLeft')
    const before = await until(step, (at) => at > over && at < last, 'a step back')
    await says(page.locator('select[title=Pass]').locator('option:checked'), '#1')
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('Home')
    for (const [at, kind] of [[1, 'Create'], [2, 'Compute'], [3, 'Compute'], [4, 'Start backward']]) {
      await page.keyboard.press('ArrowRight')
      await until(async () => `${await step()} ${await page.locator('.told .text').textContent()}`, (text) => text.startsWith(String(at)) && text.includes(kind), `step ${at}`)
    }
    await page.keyboard.press('Shift+ArrowRight')
    await says(page.locator('.told .text'), 'backward() #1 ends')
    if ((await step()) >= before) throw new Error('over more than the pass')
    await page.keyboard.press('/')
    const search = page.getByRole('search')
    await search.waitFor()
    await run(page, `${PASSES.replace('3.0', '4.0')}print("\\x1b[31mred", end=" ")\nprint("line\\x1b[0m")\n`)
    await search.waitFor({ state: 'detached' })
    same(await page.locator('.output pre').last().textContent(), 'red line', 'a line of two calls, with colours')
  },

  async 'a run stands beside the one before it, and Back takes it away'(page) {
    await open(page, '#lang=en')
    await run(page, LOOP)
    await page.locator('.strip').getByRole('button', { name: 'Compare' }).click()
    const before = await until(() => new URL(page.url()).hash, (hash) => hash.includes('panel=compare'), 'the panel in the address')
    await run(page, LOOP.replace('1.0, 1.0', '40.0, 1.0'))
    const panel = page.locator('.compare')
    const sentences = () => panel.locator('.sentences li').allTextContents()
    const others = panel.getByLabel('Put a run beside it')
    await until(() => others.locator('option').allTextContents(), (all) => all.some((text) => text.includes('1.0, 1.0')), 'the run before is offered')
    await others.selectOption({ index: 1 })
    await until(() => page.locator('.run-head').allTextContents(), (all) => all.length === 2 && all.every((text) => / −?[\d.]+\s*$/.test(text)), 'the heads of both pictures')
    await until(() => page.locator('.beside-pane .gg-scene .box').count(), (count) => count > 0, 'the picture of the other run')
    await until(sentences, (all) => all.some((text) => text.includes('The values part at line 2: x is all 1 in A, [40, 1] in B')), 'where they part')
    const grad = panel.locator('tr', { hasText: '.grad' }).first()
    await until(() => grad.textContent(), (text) => text.replaceAll(/\s/g, '').includes('25625688≠248'), 'the gradients')
    await says(panel.locator('thead').first(), 'max |A−B|')
    await says(panel.locator('.diff'), '40.0')
    await shoot(page, 'compare')
    const size = page.viewportSize()
    await page.setViewportSize({ width: 1280, height: 720 })
    const heights = () => page.locator('.panes .field').evaluateAll((fields) => fields.map((field) => field.clientHeight))
    await until(heights, (all) => all.length === 2 && all.every((height) => height > 180), 'room for whole boxes in a low window')
    await page.setViewportSize(size)
    const shared = await until(() => page.url(), (url) => url.includes('with='), 'both runs in the address')
    const panes = () => page.locator('.beside-pane').count()
    await page.goBack()
    await until(panes, (count) => count === 0, 'back to one picture')
    await says(page.locator('.cm-content'), '40.0')
    await page.goForward()
    await until(panes, (count) => count === 1, 'and forward again')
    await panel.getByRole('link', { name: 'Open' }).click()
    await until(() => page.locator('.run-head', { hasText: 'this run' }).textContent(), (text) => text.startsWith('A'), 'the run before is on screen, and A still')
    await until(sentences, (all) => all.some((text) => text.includes('x is all 1 in A, [40, 1] in B')), 'the same from the other side')
    await page.goBack()
    await until(() => page.url(), (url) => url === shared, 'back at the comparison')
    await page.goBack()
    await until(panes, (count) => count === 0, 'nothing beside it any more')
    await until(() => new URL(page.url()).hash, (hash) => hash !== before, 'the newer run stays on show')
    const nowhere = shared.replace(/with=[^&]*/, 'with=nosuchrunanywhere')
    await page.goto(nowhere)
    await page.reload()
    await panel.getByText('There is no run nosuchrunanywhere').waitFor()
    const [narrow, wide] = await Promise.all(['1.5, 2.5, 1.0', '-0.32684, -0.42242, -0.12345'].map(async (numbers) => {
      const code = `import torch\nw = torch.tensor([[${numbers}]], requires_grad=True)\nw.sum().backward()`
      return (await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()).id
    }))
    await page.goto(`${server}/#run=${narrow}&with=${wide}&panel=compare&lang=en`)
    const alike = panel.locator('tr', { hasText: '‖0.548‖' })
    await until(() => alike.textContent(), (text) => text.includes('‖3.08‖'), 'one tensor told alike in both runs')
    await page.setViewportSize({ width: 390, height: 844 })
    // The page that goes away has not read the new address yet.
    await page.evaluate((hash) => (location.hash = hash, dispatchEvent(new Event('pagehide')), location.reload()), new URL(shared).hash)
    await until(() => page.locator('.beside-pane .gg-scene .box').count(), (count) => count > 0, 'both pictures on a phone')
    await until(() => page.evaluate(() => document.documentElement.scrollWidth), (wide) => wide <= 390, 'the width of the page')
    await shoot(page, 'compare-phone')
  },

  async 'Back goes to the program before, and past all that a number was turned to at once'(page) {
    const broken = []
    page.on('console', (message) => message.type() === 'error' && broken.push(message.text()))
    await open(page, '#lang=en')
    const address = () => new URL(page.url()).hash
    const runOf = (hash) => hash.split('&')[0] // a line may have been selected meanwhile
    const shows = (hash, text) => until(async () => [address(), await page.locator('.cm-content').textContent()],
      ([at, code]) => runOf(at) === runOf(hash) && code.includes(text), `${text} on show`)
    const ran = async (program) => {
      const before = address()
      await run(page, program)
      return until(address, (hash) => hash !== before && hash.includes('run='), 'its address')
    }
    const first = await ran(LOOP)
    const second = await ran(TWICE)
    const line = page.locator('.cm-line').nth(2)
    await pull(page, line.locator('.cm-number'), 8)
    const once = await until(address, (hash) => hash !== second, 'the turned run')
    await pull(page, line.locator('.cm-number'), 8)
    const ranWith = async (hash) => {
      const answer = await page.request.get(new URL(`/api/v1/runs/${runOf(hash).split('=')[1]}`, page.url()).href)
      return (await answer.json()).program.code.split('\n')[2]
    }
    const then = async () => [address(), await ranWith(address()), await line.locator('.cm-number').textContent()]
    const isLast = ([hash, code, number]) => hash !== once && code.endsWith(` ${number}`) // not a run on the way
    const [turned] = await until(then, isLast, 'the run it was turned to next')
    await still(page)
    const text = await line.textContent()
    await page.goBack()
    await shows(second, 'first = x ** 2')
    await page.goBack()
    await shows(first, '< 200')
    await page.goForward()
    await page.goForward()
    await shows(turned, text)
    if (broken.length > 0) throw new Error(broken.join('\n'))
  },

  async 'the cells that an op read are shown, with dtypes and sizes'(page) {
    await open(page)
    await run(page, PICKS)
    const inspector = page.locator('.inspector')
    await page.locator('.graph .zoom button').last().click() // it opens at its end: all of it in view
    await still(page)
    await box(page, 'GatherBackward0').click()
    await until(() => inspector.textContent(), (text) => text.includes('chosen[0][0] = x[0][index[0][0]] = x[0][3] = 4'), 'the formula of the first cell')
    await inspector.getByRole('group', { name: /Arrow keys/ }).press('ArrowDown')
    await until(() => inspector.textContent(), (text) => text.includes('chosen[1][0] = x[1][index[1][0]] = x[1][0] = 5'), 'the next cell')
    await inspector.locator('.drawing svg').hover({ position: { x: 12, y: 28 } })
    await until(() => inspector.textContent(), (text) => text.includes('This cell was not read'), 'a cell that nothing read')
    await inspector.getByText('All fields of this tensor').click()
    await until(() => inspector.textContent(), (text) => text.includes('((AccumulateGrad, 0),)') && text.includes('torch.strided'), 'every field of the result')
    await shoot(page, 'cells')
    await box(page, 'MulBackward0').click()
    await until(() => box(page, 'MulBackward0').textContent(), (text) => text.includes('float32 + int64 → float32'), 'the promotion on the box')
    await until(() => inspector.textContent(), (text) => text.includes('The highest category decides'), 'why it is float32')
    await box(page, 'ConvolutionBackward0').click()
    await until(() => inspector.locator('math').allTextContents(), (all) => all.some((text) => text.replaceAll(/\s/g, '') === '⌊4+2·1−1·(3−1)−12⌋+1=2'), 'the size formula with its numbers')
  },

  async 'a line that moves a tensor says what a GPU would be sent'(page) {
    await open(page)
    await run(page, MOVES)
    const line = page.locator('.cm-line', { hasText: 'x.to(device)' })
    await until(() => line.textContent(), (text) => text.includes('→ GPU 192 B'), 'the bytes at the line')
    await line.click()
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('would copy 192 B') && text.includes('Moving it once'), 'what the line would copy')
    await shoot(page, 'device')
  },

  async 'hooks and modules tell of themselves'(page) {
    await open(page)
    await run(page, HOOKED)
    const text = page.locator('.player .text')
    await page.locator('.player .count').click()
    await page.keyboard.press('Home')
    const seen = []
    for (let tries = 0; tries < 40; tries += 1) {
      await page.keyboard.press('ArrowRight')
      const told = await text.textContent()
      seen.push(told)
      if (told.includes('Hook halve on model')) break
    }
    check(seen.some((told) => told.includes('Enter module model (Linear)')), 'the module is not entered')
    check(seen.at(-1).includes('changes what it got'), `the hook is not told: ${seen.at(-1)}`)
    await until(() => page.locator('.inspector').textContent(), (all) => all.includes('halve') && all.includes('registered on line 8'), 'the hook in the inspector')
  },

  async 'search finds a node by its type'(page) {
    await open(page)
    await run(page, PROGRAM)
    await page.locator('.player .count').click()
    let arrive
    const arrived = new Promise((done) => (arrive = done))
    await page.route('**/assets/Search-*.js', (route) => arrived.then(() => route.continue()))
    await page.keyboard.press('/')
    await page.keyboard.type('mean')
    arrive()
    await until(() => page.locator('[role=combobox]:focus').inputValue(), (typed) => typed === 'mean', 'what was typed before')
    await page.keyboard.type('backward')
    same(await page.locator('[role=combobox]:focus').inputValue(), 'meanbackward', 'what is typed after it')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Enter')
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('MeanBackward0'), 'the found node')
    await page.keyboard.press('Escape')
    await page.locator('section.program:focus').waitFor()
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search' }).fill('2x2 norm > 5')
    const hits = page.getByRole('option')
    await until(() => hits.count(), (n) => n > 1, 'what has that shape and norm')
    for (const at of [0, 1]) {
      await page.keyboard.press('Enter')
      await until(() => hits.nth(at).getAttribute('aria-selected'), (on) => on === 'true', `hit ${at}`)
    }
    await page.keyboard.press('Escape')
    await run(page, TWICE)
    await box(page, '4 + 3').waitFor()
    await page.locator('.player .count').click()
    await page.keyboard.press('/')
    await page.getByRole('combobox', { name: 'Search' }).fill('first')
    await page.getByRole('option', { name: 'elsewhere: backward() #1' }).click()
    await box(page, 'first').waitFor()
    await until(() => page.locator('.inspector').textContent(), (text) => text.includes('PowBackward0'), 'the node of the other pass')
  },

  async 'level and lesson are chosen from the page'(page) {
    await open(page, '#lesson=detach&lang=en')
    await until(() => head(page).textContent(), (text) => text.includes('1 cut'), 'the cut in the counts')
    await page.getByRole('button', { name: 'autograd', exact: true }).click()
    await until(() => head(page).textContent(), (text) => !text.includes('cut'), 'counts at level autograd')
    await page.locator('.menu .bare').first().click()
    await page.locator('.list li button').nth(2).click()
    await until(() => page.url(), (url) => /lesson=/.test(url) && !/lesson=detach/.test(url), 'lesson in the address')
  },

  async 'no CUDA is said, not offered'(page) {
    await open(page)
    const health = await (await page.request.get(`${server}/api/v1/health`)).json()
    await page.getByRole('button', { name: 'Run options' }).click()
    await page.locator('input[name=device]').first().waitFor()
    const offered = await page.locator('input[name=device]').count()
    if (health.cuda) check(offered > 1, 'the CUDA device is not offered')
    else await page.getByText('This server has no CUDA device').waitFor()
  },

  async 'a phone shows one view at a time'(page) {
    await page.setViewportSize({ width: 390, height: 844 })
    await open(page, '#lesson=mean_grad&lang=en')
    await page.getByRole('button', { name: 'Program', exact: true }).click()
    await page.locator('.cm-content').waitFor({ state: 'visible' })
    await page.locator('.graph .canvas').waitFor({ state: 'hidden' })
    for (const button of await page.locator('.player .buttons button').all()) {
      const size = await button.boundingBox()
      check(size.height >= 44, `a player button is ${size.height} px high`)
    }
    const wide = await page.evaluate('document.documentElement.scrollWidth')
    check(wide <= 390, `the page is ${wide} px wide`)
    await shoot(page, 'phone')
    await page.locator('.menu > button').click()
    await page.locator('.menu [aria-current=true]').waitFor()
    for (const name of ['Switch to Chinese', 'Switch between light and dark', 'Help']) {
      const { top, bottom, width } = await page.getByRole('button', { name: new RegExp(`${name}$`) }).last().evaluate((one) => one.getBoundingClientRect().toJSON())
      check(width > 24 && top >= 0 && bottom <= 400, `${name} is at ${top} to ${bottom} px`)
    }
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByRole('combobox', { name: 'Search' }).fill('mean')
    await page.getByRole('option').first().click()
    await says(page.locator('.views [aria-current=page]'), 'Graph')
    for (const panel of ['ledger', 'storage']) {
      await open(page, `#lesson=linear_regression&panel=${panel}&lang=en`)
      await page.getByRole('button', { name: 'Panels', exact: true }).click()
      await page.locator('td button').first().waitFor()
      const small = await page.locator('td button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 24).length)
      same(small, 0, `too small for a finger in ${panel}`)
    }
    await open(page, '#lang=en')
    await page.getByRole('button', { name: 'Program', exact: true }).click()
    await run(page, CUT)
    await page.getByRole('button', { name: '1 diagnosis' }).click()
    await page.locator('.inspector').getByText('How to fix it').waitFor()
    const cut = () => page.locator('.player .text').evaluate((text) => text.scrollHeight > text.clientHeight + 1 || text.scrollWidth > text.clientWidth ? text.textContent : '')
    for (let back = page.getByRole('button', { name: 'Step back' }); await back.isEnabled(); await back.click()) same(await cut(), '', 'what the player cuts off')
  },

  async 'an embed plays inside a sandboxed frame of another site'(page) {
    const made = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    const course = createServer((_request, answer) => {
      answer.setHeader('Content-Type', 'text/html; charset=utf-8')
      answer.end(`<!doctype html><title>course</title><h1>Course</h1>
        <iframe sandbox="allow-scripts" width="640" height="400" title="graph" src="${server}/embed/${made.id}?step=5&amp;lang=zh&amp;theme=dark"></iframe>
        <script>addEventListener('message', (event) => (window.told ??= []).push(event.data))</script>`)
    })
    await new Promise((resolve) => course.listen(0, '127.0.0.1', resolve))
    const asked = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    try {
      await page.goto(`http://127.0.0.1:${course.address().port}/`)
      const frame = page.frameLocator('iframe')
      await frame.locator('.gg-scene .box').first().waitFor()
      await until(() => frame.locator('html').getAttribute('data-theme'), (theme) => theme === 'dark', 'theme of the embed')
      await frame.locator('strong', { hasText: '第 5 步' }).waitFor()
      await frame.getByRole('button', { name: '前进一步' }).click()
      await frame.locator('strong', { hasText: '第 6 步' }).waitFor()
      same(await frame.locator('.cm-content').count(), 0, 'editors in an embed')
      check(asked.some((path) => path.endsWith('/graph/layout')), 'the embed did not ask its server for the layout')
      check(!asked.some((path) => path.startsWith('/assets/layout')), 'the embed fetched layout code')
      const isTold = (all, holds) => all?.some(holds) ?? false
      await until(() => page.evaluate('window.told'), (all) => isTold(all, (one) => one.gradgraph === 1 && one.type === 'resize') && isTold(all, (one) => one.subject === 'lti.frameResize' && one.height > 100), 'messages to the course page')
      check((await page.locator('iframe').getAttribute('src')).includes('step=5'), 'the embed rewrote its address')
      await shoot(page, 'embed')
    } finally {
      course.closeAllConnections()
      course.close()
    }
  },

  async 'an embed lays out as its server does, and itself when a group is opened'(page) {
    const scene = () => page.locator('.gg-scene > g').innerHTML()
    const shown = async () => {
      await page.waitForSelector('.gg-scene[aria-busy=false] .box', { state: 'attached' })
      await still(page)
    }
    for (const code of [PROGRAM, MODEL, CUT, TWICE, TRAINING, FAILING, PICKS, HOOKED]) {
      const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()
      for (const lang of ['en', 'zh']) {
        await page.goto(`${server}/embed/${id}?lang=${lang}`)
        await shown()
        const given = await scene()
        await page.route('**/graph/layout?*', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{}' }))
        await page.reload()
        await shown()
        same(await scene(), given, `the embed's own picture of ${code.split('\n')[1]} in ${lang}`)
        await page.unroute('**/graph/layout?*')
      }
    }
    const asked = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: MODEL } })).json()
    await page.goto(`${server}/embed/${id}?lang=en`)
    await shown()
    const open = page.locator('.gg-scene .box[aria-expanded=true]')
    const before = await open.count()
    check(before > 0, 'no group is open')
    check(!asked.some((path) => path.startsWith('/assets/layout')), 'layout code was fetched before a group was touched')
    const pressHeader = async (group) => {
      const { x, y } = await group.boundingBox()
      await page.mouse.dblclick(x + 60, y + 10)
    }
    const inner = await open.last().getAttribute('data-id')
    const group = page.locator(`.gg-scene .box[data-id="${inner}"]`)
    await pressHeader(group)
    await until(() => open.count(), (now) => now < before, 'the group folded')
    await still(page)
    check(asked.some((path) => path.startsWith('/assets/layout-client')), 'the layout code did not come')
    await pressHeader(group)
    await until(() => open.count(), (now) => now === before, 'the group opened again')
    const [told, place] = [page.locator('.player p.unseen'), page.locator('.player .count strong')]
    await page.goto(`${server}/embed/${id}?lang=en&step=0`)
    await shown()
    await page.getByRole('button', { name: 'Step forward' }).click()
    await until(() => told.textContent(), (text) => text.includes('fills 2 parameters'), 'a layer is filled in one step')
    check(await place.textContent() !== 'Step 1', 'the filling was one step of many')
    await page.getByRole('button', { name: 'Step back' }).click()
    same(await place.textContent(), 'Step 0', 'the step before the filling')
  },

  async 'a lesson that does not exist is said, and others are offered'(page) {
    await page.goto(`${server}/#lesson=nope&lang=en`)
    await page.getByRole('alert').filter({ hasText: 'no lesson called “nope”' }).waitFor()
    await page.getByRole('button', { name: 'The diamond' }).or(page.locator('.empty .lessons button')).first().waitFor()
  },

  async 'a row of biases is whole in a narrow column of Training'(page) {
    for (const [width, height] of [[1100, 800], [390, 844]]) {
      await page.setViewportSize({ width, height })
      await open(page, '#lesson=mlp_training&lang=en&panel=training')
      if (width < 768) await page.locator('.views button').nth(3).click()
      const state = page.locator('.dock .state')
      await until(() => state.textContent(), (text) => text.includes('.grad'), 'what the optimizer used')
      await until(() => state.evaluate((column) => column.scrollWidth - column.clientWidth), (over) => over === 0, `a column without scrolling at ${width}`)
    }
  },

  async 'the gradient norms of layers lead to their passes, by mouse and by keys'(page) {
    await open(page)
    await run(page, TRAINING.replace('nn.Linear(2, 1)', 'nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))'))
    await page.locator('.dock').getByRole('button', { name: 'Training' }).click()
    const layers = page.getByRole('grid', { name: 'gradient norm by layer' })
    await until(() => layers.locator('tbody tr').count(), (n) => n === 2, 'a row for each layer')
    const step = () => page.locator('[role=slider]').getAttribute('aria-valuenow').then(Number)
    const total = Number(await page.locator('[role=slider]').getAttribute('aria-valuemax'))
    await layers.getByRole('button').nth(0).click()
    const first = await until(step, (now) => now < total, 'the first pass')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await until(step, (now) => now > first, 'the second pass')
    await until(() => layers.locator('thead th.now').textContent(), (text) => text.trim() === 'pass 2', 'the pass on show')
    await shoot(page, 'layers')
  },

  async 'the READMEs show the page as it is, light and dark'(page) {
    await page.setViewportSize({ width: 1180, height: 700 })
    const seen = []
    for (const [file, language, name] of [['README', 'en', 'page'], ['README.zh', 'zh', 'page-zh']]) for (const theme of ['light', 'dark']) {
      const readme = await readFile(new URL(`../../${file}.md`, import.meta.url), 'utf8')
      await page.goto(anew(`#lang=${language}&theme=${theme}`))
      await until(() => page.locator('.player .value').textContent({ timeout: 20_000 }), (text) => text.includes('36 + 18 → 54'), 'the sum of the diamond')
      const refuse = page.getByRole('button', { name: language === 'en' ? 'No, thanks' : '不用了' })
      if (await refuse.isVisible()) await refuse.click()
      await page.mouse.move(0, 0)
      await still(page)
      const picture = await page.screenshot({ path: pictures && `${pictures}/${name}-${theme}.png` })
      check(picture.length <= PICTURE_BYTES, `the ${language} ${theme} picture has ${picture.length} bytes`)
      check(readme.includes(`docs/pictures/${name}-${theme}.png`), `${file}.md does not show the ${theme} picture`)
      seen.push(`${language}, ${theme}:`, ...(await page.evaluate(seenOnPage)))
    }
    const told = seen.join('\n') + '\n'
    if (pictures) await writeFile(`${pictures}/page.txt`, told)
    const shown = await readFile(new URL('../../docs/pictures/page.txt', import.meta.url), 'utf8')
    const at = seen.findIndex((line, number) => line !== shown.split('\n')[number])
    check(told === shown, `the READMEs' pictures are older than the page (\`./run pictures\` takes them anew): ${JSON.stringify(shown.split('\n')[at])} is now ${JSON.stringify(seen[at])}`)
  },

  async 'a small graph opens whole on a phone, what stands beside its boxes too'(page) {
    await page.setViewportSize({ width: 390, height: 844 })
    const { id } = await answered(CLAMPED)
    for (const shown of ['lesson=scalar_expression', 'lesson=diamond', 'lesson=hooks', `run=${id}`]) {
      await open(page, `#${shown}`)
      const cut = () => page.locator('.gg-scene').evaluate((scene) => {
        const { left, right } = scene.getBoundingClientRect()
        return [...scene.querySelectorAll('text, rect')].filter((each) => {
          const box = each.getBoundingClientRect()
          return box.left < left || box.right > right
        }).map((each) => each.textContent)
      })
      await until(cut, (all) => all.length === 0, `what is cut of ${shown}`)
    }
  },

  async 'broadcasting is drawn with ghost cells, and on the way back the cells that are summed'(page) {
    await open(page, '#lesson=broadcasting')
    const inspector = page.locator('.inspector')
    await box(page, 'prices * discount').click()
    await until(() => inspector.textContent(), (text) => text.includes('1·0.9 = 0.9'), 'the first cell with its numbers')
    const cells = inspector.getByRole('group', { name: /Arrow keys/ }).last()
    same(await inspector.locator('.drawing .ghost').evaluateAll((all) => all.map((one) => one.getAttribute('d').split('z').length - 1).join()), '0,3,0,0,0', 'repeated cells of each tensor')
    await cells.press('ArrowRight')
    await until(() => inspector.textContent(), (text) => text.includes('→ discount[1] = 1·2 + 1·5 = 7'), 'the gradients that were summed')
    await inspector.getByRole('group', { name: /Arrow keys/ }).first().press('ArrowDown')
    await until(() => inspector.textContent(), (text) => text.includes('[1][0] = 4·0.9 = 3.6'), 'the cell below')
    await shoot(page, 'ghost-cells')
  },

  async 'a cell of a convolution shows its window'(page) {
    await open(page)
    await run(page, 'import torch\nfrom torch.nn import functional as F\nx = torch.arange(16.).reshape(1, 1, 4, 4).requires_grad_()\nw = torch.ones(2, 1, 3, 3)\ny = F.conv2d(x, w, stride=2, padding=1)\nz = F.max_pool2d(y, 2)\nz.sum().backward()')
    const inspector = page.locator('.inspector')
    await box(page, 'ConvolutionBackward0').click()
    await until(() => inspector.textContent(), (text) => text.includes('y[0][0][0][0] = ') && text.includes('5 of the 9 cells of the window are padding'), 'the window of the first cell')
    const cells = inspector.getByRole('group', { name: /Arrow keys/ })
    await cells.press('ArrowRight')
    await until(() => inspector.textContent(), (text) => text.includes('y[0][0][0][1] = 1·1 + 2·1 + 3·1 + … + 7·1 = 24'), 'the window beside it')
    await shoot(page, 'window')
    await box(page, 'MaxPool').click()
    await until(() => inspector.textContent(), (text) => text.includes('max(10, 24, 51, 90) = 90'), 'the largest in the window')
  },

  async 'a small view shows itself large under the pointer and by keys, with how its values are spread'(page) {
    await open(page)
    await run(page, 'import torch\nx = torch.linspace(-1, 1, 200).reshape(10, 20).requires_grad_()\ny = x * 2\ny.sin().sum().backward()')
    await box(page, 'y').click()
    const small = page.locator('.inspector').getByRole('button', { name: /show large/ }).first()
    await small.hover()
    const large = page.locator('.popover:popover-open')
    await until(() => large.textContent(), (text) => text.includes('Histogram of 200 values'), 'the spread of its values')
    await page.mouse.move(2, 2)
    await large.waitFor({ state: 'detached' })
    await small.focus()
    await large.waitFor()
    await shoot(page, 'large-view')
    await page.keyboard.press('Escape')
    await large.waitFor({ state: 'detached' })
    const [picture] = await page.locator('.gg-scene g:has(> .box[data-id]) image').all()
    await picture.hover({ force: true })
    await until(() => large.textContent(), (text) => text.includes('Histogram of 200'), 'the picture in the graph, large')
    await page.mouse.move(2, 2)
    await large.waitFor({ state: 'detached' })
  },

  async 'nothing covers the tabs of the panels, at any size'(page) {
    for (const [width, height] of [[1400, 900], [1100, 600], [800, 800], [800, 600]]) {
      await page.setViewportSize({ width, height })
      for (const hash of ['#lesson=accumulation&panel=ledger', '#lesson=mlp_training&panel=training', '#lesson=diamond']) {
        await page.goto(anew(hash))
        await page.locator('.gg-scene .box').first().waitFor()
        await page.locator('.dock .strip button').first().waitFor()
        await until(() => covered(page), (all) => all.length === 0, `${width}×${height} ${hash}`)
        const cut = await page.locator('.variables .kind').evaluateAll((all) => all.filter((one) => one.textContent.includes('no gradient') && one.scrollWidth > one.clientWidth).length)
        same(cut, 0, `"no gradient" that is cut at ${width}×${height} ${hash}`)
        await shoot(page, `size-${width}-${height}-${hash.split(/[=&]/)[1]}`)
      }
    }
  },

  async 'what tells of a box does not lie over it, and the headings of groups that begin above are told'(page) {
    const code = await readFile(new URL('resnet18.py', new URL('programs/', import.meta.url)), 'utf8')
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()
    const around = page.locator('.graph nav.around')
    for (const [width, height] of [[1100, 800], [800, 900]]) {
      await page.setViewportSize({ width, height })
      await page.goto(anew(`#run=${id}&lang=en`))
      await drawn(page)
      await until(() => around.textContent(), (all) => all.startsWith('model'), 'the groups around the top')
      const loss = box(page, 'NllLossBackward0')
      for (const [how, go] of [['pressed', () => loss.click()], ['opened', () => page.reload()]]) {
        await go()
        await says(page.locator('.inspector header').first(), 'loss', 'NllLossBackward0')
        await drawn(page)
        await still(page)
        const ring = await page.locator('.gg-scene .ring').evaluate((rect) => rect.getBoundingClientRect().toJSON())
        const over = await page.locator('aside.inspector').evaluate((aside) => aside.getBoundingClientRect().toJSON())
        check(ring.right <= over.left || ring.bottom <= over.top, `${how} at ${width} the inspector lies over what it tells of`)
      }
      check((await around.count()) === 0, 'a box outside of all groups has groups around it')
      await shoot(page, `told-beside-${width}`)
    }
    await page.setViewportSize(VIEWPORT)
    await page.goto(anew(`#run=${id}&lang=en`))
    await drawn(page)
    await says(page.locator('.inspector h3'), 'loss')
    await until(() => box(page, 'NllLossBackward0').count(), (n) => n > 0, 'what is told of as the graph opens, in view')
    await page.setViewportSize({ width: 390, height: 844 }) // the inspector is a view of its own and lies over nothing
    await page.goto(anew(`#run=${id}&lang=en`))
    await drawn(page)
    await box(page, 'NllLoss').click()
    await still(page)
    const [ring, window] = await Promise.all(['.gg-scene .ring', '.gg-scene'].map((place) =>
      page.locator(place).evaluate((shown) => shown.getBoundingClientRect().toJSON())))
    check(ring.top >= window.top && ring.bottom <= window.bottom, 'on a phone what is pressed goes out of view')
  },

  async 'a small graph too large for its window opens at the leaf that is told of, whatever was shown before'(page) {
    const code = 'import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\nf = (x ** 3).sum() + x.prod()\n' +
      'gr, = torch.autograd.grad(f, x, create_graph=True)\npen = (gr ** 2).sum()\npen.backward()\nprint(x.grad)\n'
    await page.setViewportSize({ width: 1440, height: 900 })
    await open(page)
    const places = []
    for (const before of ['', 'import torch\nm = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(40)])\n' +
      'm(torch.ones(1, 2)).sum().backward()\n']) {
      if (before) await run(page, before)
      await run(page, code + '#'.repeat(places.length))
      await still(page)
      const [leaf, window] = await Promise.all([box(page, 'xleaf').locator('.box').first(), page.locator('.gg-scene').first()].map((shown) =>
        shown.evaluate((node) => node.getBoundingClientRect().toJSON())))
      check(leaf.top >= window.top && leaf.right <= window.right, 'the leaf is out of view')
      places.push([leaf.x, leaf.y])
    }
    check(`${places[0]}` === `${places[1]}`, `the leaf stands at ${places.join(' and then at ')}`)
  },

  async 'a tensor of three axes is seen slice by slice'(page) {
    await open(page)
    await run(page, 'import torch\nx = torch.arange(24.).reshape(2, 3, 4).requires_grad_()\n(x * 2).sum().backward()')
    await box(page, 'leaf').click()
    const shown = page.locator('.inspector .grid table').first()
    const place = page.getByRole('spinbutton', { name: 'place on axis 0' })
    await place.focus()
    check(!(await shown.textContent()).includes('19'), 'a number of the second slice is in the first')
    await page.keyboard.press('ArrowUp')
    await until(() => shown.textContent(), (text) => text.includes('19'), 'the second slice')
    await place.fill('9')
    await place.blur()
    same(await place.inputValue(), '1', 'the place of the slice that is shown, after one that is not there was typed')
    await shoot(page, 'slice')
    await run(page, 'import torch\nx = (torch.arange(16.) - 4).reshape(4, 4).requires_grad_()\nx.sqrt().sum().backward()')
    await box(page, 'leaf').click()
    await says(page.locator('.inspector .pair'), 'NaN ×4')
    const first = () => page.locator('.inspector .pair canvas').nth(2).evaluate((all) => all.getContext('2d').getImageData(0, 0, 1, 1).data[3])
    await until(first, (opacity) => opacity === 0, 'a cell of NaN, which lets the hatching be seen')
  },

  async 'a snapshot opens for others as it was left, without its run, until its maker deletes it'(page) {
    await open(page, '#lang=en&theme=dark')
    await run(page, `${MODEL}\n# one of its own: ${Date.now()}`) // nobody else keeps the same
    const ran = /run=(\w+)/.exec(await until(() => page.url(), (url) => /run=\w+/.test(url), 'the run in the address'))[1]
    await page.goto(anew(`#run=${ran}&step=60&open=-&panel=ledger&lang=en&theme=dark`))
    await page.locator('.gg-scene [data-id]').first().waitFor()
    await box(page, 'PowBackward0').click()
    await page.locator('.inspector header', { hasText: 'PowBackward0' }).first().waitFor()
    const state = async (of) => ({
      boxes: await of.locator('.gg-scene .box').evaluateAll((all) => all.map((one) => [one.dataset.id, one.ariaPressed, one.ariaLabel])), count: await count(of).textContent(),
      inspector: await of.locator('.inspector h3').first().textContent(), dock: await of.locator('.dock .panel').first().textContent(),
      lang: await of.locator('html').getAttribute('lang'), theme: await of.locator('html').getAttribute('data-theme'),
    })
    const shown = (of) => of.evaluate(() => JSON.stringify({
      boxes: [...document.querySelectorAll('.gg-scene .box')].map((one) => [one.dataset.id, one.ariaPressed, one.ariaExpanded]).sort(),
      step: Number(document.querySelector('[role=slider]')?.ariaValueNow), lang: document.documentElement.lang, theme: document.documentElement.dataset.theme,
    }))
    const seen = await shown(page)
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Make a snapshot' }).click()
    const link = await page.getByLabel('Link').inputValue()
    const id = /\/s\/(\w{12})$/.exec(link)?.[1]
    check(id, `the link is ${link}`)
    check((await page.getByLabel('Text to paste').inputValue()).includes(`snapshot="${id}" step="60" lang="en"`), 'the element is not of the snapshot')
    await until(() => page.getByAltText('The picture of the snapshot').evaluate((image) => image.naturalWidth), (width) => width > 100, 'the picture')
    await shoot(page, 'share')
    await page.keyboard.press('Escape')
    const left = await state(page)
    const others = await page.context().browser().newContext({ viewport: VIEWPORT, locale: 'zh-CN', colorScheme: 'light' })
    const reader = await others.newPage()
    const folder = await mkdtemp(join(tmpdir(), 'gradgraph-'))
    try {
      await reader.route((url) => url.pathname.includes(ran), (route) => route.abort())
      await reader.goto(link)
      await until(() => state(reader), (found) => JSON.stringify(found) === JSON.stringify(left), `the same as ${JSON.stringify(left)}`)
      same(reader.url(), link, 'the address')
      await reader.keyboard.press('ArrowRight')
      await until(() => reader.url(), (url) => url.startsWith(`${link}#run=${id}&`) && url.includes('step=61'), 'the step in the address')
      await reader.reload()
      await until(() => count(reader).textContent(), (text) => text.includes('Step 61'), 'the step after a reload')
      await reader.goto(`${link}?step=3&lang=zh&theme=light`)
      await until(() => count(reader).textContent(), (text) => text.includes('第 3 步'), 'the step and language asked for')
      const file = join(folder, 'snapshot.html')
      await writeFile(file, await (await page.request.get(`${link}.html`)).body())
      for (const place of [`${server}/embed/${id}`, `file://${file}`]) {
        await reader.goto(place)
        await until(() => shown(reader), (found) => found === seen, `${place}: as it was left, ${seen}`)
      }
      await page.getByRole('button', { name: 'Share' }).click()
      await page.getByText('Snapshots made in this browser: 1').click()
      await page.getByRole('button', { name: `Delete snapshot ${id}` }).click()
      await page.getByText('No longer kept for you').waitFor()
      same((await reader.goto(link)).status(), 404, 'the status of what is gone')
      await reader.getByText('没有这个快照').waitFor()
      await shoot(reader, 'snapshot-gone')
      await reader.getByRole('link', { name: '了解保存什么' }).click()
      await reader.getByRole('heading', { name: '保存什么、保存多久、为什么' }).waitFor()
      await shoot(reader, 'kept')
      await reader.getByRole('link', { name: '打开 Gradgraph' }).click()
      await reader.locator('.gg-scene .box').first().waitFor()
    } finally {
      await rm(folder, { recursive: true })
      await others.close()
    }
  },

  async 'an element on a page of another site follows its page, and prints a picture'(page) {
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    const course = createServer((_request, answer) => {
      answer.setHeader('Content-Type', 'text/html; charset=utf-8')
      answer.end(`<!doctype html><html lang="zh-CN" data-theme="dark"><title>course</title><script defer src="${server}/embed.js"></script>
        <gradgraph-embed run="${id}" step="5"><a href="${server}/#run=${id}"><img alt="graph" src="${server}/api/v1/runs/${id}/graph.svg?step=5"></a></gradgraph-embed>
        `)
    })
    await new Promise((resolve) => course.listen(0, '127.0.0.1', resolve))
    try {
      await page.goto(`http://127.0.0.1:${course.address().port}/`)
      const element = page.locator('gradgraph-embed')
      const iframe = element.locator('iframe')
      const frame = page.frameLocator('gradgraph-embed iframe')
      await frame.locator('strong', { hasText: '第 5 步' }).waitFor()
      same(await frame.locator('html').getAttribute('data-theme'), 'dark', 'theme of the page')
      await element.locator('iframe.ready').waitFor()
      const { height } = await until(() => iframe.boundingBox(), (found) => found.height !== 420, 'a height of its own')
      check(height >= 320 && height <= 900, `the frame is ${height} px high`)
      const ends = () => frame.locator('.gg-scene .box').evaluateAll((all) => { const places = all.map((one) => one.getBoundingClientRect()); return { top: Math.min(...places.map(({ top }) => top)), below: innerHeight - Math.max(...places.map(({ bottom }) => bottom)) } })
      await until(ends, ({ top, below }) => top >= 0 || below < 150, 'no room left under a graph that is cut at its top')
      await page.setViewportSize({ width: 390, height: 800 })
      const listing = () => frame.locator('.listing').evaluate((one) => one.getBoundingClientRect().bottom)
      await until(async () => (await ends()).top - (await listing()), (free) => free > 0 && free < 60, 'the whole graph under its program')
      same(await page.getByAltText('graph', { exact: true }).isVisible(), false, 'the picture beside the frame')
      await page.evaluate("document.querySelector('gradgraph-embed').setAttribute('step', '8')")
      await frame.locator('strong', { hasText: '第 8 步' }).waitFor()
      await page.evaluate("(document.documentElement.dataset.theme = 'light', document.documentElement.lang = 'en')")
      await frame.locator('strong', { hasText: 'Step 8' }).waitFor()
      await frame.locator('html[data-theme=light]').waitFor({ state: 'attached' })
      await until(async () => (await iframe.boundingBox()).height, (found) => found > height, 'more height where the program stands above')
      await page.setViewportSize({ width: 1440, height: 900 })
      await until(async () => (await iframe.boundingBox()).height, (found) => found === height, 'the height it had')
      await page.evaluate("postMessage({ gradgraph: 1, type: 'resize', height: 99999 }, '*')")
      same((await iframe.boundingBox()).height, height, 'height after a message of another window')
      await page.emulateMedia({ media: 'print' })
      await page.getByAltText('graph', { exact: true }).waitFor()
      same(await iframe.isVisible(), false, 'the frame in print')
      await page.emulateMedia({ media: null })
      const wrong = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: UNZEROED } })).json()
      await element.evaluate((one, run) => one.setAttribute('run', run), wrong.id)
      const told = await frame.locator('.listing > p').first().textContent()
      same(await frame.locator('li.found').getByRole('img', { name: told, exact: true }).count(), 1, `lines named ${told}`)
    } finally {
      await page.emulateMedia({ media: null })
      course.closeAllConnections()
      course.close()
    }
  },

  async 'what the share box gives to paste shows the snapshot where it is pasted'(page) {
    const { id: ran } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    await page.goto(`${server}/#run=${ran}&step=3&lang=zh&theme=light`)
    await page.locator('.gg-scene [data-id]').first().waitFor()
    await page.getByRole('button', { name: '分享' }).focus()
    await page.keyboard.press('Enter') // all of it by keyboard, as far as the platform's own list
    await page.getByRole('button', { name: '制作快照' }).focus()
    await page.keyboard.press('Enter')
    const link = await page.getByLabel('链接').inputValue()
    const id = link.split('/').at(-1)
    await until(() => page.getByAltText('快照的图').evaluate((image) => image.naturalWidth), (width) => width > 100, 'the picture')
    const places = page.getByLabel('展示在')
    const texts = {}
    for (const place of await places.locator('option').evaluateAll((all) => all.map((one) => one.value))) {
      await places.selectOption(place)
      texts[place] = await page.getByLabel('要粘贴的内容').inputValue()
      check(await page.getByLabel('要粘贴的内容').evaluate((field) => field.ariaDescribedByElements[0].textContent.length > 5), `no advice for ${place}`)
    }
    same(Object.keys(texts).join(' '), 'element frame markdown sphinx jekyll latex file', 'places')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: '复制', exact: true }).press('Enter')
    await page.getByRole('status').getByText('已复制').waitFor()
    same(await page.evaluate('navigator.clipboard.readText()'), texts.file, 'what is copied')
    await shoot(page, 'share-paste')
    same(texts.sphinx, `\`\`\`{gradgraph} ${link}\n:step: 3\n\`\`\``, 'the directive')
    const [, picture, leads] = /^\[!\[.*\]\((.*)\)\]\((.*)\)$/.exec(texts.markdown)
    same(leads, link, 'where the Markdown leads')
    const [, pdf] = /^% curl -o \w+\.pdf '(.*)'$/m.exec(texts.latex)
    for (const [address, type] of [[picture, 'image/svg+xml'], [pdf, 'application/pdf'], [`${link}.html`, 'text/html; charset=utf-8']]) {
      const answer = await page.request.get(address)
      same(`${answer.status()} ${answer.headers()['content-type']}`, `200 ${type}`, address)
    }
    const files = await page.locator('.box a[download]').evaluateAll((all) => all.map(({ href, textContent }) => ({ href, name: textContent })))
    same(files.map(({ name }) => name).join(' '), 'SVG PNG PDF HTML JSON PY DOT MMD TIKZ Chrome trace', 'what can be taken away')
    for (const { href } of files) same((await page.request.get(href)).status(), 200, href)
    const file = await (await page.request.get(`${link}.html`)).body()
    const course = createServer((request, answer) => {
      answer.setHeader('Content-Type', 'text/html; charset=utf-8')
      const html = texts[request.url.slice(1)]
      answer.end(html ? `<!doctype html><html lang="en"><title>course</title><body>${html}` : file)
    })
    await new Promise((resolve) => course.listen(0, '127.0.0.1', resolve))
    try {
      for (const place of ['element', 'frame', 'jekyll', 'file']) {
        await page.goto(`http://127.0.0.1:${course.address().port}/${place}`)
        const frame = page.frameLocator('iframe')
        await frame.locator('.gg-scene .box').first().waitFor({ state: 'attached' })
        await frame.locator('strong', { hasText: '第 3 步' }).waitFor()
        same(await frame.locator('html').getAttribute('data-theme'), 'light', `colours of ${place}`)
        await shoot(page, `pasted-${place}`)
      }
    } finally {
      course.closeAllConnections()
      course.close()
    }
  },

  async 'each example for other pages shows its run'(page) {
    const course = createServer(async (request, answer) => {
      const path = decodeURIComponent(new URL(request.url, server).pathname)
      const body = await readFile(join(examples, path)).catch(() => null)
      answer.writeHead(body ? 200 : 404, { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream' }).end(body)
    })
    await new Promise((resolve) => course.listen(0, '127.0.0.1', resolve))
    await page.route((url) => url.hostname !== '127.0.0.1', (route) => route.abort())
    try {
      for (const { name, page: path, step } of JSON.parse(await readFile(join(examples, 'pages.json'), 'utf8'))) {
        await page.setViewportSize({ width: 860, height: 640 })
        await page.goto(`http://127.0.0.1:${course.address().port}/${path}`)
        await page.locator('iframe').first().scrollIntoViewIfNeeded()
        const frame = page.frameLocator('iframe').first()
        await frame.locator('.gg-scene .box').first().waitFor({ state: 'attached' })
        await frame.locator('strong', { hasText: step }).waitFor()
        const element = page.locator('gradgraph-embed').first()
        if (await element.count()) await element.locator('iframe.ready').waitFor()
        await page.evaluate('scrollTo(0, 0)')
        const { y, height } = await page.locator('figure.gradgraph, gradgraph-embed, iframe').first().boundingBox()
        await page.setViewportSize({ width: 860, height: Math.ceil(Math.min(900, y + height + 8)) })
        await still(await (await page.locator('iframe').first().elementHandle()).contentFrame())
        const picture = await page.screenshot({ path: pictures && `${pictures}/embed-${name}.png` })
        check(!pictures || picture.length <= EXAMPLE_BYTES, `the picture of ${name} has ${picture.length} bytes`)
        await shoot(page, `example-${name}`)
      }
    } finally {
      course.closeAllConnections()
      course.close()
    }
  },

  async 'a run in one file plays from disk, in a sandbox, with no network'(page) {
    const hostile = `${PROGRAM.slice(0, -1)}, "</script><script>document.title = 'hacked'</script><img src=x onerror=document.title='hacked'><!--")\n`
    const { id, tensors, timeline } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: hostile } })).json()
    const grouped = (await (await page.request.post(`${server}/api/v1/runs`, { data: { code: MODEL } })).json()).id
    const folder = await mkdtemp(join(tmpdir(), 'gradgraph-'))
    const keep = async (run, name, query = '') => writeFile(join(folder, name), await (await page.request.get(`${server}/api/v1/runs/${run}/graph.html${query}`)).body())
    const asked = []
    page.on('request', (request) => request.url().startsWith('file:') || request.url().startsWith('data:') || asked.push(request.url()))
    page.on('console', (line) => line.type() === 'error' && asked.push(line.text())) // what its policy refuses
    try {
      await keep(id, 'run.html', '?lang=zh&step=3')
      await keep(grouped, 'groups.html', '?lang=en')
      await writeFile(join(folder, 'page.html'), '<!doctype html><title>book</title><iframe title="graph" sandbox="allow-scripts" width="800" height="460" src="run.html?lang=en&amp;theme=dark"></iframe>')
      await page.context().setOffline(true)
      await page.goto(`file://${folder}/run.html`)
      await page.locator('strong', { hasText: '第 3 步' }).waitFor()
      await page.getByRole('button', { name: '前进一步' }).click()
      await page.locator('strong', { hasText: '第 4 步' }).waitFor()
      await page.keyboard.press('End')
      await page.locator('strong', { hasText: `第 ${timeline.length} 步` }).waitFor()
      await box(page, 'mean').click()
      await page.locator('.gg-scene .box[aria-pressed=true]').waitFor()
      const value = String(tensors.find((one) => one.names?.includes('out')).data[0])
      await until(() => page.locator('.gg-scene').textContent(), (text) => text.includes(value), `the value ${value} of out`)
      same(await page.title(), '计算图', 'title after a hostile program')
      check((await page.locator('.listing').textContent()).includes('</script>'), 'the program is not shown as it is')
      await shoot(page, 'standalone')
      await page.goto(`file://${folder}/page.html`)
      const frame = page.frameLocator('iframe')
      await frame.locator('strong', { hasText: 'Step 3' }).waitFor()
      same(await frame.locator('html').getAttribute('data-theme'), 'dark', 'theme of the file')
      await page.goto(`file://${folder}/groups.html`)
      await page.waitForSelector('.gg-scene image', { state: 'attached' })
      const open = page.locator('.gg-scene .box[aria-expanded=true]')
      const before = await open.count()
      const { x, y } = await open.last().boundingBox()
      await page.mouse.dblclick(x + 60, y + 10)
      await until(() => open.count(), (found) => found === before - 1, 'a group folded')
      same(asked.join(' '), '', 'requests of a file that holds all')
    } finally {
      await page.context().setOffline(false)
      await rm(folder, { recursive: true })
    }
  },

  async 'a run in one file has what presses make of its groups, and says what it leaves out'(page) {
    const made = async (code) => (await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()).id
    const folder = await mkdtemp(join(tmpdir(), 'gradgraph-'))
    const long = `import torch\nx = torch.ones(2, requires_grad=True)\nfor _ in range(66):\n    (x * x).sum().backward()`
    try {
      for (const [name, code] of [['groups', MODEL], ['long', long]])
        await writeFile(join(folder, `${name}.html`), await (await page.request.get(`${server}/api/v1/runs/${await made(code)}/graph.html?lang=en`)).body())
      await page.context().setOffline(true)
      await page.goto(`file://${folder}/groups.html`)
      await page.waitForSelector('.gg-scene[aria-busy=false] .box', { state: 'attached' })
      const groups = page.locator('.gg-scene .box[aria-expanded]')
      const open = () => groups.evaluateAll((all) => all.filter((one) => one.ariaExpanded === 'true').map((one) => one.dataset.id).join(' '))
      const press = async (id) => {
        await still(page)
        const { x, y } = await page.locator(`.gg-scene .box[data-id="${id}"]`).boundingBox()
        await page.mouse.dblclick(x + 60, y + 10)
      }
      const [outer, inner] = (await open()).split(' ')
      check(inner, 'no group stands open in another')
      await press(inner)
      await until(open, (found) => found === outer, 'the inner group folded')
      await press(outer)
      await until(open, (found) => found === '', 'the outer group folded')
      await press(outer)
      await until(open, (found) => found.startsWith(outer), 'the outer group opened again')
      await page.goto(`file://${folder}/long.html?step=3`)
      await page.getByRole('alert').filter({ hasText: 'the last 64 backward passes' }).waitFor()
      await page.goto(`file://${folder}/long.html`)
      await page.waitForSelector('.gg-scene[aria-busy=false] .box', { state: 'attached' })
    } finally {
      await page.context().setOffline(false)
      await rm(folder, { recursive: true })
    }
  },

  async 'the module shows a run on a site of its own, with no server'(page) {
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    const fetched = async (path) => (await page.request.get(`${server}${path}`)).body()
    const web = await site({
      'embed.mjs': await fetched('/embed.mjs'), 'run.json': await fetched(`/api/v1/runs/${id}/graph.player`),
      'index.html': `<!doctype html><title>book</title><h1>Book</h1><div id="here"></div><p id="embed">mine</p>
        <script type="module">import { mount } from './embed.mjs'
        const run = await (await fetch('run.json')).json()
        mount(document.getElementById('here'), run, { step: 5, lang: 'zh', theme: 'dark' })
        try { mount(document.body, { ...run, format: 'gradgraph.player/9' }) } catch (error) { document.title = error.message }</script>`,
    })
    try {
      await page.route(`${server}/**`, (route) => route.abort())
      await page.goto(web.url)
      const frame = page.frameLocator('iframe')
      await frame.locator('strong', { hasText: '第 5 步' }).waitFor()
      same(await frame.locator('html').getAttribute('data-theme'), 'dark', 'theme')
      await until(() => page.locator('iframe').boundingBox(), (found) => found.height !== 420, 'a height of its own')
      await page.evaluate("document.querySelector('iframe').contentWindow.postMessage({ gradgraph: 1, type: 'goto', step: 7 }, '*')")
      await frame.locator('strong', { hasText: '第 7 步' }).waitFor()
      same(await page.locator('#embed').textContent(), 'mine', 'an element of the page')
      check((await page.title()).includes('gradgraph.player/9'), 'a foreign format is not refused')
      await shoot(page, 'module')
    } finally {
      await page.unroute(`${server}/**`)
      web.close()
    }
  },

  async 'on slides a press or a key is a step, and past the last one the page is told'(page) {
    const { id, timeline } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    const web = await site({ 'index.html': `<!doctype html><html lang="en"><title>talk</title><script defer src="${server}/embed.js"></script>
      <gradgraph-embed run="${id}" step="1" height="420" mode="slides"></gradgraph-embed>
      <script>addEventListener('gradgraph-leave', ({ detail }) => (document.title = 'leave ' + detail.by), true)</script>` })
    try {
      await page.goto(web.url)
      const frame = page.frameLocator('iframe')
      const at = (step) => frame.locator('.told', { hasText: `Step ${step} of` }).waitFor()
      await at(1)
      await frame.locator('.gg-scene[aria-busy=false] .box').first().waitFor()
      same(await frame.locator('.player, .listing').count(), 0, 'controls on a slide')
      await frame.getByRole('button', { name: 'Step forward' }).click()
      await at(2)
      await page.keyboard.press('PageDown')
      await at(3)
      await page.keyboard.press('PageUp')
      await at(2)
      await page.keyboard.press('End')
      await at(timeline.length)
      await shoot(page, 'slides')
      await page.keyboard.press('ArrowRight')
      await until(() => page.title(), (title) => title === 'leave 1', 'a word on the end')
      await page.evaluate("document.querySelector('gradgraph-embed').setAttribute('step', '4')")
      await at(4)
    } finally {
      web.close()
    }
  },

  async 'a reader changes the program of an embed where the operator lets them, and has it back'(page) {
    const code = TURNED.replace('x * k', 'torch.mul(x, k)').replaceAll('loss', '损失')
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()
    const frameOf = (more) => `<!doctype html><title>course</title><iframe ${more} width="900" height="500" title="graph" src="${server}/embed/${id}?lang=en&amp;mode=edit"></iframe>`
    const web = await site({ 'index.html': frameOf(''), 'boxed.html': frameOf('sandbox="allow-scripts"') })
    const frame = page.frameLocator('iframe')
    const text = frame.locator('.cm-content')
    const button = (name) => frame.getByRole('button', { name, exact: true })
    const holds = (words) => until(() => frame.locator('.gg-scene').textContent(), (found) => found.includes(words), `a picture with ${words}`)
    try {
      await page.goto(web.url)
      await holds('18')
      await frame.locator('.cm-note', { hasText: '[3, −6]' }).waitFor()
      const rows = () => frame.locator('.cm-line', { hasText: 'torch.mul' }).evaluate((line) => {
        const text = document.createRange()
        text.setStart(line, 0)
        text.setEndBefore(line.querySelector('.cm-note'))
        return new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size
      })
      same(await rows(), 1, 'rows of a line with its value')
      await frame.locator('.cm-line', { hasText: '损失 =' }).hover() // whose letters once had no end
      await frame.locator('.cm-line', { hasText: 'k = 3.0' }).locator('.cm-number').click()
      await page.keyboard.press('ArrowUp')
      await until(() => text.textContent(), (found) => !found.includes('k = 3.0'), 'a number that is turned')
      await until(() => frame.locator('.gg-scene').textContent(), (found) => !found.includes('18'), 'another gradient')
      await button('Restore the original').click()
      await holds('18')
      await until(() => text.textContent(), (found) => found.includes('k = 3.0'), 'the program as it was')
      await text.click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(FAILING)
      await frame.getByText('Changed, not run yet.').waitFor()
      await page.keyboard.press('Control+Enter')
      await frame.locator('.cm-finding', { hasText: 'shape' }).or(frame.locator('.cm-finding', { hasText: '2, 3' })).first().waitFor()
      await frame.locator('.cm-line-failed', { hasText: 'd = a @ b' }).waitFor()
      await shoot(page, 'embed-edit')
      const { free, told } = await blocked()
      await text.click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(`${PROGRAM}\nprint(${Date.now()})`)
      await page.keyboard.press('Control+Enter')
      await frame.getByRole('status').filter({ hasText: told }).waitFor()
      await shoot(page, 'embed-edit-waits')
      await free()
      await holds('2.25 + 2.25 → 4.5')
      await page.route('**/api/v1/runs?*', (route) => route.fulfill({ status: 429, contentType: 'application/problem+json', body: JSON.stringify({ detail: 'Too many.' }) }))
      await button('Run').click()
      await frame.getByRole('alert').filter({ hasText: 'Too many.' }).waitFor()
      await page.unroute('**/api/v1/runs?*')
      await button('Restore the original').click()
      await holds('18')
      await page.goto(`${web.url}boxed.html`)
      await frame.getByRole('link', { name: 'Open in Gradgraph' }).waitFor()
      same(await text.count(), 0, 'editors in a frame without an origin')
    } finally {
      web.close()
    }
  },

  async 'ten embeds on a page are fetched as they come near, and without scripts they are pictures'(page) {
    const { id } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code: PROGRAM } })).json()
    const frames = Array.from({ length: 10 }, (_, at) => `<iframe loading="lazy" title="graph ${at}" width="600" height="900" src="${server}/embed/${id}?step=${at + 1}&amp;lang=${at % 2 ? 'zh' : 'en'}"></iframe>`)
    const web = await site({
      'index.html': `<!doctype html><title>course</title>${frames.join('<br>')}`,
      'element.html': `<!doctype html><title>course</title><script defer src="${server}/embed.js"></script><gradgraph-embed run="${id}"><a href="${server}/#run=${id}"><img alt="picture" src="${server}/api/v1/runs/${id}/graph.svg"></a></gradgraph-embed>`,
    })
    const plain = await page.context().browser().newContext({ javaScriptEnabled: false })
    try {
      await page.goto(web.url)
      const strong = (at) => page.frameLocator(`iframe[title="graph ${at}"]`).locator('strong', { hasText: at % 2 ? `第 ${at + 1} 步` : `Step ${at + 1}` })
      await strong(0).waitFor()
      check(page.frames().length < 11 || !page.frames().some((frame) => frame.url().includes('step=10&')), 'a frame far away was fetched')
      await page.locator('iframe').last().scrollIntoViewIfNeeded()
      await strong(9).waitFor()
      const reader = await plain.newPage()
      const pictures = async (address, image) => {
        await reader.goto(address)
        await until(() => image.boundingBox(), (found) => found && found.width > 100 && found.height > 60, `a picture at ${address}`)
      }
      await pictures(`${server}/embed/${id}?step=3&lang=zh`, reader.locator('img'))
      await pictures(`${web.url}element.html`, reader.getByAltText('picture'))
    } finally {
      await plain.close()
      web.close()
    }
  },

  async 'an embed opens with the box of its step in view, at any width and level'(page) {
    const folder = await mkdtemp(join(tmpdir(), 'gradgraph-'))
    const isInView = async (place) => {
      await page.goto(place)
      await page.waitForSelector('.gg-scene[aria-busy=false] .box', { state: 'attached' })
      await still(page)
      const [now, room] = [await page.locator('.gg-scene .o-current').first().boundingBox({ timeout: 1000 }).catch(() => null), await page.locator('.gg-scene').boundingBox()]
      const { width } = page.viewportSize()
      check(now && now.x + now.width > room.x && now.x < room.x + room.width && now.y + now.height > room.y && now.y < room.y + room.height, `${place} at ${width} px: its box is at ${JSON.stringify(now)}`)
    }
    try {
      for (const [code, levels, types] of [[LOOP, ['both', 'autograd'], ['MulBackward0']], [LAYERS, ['both'], ['TBackward0', 'AccumulateGrad']]]) {
        const { id, timeline, nodes, passes } = await (await page.request.post(`${server}/api/v1/runs`, { data: { code } })).json()
        const typeOf = (event) => nodes.find((node) => node.id === passes.find((pass) => pass.id === event.pass).visits[event.visit].node).type
        const backward = timeline.flatMap((event, at) => (event.kind === 'visit' && types.includes(typeOf(event)) ? [at + 1] : []))
        const file = join(folder, `${id}.html`)
        await writeFile(file, await (await page.request.get(`${server}/api/v1/runs/${id}/graph.html`)).body())
        for (const [at, step] of [backward[0], backward[backward.length >> 1], backward.at(-1)].entries()) {
          await page.setViewportSize({ width: at % 2 ? 800 : 390, height: 460 })
          for (const level of levels) await isInView(`${server}/embed/${id}?lang=en&level=${level}&step=${step}`)
          await isInView(`file://${file}?step=${step}`)
          await isInView(anew(`#run=${id}&step=${step}`))
        }
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  },

  async 'an embed of a run that is gone says so'(page) {
    await page.goto(`${server}/embed/nosuchrun?lang=en`)
    await page.getByRole('alert').filter({ hasText: 'nosuchrun' }).waitFor()
  },

  async 'simulated devices and ranks have lanes: what crosses a cut, and what each rank gave and got'(page) {
    const { run: cut } = await (await fetch(`${server}/api/v1/gallery/split_model`)).json()
    const { timeline } = await (await fetch(`${server}/api/v1/runs/${cut}`)).json()
    const backward = timeline.findIndex(({ kind }) => kind === 'pass')
    for (const [lang, cpu, gave, got] of [['en', 'simulated by the CPU', 'gave', 'got'], ['zh', '由 CPU 模拟', '给出', '得到']]) {
      const copy = box(page, 'ToCopyBackward0')
      for (const [step, bytes] of [[backward, 'cuda:1 · ↓\u00a024 B'], [9999, 'cuda:1 · ↓\u00a024 B ↑\u00a024 B']]) {
        await page.goto(`${server}/?${lang}${step}#lesson=split_model&lang=${lang}&step=${step}`)
        await says(copy.getByText('cuda:1 ·'), bytes)
      }
      for (const device of ['cuda:0', 'cuda:1']) await page.locator('.gg-scene g', { hasText: `${device}${cpu}` }).first().waitFor()

      await page.goto(`${server}/?${lang}#lesson=distributed_data_parallel&lang=${lang}&step=9999`)
      for (const rank of ['rank 0', 'rank 1']) await page.locator('.player svg text', { hasText: rank }).first().waitFor()
      const reduced = box(page, 'all_reduce')
      for (const rank of ['rank 0', 'rank 1']) await reduced.locator('text', { hasText: rank }).waitFor()
      await reduced.click({ position: { x: 40, y: 10 } })
      const told = async () => (await page.locator('.inspector tbody').allInnerTexts())
        .map((text) => text.split(/\s+/).filter(Boolean).join(' ')).join('; ')
      const exchanged = [['0', '−0.5 −1 −1.5'], ['1', '−5.5 −3.5 −3.5']]
        .map(([rank, own]) => `rank ${rank} ${gave} ${own} ${got} −6 −4.5 −5`).join('; ')
      await until(told, (text) => text === exchanged, 'what the ranks exchanged')
    }
  },

  async 'questions: a lesson stops before its answer is anywhere on the page, by keys and on a phone'(page) {
    const said = () => page.evaluate(() => document.documentElement.innerText + [...document.querySelectorAll('[title], [aria-label], [aria-valuetext]')].map((one) => `${one.title} ${one.ariaLabel} ${one.ariaValueText}`).join(' ') + [...document.querySelectorAll('svg text')].map((one) => one.textContent).join(' '))
    for (const panel of ['text', 'ledger', 'memory', 'engine', 'storage']) {
      await page.goto(anew(`#lesson=vector_seed&lang=en&theme=light&step=99&panel=${panel}`))
      await page.locator('.question input').waitFor()
      await page.locator('.gg-scene .box').first().waitFor()
      await page.keyboard.press('End')
      check(!/2\.01|1\.41/.test(await said()), `${panel} tells the answer`)
      check(!/prints nothing|did not pass/.test(await said()), `${panel} says that what is not shown never happens`)
    }
    await page.locator('.question input').fill('1, 2, 3')
    await page.keyboard.press('Enter')
    await page.locator('.question .verdict', { hasText: 'value of the tensor' }).waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.locator('.question input').fill('[201/100  1.41, .01]')
    await isOffItsBorder(page)
    await page.locator('.question button', { hasText: 'Check' }).click()
    await page.locator('.question .told', { hasText: '2.01' }).waitFor()
    await until(() => page.evaluate(() => document.activeElement.className), (name) => /\bquestion\b/.test(name), 'the focus where the question was')
    await page.reload()
    await page.locator('.question', { hasText: 'All questions here are answered' }).waitFor()
    await page.locator('.question button', { hasText: 'Ask again' }).click()
    await page.locator('.question input').waitFor()
    check(!/2\.01|1\.41/.test(await said()), 'asked again, the answer is still there')
    await page.goto(`${server}/#lesson=tied_weights&lang=en`)
    await page.locator('.question', { hasText: 'self.offset' }).waitFor()
    await isOffItsBorder(page)
  },
  async 'questions: embeds, slides and single files ask, and count no further than the question'(page) {
    const code = 'import torch\nx = torch.tensor([1.5, 2.5], requires_grad=True)\ny = x * 3.0\n' +
      'z = (y * y).sum()  # ? z\nz.backward()  # ? x.grad\n'
    const { id, timeline } = await answered(code)
    const file = await (await fetch(`${server}/api/v1/runs/${id}/graph.html?lang=en`)).text()
    await page.route('**/asking.html', (route) => route.fulfill({ contentType: 'text/html', body: file }))
    const address = `${server}/embed/${id}?lang=en`
    for (const place of [address, `${address}&mode=slides`, `${server}/asking.html`]) {
      await page.goto(place)
      await page.locator('.question input').waitFor()
      check(!(await page.locator('body').innerText()).includes('76.5'), `${place} tells the answer`)
      await page.locator('.question input').fill('７６．５')
      await page.keyboard.press('Enter')
      await page.locator('.question .told', { hasText: '76.5' }).waitFor()
      await page.locator('.question', { hasText: '2 / 2' }).waitFor()
      await page.locator('.question button', { hasText: 'Show the answer' }).click()
      await page.locator('.question .told', { hasText: '[27, 45]' }).waitFor()
      if (!place.includes('slides')) await page.locator('.player .count', { hasText: `/ ${timeline.length}` }).waitFor()
      await page.locator('.question button', { hasText: 'Ask again' }).click()
      await page.locator('.question', { hasText: '1 / 2' }).waitFor()
      if (!place.includes('slides')) await page.locator('.player .count', { hasText: '/ ?' }).waitFor()
    }
    await page.goto(`${address}&questions=off`)
    await page.locator('.player .count', { hasText: `/ ${timeline.length}` }).waitFor()
    check((await page.locator('.question').count()) === 0, 'an embed asks though questions are off')
  },

  async 'questions: which line fails is pressed, where a gradient flows drawn, another number asked again'(page) {
    const failing = await answered('import torch\nx = torch.ones(3)  # ? error.line\ny = x * 2\nz = y @ torch.ones(4)\n')
    await page.goto(`${server}/#run=${failing.id}&lang=en`)
    await page.locator('.question input').waitFor()
    check((await page.locator('.status .err').count()) === 0, 'the head of the page says that it fails')
    await page.locator('.cm-line').nth(3).click()
    await page.locator('.question button', { hasText: 'Check' }).click()
    await page.locator('.question .told', { hasText: 'error.line = 4' }).waitFor()
    await page.locator('.status .err').waitFor()

    const flow = await answered('import torch\nx = torch.tensor([1.5, 2.5], requires_grad=True)\n' +
      'cut = x.detach() * 3.5\ny = (x * cut).sum()\ny.backward()  # ? grad.flow\n# ? x.grad\n')
    await page.goto(`${server}/#run=${flow.id}&lang=en`)
    const [asked] = flow.questions
    const { boxes } = await (await fetch(`${server}/api/v1/runs/${flow.id}/graph?until=${asked.step}`)).json()
    const pressed = (label) => page.locator('.question').getByRole('button', { name: label, exact: true, pressed: true })
    const [first, second, ...others] = asked.answer.split(', ')
    await page.locator('.question').getByRole('button', { name: first, exact: true }).click()
    const part = asked.parts[asked.choices.indexOf(second)]
    const box = page.locator(`.gg-scene [data-id="${boxes.find(({ op }) => op === part).id}"]`)
    await box.waitFor()
    const { x, y, width } = await box.boundingBox()
    await page.mouse.click(x + width / 2, y + 10)
    await pressed(second).waitFor()
    await page.locator('aside.inspector', { hasText: 'after the question' }).waitFor()
    const told = await page.locator('body').innerText()
    for (const hint of ['detach() cuts', 'Backward0', 'no gradient', '1 cut']) check(!told.includes(hint), `${hint} tells the flow`)
    for (const label of others) await page.locator('.question').getByRole('button', { name: label, exact: true }).click()
    await pressed(first).waitFor()
    await page.locator('.question button', { hasText: 'Check' }).click()
    await page.locator('.question .told', { hasText: 'grad.flow' }).waitFor()
    await page.locator('section.graph', { hasText: 'MulBackward0' }).waitFor()
    await page.locator('.question input').fill('[10.5, 17.5]')
    await page.keyboard.press('Enter')
    await page.locator('.question .verdict', { hasText: 'Not yet' }).waitFor()
    await page.locator('.question input').fill('[5.25, 8.75]')
    await page.keyboard.press('Enter')
    await page.locator('.question .told', { hasText: 'x.grad' }).waitFor()
    const number = await page.locator('.cm-line').nth(2).getByText('3.5').boundingBox()
    await page.mouse.move(number.x + number.width / 2, number.y + number.height / 2)
    await page.mouse.down()
    await page.mouse.move(number.x + number.width / 2 + 14, number.y + number.height / 2, { steps: 4 })
    await page.mouse.up()
    await page.locator('.question', { hasText: '1 / 2' }).waitFor()
  },

  async 'questions: numbers to play with turn by keys within their range, and are asked anew'(page) {
    await page.goto(`${server}/#lesson=scalar_expression&lang=en`)
    const slider = page.getByRole('slider', { name: 'x, line 3' })
    const shown = (text) => page.locator('.sliders output', { hasText: text }).waitFor()
    await page.locator('.question', { hasText: 'x is 2. What is y?' }).waitFor()
    await page.locator('.question input').fill('11')
    await page.keyboard.press('Enter')
    await page.locator('.question', { hasText: '2 / 2' }).waitFor()
    await slider.focus()
    await page.keyboard.press('End')
    await shown('4.0')
    await page.keyboard.press('ArrowRight')
    await page.locator('.question', { hasText: '1 / 2' }).waitFor()
    await page.locator('.question', { hasText: 'What is y after line 4?' }).waitFor()
    await page.locator('.cm-content', { hasText: 'torch.tensor(4.0,' }).waitFor()
    const number = await page.locator('.cm-line').nth(2).getByText('4.0').boundingBox()
    await page.mouse.move(number.x + number.width / 2, number.y + number.height / 2)
    await page.mouse.down()
    await page.mouse.move(number.x + number.width / 2 - 900, number.y + number.height / 2, { steps: 4 })
    await page.mouse.up()
    await shown('-4.0')
    await page.locator('.program .variables tr', { hasText: /^\s*x.*[-−]4\s*$/s }).waitFor() // else the run before it is answered
    await page.locator('.question input').fill('5')
    await page.keyboard.press('Enter')
    await page.locator('.question .told', { hasText: 'y = 5' }).waitFor()
    await page.getByRole('button', { name: "The lesson's numbers" }).click()
    await shown('2.0')
    await page.locator('.question', { hasText: '2 / 2' }).waitFor()

    const broken = await answered('import torch\nx = torch.tensor(2.0)  # ~ 5..9\ny = x * 2\n')
    await page.goto(`${server}/#run=${broken.id}&lang=zh`)
    await page.locator('.sliders', { hasText: '第 2 行的数在“5..9”之外' }).waitFor()
  },

  async 'questions: an embed tells the words of a lesson once its questions are answered, in either language'(page) {
    const { run } = await (await fetch(`${server}/api/v1/gallery/diamond`)).json()
    for (const [lang, ask, word] of [['en', 'The gradients of both paths meet', 'goes two ways'], ['zh', '两条路的梯度', '分成两路']]) {
      for (const mode of ['read', 'slides']) {
        await page.goto(`${server}/embed/${run}?lesson=diamond&lang=${lang}&mode=${mode}`)
        const again = page.locator('.question button', { hasText: /Ask again|再问一遍/ })
        await again.or(page.locator('.question input')).waitFor()
        if (await again.count()) await again.click()
        await page.locator('.question input').fill('9')
        await page.keyboard.press('Enter')
        await page.locator('.question', { hasText: ask }).waitFor()
        check((await page.locator('.lesson').count()) === 0, 'the words stand there before the last answer')
        await page.locator('.question input').fill('54')
        await page.keyboard.press('Enter')
        await page.locator('.lesson', { hasText: word }).waitFor()
      }
    }
    await page.goto(`${server}/embed/${run}?lang=en`)
    await page.locator('.gg-scene .box').first().waitFor()
    check((await page.locator('.lesson').count()) === 0, 'words that nobody asked for')
  },

  async 'questions: a presented lesson walks through its questions and its words, with a remote or a finger'(page) {
    await page.goto(`${server}/#lesson=tensor_expression&lang=en`)
    await page.locator('.question input').waitFor()
    await page.keyboard.press('p')
    const walk = page.locator('.walk')
    await walk.locator('.question', { hasText: '1 / 2' }).waitFor()
    check(await page.locator('.question').count() === 1, 'a question is asked twice')
    await walk.locator('input').focus()
    await page.keyboard.press('PageDown')
    await walk.locator('.told', { hasText: '[[1.5, 0], [6.5, 0]]' }).waitFor()
    same(await walk.locator('.asked').count(), 2, 'questions: the one that was answered and the next')
    await walk.locator('input').fill('[[0.5, 2], [0.5, 2]]')
    await page.keyboard.press('Enter')
    await walk.locator('.told', { hasText: '[[0.5, 2], [0.5, 2]]' }).waitFor()
    await page.keyboard.press('ArrowRight')
    await walk.locator('p', { hasText: 'Two 2×2 matrices' }).waitFor()
    await page.keyboard.press(' ')
    await walk.locator('.current').waitFor()
    await page.keyboard.press('PageUp')
    await walk.locator('.current').waitFor({ state: 'detached' })
    for (let tries = 0; !(await walk.locator('.current', { hasText: 'b.grad' }).count()) && tries < 9; tries += 1)
      await walk.getByRole('button', { name: 'Next' }).click()
    await page.locator('.player', { hasText: 'Add to b.grad' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.lesson .words').waitFor()
    await page.goto(anew('#lesson=broadcasting&lang=en'))
    await page.locator('.question input').waitFor()
    await page.keyboard.press('p')
    await walk.locator('.question').waitFor()
    for (const answer of ['(2, 3)', '[[3], [3]]']) {
      await page.keyboard.press('PageDown')
      if (await walk.locator('.answer', { hasText: answer }).count() === 0) await page.keyboard.press('PageDown')
      await walk.locator('.answer', { hasText: answer }).waitFor()
    }
    await walk.locator('.asked', { hasText: 'shipping.grad' }).waitFor()
    const ends = async (place) => (({ x, y, width, height }) => [-x, -y, x + width, y + height])(await place.boundingBox())
    const beyond = async () => {
      const [own, all] = [await ends(box(page, 'shipping').first()), await ends(page.locator('.gg-scene'))]
      return own.map((end, side) => Math.round(end - all[side]))
    }
    await until(beyond, (sides) => sides.every((over) => over < 24), 'how far the box of the answer, with its step beside it, is out of view')
    check(await page.locator('.inspector').count() === 0, 'a panel opened over the picture that is presented')
  },

  async 'questions: the sheet has questions first and answers on a page of their own'(page) {
    await page.addInitScript(() => { window.print = () => { window.top.printed = document.body.innerText } })
    for (const [lang, print, answers] of [['en', 'Print', 'answers'], ['zh', '打印', '答案']]) {
      await page.goto(anew(`#lesson=accumulation&lang=${lang}`))
      await page.locator('.question button', { hasText: print }).click()
      const text = await (await page.waitForFunction(() => window.printed)).jsonValue()
      check(text.indexOf('[5, −1]', text.indexOf('w.grad')) > text.lastIndexOf(answers), `a sheet in ${lang} tells answers early`)
    }
  },

  async 'questions: a first visit finds its example whole, and is asked when it wants to be'(page) {
    await page.goto(anew('#lang=en&theme=light'))
    await box(page, 'y').waitFor()
    check((await page.locator('.question input').count()) === 0, 'a newcomer is asked before anything is there to look at')
    const steps = page.getByRole('slider', { name: 'Timeline' })
    const isAtEnd = () => steps.evaluate((one) => one.ariaValueNow === one.ariaValueMax && !one.closest('.player').textContent.includes('Nothing has run'))
    await page.locator('.question button', { hasText: 'Ask me first' }).click()
    await page.locator('.question input').waitFor()
    await until(isAtEnd, (isThere) => isThere, 'the step of the question')
    for (const asked of ['1 / 2', '2 / 2']) {
      await says(page.locator('.question .count'), asked)
      await page.locator('.question button', { hasText: 'Show the answer' }).click()
    }
    await steps.press('End')
    await page.locator('.question button', { hasText: 'Ask again' }).click()
    await until(isAtEnd, (isThere) => isThere, 'the step of the question that is asked again')
  },

  async 'questions: a class answers together, and its teacher sees the spread and shows the answer'(page) {
    const asked = (who, name) => who.locator('.room').getByRole('button', { name })
    await open(page)
    await run(page, CLASS)
    await page.getByRole('button', { name: 'Share' }).click()
    await page.getByRole('button', { name: 'Ask a class' }).click()
    await page.waitForURL(/\/r\/[A-Z]{5}/)
    const enter = async (locale, width) => {
      const context = await page.context().browser().newContext({ viewport: { width, height: 800 }, locale })
      const learner = await context.newPage()
      await learner.goto(page.url().replace(/#.*/, ''))
      await learner.locator('.room [role=status]').waitFor()
      check((await learner.locator('.room button').count()) === 0, 'a learner is offered what is the teacher’s')
      return learner
    }
    const [ann, ben] = [await enter('en-GB', 390), await enter('zh-CN', 1100)]
    await page.locator('.room', { hasText: 'Learners: 2' }).waitFor()
    await asked(page, 'Ask question 1 of 2').click()
    for (const [learner, answer] of [[ann, '7.0'], [ben, '3']]) {
      await learner.locator('.room input').fill(answer)
      await learner.locator('.room').getByRole('button', { name: /^(Send|提交)$/ }).waitFor()
      await learner.keyboard.press('Enter')
      await learner.locator('.room [role=status]', { hasText: answer }).waitFor()
    }
    await page.locator('.room', { hasText: 'Answered: 2 of 2' }).waitFor()
    check((await page.locator('.room li.right').count()) === 0, 'the right answer is marked before it is shown')
    await faultless(page, 'the teacher of a class')
    await faultless(ann, 'a learner')
    await shoot(page, 'class asked')
    await shoot(ann, 'class learner')
    await page.locator('.room h2').click()
    await page.keyboard.press('p')
    await page.locator('.room .asked', { hasText: 'What is x.grad after line 4?' }).waitFor()
    await shoot(page, 'class presented')
    await asked(page, 'Show the answer').click()
    await page.locator('.room li.right', { hasText: '7.0' }).waitFor()
    await page.locator('.room li', { hasText: 'forgot what .grad already held' }).waitFor()
    await ann.locator('.room', { hasText: 'Your answer: 7.0 right' }).waitFor()
    await ann.locator('.room', { hasText: 'What is x.grad after line 4?' }).waitFor()
    await ann.locator('.room', { hasText: 'The next question comes when your teacher asks it.' }).waitFor()
    await ben.locator('.room', { hasText: '忘了 .grad 里原有的数' }).waitFor()
    await shoot(page, 'class revealed')
    await shoot(ben, 'class learner revealed')
    await page.keyboard.press('Escape')
    await faultless(page, 'the spread')
    await faultless(ben, 'a learner who was shown the answer')
    await ann.reload()
    await ann.locator('.room .answer', { hasText: '7' }).waitFor()
    await ann.locator('.room', { hasText: 'Your answer: 7.0 right' }).waitFor()
    const second = await ann.context().newPage()
    await second.goto(ann.url())
    await second.locator('.room .answer', { hasText: '7' }).waitFor()
    await page.locator('.room', { hasText: 'Learners: 2' }).waitFor()
    await second.close()
    await asked(page, 'Ask question 2 of 2').click()
    await ann.locator('.room input').waitFor()
    check(!(await ann.evaluate(() => document.body.innerText)).includes('42'), 'the next answer is on the page')
    await run(ben, CLASS.replace('3 * x', '4 * x'))
    await ben.locator('.room', { hasText: '你改了程序' }).waitFor()
    await asked(ben, '撤销改动').click()
    await ben.locator('.room input').fill('5')
    await ben.keyboard.press('Enter')
    await ben.locator('.room [role=status]', { hasText: '5' }).waitFor()
    await asked(page, 'Show the answer').click()
    await ben.locator('.room', { hasText: '不对' }).waitFor()
    await asked(page, 'Close the room').click()
    for (const [learner, words] of [[ann, 'This room is closed'], [ben, '这个课堂已经关闭']]) await learner.locator('.room', { hasText: words }).waitFor()
    await ann.reload()
    await ann.getByText('There is no open room').waitFor()
  },

  async 'no accessibility violations: first visit, tour, model, failure, panels, presentation, embed'(page) {
    await open(page)
    await run(page, PROGRAM)
    await box(page, 'y * y').click()
    await page.locator('.inspector math').first().waitFor()
    const made = /run=(\w+)/.exec(await until(() => page.url(), (url) => /run=\w+/.test(url), 'the run in the address'))[1]
    const trained = (await (await page.request.post(`${server}/api/v1/runs`, { data: { code: `${TRAINING}\n(lambda value: value)(1)`, check: ['finite-difference', 'jacobian', 'surface', 'calls'] } })).json()).id
    const beside = `compare&with=${made}`
    const places = [
      ['page, light', async () => undefined],
      ['page, dark', async () => page.getByRole('button', { name: 'Switch between light and dark' }).click()],
      ['first visit', async () => (await page.evaluate('localStorage.clear()'), await page.goto(anew('#lang=en&theme=light')), page.waitForSelector('.gg-scene .box', { state: 'attached' }))],
      ['tour', async () => (await page.getByRole('button', { name: 'Take the 20-second tour' }).click(), page.getByRole('button', { name: 'Next', exact: true }).last().waitFor())],
      ['help', async () => (await page.goto(anew('#lesson=accumulation&lang=en')), await drawn(page), await page.keyboard.press('?'), page.getByRole('dialog').waitFor())],
      ['after help', async () => (await page.keyboard.press('Escape'), page.getByRole('dialog').waitFor({ state: 'detached' }))],
      ['lessons', async () => (await page.getByTitle('Choose a lesson').click(), await page.locator('.popover.list li').first().waitFor(), until(() => page.locator('.popover.list [aria-current=true]').evaluate((one) => [one.getBoundingClientRect().bottom, one.closest('.list').getBoundingClientRect().bottom]), ([own, end]) => own < end, 'the lesson on show in the list of lessons'))],
      ['search', async () => (await page.keyboard.press('Escape'), await page.keyboard.press('/'), page.getByPlaceholder('name, type').waitFor())],
      ['a model and its modules', async () => (await open(page, '#lang=en&theme=light'), await run(page, MODEL), page.getByRole('tab', { name: 'Modules' }).click())],
      ['presentation', async () => page.getByRole('button', { name: 'Present' }).click()],
      ['a failing program', async () => (await page.goto(anew('#lang=en&theme=dark')), await page.waitForSelector('.cm-content'), run(page, FAILING))],
      ...['ledger', 'text', beside, 'memory', 'training', 'engine', 'storage', 'checks', 'jacobian', 'calls'].map((panel) => [`panel ${panel}, dark`, async () => (await page.goto(anew(`#run=${trained}&lang=en&theme=dark&panel=${panel}`)), page.locator('.dock .panel > *').first().waitFor())]),
      ['share', async () => (await page.goto(anew(`#run=${made}&lang=en&theme=light`)), await page.getByRole('button', { name: 'Share' }).click(), await page.getByRole('button', { name: 'Make a snapshot' }).click(), page.getByLabel('Link').waitFor())],
      ['seven optimizers before the first step', async () => (await page.setViewportSize({ width: 1100, height: 800 }), await page.goto(anew('#lesson=optimizers_compared&lang=en&theme=light&panel=training&step=2')), await page.getByText('Adagrad · point').waitFor(), page.locator('.variables .none').waitFor())],
      ['embed of a long program on a phone', async () => (await page.setViewportSize({ width: 390, height: 800 }), await page.goto(`${server}/embed/${trained}?lang=en`), page.waitForSelector('.gg-scene .box', { state: 'attached' }))],
      ...['', '&mode=slides', '&mode=edit', '&mode=edit&theme=dark'].map((mode) => [`embed${mode}`, async () => (await page.goto(`${server}/embed/${made}?lang=en${mode}`), page.waitForSelector(mode.includes('edit') ? 'main:has(.cm-content) .gg-scene .box' : '.gg-scene .box', { state: 'attached' }))]),
    ]
    for (const [name, go] of places) {
      await go()
      await faultless(page, name, name.startsWith('panel') ? '.dock' : 'html') // what is around a panel, `page, dark` shows
    }
  },
}

/** Stories that give every worker of the server something to do: none is told beside them. */
const ALONE = ['a run that waits says how many are ahead', 'a reader changes the program of an embed where the operator lets them, and has it back']
/** Stories of printing: without windows a browser tells no page in a frame of another site that it is printed. */
const PRINTED = ['a graph that its window cuts is whole on paper, in light colours']
/** So many are told beside each other: what one waits for, the other uses. */
const TELLERS = 2

/** Tells stories one after the other, in one window as long as they go well: a page costs five times as much in a new one. */
class Teller {
  #browser
  #pages = new Map()
  #broken = []

  constructor(browser) {
    this.#browser = browser
  }

  /** What went wrong in a story; null when nothing did. */
  async tell(name, story) {
    const asks = name.startsWith('questions')
    const page = this.#pages.get(asks) ?? (await this.#open(asks))
    let timer
    const late = new Promise((_, refuse) => (timer = setTimeout(() => refuse(new Error(`took longer than ${STORY_MS / 1000} s`)), STORY_MS)))
    try {
      await Promise.race([story(page), late])
      check(this.#broken.length === 0, this.#broken.join('; '))
      await this.#clear(page)
      return null
    } catch (error) {
      if (shots) await page.screenshot({ path: `${shots}/failed ${name}.png` }).catch(() => undefined)
      await page.context().close()
      this.#pages.delete(asks)
      return [error.message, ...this.#broken].join('; ')
    } finally {
      clearTimeout(timer)
      this.#broken.length = 0
    }
  }

  async #open(asks) {
    const context = await this.#browser.newContext({ viewport: VIEWPORT, locale: 'en-GB', colorScheme: 'light' })
    // Stories of other things than questions look at whole runs.
    if (!asks) {
      await context.addInitScript(() => {
        try {
          localStorage.setItem('gradgraph.questions', 'off')
        } catch {
          // a frame without an origin remembers nothing
        }
      })
    }
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    page.on('pageerror', (error) => this.#broken.push(`the page threw ${error.message}`))
    this.#pages.set(asks, page)
    return page
  }

  /** Leaves a window as a first visitor finds it. */
  async #clear(page) {
    for (const event of ['request', 'response', 'console']) page.removeAllListeners(event)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.goto(`${server}/api/v1/health`)
    await page.evaluate(() => (localStorage.clear(), sessionStorage.clear()))
    await page.emulateMedia({ media: null })
    await page.setViewportSize(VIEWPORT)
    await page.context().clearPermissions()
  }
}

async function tellAll() {
  if (shots) await mkdir(shots, { recursive: true })
  const only = process.argv.slice(2)
  for (const name of [...ALONE, ...PRINTED]) check(name in stories, `no story is called “${name}”`)
  const begin = (executablePath) => chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })
  const browser = await begin(process.env.CHROMIUM)
  const chosen = Object.entries(stories).filter(([name]) => only.length === 0 || only.some((part) => name.includes(part)))
  const tell = async (teller, [name, story]) => {
    const error = await teller.tell(name, story)
    console.log(JSON.stringify(error === null ? { story: name, ok: true } : { story: name, ok: false, error }))
    if (error !== null) process.exitCode = 1
  }
  const tellers = Array.from({ length: TELLERS }, () => new Teller(browser))
  const together = chosen.filter(([name]) => !ALONE.includes(name) && !PRINTED.includes(name))
  await Promise.all(tellers.map(async (teller) => {
    while (together.length > 0) await tell(teller, together.shift())
  }))
  for (const story of chosen.filter(([name]) => ALONE.includes(name))) await tell(tellers[0], story)
  await browser.close()
  const printed = chosen.filter(([name]) => PRINTED.includes(name))
  if (printed.length === 0) return
  const printing = await begin(process.env.CHROMIUM_WITH_WINDOWS)
  for (const story of printed) await tell(new Teller(printing), story)
  await printing.close()
}

await tellAll()
