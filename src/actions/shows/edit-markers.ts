/** Creates, changes and removes markers. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import type { NamedChannel } from '../../domain/events/channel-events.ts'
import type { EventRecord } from '../../domain/events/event.ts'
import { type Marker, toMarkerEvent } from '../../domain/events/event-drafts.ts'
import { isSameJson } from '../../domain/json.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import type { RequireVersion, Versioned } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { deleteEvent, findEvent, insertEvents, saveEvent } from '../../storage/events.ts'
import { nextVersion } from '../../storage/versions.ts'
import { editRecords } from '../edit-records.ts'

/** The fields of a request, with times as text. */
export interface MarkerFields {
  readonly time?: string | undefined
  readonly until?: string | null | undefined
  readonly channel_id?: number | null | undefined
  readonly text?: string | undefined
}

/** The clocks of clients may be ahead of the service's by this much. */
const maxAheadMs = 60_000

export async function addMarker(
  service: Service,
  actor: Actor,
  fields: MarkerFields & { readonly text: string },
): Promise<EventRecord> {
  const { text, channel_id = null } = fields
  const marker = { time: now(), until: null, ...parseTimes(fields, now()), text }
  requireOrder(marker)
  const event = toMarkerEvent(marker, findChannel(service, channel_id), actor.name)
  return editMarker(service, async (tx) => {
    const [inserted] = await insertEvents(tx, [event])
    if (inserted === undefined) throw new Error('The marker was not stored.')
    await audit(tx, actor, 'marker.create', inserted)
    return inserted
  })
}

/** Changes the given fields of a marker. */
export async function changeMarker(
  service: Service,
  actor: Actor,
  id: number,
  fields: MarkerFields,
  requireVersion: RequireVersion<MarkerRecord>,
): Promise<EventRecord> {
  const times = parseTimes(fields, now())
  return editMarker(service, async (tx) => {
    const before = await markerOf(tx, id)
    requireVersion(before, `marker ${id}`)
    const { time, until, text } = before
    const marker = { time, until, text, ...times, ...(fields.text !== undefined && { text: fields.text }) }
    requireOrder(marker)
    // The channel of the marker may have been removed by now.
    const event =
      fields.channel_id === undefined
        ? { ...before, ...marker }
        : { ...before, ...toMarkerEvent(marker, findChannel(service, fields.channel_id), before.by) }
    if (isSameJson(event, before)) return before
    const after: EventRecord = { ...event, version: await nextVersion(tx) }
    await saveEvent(tx, after)
    await audit(tx, actor, 'marker.change', after)
    return after
  })
}

export async function removeMarker(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<MarkerRecord>,
): Promise<void> {
  await editMarker(service, async (tx) => {
    const marker = await markerOf(tx, id)
    requireVersion(marker, `marker ${id}`)
    await deleteEvent(tx, id, now())
    await audit(tx, actor, 'marker.delete', marker)
    return marker
  })
}

export type MarkerRecord = EventRecord & Versioned

async function editMarker(service: Service, edit: (tx: Tx) => Promise<EventRecord>): Promise<EventRecord> {
  const marker = await editRecords(service, 'versions', edit)
  await service.events.load()
  return marker
}

async function markerOf(tx: Tx, id: number): Promise<MarkerRecord> {
  const event = await findEvent(tx.query, id)
  if (event?.kind !== 'marker') throw new RequestError('not_found', { subject: `marker ${id}` })
  if (event.site === null) return { ...event, version: event.version ?? 1 }
  const details = `This marker belongs to the site ${event.site.name}. It can only be changed there.`
  throw new RequestError('wrong_state', { subject: details })
}

function findChannel({ receiverStore, slotRecords }: Service, id: number | null): NamedChannel | null {
  if (id === null) return null
  for (const receiver of receiverStore.listFacts()) {
    const channel = receiver.channels.find((candidate) => candidate.id === id)
    if (channel !== undefined) return slotRecords.nameChannel(receiver, channel)
  }
  throw badRequest(`channel_id: there is no channel ${id}`)
}

function parseTimes({ time, until }: MarkerFields, now: number): Partial<Pick<Marker, 'time' | 'until'>> {
  const parsed = {
    ...(time !== undefined && { time: parseTime('time', time) }),
    ...(until !== undefined && { until: until === null ? null : parseTime('until', until) }),
  }
  if ((parsed.time ?? now) > now + maxAheadMs) throw badRequest('time: expected at most one minute from now')
  return parsed
}

function parseTime(field: string, text: string): number {
  const time = parseTimestamp(text)
  if (time === null) throw badRequest(`${field}: expected a time such as 2026-05-01T18:00:00Z`)
  return time
}

function requireOrder({ time, until }: Marker): void {
  if (until !== null && until < time) throw badRequest('until: expected a time that is not before time')
}

function badRequest(details: string): RequestError {
  return new RequestError('bad_request', { details })
}

function audit(tx: Tx, actor: Actor, action: AuditAction, { id, text }: EventRecord): Promise<void> {
  return writeAudit(tx, { actor, action, target: `marker ${id}`, result: 'ok', details: { text } })
}
