import { expect, it } from 'vitest'
import { decodeFrame, encodeFrame, type LevelFrame } from './level-frame.ts'
import { encodedCount, noLevel } from './level-store.ts'

function encoded(channel: number, levels: Readonly<Record<number, number>>) {
  const values = new Int16Array(encodedCount).fill(noLevel)
  for (const [column, value] of Object.entries(levels)) values[Number(column)] = value
  return { channel, values }
}

const frame: LevelFrame = {
  owner: 'desk:4711-0a',
  receivers: [
    { receiverId: 7, lastSeen: 1_795_000_000_123, channels: [encoded(1, { 0: -61, 12: 100 }), encoded(4, {})] },
    { receiverId: 2 ** 40, lastSeen: 0, channels: [] },
    { receiverId: 9, lastSeen: 1, channels: [encoded(300, { 0: -32_767 })] },
  ],
}

it('contains the sender, the times and all levels of the receivers', () => {
  expect(decodeFrame(encodeFrame(frame))).toEqual(frame)
})

it('takes 28 bytes for a channel with twelve levels', () => {
  const levels = Object.fromEntries(Array.from({ length: 12 }, (_, column) => [column, -50]))
  const withChannels = (channels: LevelFrame['receivers'][number]['channels']) =>
    encodeFrame({ owner: 'a', receivers: [{ receiverId: 1, lastSeen: 1, channels }] }).length
  expect(withChannels([encoded(1, levels)]) - withChannels([])).toBe(28)
})

it('is rejected if it ends too early or is something else', () => {
  const bytes = encodeFrame(frame)
  const complete: number[] = []
  for (let length = 0; length < bytes.length; length += 1) {
    const decoded = decodeFrame(bytes.subarray(0, length))
    if (decoded !== null) complete.push(decoded.receivers.length)
  }
  // A message that ends between two receivers is complete.
  expect(complete).toEqual([0, 1, 2])
  for (const text of ['', 'not a frame', '{"owner":"x","receivers":[]}', '\x01\xff']) {
    expect(decodeFrame(Buffer.from(text, 'latin1'))).toBeNull()
  }
})
