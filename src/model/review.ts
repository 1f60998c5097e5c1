/** What an administrator's word does to an entry of the review queue. Decided here; `actions/review.ts` writes it down. */

import { nextStatuses, type QueueEntry, type QueueStatus } from './discovery.ts'
import { type Creation, toDraft } from './ingest-plan.ts'
import type { ChannelReading, DeviceReport, Receiver } from './receiver.ts'
import { type KnownReceivers, reconcile } from './reconcile.ts'

export const reviewActions = ['approve', 'reject', 'mark_duplicate', 'reopen'] as const
export type ReviewAction = (typeof reviewActions)[number]

/** The status each verdict asks for; approving goes on to `imported` in the same breath. */
export const statusAfter = {
  approve: 'approved',
  reject: 'rejected',
  mark_duplicate: 'duplicate',
  reopen: 'pending',
} as const satisfies Record<ReviewAction, QueueStatus>

/** Why this entry cannot take that verdict; null when it can. */
export function reviewError({ id, status }: Pick<QueueEntry, 'id' | 'status'>, verdict: ReviewAction): string | null {
  const next = nextStatuses[status]
  const isAllowed = next.includes(statusAfter[verdict]) || (verdict === 'approve' && next.includes('imported'))
  if (isAllowed) return null
  if (status === 'pending') return `Entry ${id} is pending already.`
  return verdict === 'reopen'
    ? `Entry ${id} is ${status} and cannot be reopened.`
    : `Entry ${id} has already been reviewed: it is ${status}.`
}

/** What approving an entry comes to. */
export type Approval =
  /** The new receiver takes over the API id and the slots of the one it replaces. */
  | { readonly kind: 'create'; readonly creation: Creation; readonly replaces: Receiver | null }
  /** Meanwhile it has become a match: there is nothing to create. */
  | { readonly kind: 'link'; readonly receiver: Receiver }
  | { readonly kind: 'refuse'; readonly error: string }

/** `seen`: the device as it was last told, where that was kept. */
export function approveEntry(
  entry: QueueEntry,
  report: DeviceReport | null,
  known: KnownReceivers,
  at: number,
): Approval {
  const error = reviewError(entry, 'approve')
  if (error !== null) return { kind: 'refuse', error }
  const told = report ?? toReport(entry)
  if (told.kind !== 'receiver') {
    return {
      kind: 'refuse',
      error: `Entry ${entry.id} is a transmitter: it is known through the receiver that hears it.`,
    }
  }
  const outcome = reconcile(known, entry.manufacturer, told)
  switch (outcome.kind) {
    case 'duplicate':
    case 'moved':
      return { kind: 'link', receiver: outcome.receiver }
    case 'new':
    case 'conflict':
    // The administrator knows of the conflict, and this very entry is what kept it out.
    case 'excluded': {
      const replaces = known.byApiId(entry.manufacturer, told.id) ?? null
      const channels = told.channels ?? expectedChannels(told, replaces)
      return {
        kind: 'create',
        creation: { draft: toDraft(entry.manufacturer, told, at), readings: channels },
        replaces,
      }
    }
    default:
      return outcome satisfies never
  }
}

/** Nothing was read of its channels yet: the same model has the same ones. */
function expectedChannels({ model_name }: DeviceReport, replaces: Receiver | null): readonly ChannelReading[] {
  if (replaces === null || (model_name ?? replaces.model) !== replaces.model) return []
  return replaces.channels.map(({ channel }) => ({ channel }))
}

function toReport(entry: QueueEntry): DeviceReport {
  const { api_device_id: id, device_type: kind, serial_number, mac_address, ip } = entry
  return { id, kind, serial_number, mac_address, ip }
}
