import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { buildReceiver } from '../../test/support/builders.ts'
import { buildTitles } from '../../test/support/titles.ts'
import { emptyChannel, type Receiver, type Transmitter } from '../domain/equipment/receiver.ts'
import { checkCarriers } from '../domain/frequencies/check.ts'
import { type LiveCheckFilter, listLiveCarriers, toLiveCheck } from '../domain/frequencies/live-carriers.ts'
import { builtInProfiles } from '../domain/frequencies/profiles.ts'
import { FrequencyConflicts } from './frequency-conflicts.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const transmitter: Transmitter = {
  upstream_slot: null,
  name: 'Vox',
  battery: 50,
  audio_level: -20,
  rf_level: -50,
  frequency: null,
}

class TestConflicts {
  readonly receivers = new Map<number, Receiver>()
  readonly changed: number[][] = []
  checks = 0
  isEnabled = true
  readonly conflicts = new FrequencyConflicts(
    { facts: (id: number) => this.receivers.get(id) } as never,
    { check: (filter: LiveCheckFilter) => this.#check(filter) } as never,
    { hasAlerts: () => this.isEnabled } as never,
    { warn: () => {} } as never,
  )

  constructor() {
    this.conflicts.changed.subscribe((ids) => this.changed.push([...ids]))
  }

  /** Puts a receiver with one channel at this frequency. */
  async put(id: number, frequency: string, fields: { isOn?: boolean; rf_level?: number } = {}): Promise<void> {
    const { isOn = true, rf_level = -50 } = fields
    const channel = {
      ...emptyChannel(10 * id, 1, id),
      frequency,
      transmitter: isOn ? { ...transmitter, rf_level } : null,
    }
    this.receivers.set(id, buildReceiver(id, { channels: [channel] }))
    this.conflicts.receiverChanged(id)
    await vi.advanceTimersByTimeAsync(1000)
  }

  async #check(filter: LiveCheckFilter) {
    this.checks += 1
    const lists = { placeholders: [], groups: [], locations: [], profiles: builtInProfiles }
    const titles = { titleOf: buildTitles(), titleOfPlaceholder: () => '' }
    const carriers = listLiveCarriers({ receivers: [...this.receivers.values()], ...lists, ...titles })
    return { carriers, result: checkCarriers(toLiveCheck(carriers, filter).carriers) }
  }
}

// Conformance: C-15.19.
it('keeps a conflict settling for 10 s after its end', async () => {
  const test = new TestConflicts()
  test.conflicts.open()
  await test.put(1, '500.000')
  expect(test.conflicts.isSettling(20)).toBe(false)
  await test.put(2, '500.100')
  expect(test.conflicts.conflictOf(20)).toMatchObject({
    kind: 'spacing',
    generators: [{ slot: 1, title: 'Vox' }],
  })
  expect(test.conflicts.conflictOf(10)).toBeNull()
  test.changed.length = 0
  await test.put(2, '510.000')
  expect([test.conflicts.conflictOf(20), test.conflicts.isSettling(20)]).toEqual([null, true])
  await vi.advanceTimersByTimeAsync(8000)
  expect(test.conflicts.isSettling(20)).toBe(true)
  await vi.advanceTimersByTimeAsync(2000)
  expect(test.conflicts.isSettling(20)).toBe(false)
  expect(test.changed).toEqual([[2], [2]])
  test.conflicts.close()
})

// Conformance: C-15.20.
it('checks again only after a carrier was changed or switched, not for levels', async () => {
  const test = new TestConflicts()
  test.conflicts.open()
  await test.put(1, '500.000')
  await test.put(2, '500.100')
  const { checks } = test
  await test.put(2, '500.100', { rf_level: -60 })
  expect(test.checks).toBe(checks)
  await test.put(2, '500.100', { isOn: false })
  expect(test.checks).toBe(checks + 1)
  expect(test.conflicts.conflictOf(20)).toBeNull()
  test.conflicts.close()
})

it('does not check anything while alerts about conflicts are disabled', async () => {
  const test = new TestConflicts()
  test.isEnabled = false
  test.conflicts.open()
  await test.put(1, '500.000')
  await test.put(2, '500.100')
  expect([test.checks, test.conflicts.conflictOf(20)]).toEqual([0, null])
  test.isEnabled = true
  test.conflicts.listsChanged()
  await vi.advanceTimersByTimeAsync(1000)
  expect(test.conflicts.conflictOf(20)).not.toBeNull()
  test.conflicts.close()
})
