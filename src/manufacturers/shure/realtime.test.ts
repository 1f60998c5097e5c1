import { expect, test } from 'vitest'
import { unitTypeOf } from '../../domain/equipment/unit-type.ts'
import { familyOf } from './realtime.ts'

// Conformance: C-24.54.
test.each([
  ['ULXD4Q-G50', 'ulxd', 'mic_transmitter'],
  ['AD4Q-A', 'ad', 'mic_transmitter'],
  ['AXT400', 'ad', 'mic_transmitter'],
  ['ANX4', 'ad', 'mic_transmitter'],
  ['ADTQ', 'adpsm', 'iem_receiver'],
  ['ADTD', 'adpsm', 'iem_receiver'],
  ['P10T', 'psm1000', 'iem_receiver'],
  ['MXWAPT8', 'mxw', 'mic_transmitter'],
] as const)('%s belongs to the family %s, whose packs are of the type %s', (model, family, type) => {
  expect(familyOf(model)).toBe(family)
  expect(unitTypeOf(family)).toBe(type)
})
