import { describe, expect, it } from 'vitest'
import type { FrequencyConflictBody } from '../../src/contract/frequencies.ts'
import { showCarriers } from './carriers.ts'
import {
  conflictText,
  countText,
  type FindCarrier,
  findPeak,
  formulaText,
  isActive,
  severityOf,
  sortConflicts,
} from './conflict-text.ts'
import { buildCarrier } from './test-carriers.ts'

const shown = showCarriers(
  [
    buildCarrier(1, '485.000'),
    buildCarrier(3, '486.625'),
    buildCarrier(5, '483.400'),
    buildCarrier(7, '500.000', { transmitter_on: false, noise_dbm: -68 }),
  ],
  new Map(),
)
const left: ReturnType<FindCarrier> = { label: '9 IEM 9', mhz: null, state: 'off', noise_dbm: null }
const find: FindCarrier = (id) => shown.find((carrier) => carrier.id === id) ?? findPeak(id) ?? left

function conflict(
  kind: FrequencyConflictBody['kind'],
  others: Partial<FrequencyConflictBody> = {},
): FrequencyConflictBody {
  return { kind, victim: 'c3', product_mhz: null, offset_khz: null, guard_khz: null, generators: [], ...others }
}

const product = { product_mhz: '486.600', offset_khz: -25, guard_khz: 75, generators: ['c1', 'c5'] }

describe('conflictText', () => {
  // Conformance: C-15.70.
  it('names the victim and the generators', () => {
    expect(conflictText(conflict('2t3o', product), find)).toBe(
      '3 Mic 3 (486.625 MHz) is hit by 2 × (1 Mic 1) − (5 Mic 5), 25 kHz away; needs 75 kHz.',
    )
  })

  it.each<[FrequencyConflictBody, string]>([
    [
      conflict('3t3o', { ...product, offset_khz: 0, guard_khz: 50, generators: ['c1', 'c5', 'p9'] }),
      '3 Mic 3 (486.625 MHz) is hit exactly by (1 Mic 1) + (5 Mic 5) − (9 IEM 9); needs 50 kHz.',
    ],
    [
      conflict('occupied', { scan_id: 1, dbm: -80, mhz: '486.650' }),
      'A scan shows −80 dBm at 486.650 MHz, on 3 Mic 3 (486.625 MHz).',
    ],
    [
      conflict('peak', { offset_khz: 775, guard_khz: 800, generators: ['peak:487.400'] }),
      '3 Mic 3 (486.625 MHz) is 775 kHz from the peak at 487.400 MHz; needs 800 kHz.',
    ],
    [
      conflict('spacing', { offset_khz: 200, guard_khz: 350, generators: ['c1'] }),
      '3 Mic 3 (486.625 MHz) is 200 kHz from 1 Mic 1; needs 350 kHz.',
    ],
    [
      conflict('duplicate', { offset_khz: 0, guard_khz: 350, generators: ['c1'] }),
      '3 Mic 3 (486.625 MHz) is on the same frequency as 1 Mic 1.',
    ],
    [conflict('tv'), '3 Mic 3 (486.625 MHz) touches a TV channel in use.'],
    [conflict('outside_band'), '3 Mic 3 (486.625 MHz) is outside the bands of its equipment.'],
    [
      conflict('foreign', { victim: 'c7' }),
      'RF is received on 7 Mic 7 (500.000 MHz) although its transmitter is off: −68 dBm.',
    ],
    [conflict('foreign'), 'RF is received on 3 Mic 3 (486.625 MHz) although its transmitter is off.'],
  ])('describes %j', (found, text) => {
    expect(conflictText(found, find)).toBe(text)
  })

  it.each([
    ['2t5o', '3 × A − 2 × B'],
    ['2t7o', '4 × A − 3 × B'],
    ['2t9o', '5 × A − 4 × B'],
  ] as const)('writes the formula of %s', (kind, text) => {
    expect(formulaText(kind, ['A', 'B'])).toBe(text)
  })
})

describe('sortConflicts', () => {
  // Conformance: C-15.71.
  it('sorts by severity: colour, active, kind, share of the guard', () => {
    const fifth = conflict('2t5o', { ...product, offset_khz: 0 })
    const far = conflict('2t3o', { ...product, offset_khz: 50 })
    const near = conflict('2t3o', product)
    const idle = conflict('2t3o', { ...product, offset_khz: 0, generators: ['c1', 'c7'] })
    const spacing = conflict('spacing', { offset_khz: 300, guard_khz: 350, generators: ['c1'] })
    const foreign = conflict('foreign', { victim: 'c7' })
    expect(sortConflicts([fifth, idle, far, foreign, near, spacing], find)).toEqual([
      ...[spacing, foreign, near, far, idle, fifth],
    ])
    expect([spacing, near, fifth].map(severityOf)).toEqual(['critical', 'warning', 'info'])
  })

  it('is active only if everything that takes part is on', () => {
    expect(isActive(conflict('2t3o', product), find)).toBe(true)
    expect(isActive(conflict('2t3o', { ...product, generators: ['c1', 'c7'] }), find)).toBe(false)
  })
})

it('says that a carrier may have more conflicts than are listed', () => {
  expect(countText({ count: 0, isComplete: true })).toBe('0')
  expect(countText({ count: 12, isComplete: false })).toBe('12+')
  expect(countText({ count: 0, isComplete: false })).toBeNull()
})
