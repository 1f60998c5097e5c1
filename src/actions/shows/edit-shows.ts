/** Plans, changes, starts, ends and deletes shows. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { frequencyOf } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { toShowEvent } from '../../domain/events/event-drafts.ts'
import { listFrequencies } from '../../domain/scenes/arrangement.ts'
import {
  changePlan,
  end,
  listChannelsOfShow,
  requireGroups,
  requireNotRunning,
  requireOrder,
  type Show,
  type ShowPlan,
  start,
} from '../../domain/shows.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { insertEvents } from '../../storage/events.ts'
import { deleteShow, findShow, insertShow, saveProgress, saveShow, saveStartFrequencies } from '../../storage/shows.ts'
import { listChannelSlots, listGroups } from '../../storage/slots.ts'
import { editRecords } from '../edit-records.ts'

/** The fields of a request, with times as text. */
export interface ShowFields extends Partial<Omit<ShowPlan, 'starts_at' | 'ends_at'>> {
  readonly starts_at?: string | null
  readonly ends_at?: string | null
}

export function getShow({ lists }: Service, id: number): Show {
  const show = lists.current.shows.find((candidate) => candidate.id === id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
  return show
}

export function addShow(service: Service, actor: Actor, fields: ShowFields & Pick<ShowPlan, 'title'>): Promise<Show> {
  const defaults = { starts_at: null, ends_at: null, group_ids: [], notes: '' }
  const plan = { ...defaults, title: fields.title, ...parseFields(fields) }
  requireOrder(plan)
  return editRecords(service, 'shows', async (tx) => {
    requireGroups(plan, await listGroups(tx.query))
    const show = await insertShow(tx, { ...plan, started_at: null, ended_at: null, channel_ids: null })
    await audit(tx, actor, 'show.create', show.id, { title: show.title })
    return show
  })
}

export function changeShow(
  service: Service,
  actor: Actor,
  id: number,
  fields: ShowFields,
  requireVersion: RequireVersion<Show>,
): Promise<Show> {
  const change = parseFields(fields)
  return editRecords(service, 'shows', async (tx) => {
    const before = await showOf(tx, id)
    requireVersion(before, `show ${id}`)
    const after = changePlan(before, change)
    requireGroups(after, await listGroups(tx.query), before.group_ids)
    await audit(tx, actor, 'show.change', id, { fields: Object.keys(change) })
    return saveShow(tx, after)
  })
}

export async function removeShow(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Show>,
): Promise<void> {
  await editRecords(service, 'shows', async (tx) => {
    const show = await showOf(tx, id)
    requireVersion(show, `show ${id}`)
    requireNotRunning(show)
    await deleteShow(tx, id)
    await audit(tx, actor, 'show.delete', id, { title: show.title })
  })
}

/** Starts a show, and stores the frequencies of all channels. */
export function startShow(service: Service, actor: Actor, id: number): Promise<Show> {
  return editRecords(service, 'shows', async (tx) => {
    const show = start(await showOf(tx, id), now())
    await saveProgress(tx, show)
    const channels = service.receiverStore.listFacts().flatMap((receiver) => receiver.channels)
    const frequencies = channels.map((channel) => ({ id: channel.id, frequency: frequencyOf(channel) }))
    await saveStartFrequencies(tx, id, new Map(listFrequencies(frequencies)))
    await audit(tx, actor, 'show.start', id, { title: show.title })
    await insertEvents(tx, [toShowEvent(show, actor.name)])
    return show
  })
}

/** Ends a show, and stores which channels belong to it. */
export function endShow(service: Service, actor: Actor, id: number): Promise<Show> {
  return editRecords(service, 'shows', async (tx) => {
    const running = await showOf(tx, id)
    const channels = listChannelsOfShow(running, await listChannelSlots(tx.query), await listGroups(tx.query))
    const show = end(running, now(), channels)
    await saveProgress(tx, show)
    await audit(tx, actor, 'show.end', id, { title: show.title })
    await insertEvents(tx, [toShowEvent(show, actor.name)])
    return show
  })
}

async function showOf(tx: Tx, id: number): Promise<Show> {
  const show = await findShow(tx.query, id)
  if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
  return show
}

function parseFields({ starts_at, ends_at, ...fields }: ShowFields): Partial<ShowPlan> {
  return {
    ...fields,
    ...(starts_at !== undefined && { starts_at: parseTime('starts_at', starts_at) }),
    ...(ends_at !== undefined && { ends_at: parseTime('ends_at', ends_at) }),
  }
}

function parseTime(field: string, text: string | null): number | null {
  if (text === null) return null
  const time = parseTimestamp(text)
  if (time !== null) return time
  throw new RequestError('bad_request', { details: `${field}: expected a time such as 2026-05-01T18:00:00Z` })
}

function audit(tx: Tx, actor: Actor, action: AuditAction, id: number, details: Readonly<Record<string, unknown>>) {
  return writeAudit(tx, { actor, action, target: `show ${id}`, result: 'ok', details })
}
