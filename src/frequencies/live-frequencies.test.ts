import { expect, it } from 'vitest'
import { defaultSettings } from '../contract/settings.ts'
import type { Placeholder } from '../domain/equipment/placeholder.ts'
import { checkCarriers } from '../domain/frequencies/check.ts'
import { toLiveCheck } from '../domain/frequencies/live-carriers.ts'
import { LiveFrequencies } from './live-frequencies.ts'

const filter = { level: 'standard', isOnlyOn: false, slots: null } as const

function start(frequencies: readonly string[]) {
  const placeholders = frequencies.map(
    (frequency, index): Placeholder => ({
      ...{ id: index + 1, slot: index + 1, name: `Vox ${index}`, kind: 'wireless', note: '', created_at: 0 },
      frequency,
    }),
  )
  let checks = 0
  const live = new LiveFrequencies({
    state: {
      lists: { current: { frequencyProfiles: [], groups: [], locations: [] } },
      settings: { get: () => defaultSettings },
      receiverStore: { listAll: () => [] },
      placeholderStore: { list: () => placeholders },
    } as never,
    checker: {
      check: async (carriers, options) => {
        checks++
        return checkCarriers(carriers, options)
      },
    },
    now: () => 0,
  })
  const tune = (index: number, frequency: string) => {
    placeholders[index] = { ...(placeholders[index] as Placeholder), frequency }
  }
  const fullCheck = () => checkCarriers(toLiveCheck(live.carriers(), filter).carriers)
  return { live, placeholders, tune, fullCheck, checks: () => checks }
}

// Conformance: C-15.27.
it('compares only changed carriers with the others, with the same result', async () => {
  const { live, placeholders, tune, fullCheck, checks } = start(['500.000', '506.000', '494.025', '510.000'])
  const first = await live.check(filter)
  expect(first.result.totals['2t3o']).toBe(2)
  expect(await live.check(filter)).toEqual(first)
  expect(checks()).toBe(1)
  tune(3, '500.100')
  expect((await live.check(filter)).result).toEqual(fullCheck())
  placeholders.splice(1, 1)
  const { result } = await live.check(filter)
  expect(result).toEqual(fullCheck())
  expect(result.totals).toMatchObject({ spacing: 1, '2t3o': 0 })
  expect(checks()).toBe(1)
})

it('checks everything if the earlier result lists only some conflicts', async () => {
  const { live, tune, checks } = start(Array.from({ length: 60 }, (_, index) => (470 + 0.4 * index).toFixed(3)))
  await live.check(filter)
  tune(0, '600.000')
  await live.check(filter)
  expect(checks()).toBe(2)
})
