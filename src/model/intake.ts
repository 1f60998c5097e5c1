/**
 * What a batch of observations means, all together: who is new, who changed or moved, who has to wait for review.
 * Pure; `monitor/ingest.ts` writes it down and tells it on.
 */

import type { Authority } from './authority.ts'
import type { ConflictType } from './discovery.ts'
import { tellsOfUnits } from './hardware.ts'
import {
  type Channel,
  type ChannelReading,
  type Hardware,
  hardwareFields,
  mergeChannels,
  missingChannels,
  type Observation,
  type Receiver,
  toldHardware,
} from './receiver.ts'
import { createKnown, identityKey, type Known, type KnownIndex, macKey, reconcile, serialKey } from './reconcile.ts'

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
  /** What these make of the receiver's channels. */
  readonly channels: readonly Channel[]
  /** Channels heard of for the first time. */
  readonly newChannels: readonly number[]
  /** The device itself was heard; false where it was only spoken of. */
  readonly isHeard: boolean
  /** It says more than "still here". */
  readonly isNews: boolean
  /** What told it, where something did. */
  readonly seen: Observation | null
}

/** An observation that said nothing new of its receiver, and what that rests on. */
export interface Settled {
  /** As the observation left it; to be kept up where only the time passes. */
  receiver: Receiver
  readonly identities: number
  readonly keys: readonly string[]
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
  /** When it was told. */
  readonly at: number
  /** Who was who when it was planned. */
  readonly identities: number
  readonly creations: readonly Creation[]
  readonly updates: readonly Update[]
  /** Heard again, and all is as it was. */
  readonly again: readonly Settled[]
  readonly moves: readonly Move[]
  readonly queued: readonly Queued[]
  /** Observations that tell of units. */
  readonly ofUnits: readonly Observation[]
  /** Known, at the same address. */
  readonly duplicates: number
  /** Told a second time in this batch. */
  readonly repeated: number
  /** Kept out by an administrator. */
  readonly keptOut: number
}

/** What is known from earlier batches, and when this one was told (epoch ms). */
export interface IntakeContext {
  readonly known: Known
  readonly manufacturer: string
  readonly at: number
  /** The same observation again, of a receiver that has not changed since, needs no second thought. */
  readonly settled?: { get(seen: Observation): Settled | undefined }
  /** Whose word counts; everybody's unless told. */
  readonly authority?: Authority
}

export function planIntake(
  known: Known,
  manufacturer: string,
  observations: readonly Observation[],
  at: number,
): Intake {
  const { plan, add } = startIntake({ known, manufacturer, at })
  for (const seen of observations) add(seen)
  return plan
}

/** A plan that grows with every observation that is added. */
export function startIntake({ known, manufacturer, at, settled, authority }: IntakeContext): {
  readonly plan: Intake
  add(seen: Observation): void
} {
  // What earlier observations of the batch did is seen by later ones: two newcomers at one address, two that swap theirs.
  // Most batches are a level or two that somebody pushed, and change nobody's identity.
  let now = known
  let changed: KnownIndex | undefined
  const plan = {
    at,
    identities: known.identities,
    creations: [] as Creation[],
    updates: [] as Update[],
    again: [] as Settled[],
    moves: [] as Move[],
    queued: [] as Queued[],
    ofUnits: [] as Observation[],
    duplicates: 0,
    repeated: 0,
    keptOut: 0,
  }
  const seenKeys = new Set<string>()

  function add(seen: Observation): void {
    if (tellsOfUnits(seen)) plan.ofUnits.push(seen)
    if (seen.kind !== 'receiver') return
    const before = settled?.get(seen)
    if (isRepeated(seenKeys, before?.keys ?? keysOf(seen))) {
      plan.repeated += 1
    } else if (before !== undefined && isStillSo(before)) {
      plan.duplicates += 1
      plan.again.push(before)
    } else judge(seen)
  }

  function put(receiver: Receiver): void {
    changed ??= createKnown(known)
    now = changed
    changed.put(receiver)
  }

  function isStillSo({ receiver, identities }: Settled): boolean {
    const isNobodyElse = changed === undefined || changed.identities === 0
    return plan.identities === identities && isNobodyElse && known.get(receiver.id) === receiver
  }

  function judge(seen: Observation): void {
    const outcome = reconcile(now, manufacturer, seen)
    // A newcomer of this very batch, told again under another id, has nothing to add.
    if ('receiver' in outcome && outcome.receiver.id < 0) {
      plan.repeated += 1
      return
    }
    switch (outcome.kind) {
      case 'new': {
        const draft = toDraft(manufacturer, seen, at)
        plan.creations.push({ draft, told: seen.channels ?? [] })
        put({ ...draft, id: -plan.creations.length, channels: [] })
        break
      }
      case 'moved': {
        const heeded = heed(outcome.receiver, seen)
        if (heeded.ip === outcome.new_ip) plan.moves.push(outcome)
        recordHeard(outcome.receiver, heeded)
        break
      }
      case 'duplicate':
        plan.duplicates += 1
        recordHeard(outcome.receiver, heed(outcome.receiver, seen))
        break
      case 'conflict': {
        const { conflict_type, existing } = outcome
        plan.queued.push({ seen, identity_key: identityKey(seen), conflict_type, existing })
        break
      }
      case 'kept_out':
        plan.keptOut += 1
        break
      default:
        outcome satisfies never
    }
  }

  function heed(receiver: Receiver, seen: Observation): Observation {
    return authority?.heed(receiver, seen) ?? seen
  }

  function recordHeard(receiver: Receiver, seen: Observation): void {
    const fields = changesOf(now, receiver, seen, at)
    const told = seen.channels ?? []
    const newChannels = missingChannels(receiver.channels, told)
    const channels = mergeChannels(receiver.channels, told)
    const isNews = newChannels.length > 0 || hasNews(fields) || channels !== receiver.channels
    const before = plan.updates.length
    plan.updates.push({ receiver, fields, told, channels, newChannels, isHeard: seen.online !== false, isNews, seen })
    if (!touchesIdentity(fields)) return
    const holder = fields.api_device_id ? now.byApiId(manufacturer, fields.api_device_id) : undefined
    if (holder !== undefined && holder.id !== receiver.id && holder.id > 0) {
      plan.updates.splice(before, 0, spokenOf(holder, { api_device_id: null }))
      put({ ...holder, api_device_id: null })
    }
    put({ ...receiver, ...fields })
  }

  return { plan, add }
}

/** What an observation that said nothing new of this receiver is remembered by. */
export function settle(seen: Observation, receiver: Receiver, identities: number): Settled {
  return { receiver, identities, keys: keysOf(seen) }
}

/** A change of a receiver that was not heard itself. */
export function spokenOf(receiver: Receiver, fields: Update['fields']): Update {
  const { channels } = receiver
  return { receiver, fields, told: [], channels, newChannels: [], isHeard: false, isNews: hasNews(fields), seen: null }
}

/** The receiver as the update leaves it; a reading of a channel that does not exist yet waits for the channel. */
export function applyUpdate(
  receiver: Receiver,
  update: Pick<Update, 'fields' | 'told'> & Partial<Pick<Update, 'receiver' | 'channels'>>,
): Receiver {
  const isAsPlanned = update.receiver?.channels === receiver.channels
  const channels = (isAsPlanned && update.channels) || mergeChannels(receiver.channels, update.told)
  for (const _ in update.fields) return { ...receiver, ...update.fields, channels }
  return channels === receiver.channels ? receiver : { ...receiver, channels }
}

/** Whether an update changes more than levels: identity, place, presence or the channels there are. */
export function isStructural(update: Update): boolean {
  return update.newChannels.length > 0 || hasNews(update.fields)
}

function hasNews(fields: Update['fields']): boolean {
  for (const field in fields) if (field !== 'last_seen') return true
  return false
}

function keysOf(seen: Observation): readonly string[] {
  const serial = serialKey(seen.serial_number)
  const mac = macKey(seen.mac_address)
  const keys = [`id:${seen.id}`]
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
    ...(seen.details?.fault && { fault: seen.details.fault }),
  }
}

/** What the observation changes of the receiver beside its channels. */
function changesOf(known: Known, receiver: Receiver, seen: Observation, at: number): Update['fields'] {
  const changed: { -readonly [Field in keyof Update['fields']]: Update['fields'][Field] } = {}
  for (const field of hardwareFields) {
    const value = field === 'model' ? seen.model_name : seen[field]
    if (value === undefined || value === null || value === receiver[field]) continue
    if (isTellable(known, receiver, field, value)) Object.assign(changed, { [field]: value })
  }
  const fault = seen.details?.fault
  if (fault !== undefined && fault !== (receiver.fault ?? null)) changed.fault = fault
  if (receiver.api_device_id !== seen.id) changed.api_device_id = seen.id
  // A device that its own system calls offline was not heard; for how long is judged elsewhere.
  if (seen.online === false) return changed
  if (!receiver.is_active) changed.is_active = true
  if (at > receiver.last_seen) changed.last_seen = at
  return changed
}

/** An identity that means nothing, or the same spelled otherwise, changes nothing; nor does one that another holds. */
function isTellable(known: Known, receiver: Receiver, field: keyof Hardware, value: string): boolean {
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

function touchesIdentity(fields: Update['fields']): boolean {
  return 'ip' in fields || 'serial_number' in fields || 'mac_address' in fields || 'api_device_id' in fields
}
