import { expect, it } from 'vitest'
import type { FrequencySuggestionBody } from '../../src/contract/frequencies.ts'
import { showCarriers } from './carriers.ts'
import {
  applySuggestion,
  checkedCarrier,
  formatRanges,
  listKept,
  listWanted,
  listZones,
  nothingTried,
  parseRanges,
} from './suggestion.ts'
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

type Suggested = FrequencySuggestionBody['carriers'][number]
type Missing = FrequencySuggestionBody['unplaced'][number]

const suggest = (mhz: string, others: Partial<Suggested> = {}): Suggested => {
  return { profile: 'ulxd', mhz, soft: [], measured: 'free', ...others }
}
const missing = (profile: string, kind: Missing['reason']['kind'], by: string[]): Missing => {
  return { profile, count: 1, reason: { kind, by } }
}

// Conformance: C-23.124.
it('gives the suggested frequencies to the carriers of the profile by slot, and lists those that did not fit', () => {
  const suggested = [suggest('470.125', { soft: ['2t5o'] }), suggest('486.625')]
  const { tried, unplaced, accepted } = applySuggestion(
    { ...nothingTried, tried: new Map([['c3', 500_000]]) },
    [...chosen, ...showCarriers([buildCarrier(9, '500.000')], new Map())],
    {
      carriers: suggested,
      unplaced: [missing('ew_g4', '3t3o', ['new:470.125', 'c7', 'new:486.625']), missing('ulxd', 'time', [])],
    },
  )
  // Slot 3 gets its present frequency, so nothing else is tried for it.
  expect([...tried]).toEqual([['c1', 470_125]])
  expect(unplaced.map(({ carrier, reason }) => [carrier.id, reason?.kind, reason?.by])).toEqual([
    ['c2', '3t3o', ['c1', 'c7', 'c3']],
    ['c9', 'time', []],
  ])
  expect([...accepted]).toEqual([['c1', ['2t5o']]])
})

it('asks for each band separately, and gives its frequencies only to carriers of that band', () => {
  const banded = showCarriers(
    [buildCarrier(1, '486.000', { band: 'G51' }), buildCarrier(2, '600.000', { band: 'K51' })],
    new Map(),
  )
  expect(listWanted(banded, []).map(({ band, count }) => [band, count])).toEqual([
    ['G51', 1],
    ['K51', 1],
  ])
  const carriers = [suggest('610.000', { band: 'K51' }), suggest('480.000', { band: 'G51' })]
  expect([...applySuggestion(nothingTried, banded, { carriers, unplaced: [] }).tried]).toEqual([
    ['c1', 480_000],
    ['c2', 610_000],
  ])
})

it('keeps the carriers of the zone of a suggestion without a zone, and all others in another one', () => {
  const carriers = showCarriers(
    [
      buildCarrier(1, '486.000', { zone: 'A' }),
      buildCarrier(2, '487.000', { zone: 'A' }),
      buildCarrier(3, '488.000', { zone: 'B' }),
      buildCarrier(4, '489.000'),
    ],
    new Map(),
  )
  const zonesFor = (zone: string | null) =>
    listKept(carriers, carriers.slice(0, 1), zone).map((kept) => [kept.id, kept.zone])
  expect(zonesFor('A')).toEqual([
    ['c2', null],
    ['c3', 'other'],
    ['c4', 'other'],
  ])
  expect(zonesFor(null)).toEqual([
    ['c2', 'other'],
    ['c3', 'other'],
    ['c4', null],
  ])
  expect(listZones(carriers)).toEqual(['A', 'B', null])
})

it('passes everything on which the conflicts of a carrier depend', () => {
  const others = { band: 'G51', receiver_id: 4, second_mhz: '500.000', foreign: true as const, zone: 'A' }
  const [present] = showCarriers([buildCarrier(1, '486.000', others)], new Map())
  const expected = { id: 'c1', mhz: '486.000', profile: 'ulxd', ...others }
  expect(present && checkedCarrier(present)).toEqual(expected)
  const [tried] = showCarriers([buildCarrier(1, '486.000', others)], new Map([['c1', 487_000]]))
  const { foreign: _, ...moved } = expected
  expect(tried && checkedCarrier(tried)).toEqual({ ...moved, mhz: '487.000' })
})
