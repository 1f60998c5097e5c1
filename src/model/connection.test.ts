import { expect, test } from 'vitest'
import { applyConnectionEvent, type Connection, type ConnectionEvent, newConnection } from './connection.ts'

function after(...events: ConnectionEvent[]): Connection {
  return events.reduce(applyConnectionEvent, newConnection(1, 'shure', 'shure:http://x', 'websocket'))
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
  ['a try', [trying], { status: 'connecting' }],
  ['an open link', [trying, opened], { status: 'connected', connected_at: at, error_message: null }],
  [
    'a lost link',
    [trying, opened, lost],
    { status: 'disconnected', disconnected_at: at, error_message: 'closed', reconnect_attempts: 1 },
  ],
  ['a failed try', [trying, failed], { status: 'error', error_count: 1, error_message: 'refused' }],
  ['restored', [trying, failed, trying, opened], { status: 'connected', reconnect_attempts: 0, error_count: 1 }],
  ['stopped on purpose hears nothing', [trying, opened, stopped, trying, opened, lost], { status: 'stopped' }],
  ['until it is started', [trying, stopped, started, trying], { status: 'connecting' }],
])('%s', (_name, events, expected) => {
  expect(after(...events)).toMatchObject(expected)
})
