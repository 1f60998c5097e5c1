import { deflateSync, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../frequencies/random.ts'
import { parseSap, writeSap } from './sap.ts'
import { parseSdp, writeSdp } from './sdp.ts'

const dante = `v=0
o=- 1311738121 1311738121 IN IP4 192.168.1.20
s=AVIOUSB-503633 : 2
c=IN IP4 239.69.22.10/32
t=0 0
a=keywds:Dante
m=audio 5004 RTP/AVP 97
i=2 channels: Lead, Guitar
a=recvonly
a=rtpmap:97 L24/48000/2
a=ptime:1
a=ts-refclk:ptp=IEEE1588-2008:00-1D-C1-FF-FE-50-36-33:0
a=mediaclk:direct=750129611
`.replaceAll('\n', '\r\n')

const redundant = `v=0
o=- 1 2 IN IP4 10.0.0.5
s=Stagebox
t=0 0
a=group:DUP primary secondary
m=audio 5004 RTP/AVP 98
c=IN IP4 239.1.0.1/32
a=source-filter: incl IN IP4 239.1.0.1 10.0.0.5
a=rtpmap:98 L24/48000/16
a=ptime:0.125
a=mid:primary
m=audio 5004 RTP/AVP 98
c=IN IP4 239.2.0.1/32
a=rtpmap:98 L24/48000/16
a=mid:secondary
`

function streamsOf(text: string) {
  const parsed = parseSdp(text)
  if ('error' in parsed) throw new Error(parsed.error)
  return parsed.streams
}

describe('parseSdp', () => {
  // Conformance: C-27.14.
  it('reads what Dante announces, with the names of the channels', () => {
    expect(streamsOf(dante)).toEqual([
      {
        key: '- 1311738121 IN IP4 192.168.1.20 239.69.22.10 5004',
        name: 'AVIOUSB-503633 : 2',
        device: 'AVIOUSB-503633',
        origin: '192.168.1.20',
        legs: [{ address: '239.69.22.10', port: 5004, senders: [] }],
        payload_type: 97,
        encoding: 'L24',
        sample_rate: 48_000,
        channels: 2,
        labels: ['Lead', 'Guitar'],
      },
    ])
    const ofSession = dante
      .replace('t=0 0', 'i=2 channels: A, B\r\nt=0 0')
      .replace('i=2 channels: Lead, Guitar\r\n', '')
    expect(streamsOf(ofSession)[0]?.labels).toEqual(['A', 'B'])
    expect(streamsOf(dante.replace('Lead, Guitar', 'Lead, left, Guitar'))[0]?.labels).toEqual([])
  })

  it('keeps the key of a description with a new version', () => {
    const newer = dante.replace('1311738121 1311738121', '1311738121 99').replace('L24', 'L16')
    expect(streamsOf(newer)[0]?.key).toBe(streamsOf(dante)[0]?.key)
  })

  it('joins the legs of a redundant stream', () => {
    expect(streamsOf(redundant)).toMatchObject([
      {
        channels: 16,
        legs: [
          { address: '239.1.0.1', senders: ['10.0.0.5'] },
          { address: '239.2.0.1', senders: [] },
        ],
      },
    ])
  })

  it('reads static payload types, and mono without a count', () => {
    expect(streamsOf(dante.replace('RTP/AVP 97', 'RTP/AVP 11'))).toMatchObject([
      { encoding: 'L16', sample_rate: 44_100, channels: 1 },
    ])
    expect(streamsOf(dante.replace('48000/2', '48000'))).toMatchObject([{ channels: 1, labels: [] }])
  })

  // Conformance: C-27.15.
  it.each([
    ['', 'line 1: expected v=0'],
    ['v=0\nhello', 'line 2: expected a letter, = and a value'],
    ['v=0\no=- 1 1 IN IP4 1.2.3.4', 'there is no line m=audio'],
    [dante.replace('5004', '70000'), /^line 7: expected m=audio/],
    [dante.replace('L24', 'OPUS'), /^line 7: expected a line a=rtpmap with L16 or L24/],
    [dante.replace('48000', '192000'), /^line 10: expected a rate of 44100, 48000, 88200, 96000 Hz/],
    [dante.replace('48000/2', '48000/65'), 'line 10: expected 1 to 64 channels'],
    [dante.replace('IP4 239.69.22.10/32', 'IP6 ff0e::1'), /^line 4: expected IN IP4/],
    [dante.replace('c=IN IP4 239.69.22.10/32\r\n', ''), /^line 6: there is no line c=/],
    [dante.replace(/o=.*\r\n/, ''), 'there is no line o='],
    [`${dante}a=x:${'x'.repeat(17_000)}`, 'expected at most 16 KiB'],
  ])('says what is wrong in %j', (text, error) => {
    expect(parseSdp(text)).toEqual({ error: typeof error === 'string' ? error : expect.stringMatching(error) })
  })

  it('reads what it writes', () => {
    const format = { encoding: 'L16', sample_rate: 96_000, channels: 3, payload_type: 100 } as const
    const labels = ['Ä', 'b c', 'd']
    const text = writeSdp({
      ...format,
      sessionId: '5',
      version: 1,
      name: 'X : 1',
      origin: '10.0.0.1',
      address: '239.9.9.9',
      port: 5006,
      labels,
      ptime: 0.125,
    })
    expect(streamsOf(text)).toMatchObject([
      { ...format, name: 'X : 1', device: 'X', labels, legs: [{ address: '239.9.9.9', port: 5006 }] },
    ])
  })

  // Conformance: C-27.2.
  it('never fails on damaged descriptions', () => {
    const random = createRandom(28)
    for (let round = 0; round < 5000; round++) {
      const text = [...(round % 2 === 0 ? dante : redundant)]
      for (let edit = 0; edit < 1 + (round % 8); edit++) {
        const at = Math.floor(random() * text.length)
        if (random() < 0.3) text.splice(at, Math.floor(random() * 40))
        else text[at] = String.fromCodePoint(Math.floor(random() * 300))
      }
      const parsed = parseSdp(text.join(''))
      if ('error' in parsed) expect(parsed.error).not.toBe('')
      else
        for (const { channels, legs } of parsed.streams)
          expect(channels > 0 && channels <= 64 && legs[0].port > 0).toBe(true)
    }
  })
})

const inflate = (bytes: Uint8Array, maxOutputLength: number) => {
  try {
    return inflateSync(bytes, { maxOutputLength })
  } catch {
    return null
  }
}

const decoders = { inflate, decode: (bytes: Uint8Array) => Buffer.from(bytes).toString() }

describe('parseSap', () => {
  const packet = writeSap(Buffer.from(dante), '192.168.1.20', 77)
  const withFlags = (flags: number, payload: Uint8Array) => Uint8Array.of(flags, ...packet.subarray(1, 8), ...payload)

  // Conformance: C-27.16.
  it('reads announcements and deletions, with and without a type, compressed and with an IPv6 source', () => {
    const announcement = { type: 'announcement', sdp: dante }
    expect(parseSap(packet, decoders)).toEqual(announcement)
    expect(parseSap(withFlags(0x20, Buffer.from(dante)), decoders)).toEqual(announcement)
    expect(parseSap(withFlags(0x21, deflateSync(dante)), decoders)).toEqual(announcement)
    expect(parseSap(Uint8Array.of(0x30, 0, 0, 1, ...new Array(16).fill(0), ...Buffer.from(dante)), decoders)).toEqual(
      announcement,
    )
    expect(parseSap(Uint8Array.of(0x20, 1, 0, 1, ...new Array(8).fill(0), ...Buffer.from(dante)), decoders)).toEqual(
      announcement,
    )
    const deletion = { type: 'deletion', key: '- 1311738121 IN IP4 192.168.1.20' }
    expect(parseSap(writeSap(Buffer.from(dante), '192.168.1.20', 77, true), decoders)).toEqual(deletion)
    expect(parseSap(withFlags(0x24, Buffer.from('o=- 1311738121 1311738121 IN IP4 192.168.1.20')), decoders)).toEqual(
      deletion,
    )
  })

  it.each([
    ['encrypted', withFlags(0x22, Buffer.from(dante))],
    ['of version 2', withFlags(0x40, Buffer.from(dante))],
    ['short', packet.subarray(0, 7)],
    ['of another type', withFlags(0x20, Buffer.from(`text/plain\0${dante}`))],
    ['that inflates without end', withFlags(0x21, deflateSync(Buffer.alloc(50_000_000, 'v=0 ')))],
    ['not compressed as it says', withFlags(0x21, Buffer.from(dante))],
    ['with authentication beyond the end', Uint8Array.of(0x20, 255, ...packet.subarray(2, 200))],
  ])('discards a packet %s', (_, bytes) => {
    expect(parseSap(bytes, decoders)).toBeNull()
  })

  // Conformance: C-27.2.
  it('never fails on random packets', () => {
    const random = createRandom(29)
    for (let round = 0; round < 10_000; round++) {
      const bytes = Uint8Array.from(packet)
      for (let edit = 0; edit < 4; edit++) bytes[Math.floor(random() * (edit < 2 ? 8 : bytes.length))] = random() * 256
      parseSap(bytes.subarray(0, Math.ceil(random() * bytes.length)), decoders)
    }
  })
})
