import { describe, expect, it } from 'vitest'
import { toSweep, unmeasured } from './sweep.ts'
import { findUnknownCarriers, followCarriers, isLasting, type SeenCarrier } from './unknown-carriers.ts'

/** A sweep from 500 MHz in steps of 25 kHz: noise, and these signals with skirts of 5 dB a step. */
function sweepWith(signals: Readonly<Record<number, number>>) {
  const dbm = Array.from({ length: 401 }, (_, index) => {
    const levels = Object.entries(signals).map(([mhz, level]) => {
      const steps = Math.abs(index - Math.round((Number(mhz) - 500) / 0.025))
      return level - 5 * steps
    })
    return Math.max(-100, ...levels)
  })
  return toSweep({ startedAt: 0, fromMhz: 500, stepMhz: 0.025, dbm, isCalibrated: true })
}

const find = (signals: Readonly<Record<number, number>>, knownKhz: readonly number[] = [], inUseKhz = [504_000]) =>
  findUnknownCarriers(sweepWith(signals), inUseKhz, { knownKhz: [...inUseKhz, ...knownKhz].sort(), aboveDbm: -60 })

describe('unknown carriers', () => {
  // Conformance: C-23.84.
  it.each([
    ['above the threshold near a channel in use', { 504: -30, 504.3: -50 }, [], [[504_300, -50]]],
    [
      'at the threshold and at the edges',
      { 504.5: -60, 503.5: -60 },
      [],
      [
        [503_500, -60],
        [504_500, -60],
      ],
    ],
    ['not below the threshold', { 504.3: -60.1 }, [], []],
    ['not farther than 500 kHz', { 504.525: -40, 503.475: -40 }, [], []],
    ['not within 150 kHz of a tuned or planned carrier', { 504.125: -40, 504.4: -40 }, [504_275], []],
    ['not if a planned carrier is there', { 504.3: -40 }, [504_300], []],
    ['not in the skirt of a stronger known carrier', { 504: -5, 504.15: -37, 504.175: -36 }, [], []],
    ['if there is a notch between them', { 504: -30, 504.4: -50 }, [], [[504_400, -50]]],
  ])('are found %s', (_, signals, known, expected) => {
    expect(find(signals, known).map(({ khz, dbm }) => [khz, dbm])).toEqual(expected)
  })

  // Conformance: C-23.84.
  it('are not found without a channel in use, and in unmeasured parts', () => {
    expect(find({ 504.3: -40 }, [], [])).toEqual([])
    const sweep = sweepWith({ 504.3: -40 })
    expect(
      findUnknownCarriers({ ...sweep, tenthsDbm: sweep.tenthsDbm.fill(unmeasured) }, [504_000], {
        knownKhz: [],
        aboveDbm: -60,
      }),
    ).toEqual([])
  })

  // Conformance: C-23.84.
  it('last after two consecutive sweeps and two seconds, although they drift by a step', () => {
    let seen: readonly SeenCarrier[] = []
    const sweepAt = (now: number, khz: number | null) => {
      seen = followCarriers(seen, khz === null ? [] : [{ khz, dbm: -50 }], { now, stepMhz: 0.025 })
      return seen.some((carrier) => isLasting(carrier, now))
    }
    expect([sweepAt(0, 504_300), sweepAt(1000, 504_325), sweepAt(1999, 504_300), sweepAt(2000, 504_300)]).toEqual([
      ...[false, false, false, true],
    ])
    expect([sweepAt(3000, null), sweepAt(4000, 504_300), sweepAt(5000, 504_400), sweepAt(25_000, 504_400)]).toEqual([
      ...[false, false, false, true],
    ])
  })
})
