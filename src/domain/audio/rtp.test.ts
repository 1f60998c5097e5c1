import { expect, it } from 'vitest'
import { createRandom } from '../frequencies/random.ts'
import { parseRtp, RtpReceiver, writeRtp } from './rtp.ts'

const payload = new Uint8Array([1, 2, 3, 4])
const header = { payloadType: 98, sequence: 65_535, timestamp: 2 ** 32 - 1, ssrc: 7 }

/** Adds CSRCs, an extension and padding. */
function extended(): Uint8Array {
  const plain = writeRtp(header, payload)
  const extra = [0, 0, 0, 1, 0, 0, 0, 2, 0xbe, 0xde, 0, 1, 9, 9, 9, 9]
  const bytes = new Uint8Array([...plain.subarray(0, 12), ...extra, ...payload, 0, 0, 3])
  bytes[0] = 0x80 | 0x20 | 0x10 | 2
  return bytes
}

// Conformance: C-27.1.
it('parses a packet with and without CSRCs, extension and padding', () => {
  for (const packet of [writeRtp(header, payload), extended()]) {
    expect(parseRtp(packet)).toEqual({ ...header, payload })
  }
})

it.each([
  ['a short packet', new Uint8Array(11)],
  ['another version', new Uint8Array(20)],
  ['CSRCs beyond the end', Uint8Array.of(0x8f, ...new Array(20).fill(0))],
  ['an extension beyond the end', Uint8Array.of(0x90, ...new Array(13).fill(0), 0xff, 0xff, 0)],
  ['padding beyond the end', Uint8Array.of(0xa0, ...new Array(11).fill(0), 200)],
  ['padding of no length', Uint8Array.of(0xa0, ...new Array(15).fill(0))],
])('rejects %s', (_, packet) => {
  expect(parseRtp(packet)).toBeNull()
})

// Conformance: C-27.2.
it('never fails on random and truncated packets', () => {
  const random = createRandom(27)
  const receiver = new RtpReceiver({ rate: 48_000, bytesPerFrame: 6, payloadType: null })
  for (let round = 0; round < 20_000; round++) {
    const valid = extended()
    const bytes = round % 2 === 0 ? Uint8Array.from({ length: Math.floor(random() * 40) }, () => random() * 256) : valid
    if (round % 2 === 1) {
      bytes[Math.floor(random() * bytes.length)] = random() * 256
      bytes[Math.floor(random() * bytes.length)] = random() * 256
    }
    const packet = parseRtp(bytes.subarray(0, Math.ceil(random() * bytes.length)))
    if (packet === null) continue
    expect(packet.payload.length).toBeLessThanOrEqual(bytes.length - 12)
    const placed = receiver.receive(packet, round)
    if (placed !== null) expect(Number.isSafeInteger(placed.position) && placed.frames > 0).toBe(true)
  }
})

const frames = 48

function createReceiver(payloadType: number | null = 98) {
  const receiver = new RtpReceiver({ rate: 48_000, bytesPerFrame: 3, payloadType })
  /** Passes on packet `index` of a sender whose numbers wrap around after a few packets. */
  const receive = (
    index: number,
    {
      ssrc = 7,
      atMs = index,
      sequence = 65_533,
      timestamp = 2 ** 32 - 100,
      size = frames * 3,
      payloadType: type = 98,
    } = {},
  ) => {
    const packet = {
      payloadType: type,
      ssrc,
      sequence: (sequence + index) & 0xffff,
      timestamp: (timestamp + index * frames) % 2 ** 32,
      payload: new Uint8Array(size),
    }
    return receiver.receive(packet, atMs)
  }
  return { receiver, receive }
}

// Conformance: C-27.3.
it('places packets by their timestamps across the wrap of both numbers', () => {
  const { receive, receiver } = createReceiver()
  const placed = Array.from({ length: 8 }, (_, index) => receive(index))
  expect(placed[0]).toBeNull()
  expect(placed[1]).toMatchObject({ startsSegment: true, frames })
  const start = placed[1]?.position ?? 0
  expect(placed.slice(1).map((packet) => packet?.position)).toEqual(
    Array.from({ length: 7 }, (_, i) => start + i * frames),
  )
  expect(receiver.statistics).toMatchObject({ lost: 0, reordered: 0, restarts: 0, packets: 7 })
})

// Conformance: C-27.4.
it('counts what is lost, reordered and doubled', () => {
  const { receive, receiver } = createReceiver()
  for (const index of [0, 1, 2, 5, 4, 4, 6, 6, 9]) receive(index)
  expect(receiver.statistics).toMatchObject({ packets: 8, lost: 3, reordered: 1, restarts: 0 })
  expect(receive(4)).toBeNull()
  expect(receive(3)).toMatchObject({ frames })
  expect(receiver.statistics).toMatchObject({ packets: 10, lost: 2, reordered: 2 })
})

// Conformance: C-27.5.
it('ignores another sender until the known one is silent, and starts a segment then', () => {
  const { receive, receiver } = createReceiver()
  for (let index = 0; index < 10; index++) {
    receive(index)
    expect(receive(index, { ssrc: 8 })).toBeNull()
  }
  expect(receiver.statistics).toMatchObject({ packets: 9, restarts: 0 })
  expect(receive(700, { ssrc: 8, atMs: 700 })).toBeNull()
  expect(receive(701, { ssrc: 8, atMs: 701 })).toMatchObject({ startsSegment: true })
  expect(receive(702, { ssrc: 8, atMs: 702 })).toMatchObject({ startsSegment: false })
  expect(receiver.statistics).toMatchObject({ packets: 11, restarts: 1, lost: 0 })
})

it('restarts with new sequence numbers or timestamps of the same sender', () => {
  const { receive, receiver } = createReceiver()
  for (let index = 0; index < 5; index++) receive(index)
  expect(receive(5, { sequence: 30_000 })).toBeNull()
  expect(receive(6, { sequence: 30_000 })).toMatchObject({ startsSegment: true })
  expect(receive(7, { sequence: 30_000, timestamp: 1_000_000 })).toMatchObject({ startsSegment: true })
  expect(receiver.statistics).toMatchObject({ restarts: 2, lost: 0 })
})

// Conformance: C-27.6.
it('states which packets do not have the format of the stream', () => {
  const { receive, receiver } = createReceiver()
  receive(0)
  expect(receive(1, { size: 100 })).toBeNull()
  expect(receiver.problem).toMatch(/^The packets have 100 bytes, which is no multiple of 3\./)
  expect(receive(2, { payloadType: 97 })).toBeNull()
  expect(receiver.problem).toMatch(/^The packets have the payload type 97 instead of 98\./)
  // Half as many channels as described: twice the samples.
  for (let index = 3; index < 40; index++) receive(index, { size: frames * 6 })
  expect(receiver.problem).toMatch(/^The packets have 96 samples, but their timestamps advance by 48\./)
  expect(receive(40, { size: frames * 6 })).toBeNull()
  for (let index = 41; index < 80; index++) receive(index)
  expect(receiver.problem).toBeNull()
})

it('measures the jitter of RFC 3550', () => {
  const { receive, receiver } = createReceiver()
  for (let index = 0; index < 1000; index++) receive(index, { atMs: index + (index % 2) * 0.5 })
  expect(receiver.statistics.jitter / 48).toBeCloseTo(0.5, 1)
})
