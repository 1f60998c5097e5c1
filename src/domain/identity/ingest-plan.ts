/**
 * Plans the changes of a batch of device reports: the receivers to create, update, move or queue for review. Pure
 * functions; `ingest/ingest.ts` stores and publishes the result.
 */

import type { ConflictType } from '../../contract/values.ts'
import { reportsUnits } from '../equipment/hardware.ts'
import {
  type Channel,
  type ChannelReading,
  type DeviceReport,
  emptyChannel,
  type Hardware,
  hardwareFields,
  mergeChannels,
  mergeReceiverDetails,
  missingChannels,
  type Receiver,
  reportedField,
  reportedHardware,
  unknownHardware,
  withoutSuperseded,
} from '../equipment/receiver.ts'
import { type LevelSample, withLevels } from '../levels/level-sample.ts'
import type { ProtocolPrecedence } from './protocol-precedence.ts'
import {
  createKnownReceivers,
  identityKey,
  type KnownReceiverIndex,
  type KnownReceivers,
  macKey,
  reconcile,
  serialKey,
} from './reconcile.ts'

export interface Creation {
  readonly draft: Omit<Receiver, 'id' | 'channels'>
  readonly readings: readonly ChannelReading[]
}

/** The changes to a known receiver that was reported. */
export interface Update {
  readonly receiver: Receiver
  /** Only fields whose values change. */
  readonly fields: Partial<Omit<Receiver, 'id' | 'channels' | 'manufacturer'>>
  readonly readings: readonly ChannelReading[]
  /** The receiver's channels with the readings merged in. */
  readonly channels: readonly Channel[]
  /** Channels that were reported for the first time. */
  readonly newChannels: readonly number[]
  /** True if the device itself is reachable; false if its system listed it as offline, or without a report. */
  readonly isReceived: boolean
  /** True if the update changes more than `last_seen`. */
  readonly hasChanges: boolean
  /** The report that caused the update, if any. */
  readonly report: DeviceReport | null
}

/** A report that contains only levels of a known receiver. */
export interface LevelReport {
  readonly receiver: Receiver
  readonly readings: readonly LevelSample[]
  /** Absent if nothing is pushed while the readings are taken and wait to be applied. */
  readonly receiverAtRead?: ReceiverAtRead | undefined
}

/** Returns the receiver at the time its report was read; undefined if nothing was pushed since. */
export type ReceiverAtRead = (id: number) => Receiver | undefined

/** True if a source other than this one reaches the receiver at its stored address. */
export type IsReachedElsewhere = (receiver: Receiver, source: string | undefined) => boolean

/** Where a report comes from. */
export interface ReportOrigin {
  /** The id of the source, if known. */
  readonly source?: string
  readonly receiverAtRead?: ReceiverAtRead | undefined
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
  /** A negative id refers to a creation of this batch: -1 is the first one. */
  readonly existing: Receiver
}

export interface IngestPlan {
  /** Epoch milliseconds. */
  readonly at: number
  readonly creations: readonly Creation[]
  readonly updates: readonly Update[]
  readonly levelReports: readonly LevelReport[]
  readonly moves: readonly Move[]
  readonly queued: readonly QueuedDevice[]
  /** Reports for which `reportsUnits` is true. */
  readonly unitReports: readonly DeviceReport[]
  /** Reports of known receivers at an unchanged address. */
  readonly duplicates: number
  /** Repeated reports of a device in this batch. */
  readonly repeated: number
  /** Reports of devices that an administrator rejected. */
  readonly rejected: number
}

type MutablePlan = {
  -readonly [Key in keyof IngestPlan]: IngestPlan[Key] extends readonly (infer Entry)[] ? Entry[] : IngestPlan[Key]
}

/** `at` is in epoch milliseconds. */
export interface PlanContext {
  readonly known: KnownReceivers
  readonly manufacturer: string
  readonly at: number
  /**
   * Returns the receiver of a report that contains only levels and therefore needs no reconciliation. If absent, every
   * report is reconciled.
   */
  readonly findLevelReceiver?: (manufacturer: string, report: DeviceReport) => Receiver | undefined
  /** If absent, all reports have the same precedence. */
  readonly precedence?: ProtocolPrecedence
  readonly isReachedElsewhere?: IsReachedElsewhere
}

/** Extends an initially empty plan report by report. */
export class IngestPlanBuilder {
  readonly #context: PlanContext
  readonly #plan: MutablePlan
  /**
   * Later reports of the batch must see the effect of earlier ones, for example of two new devices at one address, or
   * of two devices that swap addresses. Created on demand, because most batches only contain levels.
   */
  #overlay: KnownReceiverIndex | undefined
  readonly #reportedIds = new Set<string>()
  readonly #reportedKeys = new Set<string>()
  /** The receivers with a level report in this batch. */
  readonly #levelReceivers = new Set<number>()

  constructor(context: PlanContext) {
    this.#context = context
    const counts = { duplicates: 0, repeated: 0, rejected: 0 }
    const lists = { creations: [], updates: [], levelReports: [], moves: [], queued: [], unitReports: [] }
    this.#plan = { at: context.at, ...lists, ...counts }
  }

  /** The same object grows with every report. */
  get plan(): IngestPlan {
    return this.#plan
  }

  /**
   * Adds a report. `levels` are newer than the levels in the report. Values that differ from the receiver in
   * `receiverAtRead` were pushed since and are kept.
   */
  add(report: DeviceReport, origin: ReportOrigin = {}, levels?: readonly LevelSample[]): void {
    const { manufacturer, findLevelReceiver } = this.#context
    const { receiverAtRead } = origin
    if (reportsUnits(report)) this.#plan.unitReports.push(report)
    if (report.kind !== 'receiver') return
    // After a change of identity in this batch, every report is reconciled.
    const receiver = this.#overlay === undefined ? findLevelReceiver?.(manufacturer, report) : undefined
    const isRepeated = this.#reportedIds.has(report.id) || (receiver === undefined && !this.#addIdentity(report))
    if (isRepeated) {
      this.#plan.repeated += 1
      return
    }
    this.#reportedIds.add(report.id)
    if (receiver !== undefined) {
      this.#addLevelReport(receiver, levels ?? report.channels ?? [], receiverAtRead)
    } else this.#planReport(levels === undefined ? report : withLevels(report, levels), origin)
  }

  /** Returns false if an earlier report of this batch has the same identity. */
  #addIdentity(report: DeviceReport): boolean {
    const serial = serialKey(report.serial_number)
    const mac = serial === null ? macKey(report.mac_address) : null
    if (serial === null && mac === null) return true
    const key = serial === null ? `mac:${mac}` : `serial:${serial}`
    if (this.#reportedKeys.has(key)) return false
    this.#reportedKeys.add(key)
    return true
  }

  #addLevelReport(receiver: Receiver, readings: readonly LevelSample[], receiverAtRead?: ReceiverAtRead): void {
    this.#plan.duplicates += 1
    this.#levelReceivers.add(receiver.id)
    this.#plan.levelReports.push({ receiver, readings, receiverAtRead })
  }

  /** The known receivers with the changes planned so far. */
  get #current(): KnownReceivers {
    return this.#overlay ?? this.#context.known
  }

  #put(receiver: Receiver): void {
    this.#overlay ??= createKnownReceivers(this.#context.known)
    this.#overlay.put(receiver)
  }

  #planReport(report: DeviceReport, { receiverAtRead, source }: ReportOrigin): void {
    const { manufacturer, isReachedElsewhere } = this.#context
    const outcome = reconcile(this.#current, manufacturer, report)
    // An earlier report in this batch already created the receiver under another API id, or reported its levels.
    if ('receiver' in outcome && (outcome.receiver.id < 0 || this.#levelReceivers.has(outcome.receiver.id))) {
      this.#plan.repeated += 1
      return
    }
    switch (outcome.kind) {
      case 'new':
        // The receiver has changed its id since, or was removed.
        if (report.isConfirmation !== true) this.#addCreation(report)
        break
      case 'moved': {
        const { receiver, new_ip } = outcome
        // Another port of the device has answered, for example that for Dante.
        const isOtherPort = isReachedElsewhere?.(receiver, source) === true
        const effective = this.#applyPrecedence(receiver, isOtherPort ? { ...report, ip: null } : report)
        if (effective.ip === new_ip) this.#plan.moves.push(outcome)
        this.#addUpdate(receiver, effective, receiverAtRead)
        break
      }
      case 'duplicate':
        this.#plan.duplicates += 1
        this.#addUpdate(outcome.receiver, this.#applyPrecedence(outcome.receiver, report), receiverAtRead)
        break
      case 'conflict': {
        const { conflict_type, existing } = outcome
        this.#plan.queued.push({ report, identity_key: identityKey(report), conflict_type, existing })
        break
      }
      case 'excluded':
        this.#plan.rejected += 1
        break
      default:
        outcome satisfies never
    }
  }

  #addCreation(report: DeviceReport): void {
    const { manufacturer, at } = this.#context
    const draft = toDraft(manufacturer, report, at)
    this.#plan.creations.push({ draft, readings: report.channels ?? [] })
    this.#put({ ...draft, id: -this.#plan.creations.length, channels: [] })
  }

  #applyPrecedence(receiver: Receiver, report: DeviceReport): DeviceReport {
    return this.#context.precedence?.apply(receiver, report) ?? report
  }

  #addUpdate(receiver: Receiver, report: DeviceReport, receiverAtRead?: ReceiverAtRead): void {
    const { updates } = this.#plan
    const before = receiverAtRead?.(receiver.id) ?? receiver
    // Details that have changed since the read were pushed, and are newer.
    const reported = before.details === receiver.details ? report : withoutDetails(report)
    const fields = diffReport(this.#current, receiver, reported, this.#context.at)
    const readings = withoutSuperseded(report.channels ?? [], before.channels, receiver.channels)
    const newChannels = missingChannels(receiver.channels, readings)
    const channels = mergeChannels(receiver.channels, readings)
    const hasChanges = newChannels.length > 0 || hasFieldChanges(fields) || channels !== receiver.channels
    const isReceived = report.online !== false
    const update = { receiver, fields, readings, channels, newChannels, isReceived, hasChanges, report }
    if (changesIdentity(fields)) {
      this.#releaseApiId(receiver, fields.api_device_id)
      this.#put({ ...receiver, ...fields })
    }
    updates.push(update)
  }

  /** Removes the API id from another receiver that has it, because `receiver` now reports under it. */
  #releaseApiId(receiver: Receiver, apiDeviceId: string | null | undefined): void {
    if (!apiDeviceId) return
    const previous = this.#current.byApiId(this.#context.manufacturer, apiDeviceId)
    if (previous === undefined || previous.id === receiver.id || previous.id <= 0) return
    this.#plan.updates.push(changeWithoutReport(previous, { api_device_id: null }))
    this.#put({ ...previous, api_device_id: null })
  }
}

/** Creates an update of a receiver that was not itself reported. */
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

/** Returns the receiver to insert. All its ids and slots are 0 until then. */
export function toNewReceiver({ draft, readings }: Creation): Receiver {
  const numbers = [...new Set(readings.map(({ channel }) => channel))]
  const channels = mergeChannels(
    numbers.map((number) => emptyChannel(0, number, 0)),
    readings,
  )
  return { id: 0, channels, ...draft }
}

/** Ignores readings of channels that do not exist yet. */
export function applyUpdate(
  receiver: Receiver,
  update: Pick<Update, 'fields' | 'readings'> & Partial<Pick<Update, 'receiver' | 'channels'>>,
): Receiver {
  const isAsPlanned = update.receiver?.channels === receiver.channels
  const channels = (isAsPlanned && update.channels) || mergeChannels(receiver.channels, update.readings)
  for (const _ in update.fields) return { ...receiver, ...update.fields, channels }
  return channels === receiver.channels ? receiver : { ...receiver, channels }
}

/** True if an update changes the identity, address, online state or list of channels. */
export function isStructural(update: Update): boolean {
  return update.newChannels.length > 0 || hasFieldChanges(update.fields)
}

function hasFieldChanges(fields: Update['fields']): boolean {
  for (const field in fields) if (field !== 'last_seen') return true
  return false
}

export function toDraft(manufacturer: string, report: DeviceReport, at: number): Creation['draft'] {
  const details = mergeReceiverDetails(undefined, report.details)
  return {
    manufacturer,
    api_device_id: report.id,
    is_active: report.online !== false,
    last_seen: at,
    location: null,
    is_named_by_hand: false,
    ...unknownHardware,
    ...reportedHardware(report),
    name: report.name ?? report.id,
    device_type: report.device_type ?? 'receiver',
    ...(details !== undefined && { details }),
  }
}

function withoutDetails({ details: _, ...report }: DeviceReport): DeviceReport {
  return report
}

/** Returns the changed receiver fields, except channels. */
function diffReport(known: KnownReceivers, receiver: Receiver, report: DeviceReport, at: number): Update['fields'] {
  const changed: { -readonly [Field in keyof Update['fields']]: Update['fields'][Field] } = {}
  for (const field of hardwareFields) {
    const value = reportedField(report, field)
    if (value === undefined || value === null || value === receiver[field]) continue
    if (canUpdateField(known, receiver, field, value)) Object.assign(changed, { [field]: value })
  }
  const details = mergeReceiverDetails(receiver.details, report.details)
  if (details !== undefined && details !== receiver.details) changed.details = details
  if (receiver.api_device_id !== report.id) changed.api_device_id = report.id
  // A device that its system reports as offline has not responded, so `last_seen` and `is_active` do not change. After
  // a timeout, offline detection sets `is_active` to false.
  if (report.online === false) return changed
  if (!receiver.is_active) changed.is_active = true
  if (at > receiver.last_seen) changed.last_seen = at
  return changed
}

/**
 * True if the reported value may replace the stored one. An identity is kept if the reported one is invalid, differs
 * only in spelling, or already belongs to another receiver.
 */
function canUpdateField(known: KnownReceivers, receiver: Receiver, field: keyof Hardware, value: string): boolean {
  const isUsedElsewhere = (receivers: readonly Receiver[]) =>
    receivers.some((other) => other.id !== receiver.id && other.manufacturer === receiver.manufacturer)
  switch (field) {
    case 'name':
      return !receiver.is_named_by_hand
    case 'serial_number': {
      const key = serialKey(value)
      return key !== null && key !== serialKey(receiver.serial_number) && !isUsedElsewhere(known.bySerial(key))
    }
    case 'mac_address': {
      const key = macKey(value)
      return key !== null && key !== macKey(receiver.mac_address) && !isUsedElsewhere(known.byMac(key))
    }
    default:
      return true
  }
}

function changesIdentity(fields: Update['fields']): boolean {
  return 'ip' in fields || 'serial_number' in fields || 'mac_address' in fields || 'api_device_id' in fields
}
