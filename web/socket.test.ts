import { expect, it } from 'vitest'
import { parseMessage, retryDelayMs } from './socket.ts'

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

it.each(['', 'x', '[]', 'null', '{"type":"new"}', '{"type":"device_update"}', new ArrayBuffer(1)])(
  'ignores %j',
  (data) => {
    expect(parseMessage(data)).toBe(null)
  },
)

it('parses known messages', () => {
  const update = { type: 'device_update', manufacturer: 'shure', receiver_id: 1, data: { channels: [] } }
  expect(parseMessage(JSON.stringify(update))).toEqual(update)
})
