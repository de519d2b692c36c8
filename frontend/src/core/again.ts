// Asks again for what a network failed to bring.

const WAITS_MS = [250, 1000, 3000]

/** What `load` brings; it is asked again a few times, each later than the last. */
export async function again<Part>(load: () => Promise<Part>): Promise<Part> {
  for (const wait of WAITS_MS) {
    try {
      return await load()
    } catch {
      await new Promise((go) => setTimeout(go, wait))
    }
  }
  return load()
}
