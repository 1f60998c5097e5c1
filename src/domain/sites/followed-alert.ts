/** Converts the alerts of another installation to copies. */

import { alertKinds } from '../../contract/alert-kinds.ts'
import type { FollowedAlert } from '../../contract/followed-messages.ts'
import type { AlertCopy, SnoozeEnd } from '../alerts/alert.ts'
import type { Channel, Receiver } from '../equipment/receiver.ts'
import { type FollowedRecord, siteHere } from './followed-receiver.ts'

/** What the alert is about, as this installation knows it. */
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
  const { severity, message, manufacturer, data, acknowledged_by, note, snoozed_by } = body
  return {
    subject: `site:${record.code}:${record.installation}:${body.id}`,
    ...{ kind, severity, message, manufacturer, acknowledged_by, note, snoozed_by },
    receiver_id: receiver?.id ?? null,
    channel_id: channel?.id ?? null,
    data: channel === undefined ? data : { ...data, slot: channel.slot },
    raised_at: Date.parse(body.raised_at),
    cleared_at: parseTime(body.cleared_at),
    acknowledged_at: parseTime(body.acknowledged_at),
    snoozed_at: parseTime(body.snoozed_at),
    snoozed_until: parseSnooze(body.snoozed_until),
    site: siteHere(record, body.site),
  }
}

function parseTime(time: string | null): number | null {
  return time === null ? null : Date.parse(time)
}

function parseSnooze(until: string | null): SnoozeEnd | null {
  return until === 'cleared' || until === 'show_end' ? until : parseTime(until)
}
