/**
 * Messages of the binary protocol between Wireless Systems Manager (WSM) and ew G3 receivers. The manufacturer does not
 * document it. Sources: two public projects that examined WSM with an EM 300 G3 (firmware 1.4.4) and an EM 500 G3; test
 * fixtures name them. A message is a text with one character per byte.
 */

import { readMac } from '../../../upstream/fields.ts'
import { fields } from './fields.ts'

/** `other` stands for the kinds that are not read. */
export type WsmMessage = WsmIdentity | WsmConfiguration | WsmMeters | { readonly type: 'other' }

export interface WsmIdentity {
  readonly type: 'identity'
  /** As reported: `EM300G3`. */
  readonly model: string
  readonly mac: string | null
}

export interface WsmConfiguration {
  readonly type: 'configuration'
  readonly mac: string | null
  readonly name: string
  readonly frequencyKhz: number | null
  readonly isMuted: boolean | null
}

export interface WsmMeters {
  readonly type: 'meters'
  readonly mac: string | null
  /** 0 without a transmitter; 4 for a full battery. */
  readonly battery: number
  /** The antenna in use; 0 without a transmitter. */
  readonly antenna: number
}

const identityHeader = '\x00\x25\x12\x06'
const configurationHeader = '\xc8\xfc\xf7\xca'
const metersHeader = '\x29\xf8\xf7\xca'
/** The header of every message except the identity ends with this byte. */
const lastHeaderByte = 0xca
/** The header, a byte, the MAC address and a byte. */
const bodyOffset = 12
/** The device also sends longer messages with the same headers, which contain the results of its RF scan. */
const maxMeterBytes = 48
const configurationBytes = { min: 29, max: 150 }

/** Returns null if the datagram is not from such a device. */
export function parseWsmMessage(text: string): WsmMessage | null {
  const bytes = Buffer.from(text, 'latin1')
  if (text.startsWith(identityHeader)) return parseIdentity(text)
  if (bytes.length < bodyOffset || bytes[3] !== lastHeaderByte) return null
  const mac = readMac(bytes.subarray(5, 11).toString('hex')) ?? null
  const body = bytes.subarray(bodyOffset)
  const { length } = bytes
  if (text.startsWith(configurationHeader) && length >= configurationBytes.min && length <= configurationBytes.max)
    return parseConfiguration(mac, body)
  if (text.startsWith(metersHeader) && body.length > 4 && length <= maxMeterBytes)
    return { type: 'meters', mac, battery: body.readUInt8(0), antenna: body.readUInt8(4) }
  return { type: 'other' }
}

/** Parses `Model=EM300G3   ID=001B667A8EDB   IPA=10.10.10.73`, with zeros up to the end of the datagram. */
function parseIdentity(text: string): WsmIdentity | null {
  const [, model, id] = /^Model=(\w+) +ID=([0-9A-F]{12})/i.exec(text.slice(identityHeader.length)) ?? []
  return model === undefined ? null : { type: 'identity', model, mac: readMac(id) ?? null }
}

function parseConfiguration(mac: string | null, body: Buffer): WsmConfiguration {
  return {
    type: 'configuration',
    mac,
    name: fields.name.read(body.toString('latin1', 0, 8).replaceAll('\0', '')) ?? '',
    frequencyKhz: fields.frequency.read(body.readUInt32LE(8)) ?? null,
    isMuted: fields.muted.read(body.readUInt8(16)) ?? null,
  }
}

/**
 * Formats the message that registers a client and keeps it registered. The device forgets a client after about five
 * seconds. It sends to this IPv4 address, or treats it as the name of the client.
 */
export function formatRegistration(ip: string): string {
  return `\x4f\x1f\xf1\xca${toBytes(ip)}${toBytes(ip)}\x01\x00\x01\x01\x01\x01`
}

export function formatConfigurationRequest(ip: string): string {
  return `\xa4\xfd\xf7\xca${toBytes(ip)}\x01\x01\x01`
}

/** Requests all devices in a network to identify themselves. */
export const identityRequest = Buffer.concat([
  Buffer.from('1207062000001900', 'hex'),
  Buffer.from('[servicecommand]devinfo\r\n'),
  Buffer.alloc(999),
  Buffer.from('010101', 'hex'),
])

function toBytes(ip: string): string {
  return String.fromCharCode(...ip.split('.').map(Number))
}

/** `EM300G3` -> `EM 300 G3`; `EMProG4` is the name of the EM 300-500 G4. */
export function toModelName(model: string): string {
  if (model === 'EMProG4') return 'EM 300-500 G4'
  return model.replace(/^([A-Z]+)(\d+)(G\d)$/, '$1 $2 $3')
}
