/** Converts the events of another installation to local events. */

import type { FollowedEvent } from '../../contract/followed-messages.ts'
import { type EventKind, eventKinds } from '../../contract/values.ts'
import type { EventDraft } from '../events/event.ts'
import { type FollowedRecord, siteHere } from './followed-receiver.ts'

/** A page of events, newest first, and the address of the next one. */
export type { FollowedEvents } from '../../contract/followed-messages.ts'

/** Converts ids of the subject of an event to local ids. */
export interface FollowedIds {
  /** Undefined if the receiver is not known here. */
  receiverOf(idThere: number): number | undefined
  channelOf(idThere: number): number | undefined
}

/** Identifies an event of another installation among all events of the record. */
export function eventSubject({ code, installation }: FollowedRecord, idThere: number): string {
  return `site:${code}:${installation}:${idThere}`
}

/** Returns null for an event of a kind that this version does not know, or about unknown equipment. */
export function toFollowedEvent(body: FollowedEvent, record: FollowedRecord, ids: FollowedIds): EventDraft | null {
  const kind = eventKinds.find((known): known is EventKind => known === body.kind)
  const receiver_id = body.receiver_id === null ? null : ids.receiverOf(body.receiver_id)
  const channel_id = body.channel_id === null ? null : ids.channelOf(body.channel_id)
  if (kind === undefined || receiver_id === undefined || channel_id === undefined) return null
  const { severity, manufacturer, text, by } = body
  const { open, ...data } = body.data
  return {
    ...{ kind, severity, receiver_id, channel_id, manufacturer, text, data, by },
    time: Date.parse(body.time),
    until: body.until === null ? null : Date.parse(body.until),
    is_open: open === true,
    subject: eventSubject(record, body.id),
    site: siteHere(record, body.site),
  }
}
