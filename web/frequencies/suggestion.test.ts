import { expect, it } from 'vitest'
import { showCarriers } from './carriers.ts'
import { applySuggestion, formatRanges, listWanted, parseRanges } from './suggestion.ts'
import { buildCarrier } from './test-carriers.ts'

it.each([
  ['470-534', [['470.000', '534.000']]],
  [
    '470.1 – 534; 614.5-616',
    [
      ['470.100', '534.000'],
      ['614.500', '616.000'],
    ],
  ],
  [
    '470-534, 614-616',
    [
      ['470.000', '534.000'],
      ['614.000', '616.000'],
    ],
  ],
  ['470,125-534', [['470.125', '534.000']]],
  ['', []],
  ['534-470', null],
  ['470', null],
  ['470-534-600', null],
  ['Mic', null],
])('parses the ranges "%s"', (text, ranges) => {
  expect(parseRanges(text)).toEqual(ranges?.map(([from, to]) => ({ from, to })) ?? null)
})

it('writes ranges as it reads them', () => {
  const ranges = [
    { from: '470.000', to: '534.500' },
    { from: '614.025', to: '616.000' },
  ]
  expect(formatRanges(ranges)).toBe('470-534.5; 614.025-616')
  expect(parseRanges(formatRanges(ranges))).toEqual(ranges)
})

const chosen = showCarriers(
  [buildCarrier(3, '486.625'), buildCarrier(1, '487.000'), buildCarrier(2, '490.000', { profile: 'ew_g4' })],
  new Map(),
)

it('asks for as many carriers of each profile as are selected', () => {
  const ranges = [{ from: '470.000', to: '478.000' }]
  expect(listWanted(chosen, ranges)).toEqual([
    { profile: 'ulxd', count: 2, ranges },
    { profile: 'ew_g4', count: 1, ranges },
  ])
})

it('gives the suggested frequencies to the carriers of the profile by slot, and leaves out what is missing', () => {
  const suggested = [
    { profile: 'ulxd', mhz: '470.125' },
    { profile: 'ulxd', mhz: '486.625' },
  ]
  const plan = applySuggestion(new Map([['c3', 500_000]]), chosen, suggested)
  // Slot 3 gets its present frequency, so it is not in the plan.
  expect([...plan]).toEqual([['c1', 470_125]])
})
