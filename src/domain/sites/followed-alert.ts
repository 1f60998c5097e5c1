/** Converts the alerts of another installation to copies. */

import { type AlertKind, alertKinds } from '../../contract/alert-kinds.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import type { FollowedAlert } from '../../contract/followed-messages.ts'
import type { AlertCopy, AlertFirst, SnoozeEnd } from '../alerts/alert.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { type FollowedRecord, siteHere } from './followed-receiver.ts'

/** The subject of the alert, with local ids. */
export interface FollowedSubject {
  readonly receiver: Pick<Receiver, 'id'> | undefined
  readonly channel: Pick<Channel, 'id' | 'slot'> | undefined
}

/** Returns null for an alert of a kind that this version does not know. */
export function toAlertCopy(
  body: FollowedAlert,
  record: FollowedRecord,
  { receiver, channel }: FollowedSubject,
): AlertCopy | null {
  const kind = alertKinds.find((known) => known === body.kind)
  if (kind === undefined) return null
  const { severity, message, manufacturer, acknowledged_by, note, snoozed_by } = body
  const dataHere = (data: AlertBody['data']) => (channel === undefined ? data : { ...data, slot: channel.slot })
  const data = dataHere(body.data)
  return {
    subject: `site:${record.code}:${record.installation}:${body.id}`,
    ...{ kind, severity, message, manufacturer, data, acknowledged_by, note, snoozed_by },
    receiver_id: receiver?.id ?? null,
    channel_id: channel?.id ?? null,
    raised_at: Date.parse(body.raised_at),
    first: toFirst(body, kind, dataHere),
    cleared_at: parseTime(body.cleared_at),
    acknowledged_at: parseTime(body.acknowledged_at),
    snoozed_at: parseTime(body.snoozed_at),
    snoozed_until: parseSnooze(body.snoozed_until),
    site: siteHere(record, body.site),
  }
}

/** Version 1.0.0 does not send the first state of an alert. */
function toFirst(
  body: FollowedAlert,
  kind: AlertKind,
  dataHere: (data: AlertBody['data']) => AlertBody['data'],
): AlertFirst {
  const { at, severity, message, data, ...first } = body.first ?? { ...body, at: body.raised_at }
  const firstKind = alertKinds.find((known) => known === first.kind) ?? kind
  return { at: Date.parse(at), kind: firstKind, severity, message, data: dataHere(data) }
}

function parseTime(time: string | null): number | null {
  return time === null ? null : Date.parse(time)
}

function parseSnooze(until: string | null): SnoozeEnd | null {
  return until === 'cleared' || until === 'show_end' ? until : parseTime(until)
}
