/**
 * What a batch of observations means, all together: who is new, who changed or moved, who has to wait for review.
 * Pure; `monitor/ingest.ts` writes it down and tells it on.
 */

import type { ConflictType } from './discovery.ts'
import { reportsUnits } from './hardware.ts'
import type { ProtocolPrecedence } from './protocol-precedence.ts'
import {
  type Channel,
  type ChannelReading,
  type DeviceReport,
  type Hardware,
  hardwareFields,
  mergeChannels,
  missingChannels,
  type Receiver,
  reportedHardware,
} from './receiver.ts'
import {
  createKnownReceivers,
  identityKey,
  type KnownReceiverIndex,
  type KnownReceivers,
  macKey,
  reconcile,
  serialKey,
} from './reconcile.ts'

/** A receiver to be made. */
export interface Creation {
  readonly draft: Omit<Receiver, 'id' | 'channels'>
  readonly readings: readonly ChannelReading[]
}

/** A known receiver that was heard, and what that changes. */
export interface Update {
  readonly receiver: Receiver
  /** Only fields whose value changes. */
  readonly fields: Partial<Omit<Receiver, 'id' | 'channels' | 'manufacturer'>>
  readonly readings: readonly ChannelReading[]
  /** What these make of the receiver's channels. */
  readonly channels: readonly Channel[]
  /** Channels heard of for the first time. */
  readonly newChannels: readonly number[]
  /** The device itself was heard; false where it was only spoken of. */
  readonly isReceived: boolean
  /** It says more than "still here". */
  readonly hasChanges: boolean
  /** What told it, where something did. */
  readonly report: DeviceReport | null
}

/** An observation that said nothing new of its receiver, and what that rests on. */
export interface Unchanged {
  /** As the observation left it; to be kept up where only the time passes. */
  receiver: Receiver
  readonly identityRevision: number
  readonly keys: readonly string[]
}

export interface Move {
  readonly receiver: Receiver
  readonly old_ip: string
  readonly new_ip: string
}

export interface QueuedDevice {
  readonly report: DeviceReport
  readonly identity_key: string
  readonly conflict_type: ConflictType
  /** With a negative id: the nth creation of this batch, counted from -1 down. */
  readonly existing: Receiver
}

export interface IngestPlan {
  /** When it was told. */
  readonly at: number
  /** Who was who when it was planned. */
  readonly identityRevision: number
  readonly creations: readonly Creation[]
  readonly updates: readonly Update[]
  /** Heard again, and all is as it was. */
  readonly unchanged: readonly Unchanged[]
  readonly moves: readonly Move[]
  readonly queued: readonly QueuedDevice[]
  /** Observations that tell of units. */
  readonly unitReports: readonly DeviceReport[]
  /** Known, at the same address. */
  readonly duplicates: number
  /** Told a second time in this batch. */
  readonly repeated: number
  /** Kept out by an administrator. */
  readonly rejected: number
}

/** What is known from earlier batches, and when this one was told (epoch ms). */
export interface PlanContext {
  readonly known: KnownReceivers
  readonly manufacturer: string
  readonly at: number
  /** The same observation again, of a receiver that has not changed since, needs no second thought. */
  readonly unchanged?: { get(report: DeviceReport): Unchanged | undefined }
  /** Whose word counts; everybody's unless told. */
  readonly precedence?: ProtocolPrecedence
}

export function planChanges(
  known: KnownReceivers,
  manufacturer: string,
  observations: readonly DeviceReport[],
  at: number,
): IngestPlan {
  const { plan, add } = createIngestPlan({ known, manufacturer, at })
  for (const report of observations) add(report)
  return plan
}

/** A plan that grows with every observation that is added. */
export function createIngestPlan({ known, manufacturer, at, unchanged, precedence }: PlanContext): {
  readonly plan: IngestPlan
  add(report: DeviceReport): void
} {
  // What earlier observations of the batch did is seen by later ones: two newcomers at one address, two that swap theirs.
  // Most batches are a level or two that somebody pushed, and change nobody's identity.
  let now = known
  let changed: KnownReceiverIndex | undefined
  const plan = {
    at,
    identityRevision: known.identityRevision,
    creations: [] as Creation[],
    updates: [] as Update[],
    unchanged: [] as Unchanged[],
    moves: [] as Move[],
    queued: [] as QueuedDevice[],
    unitReports: [] as DeviceReport[],
    duplicates: 0,
    repeated: 0,
    rejected: 0,
  }
  const seenKeys = new Set<string>()

  function add(report: DeviceReport): void {
    if (reportsUnits(report)) plan.unitReports.push(report)
    if (report.kind !== 'receiver') return
    const before = unchanged?.get(report)
    if (isRepeated(seenKeys, before?.keys ?? keysOf(report))) {
      plan.repeated += 1
    } else if (before !== undefined && isStillSo(before)) {
      plan.duplicates += 1
      plan.unchanged.push(before)
    } else judge(report)
  }

  function put(receiver: Receiver): void {
    changed ??= createKnownReceivers(known)
    now = changed
    changed.put(receiver)
  }

  function isStillSo({ receiver, identityRevision }: Unchanged): boolean {
    const isNobodyElse = changed === undefined || changed.identityRevision === 0
    return plan.identityRevision === identityRevision && isNobodyElse && known.get(receiver.id) === receiver
  }

  function judge(report: DeviceReport): void {
    const outcome = reconcile(now, manufacturer, report)
    // A newcomer of this very batch, told again under another id, has nothing to add.
    if ('receiver' in outcome && outcome.receiver.id < 0) {
      plan.repeated += 1
      return
    }
    switch (outcome.kind) {
      case 'new': {
        const draft = toDraft(manufacturer, report, at)
        plan.creations.push({ draft, readings: report.channels ?? [] })
        put({ ...draft, id: -plan.creations.length, channels: [] })
        break
      }
      case 'moved': {
        const heeded = heed(outcome.receiver, report)
        if (heeded.ip === outcome.new_ip) plan.moves.push(outcome)
        recordHeard(outcome.receiver, heeded)
        break
      }
      case 'duplicate':
        plan.duplicates += 1
        recordHeard(outcome.receiver, heed(outcome.receiver, report))
        break
      case 'conflict': {
        const { conflict_type, existing } = outcome
        plan.queued.push({ report, identity_key: identityKey(report), conflict_type, existing })
        break
      }
      case 'excluded':
        plan.rejected += 1
        break
      default:
        outcome satisfies never
    }
  }

  function heed(receiver: Receiver, report: DeviceReport): DeviceReport {
    return precedence?.apply(receiver, report) ?? report
  }

  function recordHeard(receiver: Receiver, report: DeviceReport): void {
    const fields = diffReport(now, receiver, report, at)
    const readings = report.channels ?? []
    const newChannels = missingChannels(receiver.channels, readings)
    const channels = mergeChannels(receiver.channels, readings)
    const hasChanges = newChannels.length > 0 || hasFieldChanges(fields) || channels !== receiver.channels
    const before = plan.updates.length
    plan.updates.push({
      receiver,
      fields,
      readings,
      channels,
      newChannels,
      isReceived: report.online !== false,
      hasChanges,
      report,
    })
    if (!changesIdentity(fields)) return
    const holder = fields.api_device_id ? now.byApiId(manufacturer, fields.api_device_id) : undefined
    if (holder !== undefined && holder.id !== receiver.id && holder.id > 0) {
      plan.updates.splice(before, 0, changeWithoutReport(holder, { api_device_id: null }))
      put({ ...holder, api_device_id: null })
    }
    put({ ...receiver, ...fields })
  }

  return { plan, add }
}

/** What an observation that said nothing new of this receiver is remembered by. */
export function toUnchanged(report: DeviceReport, receiver: Receiver, identityRevision: number): Unchanged {
  return { receiver, identityRevision, keys: keysOf(report) }
}

/** A change of a receiver that was not heard itself. */
export function changeWithoutReport(receiver: Receiver, fields: Update['fields']): Update {
  const { channels } = receiver
  return {
    receiver,
    fields,
    readings: [],
    channels,
    newChannels: [],
    isReceived: false,
    hasChanges: hasFieldChanges(fields),
    report: null,
  }
}

/** The receiver as the update leaves it; a reading of a channel that does not exist yet waits for the channel. */
export function applyUpdate(
  receiver: Receiver,
  update: Pick<Update, 'fields' | 'readings'> & Partial<Pick<Update, 'receiver' | 'channels'>>,
): Receiver {
  const isAsPlanned = update.receiver?.channels === receiver.channels
  const channels = (isAsPlanned && update.channels) || mergeChannels(receiver.channels, update.readings)
  for (const _ in update.fields) return { ...receiver, ...update.fields, channels }
  return channels === receiver.channels ? receiver : { ...receiver, channels }
}

/** Whether an update changes more than levels: identity, place, presence or the channels there are. */
export function isStructural(update: Update): boolean {
  return update.newChannels.length > 0 || hasFieldChanges(update.fields)
}

function hasFieldChanges(fields: Update['fields']): boolean {
  for (const field in fields) if (field !== 'last_seen') return true
  return false
}

function keysOf(report: DeviceReport): readonly string[] {
  const serial = serialKey(report.serial_number)
  const mac = macKey(report.mac_address)
  const keys = [`id:${report.id}`]
  if (serial !== null) keys.push(`serial:${serial}`)
  else if (mac !== null) keys.push(`mac:${mac}`)
  return keys
}

function isRepeated(seenKeys: Set<string>, keys: readonly string[]): boolean {
  if (keys.some((key) => seenKeys.has(key))) return true
  for (const key of keys) seenKeys.add(key)
  return false
}

/** A receiver as this observation alone makes it. */
export function toDraft(manufacturer: string, report: DeviceReport, at: number): Creation['draft'] {
  return {
    model: null,
    serial_number: null,
    mac_address: null,
    ip: null,
    subnet_mask: null,
    gateway: null,
    network_mode: null,
    interface_id: null,
    description: null,
    firmware_version: null,
    hosted_firmware_version: null,
    ...reportedHardware(report),
    name: report.name ?? report.id,
    device_type: report.device_type ?? 'receiver',
    manufacturer,
    api_device_id: report.id,
    is_active: report.online !== false,
    last_seen: at,
    location: null,
    is_named_by_hand: false,
    ...(report.details?.fault && { fault: report.details.fault }),
  }
}

/** What the observation changes of the receiver beside its channels. */
function diffReport(known: KnownReceivers, receiver: Receiver, report: DeviceReport, at: number): Update['fields'] {
  const changed: { -readonly [Field in keyof Update['fields']]: Update['fields'][Field] } = {}
  for (const field of hardwareFields) {
    const value = field === 'model' ? report.model_name : report[field]
    if (value === undefined || value === null || value === receiver[field]) continue
    if (canUpdateField(known, receiver, field, value)) Object.assign(changed, { [field]: value })
  }
  const fault = report.details?.fault
  if (fault !== undefined && fault !== (receiver.fault ?? null)) changed.fault = fault
  if (receiver.api_device_id !== report.id) changed.api_device_id = report.id
  // A device that its own system calls offline was not heard; for how long is judged elsewhere.
  if (report.online === false) return changed
  if (!receiver.is_active) changed.is_active = true
  if (at > receiver.last_seen) changed.last_seen = at
  return changed
}

/** An identity that means nothing, or the same spelled otherwise, changes nothing; nor does one that another holds. */
function canUpdateField(known: KnownReceivers, receiver: Receiver, field: keyof Hardware, value: string): boolean {
  const isHeldElsewhere = (holders: readonly Receiver[]) =>
    holders.some((one) => one.id !== receiver.id && one.manufacturer === receiver.manufacturer)
  switch (field) {
    case 'name':
      return !receiver.is_named_by_hand
    case 'serial_number': {
      const key = serialKey(value)
      return key !== null && key !== serialKey(receiver.serial_number) && !isHeldElsewhere(known.bySerial(key))
    }
    case 'mac_address': {
      const key = macKey(value)
      return key !== null && key !== macKey(receiver.mac_address) && !isHeldElsewhere(known.byMac(key))
    }
    default:
      return true
  }
}

function changesIdentity(fields: Update['fields']): boolean {
  return 'ip' in fields || 'serial_number' in fields || 'mac_address' in fields || 'api_device_id' in fields
}
