/** Checks and suggestions of frequencies that need seconds of processor time. */

import { expect, it } from 'vitest'
import { type Carrier, equipmentWithGuards } from './carrier.ts'
import { checkCarriers } from './check.ts'
import { builtInProfiles, equipmentOf } from './profiles.ts'
import { suggestCarriers } from './suggest.ts'

// Comparing all pairs with all pairs would take an hour.
it('checks 1,000 carriers on one frequency', () => {
  const equipment = equipmentWithGuards({ spacing: 350, '2t3o': 75, '3t3o': 50, '2t5o': 90 })
  const carriers = Array.from(
    { length: 1000 },
    (_, index): Carrier => ({ ...equipment, id: `c${index}`, khz: 500_000, zone: null, hasForeignRf: false }),
  )
  const { totals } = checkCarriers(carriers)
  expect(Object.entries(totals).filter(([, count]) => count > 0)).toEqual([['duplicate', 499_500]])
})

it('gives the same answer to a request that takes seconds', () => {
  const profile = builtInProfiles.find(({ id }) => id === 'ew_g4')
  if (profile === undefined) throw new Error('There is no profile ew_g4.')
  const ranges = [{ fromKhz: 470_000, toKhz: 478_000 }]
  const equipment = equipmentOf(profile, 'robust')
  const request = { wanted: [{ profile: profile.id, equipment, stepKhz: profile.step_khz, ranges, count: 9 }] }
  expect(suggestCarriers(request)).toEqual(suggestCarriers(request))
})
