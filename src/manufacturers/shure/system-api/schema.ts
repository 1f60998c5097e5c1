/**
 * Parses the response bodies of the Shure System API (version 1.8): device nodes, audio channels and the resources of
 * both. Source: public clients, which follow its OpenAPI document and were tested with real hardware.
 */

import type { AudioActivity, TransmitterDetails } from '../../../domain/equipment/receiver.ts'
import { isRecord } from '../../../domain/json.ts'
import { readIp, readText, readWhole } from '../../../upstream/fields.ts'
import { fields } from './fields.ts'

export const deviceStates = ['ONLINE', 'OFFLINE', 'DISCOVERED'] as const

/** A device that is only discovered has no serial number, firmware version or capabilities. */
export interface DeviceNode {
  /** The device's ACN component id in lower case, because servers differ in its case. */
  readonly id: string
  /** The same id as the server spells it, for request paths. */
  readonly deviceId: string
  readonly state: (typeof deviceStates)[number]
  readonly model: string | null
  readonly serialNumber: string | null
  readonly firmwareVersion: string | null
  readonly ip: string | null
  /** The firmware is too old for the server. */
  readonly isTooOld: boolean
  /** Names of the available resources, in stable order. */
  readonly capabilities: readonly string[]
}

export interface AudioChannel {
  /** The server's id: base64 of a short JSON text. */
  readonly id: string
  /** Starts at 1. */
  readonly number: number
  readonly capabilities: readonly string[]
}

export interface DevicePage {
  readonly nodes: readonly (DeviceNode | null)[]
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null
}

/** False for the device list of the common device API. */
export function isDevicePage(body: unknown): boolean {
  if (isRecord(body) && Array.isArray(body.edges)) return true
  const [first] = findList(body) ?? []
  return isRecord(first) && isRecord(first.hardwareIdentity)
}

/**
 * Reads one page of the device list. Its entries are in `edges`; older documents show `items` or a bare array. Returns
 * undefined for anything else.
 */
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

/** Returns null if the node has no id or its state is unknown. */
export function parseDeviceNode(node: unknown): DeviceNode | null {
  if (!isRecord(node) || !isRecord(node.hardwareIdentity)) return null
  const software = isRecord(node.softwareIdentity) ? node.softwareIdentity : {}
  const protocol = isRecord(node.communicationProtocol) ? node.communicationProtocol : {}
  const id = readText(node.hardwareIdentity.deviceId)
  const state = deviceStates.find((candidate) => candidate === node.deviceState)
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

/** Skips entries whose id contains no channel number. */
export function parseAudioChannels(body: unknown): AudioChannel[] {
  if (!Array.isArray(body)) return []
  return body.filter(isRecord).flatMap((item) => {
    const number = typeof item.id === 'string' ? channelNumber(item.id) : null
    return number === null ? [] : [{ id: String(item.id), number, capabilities: parseNames(item.capabilities) }]
  })
}

/** The ids of devices have less than 100 characters. */
const maxIdChars = 1000

/**
 * Reads the channel number from an id: base64 of `{"t":"AudioChannel","c":"ADTQ","v":131088,"s":"CH","i":0}`. Some
 * devices use `index` instead of `i`.
 */
export function channelNumber(id: string): number | null {
  // The values in it were not counted when the response was.
  if (id.length > maxIdChars) return null
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(id, 'base64').toString('utf8'))
  } catch {
    return null
  }
  const index = isRecord(parsed) ? readWhole(parsed.i ?? parsed.index, 0, 65_534) : null
  return typeof index === 'number' ? index + 1 : null
}

/** Reads `{"name"}` of a device or a channel. */
export function parseName(body: unknown): string | null | undefined {
  return isRecord(body) ? fields.name.read(body.name) : undefined
}

/** The mute of the receiver's output. */
export function parseMute(body: unknown): boolean | null | undefined {
  return isRecord(body) ? fields.muted.read(body.muted) : undefined
}

/** In decibels. */
export function parseGain(body: unknown): number | null | undefined {
  return isRecord(body) ? fields.gain.read(body.gain) : undefined
}

/** Reads `{"audioLevel": "GOOD"}`, a level in words. */
export function parseActivity(body: unknown): AudioActivity | null | undefined {
  return isRecord(body) ? fields.activity.read(body.audioLevel) : undefined
}

/** Percent, and the time until it is empty or full. */
export interface BatteryLevel {
  readonly battery: number | null
  readonly details: TransmitterDetails
}

/**
 * The battery's state determines whether the time is until empty or until full. Returns undefined if the body is not an
 * object.
 */
export function parseBatteryLevel(body: unknown): BatteryLevel | undefined {
  if (!isRecord(body)) return undefined
  const { currentState, targetState, timeToTargetState } = isRecord(body.status) ? body.status : {}
  const state = fields.state.read(currentState)
  const minutes = fields.minutes.read(timeToTargetState) ?? null
  const isRunTime = state === 'discharging' && fields.target.read(targetState) === 'empty'
  return {
    battery: fields.charge.read(body.percentage) ?? null,
    details: {
      battery_minutes: isRunTime ? minutes : null,
      battery_minutes_to_full: state === 'charging' ? minutes : null,
    },
  }
}

/** Reads `{"percentage", "cycleCount"}`; undefined if the body is not an object. */
export function parseBatteryHealth(
  body: unknown,
): Pick<TransmitterDetails, 'battery_health' | 'battery_cycles'> | undefined {
  if (!isRecord(body)) return undefined
  return {
    battery_health: fields.health.read(body.percentage) ?? null,
    battery_cycles: fields.cycles.read(body.cycleCount) ?? null,
  }
}

/**
 * Returns the MAC address of the control port. The id begins with the last four bytes of the address, and its ending
 * stands for Shure's first OUI. Returns null for ids of the newer OUI, whose format is unknown.
 */
export function macOf(id: string): string | null {
  if (!/^[0-9a-f]{8}-.*000eddcccccc$/.test(id)) return null
  return `00:0E:${(id.slice(0, 8).toUpperCase().match(/../g) ?? []).join(':')}`
}

function parseNames(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string').slice(0, 100) : []
}
