import fc from 'fast-check'
import { toBuffer } from 'osc-min'
import { describe, expect, it, vi } from 'vitest'
import { decodePacket, encodeMessage, FrameReader, maxPacketBytes, toFrame } from './packet.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('encodeMessage', () => {
  // Conformance: C-16.30.
  it('encodes an address, type tags, int32 and text as OSC 1.0 does', () => {
    const bytes = encodeMessage({ address: '/a', args: [-3, 'hi', 'four'] })
    expect(hex(bytes)).toBe(
      ['2f610000', '2c697373', '00000000', 'fffffffd', '68690000', '666f7572', '00000000'].join(''),
    )
  })
})

describe('decodePacket', () => {
  it('returns what was encoded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
        fc.stringMatching(/^[ -~]{0,40}$/),
        (number, text) => {
          const message = { address: '/micwatch/ch/1/name', args: [number, text] }
          expect(decodePacket(encodeMessage(message))).toEqual([message])
        },
      ),
    )
  })

  it('returns the messages of bundles, and values of other types as numbers, booleans and null', () => {
    const element = {
      address: '/b',
      args: [{ type: 'float', value: 0.5 }, { type: 'true' }, { type: 'null' }],
    } as const
    const inner = { timetag: [0, 1], elements: [element] } as const
    const { buffer } = toBuffer({ timetag: [0, 1], elements: [{ address: '/a', args: [] }, inner] } as never)
    expect(decodePacket(new Uint8Array(buffer as ArrayBuffer))).toEqual([
      { address: '/a', args: [] },
      { address: '/b', args: [0.5, true, null] },
    ])
  })

  // Conformance: C-16.31.
  it.each([
    ['nothing', ''],
    ['a length that is not a multiple of 4', '2f61 0000 2c'],
    ['an address without an end', '2f616263'],
    ['an address without a slash', '61620000 2c000000'],
    ['a missing argument', '2f610000 2c690000'],
    ['an unknown type', '2f610000 2c510000'],
    ['a blob with a negative length', '2f610000 2c620000 ffffffff'],
    ['a blob that is longer than the packet', '2f610000 2c620000 7fffffff'],
    ['a bundle without a time', '2362756e 646c6500 00000000'],
    ['an element that is longer than its bundle', '2362756e646c6500 0000000000000001 7ffffff0 2f610000'],
    ['an element with a negative length', '2362756e646c6500 0000000000000001 fffffffc 2f610000'],
  ])('rejects %s', (_, text) => {
    expect(decodePacket(bytesOf(text))).toBeNull()
  })

  // Conformance: C-16.31.
  it('rejects packets that are too long, and deeply nested bundles', () => {
    expect(decodePacket(new Uint8Array(maxPacketBytes + 4))).toBeNull()
    let nested: Uint8Array = encodeMessage({ address: '/a', args: [] })
    for (let depth = 0; depth < 3000; depth++) {
      const size = Buffer.alloc(4)
      size.writeInt32BE(nested.length)
      nested = Buffer.concat([Buffer.from('#bundle\0\0\0\0\0\0\0\0\u0001', 'latin1'), size, nested])
    }
    expect(nested.length).toBeLessThan(maxPacketBytes)
    expect(decodePacket(nested)).toBeNull()
  })

  // Conformance: C-16.31.
  it('never throws, whatever the bytes are', () => {
    const message = encodeMessage({ address: '/micwatch/marker', args: ['text', 7] })
    const damaged = fc.array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 6 }).map((changes) => {
      const bytes = message.slice()
      for (const [index, value] of changes) bytes[index] = value
      return bytes
    })
    const anything = fc.uint8Array({ maxLength: 400 })
    const bundled = anything.map((bytes) =>
      Buffer.concat([Buffer.from('#bundle\0\0\0\0\0\0\0\0\u0001', 'latin1'), bytes]),
    )
    const packets = fc.oneof(damaged, anything, bundled)
    fc.assert(
      fc.property(packets, (bytes) => {
        const messages = decodePacket(bytes)
        expect(messages === null || messages.every(({ address }) => address.startsWith('/'))).toBe(true)
      }),
      { numRuns: 5000 },
    )
  })
})

describe('FrameReader', () => {
  // Conformance: C-16.32.
  it('returns the packets of a stream, however it is cut', () => {
    const packets = [1, 2, 3].map((value) => encodeMessage({ address: `/a/${value}`, args: [value, 'text'] }))
    const stream = Buffer.concat(packets.map(toFrame))
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 8 }), (positions) => {
        const cuts = [0, ...positions.sort((a, b) => a - b), stream.length]
        const reader = new FrameReader()
        const read = cuts.slice(1).flatMap((end, index) => reader.read(stream.subarray(cuts[index], end)) ?? [])
        expect(read.map(hex)).toEqual(packets.map(hex))
      }),
    )
  })

  // Conformance: C-16.32.
  it('copies every byte once, also of a packet that arrives byte by byte', () => {
    const packet = encodeMessage({ address: '/a', args: ['x'.repeat(40_000)] })
    const stream = toFrame(packet)
    const reader = new FrameReader()
    const copied = vi.spyOn(Uint8Array.prototype, 'set')
    const read = Array.from(stream, (byte) => reader.read(Uint8Array.of(byte)) ?? []).flat()
    const bytes = copied.mock.calls.reduce((sum, [source]) => sum + source.length, 0)
    copied.mockRestore()
    expect(read.map(hex)).toEqual([hex(packet)])
    expect(bytes).toBe(stream.length)
  })

  // Conformance: C-16.32.
  it.each([0, -4, 6, maxPacketBytes + 4, 0x7ffffffc])('rejects the length %i', (length) => {
    const bytes = Buffer.alloc(8)
    bytes.writeInt32BE(length)
    expect(new FrameReader().read(bytes)).toBeNull()
  })
})
