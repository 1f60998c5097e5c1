/** Reads micboard's config.json, and compares it with what is stored: slots, extended names and groups. */

import type { Group } from '../../contract/groups.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { describeHolder, lastSlot, type PlannedMove, planSlots, type SlotHolder } from '../equipment/slots.ts'
import { findUnstorable, isRecord, type Json } from '../json.ts'
import type { Unstored } from '../versions.ts'
import type { CastRow } from './cast-columns.ts'

interface ConfiguredSlot {
  readonly slot: number
  readonly ip: string
  /** Family of the receiver, for instance `ulxd`; `offline` is equipment without telemetry. */
  readonly type: string
  readonly channel: number
  /** The name that micboard shows; empty if it shows the name that the receiver reports. */
  readonly name: string
  /** The label of the pack, for instance `H01`, or empty. */
  readonly label: string
}

interface ConfiguredGroup {
  readonly title: string
  readonly slots: readonly number[]
  readonly hide_charts: boolean
}

export interface MicboardConfig {
  readonly slots: readonly ConfiguredSlot[]
  readonly groups: readonly ConfiguredGroup[]
}

/** A slot that is not imported, or its name. */
interface SkippedSlot {
  readonly slot: number
  readonly name: string | null
  readonly reason: string
}

interface PlannedGroup {
  /** Null if the group is added. */
  readonly before: Group | null
  readonly after: Unstored<Group>
}

interface PlannedPlaceholder {
  readonly slot: number
  readonly name: string
  readonly note: string
}

export interface MicboardPlan {
  readonly moves: readonly PlannedMove[]
  readonly placeholders: readonly PlannedPlaceholder[]
  readonly groups: readonly PlannedGroup[]
  /** The extended names, as rows of a cast list whose numbers are slots. */
  readonly rows: readonly CastRow[]
  readonly skipped: readonly SkippedSlot[]
}

interface MicboardState {
  readonly receivers: readonly Pick<Receiver, 'ip' | 'device_type' | 'channels'>[]
  readonly holders: readonly SlotHolder[]
  readonly groups: readonly Group[]
}

const maxNameLength = 255
/** Far more than micboard can show. */
const maxSlots = 10_000
const maxGroups = 1_000

/** Reads the parts that are imported; everything else in the file is ignored. Returns a message if the file is invalid. */
export function readMicboardConfig(text: string): MicboardConfig | string {
  const file = parse(text)
  if (!isRecord(file)) return 'expected the content of config.json, an object in JSON'
  const unstorable = findUnstorable(file)
  if (unstorable !== null) return `${unstorable.path.join('.')}: ${unstorable.problem}`
  if (!Array.isArray(file.slots)) return 'expected a list `slots`, as in config.json of micboard'
  if (file.slots.length > maxSlots) return `slots: expected at most ${maxSlots} entries`
  const groups = Array.isArray(file.groups) ? file.groups.filter(isRecord) : []
  if (groups.length > maxGroups) return `groups: expected at most ${maxGroups} entries`
  const slots: ConfiguredSlot[] = []
  for (const [index, entry] of file.slots.entries()) {
    const slot = isRecord(entry) ? toSlot(entry) : null
    if (slot === null) return `slots.${index}: expected {slot, type, ip, channel} with a slot from 1 to ${lastSlot}`
    slots.push(slot)
  }
  return { slots, groups: groups.map(toGroup) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
}

function toSlot({ slot, ip, type, channel, extended_name, extended_id }: Json): ConfiguredSlot | null {
  if (!isSlotNumber(slot)) return null
  return {
    slot,
    ip: toText(ip),
    type: toText(type),
    channel: typeof channel === 'number' ? channel : 1,
    name: toText(extended_name),
    label: toText(extended_id),
  }
}

function isSlotNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= lastSlot
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, maxNameLength) : ''
}

/** Slot 0 is an empty box on micboard's wall. */
function toGroup({ group, title, slots, hide_charts }: Json): ConfiguredGroup {
  return {
    title: toText(title) || (typeof group === 'number' ? `Group ${group}` : 'Group'),
    slots: Array.isArray(slots) ? [...new Set(slots.filter(isSlotNumber))].slice(0, maxSlots) : [],
    hide_charts: hide_charts === true,
  }
}

export function planMicboard(config: MicboardConfig, state: MicboardState): MicboardPlan {
  const { requested, offline, skipped } = assignSlots(config.slots, state)
  const named = [...requested.values()].filter(({ name }) => name !== '')
  return {
    moves: planSlots(
      state.holders,
      new Map([...requested].map(([id, { slot }]) => [describeHolder({ kind: 'channel', id }), slot])),
      new Set(offline.map(({ slot }) => slot)),
    ),
    placeholders: offline.map((entry) => ({ slot: entry.slot, ...toPlaceholder(entry) })),
    groups: planGroups(config.groups, state.groups),
    rows: named.map(({ slot, name }) => toRow(slot, name)),
    skipped,
  }
}

interface AssignedSlots {
  /** By the id of the channel. */
  readonly requested: ReadonlyMap<number, ConfiguredSlot>
  readonly offline: readonly ConfiguredSlot[]
  readonly skipped: readonly SkippedSlot[]
}

function assignSlots(slots: readonly ConfiguredSlot[], state: MicboardState): AssignedSlots {
  const requested = new Map<number, ConfiguredSlot>()
  const offline: ConfiguredSlot[] = []
  const skipped: SkippedSlot[] = []
  const used = new Set<number>()
  for (const entry of slots) {
    const { slot, name } = entry
    const target = used.has(slot) ? `Slot ${slot} is listed twice.` : findTarget(entry, state)
    const earlier = typeof target === 'number' ? requested.get(target) : undefined
    if (typeof target === 'string' || earlier !== undefined) {
      const reason = typeof target === 'string' ? target : `The channel is already in slot ${earlier?.slot}.`
      skipped.push({ slot, name: name || null, reason })
      continue
    }
    used.add(slot)
    if (target === null) offline.push(entry)
    else requested.set(target, entry)
  }
  return { requested, offline, skipped }
}

/** Returns the id of the channel of a slot, null for a placeholder, or a message if there is neither. */
function findTarget({ ip, type, channel }: ConfiguredSlot, { receivers }: MicboardState): number | string | null {
  if (type === 'offline') return null
  if (ip === '') return 'The slot has no address of a receiver.'
  const atAddress = receivers.filter((receiver) => receiver.ip === ip)
  const receiver = atAddress.find(({ device_type }) => device_type === type) ?? atAddress[0]
  if (receiver === undefined) return `There is no receiver with the address ${ip}.`
  const found = receiver.channels.find(({ channel: number }) => number === channel)
  return found?.id ?? `The receiver with the address ${ip} has no channel ${channel}.`
}

function toPlaceholder({ slot, name, label }: ConfiguredSlot): Omit<PlannedPlaceholder, 'slot'> {
  return { name: name || label || `Slot ${slot}`, note: name === '' ? '' : label }
}

function toRow(slot: number, name: string): CastRow {
  return { row: slot, slot: String(slot), name, role: '', note: '', photo: '', pack: '' }
}

/** A group with the same title gets the slots; otherwise a group is added. */
function planGroups(configured: readonly ConfiguredGroup[], stored: readonly Group[]): PlannedGroup[] {
  const unused = [...stored]
  return configured.flatMap(({ title, slots, hide_charts }): PlannedGroup[] => {
    const index = unused.findIndex((group) => group.title === title)
    const [before] = index === -1 ? [] : unused.splice(index, 1)
    if (before === undefined) {
      return [{ before: null, after: { title, slots: [...slots], hide_charts, zone: null, manufacturer: null } }]
    }
    const isSame = before.slots.length === slots.length && before.slots.every((slot, place) => slot === slots[place])
    return isSame ? [] : [{ before, after: { ...before, slots: [...slots] } }]
  })
}
