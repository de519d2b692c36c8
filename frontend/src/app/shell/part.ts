// Fetches parts of the page when they are first shown (the build calls it for each `import()`): with their styles and
// scripts at once, again where the network fails, and where it still does when the reader says so. Most browsers
// remember that a script failed and never ask for it again: there the page is loaded anew, which keeps what was
// written and run; once without being asked as long as there is nothing to write in.

import { again } from '../../core/again'

const styles = new Map<string, Promise<unknown>>()

export async function part<Part>(load: () => Promise<Part>, files: readonly string[] = []): Promise<Part> {
  const fetched = async () => (await Promise.all([load(), ...files.map(linked)]))[0]
  for (let wasAsked = false; ; wasAsked = true) {
    try {
      return await (wasAsked ? fetched() : again(fetched))
    } catch {
      if ((wasAsked || isFirst()) && (await isServed())) location.reload()
      await wanted()
    }
  }
}

/** Whether the page does not stand yet, and was not loaded anew. */
const isFirst = () =>
  !document.querySelector('.cm-content') && performance.getEntriesByType('navigation')[0]!.toJSON().type !== 'reload'

/** Whether the page itself can be had. */
const isServed = () =>
  fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
    (answer) => answer.ok,
    () => false,
  )

/** A style sheet is waited for; a script is only begun. */
function linked(file: string): Promise<unknown> | undefined {
  const href = `/${file}`
  if (!styles.has(file) && !document.querySelector(`link[href="${href}"]`)) {
    const rel = file.endsWith('.css') ? 'stylesheet' : 'modulepreload'
    const link = Object.assign(document.createElement('link'), { rel, href, crossOrigin: '' })
    const come = new Promise((done, failed) => {
      link.onload = done
      link.onerror = () => {
        link.remove()
        styles.delete(file)
        failed(new Error(href))
      }
    })
    if (rel === 'stylesheet') styles.set(file, come)
    else come.catch(() => 0)
    document.head.append(link)
  }
  return styles.get(file)
}

/** Until the reader presses the button of a sentence in index.html, which needs no words that are fetched, or is online
 *  again. */
async function wanted(): Promise<void> {
  const said = document.getElementById('missing')!
  said.hidden = false
  await new Promise((go) => {
    said.lastElementChild!.addEventListener('click', go, { once: true })
    addEventListener('online', go, { once: true })
  })
  said.hidden = true
}
