import { describe, expect, it } from 'vitest'
import type { LiveMessage } from '../../src/contract/live-messages.ts'
import { isRepeated, parseMessage, positionAfter, resumeUrl, retryDelayMs } from './socket.ts'

it.each([
  [0, 500, 1_500],
  [1, 1_000, 3_000],
  [4, 8_000, 24_000],
  [5, 15_000, 45_000],
  [50, 15_000, 45_000],
])('after %i losses waits between %i and %i ms', (losses, least, most) => {
  expect(retryDelayMs(losses, 0)).toBe(least)
  expect(retryDelayMs(losses, 1)).toBe(most)
})

it.each(['', 'x', '[]', 'null', '{"type":1}', '{}', new ArrayBuffer(1)])('ignores %j', (data) => {
  expect(parseMessage(data)).toBe(null)
})

it('parses messages', () => {
  expect(parseMessage('{"type":"queue","seq":3,"pending":1}')).toEqual({ type: 'queue', seq: 3, pending: 1 })
})

describe('the position', () => {
  const at = '2026-11-20T20:00:00Z'
  const position = { seq: 7, epoch: 'a' }
  const resumed: LiveMessage = { type: 'resumed', seq: 5, epoch: 'b' }
  const queue = (seq: number): LiveMessage => ({ type: 'queue', seq, pending: 1 })
  const levels = (seq: number): LiveMessage => ({ type: 'levels', seq, at, values: [] })

  it('is that of the last numbered message', () => {
    expect(positionAfter(null, queue(1))).toBe(null)
    expect(positionAfter(null, resumed)).toEqual({ seq: 5, epoch: 'b' })
    expect(positionAfter(position, queue(8))).toEqual({ seq: 8, epoch: 'a' })
    expect(positionAfter(position, { type: 'tick', at })).toEqual(position)
  })

  it('is part of the URL of the next connection', () => {
    expect(resumeUrl('/ws?ack=1', null)).toBe('/ws?ack=1')
    expect(resumeUrl('/ws?ack=1', position)).toBe('/ws?ack=1&since=7&epoch=a')
  })

  it('excludes messages from before the connection began', () => {
    expect([6, 7, 8].map((seq) => isRepeated(7, queue(seq)))).toEqual([true, true, false])
    expect([6, 7, 8].map((seq) => isRepeated(7, levels(seq)))).toEqual([true, true, false])
    expect(isRepeated(7, resumed)).toBe(false)
    expect(isRepeated(7, { type: 'tick', at })).toBe(false)
    expect(isRepeated(null, queue(1))).toBe(true)
  })
})
