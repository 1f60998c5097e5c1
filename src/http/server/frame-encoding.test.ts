import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ChannelBody } from '../../contract/live.ts'
import { createRecordReader } from '../../domain/levels/level-records.ts'
import type { BroadcastMessage, ServerMessage } from '../../domain/messages.ts'
import type { MessageBatch } from '../../state/feed.ts'
import { createLevelsEncoder, jsonEncoder } from './frame-encoding.ts'

const alert: BroadcastMessage = {
  ...{ type: 'alert', manufacturer: 'shure', id: 1, kind: 'battery_low', state: 'raised', severity: 'warning' },
  ...{ message: 'x'.repeat(200), channel_id: 1 },
}

interface Draft {
  readonly receiver: number
  readonly channels: number
  readonly name: string
  readonly level: number
  readonly isActive: boolean | undefined
}

function toUpdate({ receiver, channels, name, level, isActive }: Draft): BroadcastMessage {
  const updatedChannels = Array.from({ length: channels }, (_, index): ChannelBody => {
    const values = { slot: index + 1, name, audio_level: level, rf_level: level - index, frequency: '470.300' }
    const transmitter = { ...values, upstream_slot: null, battery: null }
    return { ...values, id: index + 1, channel: index + 1, transmitter }
  })
  const data = { channels: updatedChannels, ...(isActive !== undefined && { is_active: isActive }) }
  return { type: 'device_update', manufacturer: 'shure', receiver_id: receiver, data }
}

const update = fc
  .record({
    receiver: fc.constantFrom(1, 2, 3),
    channels: fc.constantFrom(...Array(30).fill(2), 300),
    name: fc.constantFrom('Host', 'Host', 'Host', 'Guest'),
    level: fc.constantFrom(-20, -30, -40, -500),
    isActive: fc.constantFrom(undefined, undefined, undefined, true),
  })
  .map(toUpdate)
const batch = fc
  .array(fc.oneof({ arbitrary: update, weight: 9 }, { arbitrary: fc.constant(alert), weight: 1 }), { maxLength: 6 })
  .map((messages): MessageBatch => ({ messages, manufacturers: ['shure'] }))

it('sends the same messages in the subprotocol as in JSON, whenever a client joins and whichever batches it misses', () => {
  const connections = fc.array(fc.infiniteStream(fc.boolean()), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 12 }), connections, (batches, choices) => {
      const open = createLevelsEncoder()
      const readers = choices.map((receives) => ({
        receives,
        levels: createReader(),
        json: createReader(),
        encode: open(),
      }))
      for (const batch of batches) {
        for (const { receives, levels, json, encode } of readers) {
          if (receives.next().value === false) continue
          levels.read(encode(batch))
          json.read(jsonEncoder(batch))
        }
      }
      for (const { levels, json } of readers) expect(levels.messages).toEqual(json.messages)
    }),
  )
})

it('encodes a batch once for all clients with the same state, in few bytes', () => {
  const encoders = [1, 2].map(createLevelsEncoder())
  const createBatch = (level: number): MessageBatch => {
    const messages = [1, 2].map((receiver) =>
      toUpdate({ receiver, channels: 4, name: 'Host', level, isActive: undefined }),
    )
    return { messages, manufacturers: ['shure'] }
  }
  const whole = createBatch(-30)
  for (const encode of encoders) expect(encode(whole)).toEqual(jsonEncoder(whole))
  const next = createBatch(-40)
  const [first, second] = encoders.map((encode) => encode(next))
  expect(second).toBe(first)
  expect(first).toHaveLength(2 + 2 * (6 + 4 * 5))
})

/** Decodes frames to messages, as a client does. */
function createReader() {
  const messages: ServerMessage[] = []
  const records = createRecordReader()
  return {
    messages,
    read(bytes: Buffer) {
      for (let offset = 0; offset < bytes.length; ) {
        const [kind, length] = [bytes.readUInt8(offset), bytes.readUInt8(offset + 1)]
        const headSize = length < 126 ? 2 : length === 126 ? 4 : 10
        const size =
          length < 126 ? length : length === 126 ? bytes.readUInt16BE(offset + 2) : bytes.readUInt32BE(offset + 6)
        const content = bytes.subarray(offset + headSize, offset + headSize + size)
        offset += headSize + size
        expect(content).toHaveLength(size)
        if (kind === 0x82) messages.push(...records.read(new Uint8Array(content).buffer))
        else {
          expect(kind).toBe(0x81)
          const message: ServerMessage = JSON.parse(String(content))
          if (message.type === 'device_update') records.remember(message)
          messages.push(message)
        }
      }
    },
  }
}
