/** Adds, renames, moves and removes receivers at a user's request. */

import type { MovementBody } from '../../contract/discovery.ts'
import type { Location } from '../../contract/locations.ts'
import type { Actor } from '../../domain/access/access.ts'
import { changedFields, type Receiver } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { compareEdited } from '../../domain/events/event-drafts.ts'
import { type Creation, toDraft, toNewReceiver } from '../../domain/identity/ingest-plan.ts'
import { parseIpv4 } from '../../domain/identity/network.ts'
import { macKey, reconcile, serialKey } from '../../domain/identity/reconcile.ts'
import type { RequireVersion, Versioned } from '../../domain/versions.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { logMovement, trimMovements } from '../../storage/discovery.ts'
import { insertEvents } from '../../storage/events.ts'
import { listLocations } from '../../storage/locations.ts'
import { insertReceivers, removeReceiver, saveReceivers, saveReceiverVersion } from '../../storage/receivers.ts'
import { nextVersion } from '../../storage/versions.ts'
import { requireLocal } from '../require-local.ts'

export interface ReceiverEdit {
  readonly location?: number | null
  readonly ip?: string
  /** Null to use the name that the upstream system reports, from the next poll on. */
  readonly name?: string | null
  readonly spare?: boolean
  readonly reason?: string
}

export interface NewReceiver {
  readonly manufacturer: string
  readonly name: string
  readonly device_type?: string
  readonly model?: string | null
  readonly serial_number?: string | null
  readonly mac_address?: string | null
  readonly ip?: string | null
  readonly description?: string | null
  readonly location?: number | null
}

export type ReceiverRecord = Receiver & Versioned

/** Changes a receiver. A change of its location or IP address is logged as a manual movement. */
export async function changeReceiver(
  service: Service,
  actor: Actor,
  id: number,
  edit: ReceiverEdit,
  requireVersion: RequireVersion<ReceiverRecord>,
) {
  const { ingest, receiverStore } = service
  return ingest.change(async (tx, revision) => {
    const before = receiverStore.get(id)
    if (before === undefined) throw new RequestError('not_found', { subject: `receiver ${id}` })
    requireLocal(before)
    requireVersion({ ...before, version: before.version ?? 0 }, `receiver ${id}`)
    const { location, ip, name, spare, reason = '' } = edit
    if (location !== undefined) await checkLocation(tx, location)
    if (ip !== undefined) checkFreeAddress(receiverStore, ip, id)
    const changed = changedFields<Receiver>(before, {
      ...(spare !== undefined && spare !== (before.spare === true) && { spare }),
      ...(location !== undefined && { location }),
      ...(ip !== undefined && { ip }),
      ...(name !== undefined && { name: name ?? before.name, is_named_by_hand: name !== null }),
    })
    if (Object.keys(changed).length === 0) return before
    const version = await nextVersion(tx)
    const after: Receiver = { ...before, ...changed, version }
    await saveReceivers(tx, revision, [after])
    await saveReceiverVersion(tx, id, version)
    const movement_type = movementType(changed)
    if (movement_type !== null) {
      await logMovement(tx, {
        device: id,
        old_ip: before.ip,
        new_ip: after.ip,
        old_location: before.location,
        new_location: after.location,
        movement_type,
        detected_at: now(),
        detected_by: 'manual',
        reason,
      })
      await trimMovements(tx)
    }
    const details = { ...changed, ...(reason !== '' && { reason }) }
    await writeAudit(tx, { actor, action: 'receiver.change', target: `receiver ${id}`, result: 'ok', details })
    const locations = await listLocations(tx.query)
    const locationName = (locationId: number) => locations.find((known) => known.id === locationId)?.name ?? ''
    await insertEvents(tx, compareEdited(before, after, { time: now(), by: actor.name, locationName }))
    return after
  })
}

/**
 * Adds a receiver that no upstream lists yet. When a poll finds a device with the same serial number, MAC address or IP
 * address, that device is matched to this receiver.
 */
export async function addReceiver(service: Service, actor: Actor, details: NewReceiver): Promise<Receiver> {
  const { ingest, receiverStore } = service
  const { manufacturer, name, location = null, serial_number = null, mac_address = null, ip = null } = details
  if (!service.hasManufacturer(manufacturer)) {
    throw new RequestError('bad_request', { details: `manufacturer: there is no manufacturer ${manufacturer}` })
  }
  if (ip !== null) checkAddress(ip)
  if (mac_address !== null && macKey(mac_address) === null) {
    throw new RequestError('bad_request', { details: 'mac_address: expected twelve hexadecimal digits' })
  }
  if (serialKey(serial_number) === null && mac_address === null && ip === null) {
    throw new RequestError('bad_request', {
      details: 'serial_number: a serial number, MAC address or IP address is needed',
    })
  }
  return ingest.change(async (tx, revision) => {
    await checkLocation(tx, location)
    const { device_type, model: model_name, description } = details
    const facts = { name, model_name, serial_number, mac_address, ip, description, ...(device_type && { device_type }) }
    // No upstream has assigned an id yet.
    const report = { ...facts, id: '', kind: 'receiver', online: false } as const
    const outcome = reconcile(receiverStore, manufacturer, report)
    if ('receiver' in outcome) throw new RequestError('already_known', { subject: `receiver ${outcome.receiver.id}` })
    if (outcome.kind === 'excluded') throw new RequestError('already_known', { subject: `entry ${outcome.entry.id}` })
    if (outcome.kind === 'conflict')
      throw new RequestError('already_known', { subject: `receiver ${outcome.existing.id}` })
    const draft = { ...toDraft(manufacturer, report, now()), api_device_id: null, location, is_named_by_hand: true }
    const receiver = await createReceiver(tx, revision, { draft, readings: [] })
    await writeAudit(tx, {
      actor,
      action: 'receiver.add',
      target: `receiver ${receiver.id}`,
      result: 'ok',
      details: { manufacturer, name, serial_number, mac_address, ip, location },
    })
    return receiver
  })
}

/** Deletes a receiver. If the upstream still lists it, the next poll adds it again as a new receiver. */
export async function deleteReceiver(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<ReceiverRecord>,
): Promise<void> {
  await service.ingest.change(async (tx, revision) => {
    const receiver = service.receiverStore.get(id)
    if (receiver === undefined) throw new RequestError('not_found', { subject: `receiver ${id}` })
    requireLocal(receiver)
    requireVersion({ ...receiver, version: receiver.version ?? 0 }, `receiver ${id}`)
    await removeReceiver(tx, revision, id)
    const { manufacturer, name, serial_number, ip } = receiver
    const details = { manufacturer, name, serial_number, ip }
    await writeAudit(tx, { actor, action: 'receiver.delete', target: `receiver ${id}`, result: 'ok', details })
  })
}

/** Stores a receiver with its channels and their latest readings. */
export async function createReceiver(tx: Tx, revision: number, creation: Creation): Promise<Receiver> {
  const [receiver] = await insertReceivers(tx, revision, [toNewReceiver(creation)])
  if (receiver === undefined) throw new Error('The receiver was not stored.')
  return receiver
}

function movementType(changed: Partial<Receiver>): MovementBody['movement_type'] | null {
  const isPlaced = changed.location !== undefined
  if (changed.ip !== undefined) return isPlaced ? 'ip_and_location' : 'ip_only'
  return isPlaced ? 'location_only' : null
}

async function checkLocation(tx: Tx, id: number | null): Promise<void> {
  const locations: readonly Location[] = id === null ? [] : await listLocations(tx.query)
  if (id === null || locations.some((location) => location.id === id)) return
  throw new RequestError('bad_request', { details: `location: there is no location ${id}` })
}

function checkAddress(ip: string): void {
  if (parseIpv4(ip) === null) throw new RequestError('bad_request', { details: 'ip: expected an IPv4 address' })
}

function checkFreeAddress(receiverStore: ReceiverStore, ip: string, id: number): void {
  checkAddress(ip)
  const holder = receiverStore.byIp(ip).find((receiver) => receiver.id !== id)
  if (holder !== undefined)
    throw new RequestError('already_known', { subject: `${ip} is the address of receiver ${holder.id}` })
}
