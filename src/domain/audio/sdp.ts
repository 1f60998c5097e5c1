/** Descriptions of audio streams (SDP, RFC 8866), as senders of AES67, RAVENNA and ST 2110-30 write them. */

import { parseIpv4 } from '../identity/network.ts'
import { utf8Length } from '../notifications/plain-text.ts'
import {
  maxStreamChannels,
  type StreamEncoding,
  type StreamFormat,
  type StreamLeg,
  streamRates,
} from './audio-stream.ts'

export const maxSdpBytes = 16 * 1024
const maxStreams = 16
const maxNameLength = 255
const maxLabelLength = 64

export interface StreamDescription extends StreamFormat {
  /** The same in all versions of the description (RFC 8866, 5.2). */
  readonly key: string
  readonly name: string
  readonly device: string | null
  /** The address in `o=`; null if it is no IPv4 address. */
  readonly origin: string | null
  readonly legs: readonly [StreamLeg, ...StreamLeg[]]
  readonly payload_type: number
  readonly labels: readonly string[]
}

export type ParsedSdp = { readonly streams: readonly StreamDescription[] } | { readonly error: string }

interface Line {
  readonly number: number
  readonly type: string
  readonly value: string
}

/** A line that is no SDP, or that describes something that cannot be received. */
class SdpError extends Error {}

/** Returns the streams of PCM audio, of which there is at least one, or what is wrong and where. */
export function parseSdp(text: string): ParsedSdp {
  try {
    return { streams: readStreams(readLines(text)) }
  } catch (error) {
    if (error instanceof SdpError) return { error: error.message }
    throw error
  }
}

function readLines(text: string): Line[] {
  if (utf8Length(text) > maxSdpBytes) throw new SdpError('expected at most 16 KiB')
  const lines = text.replace(/\0+$/, '').split(/\r\n|\n|\r/)
  return lines.flatMap((line, index): Line[] => {
    if (line.trim() === '') return []
    const [, type = '', value = ''] = /^([a-z])=(.*)$/.exec(line) ?? []
    if (type === '') throw new SdpError(`line ${index + 1}: expected a letter, = and a value`)
    return [{ number: index + 1, type, value }]
  })
}

function readStreams(lines: readonly Line[]): StreamDescription[] {
  if (lines[0]?.type !== 'v' || lines[0].value.trim() !== '0') throw new SdpError('line 1: expected v=0')
  const [session = [], ...media] = splitMedia(lines)
  const audio = media.filter(([line]) => line?.value.startsWith('audio '))
  if (audio.length === 0) throw new SdpError('there is no line m=audio')
  if (audio.length > maxStreams) throw new SdpError(`expected at most ${maxStreams} lines m=audio`)
  const streams = audio.map((section) => readStream(session, section))
  return joinLegs(session, audio, streams)
}

/** The lines of the session, then those of each medium. */
function splitMedia(lines: readonly Line[]): Line[][] {
  const sections: Line[][] = [[]]
  for (const line of lines) {
    if (line.type === 'm') sections.push([])
    sections.at(-1)?.push(line)
  }
  return sections
}

function readStream(session: readonly Line[], section: readonly Line[]): StreamDescription {
  const { port, payloadTypes, number } = readMedia(section)
  const format = readFormat(section, payloadTypes, number)
  const address = readAddress(session, section, number)
  const origin = readOrigin(session)
  const title = cleanText(findLine(session, 's')?.value ?? '', maxNameLength)
  const [, device = ''] = /^(.+?) : \S/.exec(title) ?? []
  return {
    ...format,
    key: `${origin.key} ${address} ${port}`,
    name: title === '' || title === '-' ? `${address}:${port}` : title,
    device: device === '' ? null : device,
    origin: origin.address,
    legs: [{ address, port, senders: readSenders(session, section, address) }],
    labels: readLabels(session, section, format.channels),
  }
}

function readMedia(section: readonly Line[]): { port: number; payloadTypes: readonly number[]; number: number } {
  const [line] = section
  const { number = 0, value = '' } = line ?? {}
  const [, portText = '', , formats = ''] = /^audio (\d{1,5})(\/\d+)? RTP\/AVPF? ([\d ]+)$/.exec(value.trim()) ?? []
  const port = Number(portText)
  if (formats === '' || port < 1 || port > 65_535) {
    throw new SdpError(`line ${number}: expected m=audio with a port, RTP/AVP and a payload type`)
  }
  const payloadTypes = formats.trim().split(/ +/).map(Number)
  if (payloadTypes.some((type) => type > 127)) throw new SdpError(`line ${number}: a payload type is above 127`)
  return { port, payloadTypes, number }
}

/** L16 at 44.1 kHz has payload types of its own (RFC 3551, 6). */
const staticTypes: Readonly<Record<number, StreamFormat>> = {
  10: { encoding: 'L16', sample_rate: 44_100, channels: 2 },
  11: { encoding: 'L16', sample_rate: 44_100, channels: 1 },
}

/** Returns the first payload type that is PCM. */
function readFormat(
  section: readonly Line[],
  payloadTypes: readonly number[],
  number: number,
): StreamFormat & Pick<StreamDescription, 'payload_type'> {
  const maps = section.flatMap(({ type, value, number: at }) => {
    const [, payloadType, name = '', rate, channels = '1'] =
      /^rtpmap:(\d{1,3}) ([\w.-]+)\/(\d{1,7})(?:\/(\d{1,4}))?\s*$/.exec(type === 'a' ? value : '') ?? []
    if (payloadType === undefined) return []
    return [
      {
        at,
        payload_type: Number(payloadType),
        name: name.toUpperCase(),
        rate: Number(rate),
        channels: Number(channels),
      },
    ]
  })
  for (const payload_type of payloadTypes) {
    const map = maps.find((candidate) => candidate.payload_type === payload_type)
    const fixed = staticTypes[payload_type]
    if (map === undefined && fixed !== undefined) return { ...fixed, payload_type }
    if (map === undefined || (map.name !== 'L16' && map.name !== 'L24')) continue
    const { at, rate, channels } = map
    if (!streamRates.includes(rate)) throw new SdpError(`line ${at}: expected a rate of ${streamRates.join(', ')} Hz`)
    if (channels < 1 || channels > maxStreamChannels) {
      throw new SdpError(`line ${at}: expected 1 to ${maxStreamChannels} channels`)
    }
    return { encoding: map.name as StreamEncoding, sample_rate: rate, channels, payload_type }
  }
  throw new SdpError(`line ${number}: expected a line a=rtpmap with L16 or L24 for one of its payload types`)
}

function readAddress(session: readonly Line[], section: readonly Line[], number: number): string {
  const line = findLine(section, 'c') ?? findLine(session, 'c')
  if (line === undefined) throw new SdpError(`line ${number}: there is no line c= for it`)
  const [, address = ''] = /^IN IP4 ([\d.]+)(?:\/\d{1,3}){0,2}\s*$/.exec(line.value) ?? []
  if (parseIpv4(address) === null) throw new SdpError(`line ${line.number}: expected IN IP4 and an IPv4 address`)
  return address
}

function readOrigin(session: readonly Line[]): { key: string; address: string | null } {
  const line = findLine(session, 'o')
  if (line === undefined) throw new SdpError('there is no line o=')
  const origin = parseOrigin(line.value)
  if (origin === null) throw new SdpError(`line ${line.number}: expected six values`)
  return origin
}

/** Parses the value of `o=`, without the version of the description. */
export function parseOrigin(value: string): { readonly key: string; readonly address: string | null } | null {
  const parts = value.trim().split(/ +/)
  if (parts.length !== 6 || value.length > 400) return null
  const [user = '', id = '', , network = '', type = '', address = ''] = parts
  return { key: [user, id, network, type, address].join(' '), address: parseIpv4(address) === null ? null : address }
}

/** RFC 4570. */
function readSenders(session: readonly Line[], section: readonly Line[], address: string): string[] {
  return [...session, ...section].flatMap(({ type, value }) => {
    const [, destination = '', list = ''] =
      /^source-filter: ?incl IN (?:IP4|\*) (\S+) (.+)$/.exec(type === 'a' ? value : '') ?? []
    if (destination !== address && destination !== '*') return []
    return list.split(/ +/).filter((sender) => parseIpv4(sender) !== null)
  })
}

/** Dante writes `i=2 channels: Left, Right` for the medium, or for the session. Names may contain commas. */
function readLabels(session: readonly Line[], section: readonly Line[], channels: number): string[] {
  for (const line of [findLine(section, 'i'), findLine(session, 'i')]) {
    const [, count, list = ''] = /^(\d+) channels?: (.*)$/.exec(line?.value ?? '') ?? []
    if (count === undefined) continue
    const labels = list.split(', ').map((label) => cleanText(label, maxLabelLength))
    if (labels.length === channels && Number(count) === channels) return labels
  }
  return []
}

/** Joins the legs of a stream that is sent twice (RFC 7104). */
function joinLegs(
  session: readonly Line[],
  sections: readonly Line[][],
  streams: readonly StreamDescription[],
): StreamDescription[] {
  const groups = session.flatMap(({ type, value }) => {
    const [, names] = /^group:DUP (.+)$/.exec(type === 'a' ? value : '') ?? []
    return names === undefined ? [] : [new Set(names.trim().split(/ +/))]
  })
  const names = sections.map((section) =>
    section
      .find(({ type, value }) => type === 'a' && value.startsWith('mid:'))
      ?.value.slice(4)
      .trim(),
  )
  const joined: StreamDescription[] = []
  const firstOf = new Map<unknown, number>()
  for (const [index, stream] of streams.entries()) {
    const group = groups.find((members) => members.has(names[index] ?? ''))
    const at = group && firstOf.get(group)
    const first = at === undefined ? undefined : joined[at]
    if (first === undefined || at === undefined) {
      if (group !== undefined) firstOf.set(group, joined.length)
      joined.push(stream)
    } else joined[at] = { ...first, legs: [...first.legs, ...stream.legs] }
  }
  return joined
}

/** Returns the stream with labels from another source, if the description has none and their number fits. */
export function withLabels(stream: StreamDescription, labels: readonly string[]): StreamDescription {
  if (stream.labels.length > 0 || labels.length !== stream.channels) return stream
  return { ...stream, labels: labels.map((label) => cleanText(label, maxLabelLength)) }
}

function findLine(lines: readonly Line[], type: string): Line | undefined {
  return lines.find((line) => line.type === type)
}

/** Without control characters. */
function cleanText(text: string, maxLength: number): string {
  return text
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, maxLength)
}

export interface WrittenSdp extends StreamFormat {
  readonly sessionId: string
  readonly version: number
  readonly name: string
  /** The address of the sender. */
  readonly origin: string
  readonly address: string
  readonly port: number
  readonly payload_type: number
  readonly labels?: readonly string[]
  /** Milliseconds. */
  readonly ptime?: number
}

export function writeSdp(stream: WrittenSdp): string {
  const { sessionId, version, name, origin, address, port, payload_type, encoding, sample_rate, channels } = stream
  const { labels = [], ptime } = stream
  const isGroup = (parseIpv4(address) ?? 0) >= 0xe0_00_00_00
  const lines = [
    'v=0',
    `o=- ${sessionId} ${version} IN IP4 ${origin}`,
    `s=${name}`,
    `c=IN IP4 ${address}${isGroup ? '/32' : ''}`,
    't=0 0',
    `m=audio ${port} RTP/AVP ${payload_type}`,
    ...(labels.length > 0 ? [`i=${channels} channels: ${labels.join(', ')}`] : []),
    'a=recvonly',
    `a=rtpmap:${payload_type} ${encoding}/${sample_rate}/${channels}`,
    ...(ptime === undefined ? [] : [`a=ptime:${ptime}`]),
  ]
  return `${lines.join('\r\n')}\r\n`
}
