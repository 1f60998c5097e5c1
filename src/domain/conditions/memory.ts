/** The evaluation of a channel remembers this between calls and across restarts. It is stored as JSON. */

import type { Transmitter } from '../equipment/receiver.ts'
import { isSameJson } from '../json.ts'
import {
  type BatteryEntries,
  type BatteryReading,
  batteryBounds,
  isAtOrUnder,
  isUnknown,
  readBattery,
} from './battery.ts'
import type { Thresholds } from './condition.ts'
import { type Condition, type LastTransmitter, withoutRow } from './condition.ts'

interface KnownTransmitter {
  readonly name: string | null
  readonly model: string | null
  readonly upstream_slot: number | null
  readonly battery: BatteryReading
  /** True if that reading was at or below the critical bound at the time. */
  readonly wasCritical: boolean
  /** True if that reading was at or below the low bound at the time. */
  readonly wasLow: boolean
  /** Epoch milliseconds; null while it is being received. */
  readonly lastSeen: number | null
}

interface TransmitterMemory {
  /** True if the channel had a transmitter when its receiver last reported. */
  readonly isOn: boolean
  readonly last: KnownTransmitter | null
  /** Set if the transmitter switched off with an empty battery: the shows that included this channel at the time. */
  readonly died: { readonly shows: readonly number[] } | null
}

export interface ConditionMemory {
  readonly condition: Condition
  readonly transmitter: TransmitterMemory
  readonly battery: BatteryEntries
}

export const noTransmitterMemory: TransmitterMemory = { isOn: false, last: null, died: null }

const diedForMs = 12 * 3_600_000
const lastTransmitterForMs = 7 * 24 * 3_600_000
const inUseForMs = 30 * 60_000

/**
 * Returns the memory that a process starts with. `lastSeen` is the stored `last_seen` of the receiver. A transmitter
 * that was on then may have switched off while the process did not run.
 */
export function restoreMemory(stored: ConditionMemory, lastSeen: number): ConditionMemory {
  // Earlier versions did not store `since_known`.
  const condition = { ...stored.condition, since_known: stored.condition.since_known ?? true }
  return { ...stored, condition, transmitter: withLastSeen(stored.transmitter, lastSeen) }
}

/** Ends `battery_died` after an operator acknowledged it at `now`. */
export function acknowledgeBatteryDied(memory: ConditionMemory, now: number): ConditionMemory {
  const condition = withoutRow(memory.condition, 'battery_died', now)
  return { ...memory, condition, transmitter: { ...memory.transmitter, died: null } }
}

/** True if only the acknowledgement of `battery_died` differs. */
export function isAcknowledged(before: ConditionMemory, after: ConditionMemory): boolean {
  if (before.transmitter.died === null) return false
  const expected = acknowledgeBatteryDied(before, after.condition.since)
  return JSON.stringify(expected.transmitter) === JSON.stringify(after.transmitter)
}

/** Times are epoch milliseconds. */
export interface TransmitterReception {
  readonly transmitter: Transmitter | null
  /** True if the record contains current values. */
  readonly isCurrent: boolean
  readonly lastSeen: number
  /** The running shows that include this channel. */
  readonly shows: readonly number[]
  readonly thresholds: Thresholds
  readonly now: number
}

/** Returns `known` itself if nothing changed. */
export function rememberTransmitter(known: TransmitterMemory, reception: TransmitterReception): TransmitterMemory {
  const { transmitter, isCurrent, lastSeen, shows, now } = reception
  if (!isCurrent) return withoutEndedDeath(withLastSeen(known, lastSeen), shows, now)
  if (transmitter !== null) return whileOn(known, transmitter, reception)
  if (!known.isOn) return withoutEndedDeath(known, shows, now)
  const lost = withLastSeen(known, now)
  const isDead = lost.last !== null && (lost.last.wasCritical || (lost.last.wasLow && shows.length > 0))
  return withoutEndedDeath({ ...lost, isOn: false, died: isDead ? { shows } : null }, shows, now)
}

function withLastSeen(known: TransmitterMemory, lastSeen: number): TransmitterMemory {
  if (!known.isOn || known.last === null || known.last.lastSeen !== null) return known
  return { ...known, last: { ...known.last, lastSeen } }
}

/** `battery_died` ends after 12 h, or with the show during which the battery died. */
function withoutEndedDeath(known: TransmitterMemory, shows: readonly number[], now: number): TransmitterMemory {
  if (known.died === null) return known
  const isShowOver = known.died.shows.length > 0 && !known.died.shows.some((show) => shows.includes(show))
  return isShowOver || now >= diedUntil(known) ? { ...known, died: null } : known
}

function whileOn(
  known: TransmitterMemory,
  transmitter: Transmitter,
  { thresholds, lastSeen }: TransmitterReception,
): TransmitterMemory {
  const { name, upstream_slot, details } = transmitter
  const reading = readBattery(transmitter)
  const before = isSameTransmitter(known, transmitter) ? known.last : null
  const isKept = before !== null && isUnknown(reading)
  const bounds = batteryBounds(thresholds)
  // After a restart, the record shows a transmitter that may have switched off, until its receiver reports again.
  const restored = known.isOn ? (known.last?.lastSeen ?? null) : null
  const last: KnownTransmitter = {
    name,
    model: details?.model ?? null,
    upstream_slot,
    battery: isKept ? before.battery : reading,
    wasCritical: isKept ? before.wasCritical : isAtOrUnder(reading, bounds.battery_critical),
    wasLow: isKept ? before.wasLow : isAtOrUnder(reading, bounds.battery_low),
    lastSeen: restored !== null && lastSeen <= restored ? restored : null,
  }
  const isSame = known.isOn && known.died === null && isSameJson(known.last, last)
  return isSame ? known : { isOn: true, last, died: null }
}

/** True unless a known property differs. */
export function isSameTransmitter({ last }: TransmitterMemory, { name, upstream_slot, details }: Transmitter): boolean {
  if (last === null) return true
  const model = details?.model ?? null
  return canBeEqual(last.name, name) && canBeEqual(last.model, model) && canBeEqual(last.upstream_slot, upstream_slot)
}

function canBeEqual<T>(a: T | null, b: T | null): boolean {
  return a === null || b === null || a === b
}

/** True if the channel had a transmitter within 30 minutes before its receiver last reported. */
export function wasInUse({ isOn, last }: TransmitterMemory, lastSeen: number): boolean {
  return isOn || (last?.lastSeen != null && last.lastSeen >= lastSeen - inUseForMs)
}

/** Epoch milliseconds. */
export function diedUntil({ last }: TransmitterMemory): number {
  return (last?.lastSeen ?? 0) + diedForMs
}

/** Epoch milliseconds. */
export function rememberedUntil({ last }: TransmitterMemory): number {
  return (last?.lastSeen ?? 0) + lastTransmitterForMs
}

/** Returns null for a channel with a transmitter, or if the last one was received more than 7 days ago. */
export function getLastTransmitter(known: TransmitterMemory, now: number): LastTransmitter | null {
  const { last } = known
  if (last === null || last.lastSeen === null || now >= rememberedUntil(known)) return null
  const { name, battery, lastSeen } = last
  return { name, battery: battery.percent, minutes_left: battery.minutes, last_seen: lastSeen }
}
