import { describe, expect, it } from 'vitest'
import { HeldChanges } from './held-changes.ts'

/** Holds these messages, and returns what is sent. */
function send(...messages: readonly object[]) {
  const held = new HeldChanges()
  for (const [index, message] of messages.entries())
    held.add(Buffer.from(JSON.stringify({ seq: index + 1, ...message })))
  const sent: unknown[] = []
  for (let frame = held.shift(); frame !== null; frame = held.shift()) sent.push(JSON.parse(String(frame.bytes)))
  expect(held).toMatchObject({ isEmpty: true, bytes: 0, firstSeq: null })
  return sent
}

const channel = { type: 'channel', id: 11, receiver_id: 1 }
const condition = { state: 'ok' }

describe('HeldChanges', () => {
  it('merges the changes of a record to its newest values, with the newest number', () => {
    expect(
      send({ ...channel, name: 'A', slot: 1 }, { ...channel, id: 12, name: 'B' }, { ...channel, name: 'C' }),
    ).toEqual([
      { ...channel, seq: 2, id: 12, name: 'B' },
      { ...channel, seq: 3, name: 'C', slot: 1 },
    ])
    expect(send({ type: 'queue', pending: 1 }, { type: 'queue', pending: 2 })).toEqual([
      { type: 'queue', seq: 2, pending: 2 },
    ])
    const slots = [
      {
        type: 'slots',
        values: [
          [11, 1],
          [12, 2],
        ],
      },
      { type: 'slots', values: [[11, 3]] },
    ]
    expect(send(...slots)).toEqual([
      {
        type: 'slots',
        seq: 2,
        values: [
          [11, 3],
          [12, 2],
        ],
      },
    ])
  })

  it('merges details by field, and keeps both messages if all details were gone in between', () => {
    expect(send({ ...channel, details: { muted: true, band: 'G' } }, { ...channel, details: { muted: null } })).toEqual(
      [{ ...channel, seq: 2, details: { muted: null, band: 'G' } }],
    )
    expect(send({ ...channel, details: { muted: true } }, { ...channel, details: null })).toEqual([
      { ...channel, seq: 2, details: null },
    ])
    expect(send({ ...channel, details: null }, { ...channel, details: { muted: true } })).toHaveLength(2)
  })

  it('sends alerts first, which are never merged, then conditions', () => {
    const alert = { type: 'alert', id: 1 }
    const messages = [
      { ...channel, name: 'A' },
      { ...channel, id: 12, condition },
      alert,
      { ...alert, state: 'cleared' },
    ]
    expect(send(...messages).map((message) => (message as { seq: number }).seq)).toEqual([3, 4, 2, 1])
  })

  it('keeps the order beside added and removed records', () => {
    const removed = { type: 'receiver_removed', id: 1 }
    const messages = [{ ...channel, name: 'A' }, removed, { ...channel, name: 'B' }, { type: 'alert', id: 1 }]
    expect(send(...messages).map((message) => (message as { seq: number }).seq)).toEqual([1, 2, 3, 4])
  })
})
