import { expect, it } from 'vitest'
import type { FindCarrier } from './conflict-text.ts'
import { acceptedText, reasonText } from './reason-text.ts'

const find: FindCarrier = (id) => ({ label: `Mic ${id}`, state: 'on', noise_dbm: null, mhz: null })
const scans = [{ id: 3, name: 'hall.csv' }]

// Conformance: C-23.124.
it('names the kind, and what blocks a carrier by name', () => {
  expect(reasonText({ kind: 'spacing', by: ['c1', 'c7'] }, find, scans)).toBe('Spacing: Mic c1 and Mic c7')
  expect(reasonText({ kind: 'occupied', by: ['scan:3'] }, find, scans)).toBe('Occupied: hall.csv')
  expect(reasonText({ kind: '3t3o', by: ['new:470.125', 'c2', 'c3', 'c4', 'c5'] }, find, scans)).toBe(
    '3rd order, three transmitters: 470.125 MHz, Mic c2, Mic c3, and 2 more',
  )
  expect(reasonText({ kind: 'tv', by: [] }, find, scans)).toBe('TV')
  expect(reasonText({ kind: 'time', by: [] }, find, scans)).toBe('The search ended before any frequency was tried.')
  expect(acceptedText(['2t5o'])).toBe('5th order')
})
