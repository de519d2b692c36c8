// What dragging a number costs from the pointer's movement to the painted picture, in a real Chromium: one line of JSON
// for each picture, then one for what the page asked of the server. GRADGRAPH_URL is the server, CHROMIUM the browser,
// SECONDS how long.

import { onPage } from './page.mjs'

const PROGRAM = `import torch
x = torch.ones(2, 2, requires_grad=True)
k = 2.0
y = x + k
z = y * y * 3
out = z.mean()
out.backward()
print(x.grad)`
const FRAME_MS = 16
const STEP_PX = 4 // a step of the number
const ROOM_PX = 900

await onPage(PROGRAM, async (page) => {
  await page.waitForTimeout(1500) // fixes are asked for, forks are ready
  await page.evaluate(watch)
  const until = Date.now() + 1000 * Number(process.env.SECONDS)
  while (Date.now() < until) await stroke(page, until)
  await page.waitForTimeout(500)
  const { pictures, asked } = await page.evaluate(() => window.seen())
  for (const picture_ms of pictures) console.log(JSON.stringify({ picture_ms }))
  for (const asked_ms of asked) console.log(JSON.stringify({ asked_ms }))
})

/** Takes the number and pulls it to the right, a step in each frame, whether or not the page has heard of the last one;
 *  the next stroke goes on from there. */
async function stroke(page, until) {
  const number = await page.locator('.cm-line', { hasText: 'k = ' }).locator('.cm-number').boundingBox()
  const [x, y] = [number.x + number.width / 2, number.y + number.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  let moved
  for (let way = STEP_PX; way < ROOM_PX && Date.now() < until; way += STEP_PX) {
    const began = Date.now()
    moved = page.mouse.move(x + way, y)
    await page.waitForTimeout(Math.max(0, FRAME_MS - (Date.now() - began)))
  }
  await moved
  await page.mouse.up()
}

/** In the page: notes when each value was turned to, and when a frame that shows it has been painted. */
function watch() {
  const scene = document.querySelector('.gg-scene')
  const turned = new Map()
  const pictures = []
  const NOTED_MS = 50
  const began = performance.now()
  performance.setResourceTimingBufferSize(10_000) // requests beyond 250 would not be in the figures
  addEventListener('pointermove', (event) => setTimeout(() => {
    const line = [...document.querySelectorAll('.cm-line')].find((each) => each.textContent.startsWith('k = '))
    const value = parseFloat(line.textContent.slice(4))
    if (!turned.has(value)) turned.set(value, event.timeStamp)
  }), true)
  const shown = () => {
    const box = [...scene.querySelectorAll('g:has(> .box)')].find((each) => each.textContent.includes('AddBackward0'))
    return Number([...box.querySelectorAll('text.value')][0].textContent) - 1
  }
  let last = shown()
  const look = () => {
    requestAnimationFrame(look)
    const value = Number(shown().toFixed(1))
    if (value === last) return
    last = value
    const painted = new MessageChannel() // its turn comes after the frame that this callback belongs to
    painted.port1.onmessage = () => {
      const at = performance.now()
      setTimeout(() => { // when it has been noted where the hand came to the value, or went over it
        const since = [...turned].find(([to]) => to >= value)?.[1]
        if (since) pictures.push(at - since)
      }, NOTED_MS)
    }
    painted.port2.postMessage(0)
  }
  requestAnimationFrame(look)
  window.seen = () => ({
    pictures,
    asked: performance.getEntriesByType('resource').filter(({ startTime, name }) => startTime > began && name.includes('/runs?'))
      .map(({ duration }) => duration),
  })
}
