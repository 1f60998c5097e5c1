import { describe, expect, it } from 'vitest'
import type { HandoverChange, HandoverEvent } from '../../src/contract/handovers.ts'
import { toChangeLines, toEventLines } from './change-text.ts'

const at = '2026-05-01T18:14:00Z'

function change(what: HandoverChange['what'], from: HandoverChange['from'], to: HandoverChange['to'], fields = {}) {
  return { at, by: 'Anna', what, id: 7, slot: 3, title: 'Ben', from, to, ...fields } satisfies HandoverChange
}

// Conformance: C-21.104.
describe('a line about changes', () => {
  it.each<[string, readonly HandoverChange[], readonly string[]]>([
    ['another performer', [change('performer', 'Nora', 'Ben')], ['3 Nora → Ben']],
    ['a first performer', [change('performer', null, 'Ben')], ['3 nobody → Ben']],
    [
      'a performer with a role, newest first',
      [change('label', 'Lead', 'Mic 3'), change('role', null, 'Fiyero'), change('performer', 'Nora', 'Ben')],
      ['3 Nora → Ben, role Fiyero, label Lead → Mic 3'],
    ],
    [
      'a performer who leaves with a role',
      [change('role', 'Fiyero', null), change('performer', 'Ben', null)],
      ['3 Ben → nobody'],
    ],
    ['a move', [change('moved', 3, 7, { slot: 7 })], ['Ben: slot 3 → 7']],
    ['equipment alone', [change('equipment', 3, 7, { slot: 7 })], ['Equipment: slot 3 → 7']],
    ['a name', [change('name', 'Nora', 'Nora K.', { slot: null, title: 'Nora K.' })], ['Nora: name Nora → Nora K.']],
    ['a frequency', [change('frequency', '610.000', '611.500')], ['3 Ben: frequency 610.000 MHz → 611.500 MHz']],
    ['a colour', [change('color', 'red', null)], ['3 Ben: colour Red → none']],
    [
      'settings',
      [
        change('setting', 20, 35, { id: 'alert_battery_threshold', slot: null, title: 'Band' }),
        change('setting', 'a', 'b', { id: 'OF_A_LATER_VERSION', slot: null, title: null }),
      ],
      ['Battery low (Band): 20% → 35%', 'OF_A_LATER_VERSION: a → b'],
    ],
    [
      'a frequency plan that is used',
      [change('frequency_plan', 'Evening', 'Late', { id: 1, slot: null, title: null })],
      ['Frequency plan: Evening → Late'],
    ],
    [
      'a frequency plan that is edited',
      [change('frequency_plan', 'Late', 'Late', { id: 1, slot: null, title: null })],
      ['Frequency plan: Late edited'],
    ],
    [
      'two people',
      [change('performer', 'Ben', 'Ella', { by: 'Kim' }), change('performer', 'Nora', 'Ben')],
      ['3 Ben → Ella', '3 Nora → Ben'],
    ],
  ])('names %s', (_, changes, expected) => {
    expect(toChangeLines(changes).map(({ text }) => text.replaceAll('\u00a0', ' '))).toEqual(expected)
  })
})

it('events of one kind and one slot are one line', () => {
  const event = { by: null, from: null, to: null, channel_id: 7, text: '', slot: 3, title: 'Ben', at } as const
  const events: readonly HandoverEvent[] = [
    { ...event, what: 'rf_dropout', id: 4, at: '2026-05-01T19:00:00Z' },
    { ...event, what: 'battery_died', id: 3 },
    { ...event, what: 'rf_dropout', id: 2 },
    { ...event, what: 'receiver_offline', id: 1, slot: null, title: 'FOH-1' },
  ]
  expect(toEventLines(events).map(({ text, count, first, last }) => [text, count, first, last])).toEqual([
    ['3 Ben: RF dropout', 2, at, '2026-05-01T19:00:00Z'],
    ['3 Ben: Battery died', 1, at, at],
    ['FOH-1: Receiver offline', 1, at, at],
  ])
})
