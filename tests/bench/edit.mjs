// What an edit costs from Ctrl+Enter to the new picture on screen, in a real Chromium: one line of JSON for each edit.
// GRADGRAPH_URL is the server, CHROMIUM the browser, EDITS how many.

import { onPage } from './page.mjs'

const FIRST = 100 // three digits, so that each edit is one program nobody has run before
const PROGRAM = `k = ${FIRST}
import torch
x = torch.ones(2, 2, requires_grad=True)
y = x + k
z = y * y * 3
out = z.mean()
out.backward()
print(x.grad)`

await onPage(PROGRAM, async (page) => {
  for (let k = FIRST + 1; k <= FIRST + Number(process.env.EDITS); k++) {
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('End')
    for (const key of ['Backspace', 'Backspace', 'Backspace', ...String(k)]) await page.keyboard.press(key)
    await page.waitForTimeout(250) // a person looks at what they typed
    console.log(JSON.stringify(await page.evaluate(edited, String(k + 1))))
  }
})

/** In the page: runs the program and waits until a box shows the number and that has been painted; milliseconds. */
function edited(number) {
  const asked = (began) => performance.getEntriesByType('resource').filter((entry) => entry.startTime >= began)
    .map((entry) => ({ path: new URL(entry.name).pathname, from_ms: entry.startTime - began, to_ms: entry.responseEnd - began }))
  return new Promise((tell, fail) => {
    const scene = document.querySelector('.gg-scene')
    const whole = new RegExp(`\\b${number}\\b`)
    const shows = () => [...scene.querySelectorAll('.box')].some((box) => whole.test(box.textContent))
    if (shows()) return fail(new Error(`${number} is shown already`))
    const began = performance.now()
    const late = setTimeout(() => fail(new Error(`no picture of ${number}: ${scene.textContent}`)), 10_000)
    const look = () => {
      if (!shows()) return requestAnimationFrame(look)
      clearTimeout(late)
      const painted = new MessageChannel() // its turn comes after the frame that this callback belongs to
      painted.port1.onmessage = () => tell({ picture_ms: performance.now() - began, asked: asked(began) })
      painted.port2.postMessage(0)
    }
    document.querySelector('.cm-content').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', code: 'Enter', keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true }))
    requestAnimationFrame(look)
  })
}
