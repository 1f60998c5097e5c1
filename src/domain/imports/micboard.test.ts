import { expect, it } from 'vitest'
import { buildGroup, buildReceiver } from '../../../test/support/builders.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { listSlotHolders } from '../equipment/slots.ts'
import { planMicboard, readMicboardConfig } from './micboard.ts'

const receivers = [
  buildReceiver(1, { ip: '10.0.0.1', channels: [emptyChannel(11, 1, 1), emptyChannel(12, 2, 2)] }),
  buildReceiver(2, { ip: '10.0.0.2', device_type: 'qlxd', channels: [emptyChannel(21, 1, 3)] }),
  buildReceiver(3, { ip: '10.0.0.2', device_type: 'ulxd', channels: [emptyChannel(31, 1, 4)] }),
]
const group = buildGroup(5, { title: 'Leads', slots: [1, 2], hide_charts: true, zone: 'A' })

function plan(file: object, placeholders: Parameters<typeof listSlotHolders>[1] = []) {
  const config = readMicboardConfig(JSON.stringify(file))
  if (typeof config === 'string') throw new Error(config)
  return planMicboard(config, { receivers, holders: listSlotHolders(receivers, placeholders), groups: [group] })
}

const entry = (slot: number, channel: number, fields: object = {}) => {
  return { slot, ip: '10.0.0.1', type: 'ulxd', channel, ...fields }
}

// Conformance: C-16.78.
it('matches channels by address and number, and by the type if several receivers have the address', () => {
  const { moves, rows, skipped } = plan({
    slots: [
      entry(2, 1, { extended_id: 'H01', extended_name: 'Nora' }),
      entry(1, 2),
      entry(9, 1, { ip: '10.0.0.2', type: 'ulxd' }),
    ],
  })
  expect(moves.map(({ holder, slot }) => [holder.id, slot])).toEqual([
    [11, 2],
    [12, 1],
    [31, 9],
  ])
  expect(rows).toEqual([{ row: 2, slot: '2', name: 'Nora', role: '', note: '', photo: '', pack: '' }])
  expect(skipped).toEqual([])
})

// Conformance: C-16.78.
it('skips what does not match, with the reason', () => {
  const { moves, rows, skipped } = plan({
    slots: [
      entry(1, 1),
      entry(1, 2),
      entry(5, 1),
      entry(6, 7, { extended_name: 'Ada' }),
      entry(7, 1, { ip: '10.0.0.9' }),
      { slot: 8, type: 'ulxd', extended_name: 'Spare' },
    ],
  })
  expect(moves).toEqual([])
  expect(rows).toEqual([])
  expect(skipped).toEqual([
    { slot: 1, name: null, reason: 'Slot 1 is listed twice.' },
    { slot: 5, name: null, reason: 'The channel is already in slot 1.' },
    { slot: 6, name: 'Ada', reason: 'The receiver with the address 10.0.0.1 has no channel 7.' },
    { slot: 7, name: null, reason: 'There is no receiver with the address 10.0.0.9.' },
    { slot: 8, name: 'Spare', reason: 'The slot has no address of a receiver.' },
  ])
})

// Conformance: C-16.78.
it('makes placeholders of offline slots: a new one, or the one that is there gets the name', () => {
  const offline = (slot: number, fields: object) => ({ slot, type: 'offline', ...fields })
  const slots = [
    offline(2, { extended_name: 'Cantor', extended_id: 'P1' }),
    offline(7, { extended_id: 'PSM 900' }),
    offline(9, {}),
  ]
  const { moves, placeholders, rows } = plan({ slots }, [{ id: 70, slot: 7 }])
  expect(placeholders).toEqual([
    { slot: 2, name: 'Cantor', note: 'P1' },
    { slot: 7, name: 'PSM 900', note: '' },
    { slot: 9, name: 'Slot 9', note: '' },
  ])
  // The channel in slot 2 leaves it to the placeholder.
  expect(moves.map(({ holder, slot }) => [holder.id, slot])).toEqual([[12, 5]])
  expect(rows).toEqual([])
})

// Conformance: C-16.78.
it('adds groups, and gives those of the same title the slots; empty boxes are left out', () => {
  const groups = [
    { group: 1, title: 'Leads', slots: [2, 1, 0], hide_charts: false },
    { group: 2, title: '', slots: [3, 3, 0] },
    { group: 'x'.repeat(300) },
  ]
  expect(plan({ slots: [], groups }).groups).toEqual([
    { before: group, after: { ...group, slots: [2, 1] } },
    { before: null, after: { title: 'Group 2', slots: [3], hide_charts: false, zone: null, manufacturer: null } },
    { before: null, after: { title: 'Group', slots: [], hide_charts: false, zone: null, manufacturer: null } },
  ])
  const sameTitle = { title: 'Leads', slots: [1, 2] }
  expect(plan({ slots: [], groups: [sameTitle] }).groups).toEqual([])
  expect(plan({ slots: [], groups: [sameTitle, sameTitle] }).groups).toMatchObject([{ before: null }])
})

// Conformance: C-16.78.
it.each([
  ['{', 'expected the content of config.json, an object in JSON'],
  ['[]', 'expected the content of config.json, an object in JSON'],
  ['{}', 'expected a list `slots`, as in config.json of micboard'],
  ['{"slots":[{"slot":1},{"slot":0}]}', 'slots.1: expected {slot, type, ip, channel} with a slot from 1 to 65535'],
  ['{"slots":[{"slot":1,"extended_name":"\\u0000"}]}', 'slots.0.extended_name: expected text without U+0000'],
])('says what is wrong with %s', (text, problem) => {
  expect(readMicboardConfig(text)).toBe(problem)
})

// Conformance: C-16.78.
it('limits the number of slots and groups', () => {
  const read = (slots: number, groups: number) =>
    readMicboardConfig(JSON.stringify({ slots: Array(slots).fill({}), groups: Array(groups).fill({}) }))
  expect(read(10_001, 0)).toBe('slots: expected at most 10000 entries')
  expect(read(0, 1001)).toBe('groups: expected at most 1000 entries')
})
