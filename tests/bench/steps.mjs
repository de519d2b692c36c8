// What a step, a stretch of panning and the opening of a stored run cost in a real Chromium: lines of JSON. GRADGRAPH_URL
// is the server, CHROMIUM the browser, RUN a stored run.

import { launched, painted } from './page.mjs'

const STEPS = 60
const OPENINGS = 5
const { GRADGRAPH_URL: server, RUN: run } = process.env

await launched(async (browser) => {
  for (let turn = 0; turn < OPENINGS; turn += 1) await opened(browser, (page, ms) => say('opening', ms))
  await opened(browser, async (page) => {
    await page.waitForTimeout(1500) // what the page looks for after it has opened
    await measured(page, 'step', () => document.querySelector('.player .buttons button:nth-child(4)').click())
    await measured(page, 'pan', () => {
      const wheel = new WheelEvent('wheel', { deltaX: 12, deltaY: 25, bubbles: true, cancelable: true })
      document.querySelector('.gg-scene').dispatchEvent(wheel)
    })
  })
})

function say(what, ms) {
  console.log(JSON.stringify({ what, ms }))
}

/** In a profile of its own, so that nothing is kept from before. */
async function opened(browser, measure) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const began = performance.now()
  await page.goto(`${server}/#run=${run}&step=1000`)
  await page.locator('.gg-scene .box').first().waitFor()
  await measure(page, performance.now() - began)
  await page.close()
}

/** Milliseconds from an act to the frame painted after it, and of the processor that the page's thread takes for one. */
async function measured(page, what, act) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const busy_ms = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics')
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value
  }
  const before = await busy_ms()
  for (let turn = 0; turn < STEPS; turn += 1) say(what, await page.evaluate(`(${painted})(${act})`))
  say(`${what}, processor`, (await busy_ms() - before) / STEPS)
}
