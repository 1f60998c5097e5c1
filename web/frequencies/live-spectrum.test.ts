import { describe, expect, it } from 'vitest'
import type { SweepsBody } from '../../src/contract/sweeps.ts'
import type { SweepMessage } from '../app/live-updates.ts'
import { LiveSpectrum, readSweeps, sweepTrace } from './live-spectrum.ts'

const start = Date.parse('2026-11-28T12:00:00Z')
const at = (second: number) => new Date(start + second * 1000).toISOString()

function bodyAt(second: number, levels: readonly (number | null)[], others: Partial<SweepsBody> = {}): SweepsBody {
  return {
    ...{ source: 'stage', from_mhz: 470, step_mhz: 0.5, last: [...levels], max: [...levels], calibrated: true },
    ...{ waterfall: [{ at: at(second), dbm: [...levels] }], sweep_seconds: null, at: at(second), ...others },
  }
}

function messageAt(second: number, levels: readonly (number | null)[], others: Partial<SweepMessage> = {}) {
  const message: SweepMessage = {
    ...{ type: 'sweep', source: 'stage', at: at(second), from_mhz: 470, step_mhz: 0.5, dbm: [...levels] },
    ...others,
  }
  return message
}

function followed(body: SweepsBody, now: number) {
  const spectrum = new LiveSpectrum()
  spectrum.read(body, now)
  const sweeps = () => {
    const shown = spectrum.sweeps()
    if (shown === null) throw new Error('Nothing is shown.')
    return shown
  }
  return { spectrum, sweeps }
}

// Conformance: C-23.120, C-23.122.
describe('LiveSpectrum', () => {
  it('holds the highest levels and adds a line to the waterfall for each sweep', () => {
    const { spectrum, sweeps } = followed(bodyAt(0, [-90, null, -80.5]), start)
    spectrum.receive(messageAt(2, [-95, -70, -60]), start + 2000)
    expect(Array.from(sweeps().max)).toEqual([-900, -700, -600])
    expect(Array.from(sweeps().last)).toEqual([-950, -700, -600])
    expect(sweeps().lines.map((line) => line.at - start)).toEqual([0, 2000])
    expect(sweeps().sweepSeconds).toBe(2)
  })

  it('keeps 100 lines, and begins again when the range changes', () => {
    const { spectrum, sweeps } = followed(bodyAt(0, [-90, -90, -90]), start)
    for (let second = 1; second <= 120; second++) {
      spectrum.receive(messageAt(second, [-50, -90, -90]), start + second * 1000)
    }
    expect(sweeps().lines).toHaveLength(100)
    expect(sweeps().lines.at(-1)?.at).toBe(start + 120_000)
    spectrum.receive(messageAt(121, [-80, -80], { from_mhz: 600 }), start + 121_000)
    expect(sweeps().lines).toHaveLength(1)
    expect(Array.from(sweeps().max)).toEqual([-800, -800])
  })

  it('ignores the sweeps of other sources', () => {
    const { spectrum, sweeps } = followed(bodyAt(0, [-90]), start)
    spectrum.receive(messageAt(1, [-20], { source: 'roof' }), start + 1000)
    expect(Array.from(sweeps().last)).toEqual([-900])
  })

  it('takes a maximum that was reset elsewhere, but no older last sweep', () => {
    const { spectrum, sweeps } = followed(bodyAt(0, [-30, -90]), start)
    spectrum.receive(messageAt(2, [-80, -85]), start + 2000)
    spectrum.read(bodyAt(1, [-70, -95]), start + 2100)
    expect(Array.from(sweeps().last)).toEqual([-800, -850])
    expect(Array.from(sweeps().max)).toEqual([-700, -850])
  })

  it('says that a source has ended once two sweeps are missing, and notifies', () => {
    const { spectrum } = followed(bodyAt(0, [-90]), start)
    spectrum.receive(messageAt(20, [-90]), start + 20_000)
    let changes = 0
    spectrum.subscribe(() => {
      changes += 1
    })
    spectrum.tick(start + 64_000)
    expect([spectrum.isRunning(), changes]).toEqual([true, 0])
    spectrum.tick(start + 66_000)
    spectrum.tick(start + 67_000)
    expect([spectrum.isRunning(), changes]).toEqual([false, 1])
    spectrum.receive(messageAt(70, [-90]), start + 70_000)
    expect(spectrum.isRunning()).toBe(true)
  })
})

it('counts the age of a sweep from its arrival, because the clock of an analyser may be wrong', () => {
  const { spectrum, sweeps } = followed(bodyAt(0, [-90]), start + 3_600_000)
  expect(spectrum.isRunning()).toBe(false)
  spectrum.receive(messageAt(1, [-90]), start + 3_601_000)
  expect(spectrum.isRunning()).toBe(true)
  expect(readSweeps(bodyAt(1, [-90]), start + 3_630_000, sweeps()).receivedAt).toBe(start + 3_601_000)
  expect(readSweeps(bodyAt(9_000, [-90]), start, null).receivedAt).toBe(start)
})

it('leaves out frequencies that were not measured', () => {
  const { sweeps } = followed(bodyAt(0, [-90, null, -80]), start)
  const { khz, dbm } = sweepTrace(sweeps(), sweeps().last).levels[0] ?? { khz: [], dbm: [] }
  expect([Array.from(khz), Array.from(dbm)]).toEqual([
    [470_000, 471_000],
    [-90, -80],
  ])
})
