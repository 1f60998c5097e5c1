import { expect, it } from 'vitest'
import { type SessionTap, Traffic } from './traffic.ts'

function exchange(tap: SessionTap, path: string) {
  tap.sent('', { method: 'GET', path })
  tap.received('{}', { status: 200, type: 'application/json' })
}

const messagesOf = (traffic: Traffic) =>
  traffic.opening.flatMap((record) =>
    'report' in record
      ? record.report.id
      : (record.http && 'path' in record.http && record.http.path) || String(record.bytes),
  )

// Conformance: C-24.5.
it('keeps the requests that precede a connection, its beginning, and the reports', () => {
  const traffic = new Traffic()
  traffic.prepare()
  exchange(traffic.open('http'), '/identity')
  const stream = traffic.open('sse')
  stream.received('first')
  exchange(traffic.open('http'), '/subscribe')
  traffic.report({ id: 'ssc2:1', kind: 'receiver' })
  expect(messagesOf(traffic)).toEqual(['/identity', '{}', 'first', '/subscribe', '{}', 'ssc2:1'])
})

it('keeps the beginning of a connection while others are opened and closed', () => {
  const traffic = new Traffic()
  traffic.prepare()
  const subscription = traffic.open('udp')
  subscription.received('identity')
  const poll = traffic.open('udp')
  poll.received('poll')
  subscription.received('levels')
  poll.closed()
  expect(messagesOf(traffic)).toEqual(['identity', 'levels'])
})

it('forgets a subscription when the next one begins', () => {
  const traffic = new Traffic()
  traffic.prepare()
  exchange(traffic.open('http'), '/identity')
  const stream = traffic.open('sse')
  stream.received('first')
  stream.closed()
  traffic.prepare()
  expect(messagesOf(traffic)).toEqual([])
})

it('ends the beginning of a connection at its maximum size', () => {
  const traffic = new Traffic()
  const connection = traffic.open('tcp')
  connection.received('identity')
  connection.received('x'.repeat(64 * 1024))
  connection.received('late')
  expect(messagesOf(traffic)).toEqual(['identity'])
})
