// A page on which a program has run, for what is measured there. GRADGRAPH_URL is the server, CHROMIUM the browser.

import { createRequire } from 'node:module'

const require = createRequire(new URL('../../frontend/package.json', import.meta.url))
const { chromium } = require('playwright-core')

const QUIET = '--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync'

export async function launched(measure) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: QUIET.split(' ') })
  try {
    await measure(browser)
  } finally {
    await browser.close()
  }
}

/** In the page: does something, and tells how many milliseconds later the frame that shows it was painted. */
export function painted(act) {
  return new Promise((tell) => {
    const began = performance.now()
    act()
    requestAnimationFrame(() => {
      const after = new MessageChannel() // its turn comes after the frame that this callback belongs to
      after.port1.onmessage = () => tell(performance.now() - began)
      after.port2.postMessage(0)
    })
  })
}

/** Runs a program and gives its page to what measures, once a box is drawn. */
export function onPage(program, measure) {
  return launched(async (browser) => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(process.env.GRADGRAPH_URL)
    await page.locator('.cm-content').fill(program)
    await page.keyboard.press('Control+Enter')
    await page.locator('.gg-scene text', { hasText: 'AddBackward0' }).first().waitFor()
    await measure(page)
  })
}
