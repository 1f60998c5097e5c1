/**
 * The shapes of the Shure System API (version 1.8), parsed from `unknown`: device nodes, audio channels and the
 * resources of both. Known from its public clients, which were written against its OpenAPI text and tried on real racks.
 */

import { type AudioActivity, audioActivities, type TransmitterDetails } from '../../../model/details.ts'
import { isRecord, maxNameChars, readBattery, readIp, readText, readWhole } from '../../../upstream/fields.ts'

export const deviceStates = ['ONLINE', 'OFFLINE', 'DISCOVERED'] as const

/** What the list says of a device. One that is only discovered has neither serial nor firmware nor capabilities. */
export interface DeviceNode {
  /** The device's ACN component id in lower case, for servers differ in the case they give it. */
  readonly id: string
  /** The same as this server spells it. */
  readonly deviceId: string
  readonly state: (typeof deviceStates)[number]
  readonly model: string | null
  readonly serialNumber: string | null
  readonly firmwareVersion: string | null
  readonly ip: string | null
  /** Its firmware is too old for the server to speak with it. */
  readonly isTooOld: boolean
  /** Names of the resources it has; in steady order. */
  readonly capabilities: readonly string[]
}

export interface AudioChannel {
  /** The server's own: base64 of a small JSON text. */
  readonly id: string
  /** From 1. */
  readonly number: number
  readonly capabilities: readonly string[]
}

/** One page of a device list. */
export interface DevicePage {
  readonly nodes: readonly (DeviceNode | null)[]
  /** Where the next page begins; null where there is none. */
  readonly next: string | null
}

/** Whether an answer to the device list is the System API's own, and not the form of the interface specification. */
export function isDevicePage(body: unknown): boolean {
  if (isRecord(body) && Array.isArray(body.edges)) return true
  const [first] = findList(body) ?? []
  return isRecord(first) && isRecord(first.hardwareIdentity)
}

/** `edges` of a page; older texts show `items` or the bare array. Undefined: it is no such list. */
export function parseDevicePage(body: unknown): DevicePage | undefined {
  const edges = isRecord(body) && Array.isArray(body.edges) ? body.edges : undefined
  const list = edges?.map((edge: unknown) => (isRecord(edge) ? edge.node : undefined)) ?? findList(body)
  if (list === undefined) return undefined
  const info = isRecord(body) && isRecord(body.pageInfo) ? body.pageInfo : {}
  const cursor = info.hasNextPage === true ? readText(info.endCursor) : null
  return { nodes: list.map(parseDeviceNode), next: cursor ?? null }
}

function findList(body: unknown): readonly unknown[] | undefined {
  const list = isRecord(body) ? (body.items ?? body.devices) : body
  return Array.isArray(list) ? list : undefined
}

/** Null where there is no id or no state that means anything. */
export function parseDeviceNode(node: unknown): DeviceNode | null {
  if (!isRecord(node) || !isRecord(node.hardwareIdentity)) return null
  const software = isRecord(node.softwareIdentity) ? node.softwareIdentity : {}
  const protocol = isRecord(node.communicationProtocol) ? node.communicationProtocol : {}
  const id = readText(node.hardwareIdentity.deviceId)
  const state = deviceStates.find((one) => one === node.deviceState)
  if (typeof id !== 'string' || state === undefined) return null
  return {
    id: id.toLowerCase(),
    deviceId: id,
    state,
    model: readText(software.model) ?? null,
    serialNumber: readText(node.hardwareIdentity.serialNumber) ?? null,
    firmwareVersion: readText(software.firmwareVersion) ?? null,
    ip: readIp(protocol.address) ?? null,
    isTooOld: node.compatibility === 'INCOMPATIBLE_TOO_OLD',
    capabilities: parseNames(node.capabilities),
  }
}

/** Entries whose id tells no channel number are left out. */
export function parseAudioChannels(body: unknown): AudioChannel[] {
  if (!Array.isArray(body)) return []
  return body.filter(isRecord).flatMap((item) => {
    const number = typeof item.id === 'string' ? channelNumber(item.id) : null
    return number === null ? [] : [{ id: String(item.id), number, capabilities: parseNames(item.capabilities) }]
  })
}

/** `{"t":"AudioChannel","c":"ADTQ","v":131088,"s":"CH","i":0}`; some devices say `index`. */
export function channelNumber(id: string): number | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(id, 'base64').toString('utf8'))
  } catch {
    return null
  }
  const index = isRecord(parsed) ? readWhole(parsed.i ?? parsed.index, 0, 65_534) : null
  return typeof index === 'number' ? index + 1 : null
}

/** `{"name"}` of a device or a channel: undefined where the answer says nothing of a name. */
export function parseName(body: unknown): string | null | undefined {
  return isRecord(body) ? readText(body.name, maxNameChars) : undefined
}

/** Of the receiver's output; undefined where the answer is no mute. */
export function parseMute(body: unknown): boolean | undefined {
  return isRecord(body) && typeof body.muted === 'boolean' ? body.muted : undefined
}

/** Decibels; undefined where the answer is no gain. */
export function parseGain(body: unknown): number | null | undefined {
  return isRecord(body) ? readWhole(body.gain, -100, 100) : undefined
}

/** `{"audioLevel": "GOOD"}`: a word and no number; undefined where the answer is none. */
export function parseActivity(body: unknown): AudioActivity | null | undefined {
  if (!isRecord(body) || typeof body.audioLevel !== 'string') return undefined
  const activity = body.audioLevel.toLowerCase()
  return audioActivities.find((one) => one === activity) ?? null
}

/** What a battery has left in percent, and how long it will last or charge. */
export interface BatteryLevel {
  readonly battery: number | null
  readonly details: Pick<TransmitterDetails, 'battery_minutes' | 'battery_minutes_to_full'>
}

/** The time is that to the target, and which one is meant the state says. Undefined where the answer is no battery level. */
export function parseBatteryLevel(body: unknown): BatteryLevel | undefined {
  if (!isRecord(body)) return undefined
  const { currentState, targetState, timeToTargetState } = isRecord(body.status) ? body.status : {}
  const minutes = parseMinutes(timeToTargetState)
  return {
    battery: readBattery(body.percentage) ?? null,
    details: {
      battery_minutes: currentState === 'DISCHARGING' && targetState === 'EMPTY' ? minutes : null,
      battery_minutes_to_full: currentState === 'CHARGING' ? minutes : null,
    },
  }
}

/** `{"percentage", "cycleCount"}`; undefined where the answer is no battery health. */
export function parseBatteryHealth(
  body: unknown,
): Pick<TransmitterDetails, 'battery_health' | 'battery_cycles'> | undefined {
  if (!isRecord(body)) return undefined
  return {
    battery_health: readBattery(body.percentage) ?? null,
    battery_cycles: readWhole(body.cycleCount, 0, 65_535) ?? null,
  }
}

/** A duration of ISO 8601: `PT853M`, `PT14H13M`. */
function parseMinutes(duration: unknown): number | null {
  const parts = typeof duration === 'string' ? /^PT(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:\d{1,6}S)?$/.exec(duration) : null
  if (parts === null || duration === 'PT') return null
  return readWhole(Number(parts[1] ?? 0) * 60 + Number(parts[2] ?? 0), 0, 65_535) ?? null
}

/**
 * The control port's address: the id begins with its last four bytes, and this ending goes with Shure's first OUI. Of
 * devices under the newer one nothing is known, so they tell none.
 */
export function macOf(id: string): string | null {
  if (!/^[0-9a-f]{8}-.*000eddcccccc$/.test(id)) return null
  return `00:0E:${(id.slice(0, 8).toUpperCase().match(/../g) ?? []).join(':')}`
}

function parseNames(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string').slice(0, 100) : []
}
