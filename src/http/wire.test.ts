import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { MessageBatch } from '../live/feed.ts'
import type { ChannelBody } from '../model/api.ts'
import { createRecordReader } from '../model/level-records.ts'
import type { BroadcastMessage, ServerMessage } from '../model/messages.ts'
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
  const told = Array.from({ length: channels }, (_, at): ChannelBody => {
    const own = { slot: at + 1, name, audio_level: level, rf_level: level - at, frequency: '470.300' }
    return { ...own, id: at + 1, channel: at + 1, transmitter: { ...own, upstream_slot: null, battery: null } }
  })
  const data = { channels: told, ...(isActive !== undefined && { is_active: isActive }) }
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

it('says in the subprotocol what it says in JSON, to whoever joins when, and misses what', () => {
  const connections = fc.array(fc.infiniteStream(fc.boolean()), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.array(batch, { maxLength: 12 }), connections, (batches, choices) => {
      const open = createLevelsEncoder()
      const readers = choices.map((hears) => ({ hears, levels: reading(), json: reading(), wire: open() }))
      for (const one of batches) {
        for (const { hears, levels, json, wire } of readers) {
          if (hears.next().value === false) continue
          levels.take(wire(one))
          json.take(jsonEncoder(one))
        }
      }
      for (const { levels, json } of readers) expect(levels.heard).toEqual(json.heard)
    }),
  )
})

it('is made once for all who were told alike, and takes few bytes', () => {
  const wires = [1, 2].map(createLevelsEncoder())
  const tell = (level: number): MessageBatch => {
    const messages = [1, 2].map((receiver) =>
      toUpdate({ receiver, channels: 4, name: 'Host', level, isActive: undefined }),
    )
    return { messages, manufacturers: ['shure'] }
  }
  const whole = tell(-30)
  for (const wire of wires) expect(wire(whole)).toEqual(jsonEncoder(whole))
  const next = tell(-40)
  const [first, second] = wires.map((wire) => wire(next))
  expect(second).toBe(first)
  expect(first).toHaveLength(2 + 2 * (6 + 4 * 5))
})

/** The other end: frames to messages. */
function reading() {
  const heard: ServerMessage[] = []
  const records = createRecordReader()
  return {
    heard,
    take(bytes: Buffer) {
      for (let at = 0; at < bytes.length; ) {
        const [kind, length] = [bytes.readUInt8(at), bytes.readUInt8(at + 1)]
        const headSize = length < 126 ? 2 : length === 126 ? 4 : 10
        const size = length < 126 ? length : length === 126 ? bytes.readUInt16BE(at + 2) : bytes.readUInt32BE(at + 6)
        const content = bytes.subarray(at + headSize, at + headSize + size)
        at += headSize + size
        expect(content).toHaveLength(size)
        if (kind === 0x82) heard.push(...records.read(new Uint8Array(content).buffer))
        else {
          expect(kind).toBe(0x81)
          const message: ServerMessage = JSON.parse(String(content))
          if (message.type === 'device_update') records.remember(message)
          heard.push(message)
        }
      }
    },
  }
}
