import { expect, test } from 'vitest'
import { applyConnectionEvent, type Connection, type ConnectionEvent, isOpen, newConnection } from './connection.ts'

function after(...events: ConnectionEvent[]): Connection {
  return events.reduce(
    (before, event) => applyConnectionEvent(before, event),
    newConnection(1, 'shure', 'shure:http://x', 'websocket'),
  )
}

const at = 5
const trying = { type: 'trying', at } as const
const opened = { type: 'opened', at } as const
const lost = { type: 'lost', at, reason: 'closed' } as const
const failed = { type: 'failed', at, reason: 'refused' } as const
const stopped = { type: 'stopped', at } as const
const started = { type: 'started', at } as const

// Conformance: S-2.19, C-8.1.
test.each<[string, ConnectionEvent[], Partial<Connection>]>([
  ['an attempt', [trying], { status: 'connecting' }],
  ['an opened subscription', [trying, opened], { status: 'connected', connected_at: at, error_message: null }],
  [
    'a lost subscription',
    [trying, opened, lost],
    { status: 'disconnected', disconnected_at: at, error_message: 'closed', reconnect_attempts: 1 },
  ],
  ['a failed attempt', [trying, failed], { status: 'error', error_count: 1, error_message: 'refused' }],
  [
    'a restored subscription',
    [trying, failed, trying, opened],
    { status: 'connected', reconnect_attempts: 0, error_count: 1 },
  ],
  [
    'an attempt after the process with the subscription was killed',
    [trying, opened, trying],
    { status: 'connecting', connected_at: at, disconnected_at: at },
  ],
  ['further events while stopped', [trying, opened, stopped, trying, opened, lost], { status: 'stopped' }],
  ['a restart after a stop', [trying, stopped, started, trying], { status: 'connecting' }],
])('applyConnectionEvent after %s', (_name, events, expected) => {
  expect(after(...events)).toMatchObject(expected)
})

test('while the subscription flaps, its status is error, also while it is open', () => {
  const flapping = [trying, opened, lost].reduce((before, event) => applyConnectionEvent(before, event, true), after())
  expect(flapping).toMatchObject({ status: 'error', error_message: 'lost three times within two minutes: closed' })
  const open = applyConnectionEvent(flapping, opened, true)
  expect([open.status, open.error_message, isOpen(open)]).toEqual(['error', flapping.error_message, true])
  expect(applyConnectionEvent(open, { type: 'stable', at })).toMatchObject({ status: 'connected', error_message: null })
})
