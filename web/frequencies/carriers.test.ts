import { expect, it } from 'vitest'
import type { FrequencyCarrierBody } from '../../src/contract/frequencies.ts'
import { changeTried, listChanges, parseFrequency, showCarriers } from './carriers.ts'
import { buildCarrier } from './test-carriers.ts'

const carriers: readonly FrequencyCarrierBody[] = [
  buildCarrier(1, '486.625'),
  buildCarrier(2, '485.000', { transmitter_on: false }),
  buildCarrier(3, '488.175', { transmitter_on: null }),
]

it('shows the carriers by frequency, with their states', () => {
  const shown = showCarriers(carriers, new Map())
  expect(shown.map(({ id, khz, state, isTried }) => [id, khz, state, isTried])).toEqual([
    ['c2', 485_000, 'off', false],
    ['c1', 486_625, 'on', false],
    ['c3', 488_175, 'offline', false],
  ])
  const { channel_id: _, ...placeholder } = buildCarrier(4, '490.000', { transmitter_on: null })
  expect(showCarriers([placeholder], new Map())).toMatchObject([{ state: 'planned' }])
})

it('shows the frequencies that the user tries, and lists them by slot', () => {
  const tried = changeTried(changeTried(new Map(), 'c3', 470_125, '488.175'), 'c1', 500_000, '486.625')
  const shown = showCarriers(carriers, tried)
  expect(shown.map(({ id, mhz }) => [id, mhz])).toEqual([
    ['c3', '470.125'],
    ['c2', '485.000'],
    ['c1', '500.000'],
  ])
  expect(listChanges(shown).map(({ id, presentMhz, mhz }) => [id, presentMhz, mhz])).toEqual([
    ['c1', '486.625', '500.000'],
    ['c3', '488.175', '470.125'],
  ])
})

it('forgets a change back to the present frequency', () => {
  const tried = changeTried(new Map(), 'c1', 500_000, '486.625')
  expect(changeTried(tried, 'c1', 486_625, '486.625').size).toBe(0)
})

it.each([
  ['486.625', 486_625],
  ['486,6', 486_600],
  [' 486 ', 486_000],
  ['486625', 486_625],
  ['486.625 MHz', 486_625],
  ['486625 kHz', 486_625],
  ['1785.5', 1_785_500],
  ['486.6255', null],
  ['486.625.1', null],
  ['', null],
  ['Mic', null],
  ['5', null],
])('parses "%s" as %s kHz', (text, khz) => {
  expect(parseFrequency(text)).toBe(khz)
})
