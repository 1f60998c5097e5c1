import { describe, expect, it } from 'vitest'
import { batteryAt, batteryTypes, emptyAt, type Pack, reportedMinutes } from './battery.ts'
import { createShow } from './show.ts'

const hourMs = 3_600_000
const full = (type: Pack['type'], seed = 7): Pack => ({ type, seed, charge: 100, firstPerHour: 12, perHour: 12 })

describe('the battery of a transmitter', () => {
  it.each(batteryTypes)('of type %s drains from full to empty without rising', (type) => {
    const pack = full(type)
    const lifeMs = (96 / 12) * hourMs
    let before = 100
    for (let timeMs = 0; timeMs < lifeMs; timeMs += 60_000) {
      const battery = batteryAt(pack, timeMs)
      expect(battery?.percent).toBeLessThanOrEqual(before)
      expect(battery?.remainingMs).toBeCloseTo(lifeMs - timeMs)
      before = battery?.percent ?? 0
    }
    expect(before).toBeLessThanOrEqual(emptyAt + 2)
    expect(batteryAt(pack, lifeMs + 1000)).toBeNull()
    expect(batteryAt(pack, lifeMs + 26_000)?.percent).toBe(100)
  })

  it('is not proportional to the remaining time, except of lithium packs', () => {
    const half = (type: Pack['type']) => batteryAt(full(type), 4 * hourMs)?.percent ?? 0
    expect(half('lithium')).toBeGreaterThan(47)
    expect(half('nimh')).toBeGreaterThan(55)
    expect(half('alkaline')).toBeLessThan(46)
  })

  it('begins with the charge of the cast', () => {
    for (const type of batteryTypes) expect(batteryAt({ ...full(type), charge: 61 }, 0)?.percent).toBe(61)
  })

  it('is reported in minutes to within a few percent', () => {
    for (let seed = 0; seed < 20; seed++) {
      const battery = batteryAt(full('lithium', seed), 3 * hourMs)
      if (battery === null) throw new Error('no battery')
      const minutes = battery.remainingMs / 60_000
      expect(Math.abs(reportedMinutes(full('lithium', seed), battery) - minutes)).toBeLessThanOrEqual(0.05 * minutes)
    }
  })
})

it('is what a show returns as the remaining time of a transmitter', () => {
  const show = createShow({ story: false, manufacturers: { shure: 1 } })
  const id = show.devicesAt(0)[0]?.device.id ?? ''
  const pack = { ...full('alkaline'), insertedAtMs: hourMs }
  show.set(id, { pack }, 1)
  expect(show.remainingMsAt(3 * hourMs, id, 1)).toBe(6 * hourMs)
  expect(show.deviceAt(3 * hourMs, id)?.channels[0]?.transmitter?.battery_type).toBe('alkaline')
  show.set(id, { battery: 12 }, 1)
  expect(show.remainingMsAt(3 * hourMs, id, 1)).toBeNull()
  show.unset(id)
  show.set(id, { transmitter: false }, 1)
  expect(show.remainingMsAt(3 * hourMs, id, 1)).toBeNull()
})
