// What the share box writes for each kind of place, as JSON; of the snapshot that the first argument names.

import { PLACES, SNIPPETS } from '../../frontend/src/core/snippets.ts'

const shared = JSON.parse(process.argv[2])
console.log(JSON.stringify(Object.fromEntries(PLACES.map((place) => [place, SNIPPETS[place](shared)]))))
