// A page on which a program has run, for what is measured there. GRADGRAPH_URL is the server, CHROMIUM the browser.

import { createRequire } from 'node:module'

const require = createRequire(new URL('../../frontend/package.json', import.meta.url))
const { chromium } = require('playwright-core')

const QUIET = '--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** Runs a program and gives its page to what measures, once a box is drawn. */
export async function onPage(program, measure) {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: QUIET.split(' ') })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(process.env.GRADGRAPH_URL)
    await page.locator('.cm-content').fill(program)
    await page.keyboard.press('Control+Enter')
    await page.locator('.gg-scene text', { hasText: 'AddBackward0' }).first().waitFor()
    await measure(page)
  } finally {
    await browser.close()
  }
}
