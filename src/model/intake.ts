/**
 * What a batch of observations means, all together: who is new, who changed or moved, who has to wait for review.
 * Pure; `monitor/ingest.ts` writes it down and tells it on.
 */

import type { ConflictType } from './discovery.ts'
import {
  type ChannelReading,
  changedFields,
  mergeChannels,
  missingChannels,
  type Observation,
  type Receiver,
  toldHardware,
} from './receiver.ts'
import { createKnown, identityKey, type Known, macKey, reconcile, serialKey } from './reconcile.ts'

/** A receiver to be made. */
export interface Creation {
  readonly draft: Omit<Receiver, 'id' | 'channels'>
  readonly told: readonly ChannelReading[]
}

/** A known receiver that was heard, and what that changes. */
export interface Update {
  readonly receiver: Receiver
  /** Only fields whose value changes. */
  readonly fields: Partial<Omit<Receiver, 'id' | 'channels' | 'manufacturer'>>
  readonly told: readonly ChannelReading[]
  /** Channels heard of for the first time. */
  readonly newChannels: readonly number[]
  /** The device itself was heard; false where it was only spoken of. */
  readonly isHeard: boolean
}

export interface Move {
  readonly receiver: Receiver
  readonly old_ip: string
  readonly new_ip: string
}

export interface Queued {
  readonly seen: Observation
  readonly identity_key: string
  readonly conflict_type: ConflictType
  /** With a negative id: the nth creation of this batch, counted from -1 down. */
  readonly existing: Receiver
}

export interface Intake {
  readonly creations: readonly Creation[]
  readonly updates: readonly Update[]
  readonly moves: readonly Move[]
  readonly queued: readonly Queued[]
  /** Known, at the same address. */
  readonly duplicates: number
  /** Told a second time in this batch, or kept out by an administrator. */
  readonly passedOver: number
}

/** `at`: when the batch was told, epoch ms. */
export function planIntake(
  known: Known,
  manufacturer: string,
  observations: readonly Observation[],
  at: number,
): Intake {
  // What earlier observations of the batch did is seen by later ones: two newcomers at one address, two that swap theirs.
  const now = createKnown(known)
  const plan = {
    creations: [] as Creation[],
    updates: [] as Update[],
    moves: [] as Move[],
    queued: [] as Queued[],
    duplicates: 0,
    passedOver: 0,
  }
  const seenKeys = new Set<string>()
  for (const seen of observations) {
    if (seen.kind !== 'receiver') continue
    if (isRepeated(seenKeys, seen)) {
      plan.passedOver += 1
      continue
    }
    const outcome = reconcile(now, manufacturer, seen)
    // A newcomer of this very batch, told again under another id, has nothing to add.
    if ('receiver' in outcome && outcome.receiver.id < 0) {
      plan.passedOver += 1
      continue
    }
    switch (outcome.kind) {
      case 'new': {
        const draft = toDraft(manufacturer, seen, at)
        plan.creations.push({ draft, told: seen.channels ?? [] })
        now.put({ ...draft, id: -plan.creations.length, channels: [] })
        break
      }
      case 'moved':
        plan.moves.push(outcome)
        recordHeard(outcome.receiver, seen)
        break
      case 'duplicate':
        plan.duplicates += 1
        recordHeard(outcome.receiver, seen)
        break
      case 'conflict': {
        const { conflict_type, existing } = outcome
        plan.queued.push({ seen, identity_key: identityKey(seen), conflict_type, existing })
        break
      }
      case 'kept_out':
        plan.passedOver += 1
        break
      default:
        outcome satisfies never
    }
  }
  return plan

  function recordHeard(receiver: Receiver, seen: Observation): void {
    const fields = changedFields<Receiver>(receiver, { ...tellable(now, receiver, seen), ...heard(receiver, seen, at) })
    const told = seen.channels ?? []
    const before = plan.updates.length
    const newChannels = missingChannels(receiver.channels, told)
    plan.updates.push({ receiver, fields, told, newChannels, isHeard: seen.online !== false })
    if (!touchesIdentity(fields)) return
    const holder = fields.api_device_id ? now.byApiId(manufacturer, fields.api_device_id) : undefined
    if (holder !== undefined && holder.id !== receiver.id && holder.id > 0) {
      plan.updates.splice(before, 0, spokenOf(holder, { api_device_id: null }))
      now.put({ ...holder, api_device_id: null })
    }
    now.put({ ...receiver, ...fields })
  }
}

/** A change of a receiver that was not heard itself. */
export function spokenOf(receiver: Receiver, fields: Update['fields']): Update {
  return { receiver, fields, told: [], newChannels: [], isHeard: false }
}

/** The receiver as the update leaves it; a reading of a channel that does not exist yet waits for the channel. */
export function applyUpdate(receiver: Receiver, update: Pick<Update, 'fields' | 'told'>): Receiver {
  const channels = mergeChannels(receiver.channels, update.told)
  for (const _ in update.fields) return { ...receiver, ...update.fields, channels }
  return channels === receiver.channels ? receiver : { ...receiver, channels }
}

/** Whether an update says anything but "still here". */
export function isNews(update: Update): boolean {
  for (const field in update.fields) if (field !== 'last_seen') return true
  return (
    update.newChannels.length > 0 || mergeChannels(update.receiver.channels, update.told) !== update.receiver.channels
  )
}

/** Whether an update changes more than levels: identity, place, presence or the channels there are. */
export function isStructural(update: Update): boolean {
  for (const field in update.fields) if (field !== 'last_seen') return true
  return update.newChannels.length > 0
}

function isRepeated(seenKeys: Set<string>, seen: Observation): boolean {
  const serial = serialKey(seen.serial_number)
  const mac = macKey(seen.mac_address)
  const keys = [`id:${seen.id}`]
  if (serial !== null) keys.push(`serial:${serial}`)
  else if (mac !== null) keys.push(`mac:${mac}`)
  if (keys.some((key) => seenKeys.has(key))) return true
  for (const key of keys) seenKeys.add(key)
  return false
}

/** A receiver as this observation alone makes it. */
export function toDraft(manufacturer: string, seen: Observation, at: number): Creation['draft'] {
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
    ...toldHardware(seen),
    name: seen.name ?? seen.id,
    device_type: seen.device_type ?? 'receiver',
    manufacturer,
    api_device_id: seen.id,
    is_active: seen.online !== false,
    last_seen: at,
    location: null,
    is_named_by_hand: false,
  }
}

/** What the observation may change of the receiver's hardware: never an identity that another receiver holds. */
function tellable(known: Known, receiver: Receiver, seen: Observation): Partial<Receiver> {
  const told: { -readonly [Field in keyof Receiver]?: Receiver[Field] } = {
    ...toldHardware(seen),
    api_device_id: seen.id,
  }
  if (receiver.is_named_by_hand) delete told.name
  const isHeldElsewhere = (holders: readonly Receiver[]) =>
    holders.some((one) => one.id !== receiver.id && one.manufacturer === receiver.manufacturer)
  const serial = serialKey(told.serial_number)
  const mac = macKey(told.mac_address)
  // An identity that means nothing, or the same spelled otherwise, changes nothing.
  if (serial === null || serial === serialKey(receiver.serial_number) || isHeldElsewhere(known.bySerial(serial))) {
    delete told.serial_number
  }
  if (mac === null || mac === macKey(receiver.mac_address) || isHeldElsewhere(known.byMac(mac))) delete told.mac_address
  return told
}

/** A device that its own system calls offline was not heard; for how long is judged elsewhere. */
function heard(receiver: Receiver, seen: Observation, at: number): Partial<Receiver> {
  return seen.online === false ? {} : { is_active: true, last_seen: Math.max(receiver.last_seen, at) }
}

function touchesIdentity(fields: Update['fields']): boolean {
  return 'ip' in fields || 'serial_number' in fields || 'mac_address' in fields || 'api_device_id' in fields
}
