/**
 * Is it the same device? Known receivers and review-queue entries + one observation -> one outcome.
 * The specification's deduplication table, completed by its matching order: serial number, MAC address, IP, API id.
 */

import type { ConflictType, QueueEntry } from './discovery.ts'
import type { DeviceReport, Receiver } from './receiver.ts'

export type Outcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'duplicate'; readonly receiver: Receiver }
  | { readonly kind: 'moved'; readonly receiver: Receiver; readonly old_ip: string; readonly new_ip: string }
  | { readonly kind: 'conflict'; readonly conflict_type: ConflictType; readonly existing: Receiver }
  /** An administrator said no to this device; it stays out until its entry is reopened. */
  | { readonly kind: 'excluded'; readonly entry: QueueEntry }

/** What is known, by each way a device can be recognised. Keys are those of `serialKey`, `macKey` and `ipKey`. */
export interface KnownReceivers {
  bySerial(key: string): readonly Receiver[]
  byMac(key: string): readonly Receiver[]
  byIp(key: string): readonly Receiver[]
  byApiId(manufacturer: string, apiDeviceId: string): Receiver | undefined
  entry(manufacturer: string, identityKey: string): QueueEntry | undefined
  get(id: number): Receiver | undefined
  /** Rises with every change of who is who; what a receiver reads changes nothing here. */
  readonly identityRevision: number
}

/** Known receivers that can be looked up in every way, and replaced. */
export interface KnownReceiverIndex extends KnownReceivers {
  /** Adds the receiver, or replaces the one with its id. */
  put(receiver: Receiver): void
  /** Forgets a receiver that was put here. */
  remove(id: number): void
  putEntry(entry: QueueEntry): void
  /** In the order they were first put. */
  receivers(): Iterable<Receiver>
}

/** An index of its own; over `base`, what is put here hides what `base` knows under the same id. */
export function createKnownReceivers(base?: KnownReceivers): KnownReceiverIndex {
  const byId = new Map<number, Receiver>()
  const serials: Index = new Map()
  const macs: Index = new Map()
  const ips: Index = new Map()
  const apiIds = new Map<string, Index>()
  const entries = new Map<string, QueueEntry>()
  let identities = 0

  const find = (own: Index, key: string, below: readonly Receiver[] | undefined): readonly Receiver[] => {
    const here = (own.get(key) ?? none).map((id) => byId.get(id) as Receiver)
    if (below === undefined || below.length === 0) return here
    const visible = below.filter((receiver) => !byId.has(receiver.id))
    return visible.length === 0 ? here : [...visible, ...here]
  }
  const apiIdsOf = (manufacturer: string): Index => {
    const known = apiIds.get(manufacturer)
    if (known !== undefined) return known
    const made: Index = new Map()
    apiIds.set(manufacturer, made)
    return made
  }
  const keysOf = (receiver: Receiver): [Index, string | null][] => [
    [serials, serialKey(receiver.serial_number)],
    [macs, macKey(receiver.mac_address)],
    [ips, ipKey(receiver.ip)],
    [apiIdsOf(receiver.manufacturer), receiver.api_device_id],
  ]
  const forget = (before: Receiver | undefined) => {
    for (const [index, key] of before === undefined ? [] : keysOf(before)) remove(index, key, before?.id ?? 0)
  }

  return {
    get identityRevision() {
      return identities
    },
    put(receiver) {
      const before = byId.get(receiver.id)
      byId.set(receiver.id, receiver)
      if (before !== undefined && isSameIdentity(before, receiver)) return
      identities += 1
      forget(before)
      for (const [index, key] of keysOf(receiver)) add(index, key, receiver.id)
    },
    remove(id) {
      const before = byId.get(id)
      byId.delete(id)
      identities += 1
      forget(before)
    },
    putEntry: (entry) => void entries.set(pair(entry.manufacturer, entry.identity_key), entry),
    get: (id) => byId.get(id) ?? base?.get(id),
    receivers: () => byId.values(),
    bySerial: (key) => find(serials, key, base?.bySerial(key)),
    byMac: (key) => find(macs, key, base?.byMac(key)),
    byIp: (key) => find(ips, key, base?.byIp(key)),
    byApiId(manufacturer, apiDeviceId) {
      const own = byId.get(apiIds.get(manufacturer)?.get(apiDeviceId)?.at(-1) ?? 0)
      if (own !== undefined || base === undefined) return own
      const below = base.byApiId(manufacturer, apiDeviceId)
      return below === undefined || byId.has(below.id) ? undefined : below
    },
    entry: (manufacturer, key) => entries.get(pair(manufacturer, key)) ?? base?.entry(manufacturer, key),
  }
}

/** Ids of receivers, by what they are found by. */
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

function pair(manufacturer: string, key: string): string {
  return `${manufacturer}\n${key}`
}

function add(index: Index, key: string | null, id: number): void {
  if (key === null) return
  const same = index.get(key)
  if (same === undefined) index.set(key, [id])
  else same.push(id)
}

function remove(index: Index, key: string | null, id: number): void {
  const rest = key === null ? undefined : index.get(key)?.filter((one) => one !== id)
  if (key === null || rest === undefined) return
  if (rest.length === 0) index.delete(key)
  else index.set(key, rest)
}

/** What an observation means for what is known. */
export function reconcile(known: KnownReceivers, manufacturer: string, report: DeviceReport): Outcome {
  const outcome = match(known, manufacturer, report)
  if (outcome.kind !== 'new' && outcome.kind !== 'conflict') return outcome
  const entry = known.entry(manufacturer, identityKey(report))
  const isRefused = entry?.status === 'rejected' || entry?.status === 'duplicate'
  return isRefused ? { kind: 'excluded', entry } : outcome
}

/** Serial numbers compare trimmed and case-folded; absent or all-zero ones never match (null). */
export function serialKey(serial: string | null | undefined): string | null {
  const key = serial?.trim().toLowerCase() ?? ''
  return /[^0\s:.-]/.test(key) ? key : null
}

/** MAC addresses compare by their twelve hex digits; anything else, and all zeros, never matches (null). */
export function macKey(mac: string | null | undefined): string | null {
  const digits = mac?.replace(/[^0-9a-f]/gi, '').toLowerCase() ?? ''
  return digits.length === 12 && /[^0]/.test(digits) ? digits : null
}

/** An address nobody can hold never matches (null). */
export function ipKey(ip: string | null | undefined): string | null {
  const key = ip?.trim() ?? ''
  return key === '' || key === '0.0.0.0' ? null : key
}

/** Which device this is for the review queue: its serial, else MAC, else the upstream's own id. */
export function identityKey(seen: Pick<DeviceReport, 'id' | 'serial_number' | 'mac_address'>): string {
  const serial = serialKey(seen.serial_number)
  if (serial !== null) return `serial:${serial}`
  const mac = macKey(seen.mac_address)
  return mac === null ? `id:${seen.id}` : `mac:${mac}`
}

function match(known: KnownReceivers, manufacturer: string, report: DeviceReport): Outcome {
  const serial = serialKey(report.serial_number)
  const mac = macKey(report.mac_address)
  const ip = ipKey(report.ip)
  const sameSerial = serial === null ? [] : known.bySerial(serial)
  const sameMac = mac === null ? [] : known.byMac(mac)
  const sameIp = ip === null ? [] : known.byIp(ip)
  const own = (receiver: Receiver) => receiver.manufacturer === manufacturer

  const sameHardware = sameSerial.find(own) ?? sameMac.find(own)
  if (sameHardware !== undefined) return recognised(sameHardware, ip)

  const foreignHardware = sameSerial[0] ?? sameMac[0]
  if (foreignHardware !== undefined) return conflict('manufacturer_mismatch', foreignHardware)

  const here = sameIp.filter(own)
  const agreeing = here.find((receiver) => !contradicts(receiver, serial, mac))
  if (agreeing !== undefined) return recognised(agreeing, ip)
  const holder = here[0] ?? sameIp[0]
  if (holder !== undefined) return conflict('ip_conflict', holder)

  const sameId = known.byApiId(manufacturer, report.id)
  if (sameId === undefined) return { kind: 'new' }
  return contradicts(sameId, serial, mac) ? conflict('hardware_changed', sameId) : recognised(sameId, ip)
}

function recognised(receiver: Receiver, ip: string | null): Outcome {
  const oldIp = ipKey(receiver.ip)
  if (ip === null || oldIp === null || ip === oldIp) return { kind: 'duplicate', receiver }
  return { kind: 'moved', receiver, old_ip: oldIp, new_ip: ip }
}

/** Both sides tell a serial, or both a MAC, and they differ. */
function contradicts(receiver: Receiver, serial: string | null, mac: string | null): boolean {
  const knownSerial = serialKey(receiver.serial_number)
  const knownMac = macKey(receiver.mac_address)
  return (
    (serial !== null && knownSerial !== null && serial !== knownSerial) ||
    (mac !== null && knownMac !== null && mac !== knownMac)
  )
}

/** The device that is seen is another than the one the receiver stands for, though it goes by the same id. */
export function isReplacedHardware(
  receiver: Receiver,
  { serial_number = null, mac_address = null }: DeviceReport,
): boolean {
  // Most often they are told as they always were, and this is asked of every device in every cycle.
  if (serial_number === receiver.serial_number && mac_address === receiver.mac_address) return false
  const [serial, mac] = [serialKey(serial_number), macKey(mac_address)]
  const isAgreed =
    (serial !== null && serial === serialKey(receiver.serial_number)) ||
    (mac !== null && mac === macKey(receiver.mac_address))
  return !isAgreed && contradicts(receiver, serial, mac)
}

function conflict(conflict_type: ConflictType, existing: Receiver): Outcome {
  return { kind: 'conflict', conflict_type, existing }
}
