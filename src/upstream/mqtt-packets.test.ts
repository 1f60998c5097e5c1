import { expect, it } from 'vitest'
import { MqttPacketReader, maxMqttPacketBytes } from './mqtt-packets.ts'

function packet(length: number, body = Buffer.alloc(length)): Buffer {
  const header = [0x30]
  let rest = length
  do {
    header.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    rest >>= 7
  } while (rest > 0)
  return Buffer.concat([Buffer.from(header), body])
}

// Reliability: 3.12.15.
it.each([1, 2, 3, 7, 100_000])('reads packets in chunks of %i bytes', (size) => {
  const bytes = Buffer.concat([0, 1, 127, 128, 16_383, 16_384, 70_000].map((length) => packet(length)))
  const reader = new MqttPacketReader(0)
  for (let start = 0; start < bytes.length; start += size) {
    expect(reader.read(bytes.subarray(start, start + size), 0)).toBeNull()
  }
  expect(reader.read(packet(maxMqttPacketBytes), 0)).toBeNull()
})

// Reliability: 3.12.15.
it('refuses a packet by its header, before its body arrives', () => {
  const refused = (bytes: Buffer) => new MqttPacketReader(0).read(bytes, 0)
  expect(refused(packet(maxMqttPacketBytes + 1, Buffer.alloc(0)))).toBe('a packet of more than 1 MiB')
  expect(refused(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]))).toBe('a packet of more than 1 MiB')
  expect(refused(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80]))).toBe('a packet that is not MQTT')
})

// Reliability: 3.12.15.
it('refuses more packets than a broker can have retained, but not the same number over time', () => {
  const reader = new MqttPacketReader(0)
  const many = Buffer.concat(Array.from({ length: 1000 }, () => packet(10)))
  for (let count = 0; count < 100; count++) expect(reader.read(many, 0)).toBeNull()
  expect(reader.read(many, 10_000)).toBeNull()
  expect(reader.read(many, 10_000)).toBe('more than 100000 messages in a short time')
})
