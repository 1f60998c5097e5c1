/**
 * Matches a device report against the known receivers and the review queue. Follows the deduplication table of the
 * interface specification (see docs/conformance.md): compares the serial number, the MAC address, the IP address and
 * the API id, in this order.
 */

import type { ConflictType } from '../../contract/values.ts'
import type { QueueEntry } from '../equipment/discovery.ts'
import type { DeviceReport, Receiver } from '../equipment/receiver.ts'

export type Outcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'duplicate'; readonly receiver: Receiver }
  | { readonly kind: 'moved'; readonly receiver: Receiver; readonly old_ip: string; readonly new_ip: string }
  | { readonly kind: 'conflict'; readonly conflict_type: ConflictType; readonly existing: Receiver }
  /** An administrator rejected the device or marked it as a duplicate. It is ignored until its entry is reopened. */
  | { readonly kind: 'excluded'; readonly entry: QueueEntry }

/** Finds known receivers by every identity. The keys come from `serialKey`, `macKey` and `ipKey`. */
export interface KnownReceivers {
  bySerial(key: string): readonly Receiver[]
  byMac(key: string): readonly Receiver[]
  byIp(key: string): readonly Receiver[]
  byApiId(manufacturer: string, apiDeviceId: string): Receiver | undefined
  entry(manufacturer: string, identityKey: string): QueueEntry | undefined
  get(id: number): Receiver | undefined
  /** Increases with every change of an identity, but not with readings. */
  readonly identityRevision: number
}

/** A mutable index of known receivers. */
export interface KnownReceiverIndex extends KnownReceivers {
  /** Adds the receiver, or replaces the one with its id. */
  put(receiver: Receiver): void
  /**
   * Removes a receiver that was put into this index. A receiver with the same id in the base index (see
   * `createKnownReceivers`) becomes visible again.
   */
  remove(id: number): void
  /** Replaces a receiver with a record of the same identity, without comparing the identities. */
  refresh(receiver: Receiver): void
  putEntry(entry: QueueEntry): void
  /** In order of creation. */
  receivers(): Iterable<Receiver>
}

/** Creates an empty index. With `base`, it is an overlay: its receivers hide those in `base` with the same id. */
export function createKnownReceivers(base?: KnownReceivers): KnownReceiverIndex {
  const byId = new Map<number, Receiver>()
  const serials: Index = new Map()
  const macs: Index = new Map()
  const ips: Index = new Map()
  const apiIds = new Map<string, Index>()
  const entries = new Map<string, QueueEntry>()
  let identityRevision = 0

  const find = (index: Index, key: string, inBase: readonly Receiver[] | undefined): readonly Receiver[] => {
    const inOverlay = (index.get(key) ?? none).map((id) => byId.get(id) as Receiver)
    if (inBase === undefined || inBase.length === 0) return inOverlay
    const visible = inBase.filter((receiver) => !byId.has(receiver.id))
    return visible.length === 0 ? inOverlay : [...visible, ...inOverlay]
  }
  const apiIdsOf = (manufacturer: string): Index => {
    const existing = apiIds.get(manufacturer)
    if (existing !== undefined) return existing
    const created: Index = new Map()
    apiIds.set(manufacturer, created)
    return created
  }
  const keysOf = (receiver: Receiver): [Index, string | null][] =>
    // Receivers of other installations are not compared with reports.
    receiver.origin !== undefined
      ? []
      : [
          [serials, serialKey(receiver.serial_number)],
          [macs, macKey(receiver.mac_address)],
          [ips, ipKey(receiver.ip)],
          [apiIdsOf(receiver.manufacturer), receiver.api_device_id],
        ]
  const removeKeys = (before: Receiver | undefined) => {
    for (const [index, key] of before === undefined ? [] : keysOf(before)) remove(index, key, before?.id ?? 0)
  }

  return {
    get identityRevision() {
      return identityRevision
    },
    put(receiver) {
      const before = byId.get(receiver.id)
      byId.set(receiver.id, receiver)
      if (before !== undefined && isSameIdentity(before, receiver)) return
      identityRevision += 1
      removeKeys(before)
      for (const [index, key] of keysOf(receiver)) add(index, key, receiver.id)
    },
    refresh: (receiver) => void byId.set(receiver.id, receiver),
    remove(id) {
      const before = byId.get(id)
      byId.delete(id)
      identityRevision += 1
      removeKeys(before)
    },
    putEntry: (entry) => void entries.set(entryKey(entry.manufacturer, entry.identity_key), entry),
    get: (id) => byId.get(id) ?? base?.get(id),
    receivers: () => byId.values(),
    bySerial: (key) => find(serials, key, base?.bySerial(key)),
    byMac: (key) => find(macs, key, base?.byMac(key)),
    byIp: (key) => find(ips, key, base?.byIp(key)),
    byApiId(manufacturer, apiDeviceId) {
      const inOverlay = byId.get(apiIds.get(manufacturer)?.get(apiDeviceId)?.at(-1) ?? 0)
      if (inOverlay !== undefined || base === undefined) return inOverlay
      const inBase = base.byApiId(manufacturer, apiDeviceId)
      return inBase === undefined || byId.has(inBase.id) ? undefined : inBase
    },
    entry: (manufacturer, key) => entries.get(entryKey(manufacturer, key)) ?? base?.entry(manufacturer, key),
  }
}

/** Key -> ids of the receivers with that key. */
type Index = Map<string, number[]>

const none: readonly number[] = []

function isSameIdentity(a: Receiver, b: Receiver): boolean {
  return (
    a.ip === b.ip &&
    a.serial_number === b.serial_number &&
    a.mac_address === b.mac_address &&
    a.api_device_id === b.api_device_id &&
    a.manufacturer === b.manufacturer
  )
}

function entryKey(manufacturer: string, key: string): string {
  return `${manufacturer}\n${key}`
}

function add(index: Index, key: string | null, id: number): void {
  if (key === null) return
  const ids = index.get(key)
  if (ids === undefined) index.set(key, [id])
  else ids.push(id)
}

function remove(index: Index, key: string | null, id: number): void {
  const remaining = key === null ? undefined : index.get(key)?.filter((other) => other !== id)
  if (key === null || remaining === undefined) return
  if (remaining.length === 0) index.delete(key)
  else index.set(key, remaining)
}

/** Matches the report, and checks the review queue if the device is new or in conflict. */
export function reconcile(known: KnownReceivers, manufacturer: string, report: DeviceReport): Outcome {
  const outcome = match(known, manufacturer, report)
  if (outcome.kind !== 'new' && outcome.kind !== 'conflict') return outcome
  const entry = known.entry(manufacturer, identityKey(report))
  const isExcluded = entry?.status === 'rejected' || entry?.status === 'duplicate'
  return isExcluded ? { kind: 'excluded', entry } : outcome
}

/**
 * Returns the serial number for comparison: trimmed and in lower case. Null if it is absent or all zeros, because such
 * numbers never match.
 */
export function serialKey(serial: string | null | undefined): string | null {
  const key = serial?.trim().toLowerCase() ?? ''
  return /[^0\s:.-]/.test(key) ? key : null
}

/** Returns the MAC address for comparison: its twelve hex digits. Null for anything else and for all zeros. */
export function macKey(mac: string | null | undefined): string | null {
  const digits = mac?.replace(/[^0-9a-f]/gi, '').toLowerCase() ?? ''
  return digits.length === 12 && /[^0]/.test(digits) ? digits : null
}

/** Returns the IP address for comparison. Null for an absent address and for 0.0.0.0, which never match. */
export function ipKey(ip: string | null | undefined): string | null {
  const key = ip?.trim() ?? ''
  return key === '' || key === '0.0.0.0' ? null : key
}

/** Identifies a device in the review queue by the first of these that it has: serial number, MAC address, API id. */
export function identityKey(report: Pick<DeviceReport, 'id' | 'serial_number' | 'mac_address'>): string {
  const serial = serialKey(report.serial_number)
  if (serial !== null) return `serial:${serial}`
  const mac = macKey(report.mac_address)
  return mac === null ? `id:${report.id}` : `mac:${mac}`
}

function match(known: KnownReceivers, manufacturer: string, report: DeviceReport): Outcome {
  const serial = serialKey(report.serial_number)
  const mac = macKey(report.mac_address)
  const ip = ipKey(report.ip)
  const sameSerial = serial === null ? [] : known.bySerial(serial)
  const sameMac = mac === null ? [] : known.byMac(mac)
  const sameIp = ip === null ? [] : known.byIp(ip)
  const isSameManufacturer = (receiver: Receiver) => receiver.manufacturer === manufacturer

  const sameHardware = sameSerial.find(isSameManufacturer) ?? sameMac.find(isSameManufacturer)
  if (sameHardware !== undefined) return toMatch(sameHardware, ip)

  const otherManufacturer = sameSerial[0] ?? sameMac[0]
  if (otherManufacturer !== undefined) return conflict('manufacturer_mismatch', otherManufacturer)

  const candidates = sameIp.filter(isSameManufacturer)
  const compatible = candidates.find((receiver) => !contradicts(receiver, serial, mac))
  if (compatible !== undefined) return toMatch(compatible, ip)
  const conflicting = candidates[0] ?? sameIp[0]
  if (conflicting !== undefined) return conflict('ip_conflict', conflicting)

  const sameId = known.byApiId(manufacturer, report.id)
  if (sameId === undefined) return { kind: 'new' }
  return contradicts(sameId, serial, mac) ? conflict('hardware_changed', sameId) : toMatch(sameId, ip)
}

function toMatch(receiver: Receiver, ip: string | null): Outcome {
  const oldIp = ipKey(receiver.ip)
  if (ip === null || oldIp === null || ip === oldIp) return { kind: 'duplicate', receiver }
  return { kind: 'moved', receiver, old_ip: oldIp, new_ip: ip }
}

/** True if the serial numbers or the MAC addresses differ. Missing ones are not compared. */
function contradicts(receiver: Receiver, serial: string | null, mac: string | null): boolean {
  const knownSerial = serialKey(receiver.serial_number)
  const knownMac = macKey(receiver.mac_address)
  return (
    (serial !== null && knownSerial !== null && serial !== knownSerial) ||
    (mac !== null && knownMac !== null && mac !== knownMac)
  )
}

/** True if a report under the receiver's id comes from different hardware. */
export function isReplacedHardware(
  receiver: Receiver,
  { serial_number = null, mac_address = null }: DeviceReport,
): boolean {
  // Fast path: this runs for every device in every cycle, and identities rarely change.
  if (serial_number === receiver.serial_number && mac_address === receiver.mac_address) return false
  const [serial, mac] = [serialKey(serial_number), macKey(mac_address)]
  const hasSameIdentity =
    (serial !== null && serial === serialKey(receiver.serial_number)) ||
    (mac !== null && mac === macKey(receiver.mac_address))
  return !hasSameIdentity && contradicts(receiver, serial, mac)
}

function conflict(conflict_type: ConflictType, existing: Receiver): Outcome {
  return { kind: 'conflict', conflict_type, existing }
}
