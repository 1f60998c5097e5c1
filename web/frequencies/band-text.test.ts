import { expect, it } from 'vitest'
import { formatBands, parseBands } from './band-text.ts'

const bands = [
  { from_mhz: '470.000', to_mhz: '608.000', status: 'free', source: 'Vfg. 34/2020; until 2030' },
  { from_mhz: '823.000', to_mhz: '832.500', status: 'forbidden', source: '' },
] as const

// Conformance: C-23.125.
it('reads bands as it writes them', () => {
  expect(formatBands(bands)).toBe('470-608; Free; Vfg. 34/2020; until 2030\n823-832.5; Forbidden; ')
  expect(parseBands(formatBands(bands))).toEqual(bands)
})

it('accepts empty lines, dashes, decimal commas and the words of the interface', () => {
  expect(parseBands('\n823,0 – 832,5 MHz ; forbidden\n\n')).toEqual([bands[1]])
  expect(parseBands('')).toEqual([])
})

it.each([
  ['470-608; free; a\n\n608; free', 3],
  ['608-470; free', 1],
  ['470-608; allowed', 1],
  ['470-608-700; free', 1],
  ['470-608', 1],
])('names the line of what it cannot read: %j', (text, wrongLine) => {
  expect(parseBands(text)).toEqual({ wrongLine })
})
