/** Simulated devices of all families, in a separate process. */

import { families } from '../simulators/families.ts'

const rack = { seed: 1, firstPerformer: 0, startedAt: Date.now() }
const manufacturers: object[] = []
for (const [code, { copies, start }] of Object.entries(families)) {
  manufacturers.push({ code, config: await start({ ...rack, copies }) })
}
console.log(JSON.stringify({ manufacturers }))
