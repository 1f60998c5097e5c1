/** The check of carriers, beside a check of every product against every carrier. */

import { checkCarriers } from '../src/domain/frequencies/check.ts'
import { createRandom } from '../src/domain/frequencies/random.ts'
import { carriersAt, checkByBruteForce } from '../src/domain/frequencies/test-carriers.ts'
import type { Bench, Figure } from './harness.ts'

const guards = { spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90 }
/** With more carriers, the reference takes minutes. */
const maxReferenceCarriers = 20

export const frequencies: Bench = {
  name: 'frequencies',
  runs: 5,
  async open() {
    const sets = [20, 100, 300].map(createSet)
    for (const set of sets) checkCarriers(set)
    return { measure: async () => sets.map(measureSet) }
  },
}

function measureSet(set: ReturnType<typeof createSet>): Figure {
  return {
    name: `check ${set.length} carriers, third and fifth order`,
    unit: 'ms',
    ours: measureMs(() => checkCarriers(set)),
    reference: set.length > maxReferenceCarriers ? null : measureMs(() => checkByBruteForce(set)),
  }
}

function measureMs(work: () => unknown): number {
  const startedAt = performance.now()
  work()
  return performance.now() - startedAt
}

/** Different random frequencies between 470 and 694 MHz. */
function createSet(count: number) {
  const random = createRandom(count)
  const steps = new Set<number>()
  while (steps.size < count) steps.add(Math.floor(random() * 8960))
  return carriersAt(
    [...steps].map((step) => 470 + 0.025 * step),
    guards,
  )
}
