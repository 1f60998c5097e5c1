import { expect, it } from 'vitest'
import { isNameAllowed, listBlankSlots, toPlaceholderInData } from './placeholder.ts'

// Conformance: C-13.7.
it('has the condition unmonitored, which needs no attention', () => {
  const body = { id: 3, slot: 9, name: 'Pit piano', kind: 'wired', frequency: null, note: '' } as const
  expect(toPlaceholderInData({ ...body, created_at: Date.UTC(2026, 10, 23) })).toEqual({
    ...body,
    condition: {
      ...{ state: 'unmonitored', severity: 'ok', attention: false, since_known: true, flags: [] },
      since: '2026-11-23T00:00:00.000Z',
    },
  })
})

it.each([
  ['wired', 'DI 1', true],
  ['wired', '', false],
  ['iem', '', false],
  ['blank', '', true],
  ['blank', 'gap', true],
] as const)('of kind %s may be named "%s": %s', (kind, name, isAllowed) => {
  expect(isNameAllowed({ kind, name })).toBe(isAllowed)
})

// Conformance: C-13.8.
it('replaces the empty slots of groups from 65001 up, each once', () => {
  const groups = [{ slots: [65_003, 1, 65_001, 65_000] }, { slots: [65_001, 65_002, 65_535] }]
  expect(listBlankSlots(groups, [{ slot: 65_002 }, { slot: 1 }])).toEqual([65_001, 65_003, 65_535])
})
