/** The sections `osc` and `mqtt` of the configuration. */

import Type from 'typebox'
import { parseAddress } from '../domain/identity/address.ts'
import { consoles } from '../domain/osc/slot-messages.ts'
import { flag, integer, networks, section, text } from './fields.ts'

const host = Type.String({ pattern: '^[^\\s/@]+$', description: 'a host name or address' })
const port = integer(1, 65_535)
const closed = { additionalProperties: false } as const

const Target = Type.Object(
  {
    host,
    port,
    transport: Type.Optional(Type.Enum(['udp', 'tcp'], { description: 'udp or tcp' })),
  },
  { ...closed, description: '{host, port, transport}' },
)

const slot = integer(1, 1_000_000)
const Strip = Type.Object(
  {
    type: Type.Enum(['x32', 'wing'], { description: 'x32 or wing' }),
    host,
    port: Type.Optional(port),
    slots: Type.Union(
      [
        Type.Array(Type.Union([slot, Type.Null()])),
        Type.Record(Type.String({ pattern: '^[1-9]\\d?$' }), slot, { additionalProperties: false }),
      ],
      { description: 'a list of the slots of the channels 1, 2, 3…, or a section of channels and their slots' },
    ),
  },
  { ...closed, description: '{type, host, slots}' },
)

/** docs/osc.md describes the keys. */
export const OscSection = section({
  listen: Type.Refine(
    Type.String({ description: 'an address and a port, such as 0.0.0.0:9010' }),
    (value) => parseListen(value) !== null,
  ),
  accept: networks(),
  allow_commands: flag,
  targets: Type.Array(Target, { description: 'a list of {host, port, transport}' }),
  strips: Type.Array(Strip, { description: 'a list of {type, host, slots}' }),
})

export interface OscTarget {
  readonly host: string
  readonly port: number
  readonly transport: 'udp' | 'tcp'
}

/** A mixing console whose scribble strips show slots. */
export interface OscStrips {
  readonly type: 'x32' | 'wing'
  readonly host: string
  readonly port: number
  /** Channel of the console -> slot. */
  readonly slots: ReadonlyMap<number, number>
}

export interface OscConfig {
  readonly listen: { readonly host: string; readonly port: number } | null
  readonly accept: readonly string[]
  readonly allow_commands: boolean
  readonly targets: readonly OscTarget[]
  readonly strips: readonly OscStrips[]
}

/** Parses `0.0.0.0:9010` or `[::]:9010`. */
function parseListen(value: string): OscConfig['listen'] {
  const [, ipv6, ipv4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(value) ?? []
  const address = ipv6 ?? ipv4
  if (address === undefined || parseAddress(address) === null || Number(digits) > 65_535) return null
  return { host: address, port: Number(digits) }
}

/** Returns null if OSC is not used. */
export function toOsc(entry: Type.Static<typeof OscSection>): OscConfig | null {
  const { listen, accept = ['127.0.0.0/8', '::1/128'], allow_commands = false, targets = [], strips = [] } = entry
  if (listen === undefined && targets.length === 0 && strips.length === 0) return null
  return {
    listen: listen === undefined ? null : parseListen(listen),
    accept,
    allow_commands,
    targets: targets.map((target) => ({ transport: 'udp', ...target })),
    strips: strips.map(({ type, host, slots, port = consoles[type].port }) => ({
      type,
      host,
      port,
      slots: toStripSlots(slots, consoles[type].channels),
    })),
  }
}

function toStripSlots(slots: Type.Static<typeof Strip>['slots'], channels: number): ReadonlyMap<number, number> {
  const entries = Array.isArray(slots)
    ? slots.map((slot, index) => [index + 1, slot] as const)
    : Object.entries(slots).map(([channel, slot]) => [Number(channel), slot] as const)
  return new Map(entries.flatMap(([channel, slot]) => (slot === null || channel > channels ? [] : [[channel, slot]])))
}

const topicPrefix = Type.String({
  pattern: '^[^+#$/\\u0000]([^+#\\u0000]*[^+#/\\u0000])?$',
  description: 'a topic without + and #, and without / at its ends',
})

/** docs/mqtt.md describes the keys. */
export const MqttSection = section({
  url: Type.Refine(
    Type.String({
      description: 'an address such as mqtt://broker.example:1883, with a literal % in a password as %25',
    }),
    isBrokerAddress,
  ),
  prefix: topicPrefix,
  home_assistant: flag,
  discovery_prefix: topicPrefix,
  username: text('a user name'),
  password: text('a password'),
  ca_file: text('a PEM file with certificates of authorities'),
  cert_file: text('a PEM file with the certificate of the client'),
  key_file: text('a PEM file with the key of the client'),
  ssl_verify: flag,
})

export interface MqttConfig {
  readonly url: string
  readonly prefix: string
  readonly home_assistant: boolean
  readonly discovery_prefix: string
  readonly username: string | null
  readonly password: string | null
  readonly ca_file: string | null
  readonly cert_file: string | null
  readonly key_file: string | null
  readonly ssl_verify: boolean
}

/** Returns null without any key, and `incomplete` without an address. */
export function toMqtt(entry: Type.Static<typeof MqttSection>): MqttConfig | null | 'incomplete' {
  if (Object.keys(entry).length === 0) return null
  if (entry.url === undefined) return 'incomplete'
  const { username, password, host, protocol } = new URL(entry.url)
  return {
    // The address is logged, so it contains no credentials.
    url: `${protocol}//${host}`,
    prefix: entry.prefix ?? 'micwatch',
    home_assistant: entry.home_assistant ?? true,
    discovery_prefix: entry.discovery_prefix ?? 'homeassistant',
    username: entry.username ?? (username === '' ? null : decodeURIComponent(username)),
    password: entry.password ?? (password === '' ? null : decodeURIComponent(password)),
    ca_file: entry.ca_file ?? null,
    cert_file: entry.cert_file ?? null,
    key_file: entry.key_file ?? null,
    ssl_verify: entry.ssl_verify ?? true,
  }
}

/** True for an mqtt or mqtts URL without a path. */
function isBrokerAddress(value: string): boolean {
  if (!URL.canParse(value)) return false
  const { protocol, hostname, pathname, search, hash, username, password } = new URL(value)
  if (![username, password].every(isDecodable)) return false
  return /^mqtts?:$/.test(protocol) && hostname !== '' && /^\/?$/.test(pathname) && search === '' && hash === ''
}

/** True if every % is followed by two digits that are part of a character in UTF-8. */
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value)
    return true
  } catch {
    return false
  }
}
