import { expect, it, vi } from 'vitest'
import { buildSlotRecords } from '../../test/support/titles.ts'
import type { Placeholder } from '../domain/equipment/slots.ts'
import { checkCarriers } from '../domain/frequencies/check.ts'
import { toLiveCheck } from '../domain/frequencies/live-carriers.ts'
import { PlaceholderStore } from '../ingest/placeholder-store.ts'
import { ReceiverStore } from '../ingest/receiver-store.ts'
import { EffectiveSettings } from '../lists/effective-settings.ts'
import { StoredLists } from '../lists/stored-lists.ts'
import { SourceRegistry } from '../sources/source-registry.ts'
import { createDestinations } from '../upstream/destinations.ts'
import { createRequestThrottle } from '../upstream/request-throttle.ts'
import { FrequencyChecker } from './frequency-checker.ts'
import { LiveFrequencies } from './live-frequencies.ts'

const filter = { level: 'standard', isOnlyOn: false, slots: null } as const

function start(frequencies: readonly string[]) {
  const placeholders = frequencies.map(
    (frequency, index): Placeholder => ({
      ...{ id: index + 1, slot: index + 1, name: `Vox ${index}`, kind: 'wireless', note: '', created_at: 0 },
      frequency,
      version: 1,
    }),
  )
  const lists = new StoredLists()
  const outbound = { throttle: createRequestThrottle(), destinations: createDestinations() }
  const defaults = { defaultInterval: 10, isBroadcasting: true }
  const settings = new EffectiveSettings(lists, new SourceRegistry(outbound), defaults)
  const placeholderStore = new PlaceholderStore()
  const checker = new FrequencyChecker()
  const check = vi.spyOn(checker, 'check')
  const receiverStore = new ReceiverStore()
  const slotRecords = buildSlotRecords(receiverStore, placeholderStore)
  const live = new LiveFrequencies(lists, settings, receiverStore, placeholderStore, slotRecords, checker)
  const replace = () => placeholderStore.replace({ revision: 1, placeholders: [...placeholders], entries: [] })
  replace()
  const tune = (index: number, frequency: string) => {
    placeholders[index] = { ...(placeholders[index] as Placeholder), frequency }
    replace()
  }
  const remove = (index: number) => {
    placeholders.splice(index, 1)
    replace()
  }
  const fullCheck = () => checkCarriers(toLiveCheck(live.carriers(), filter).carriers)
  return { live, tune, remove, fullCheck, checks: () => check.mock.calls.length }
}

// Conformance: C-15.27.
it('compares only changed carriers with the others, with the same result', async () => {
  const { live, tune, remove, fullCheck, checks } = start(['500.000', '506.000', '494.025', '510.000'])
  const first = await live.check(filter)
  expect(first.result.totals['2t3o']).toBe(2)
  expect(await live.check(filter)).toEqual(first)
  expect(checks()).toBe(1)
  tune(3, '500.100')
  expect((await live.check(filter)).result).toEqual(fullCheck())
  remove(1)
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
