/** The effect of review actions on entries of the review queue. `actions/shows/review.ts` stores the result. */

import type { QueueStatus } from '../../contract/values.ts'
import { type Creation, toDraft } from '../identity/ingest-plan.ts'
import { type KnownReceivers, reconcile } from '../identity/reconcile.ts'
import { nextStatuses, type QueueEntry } from './discovery.ts'
import type { ChannelReading, DeviceReport, Receiver } from './receiver.ts'

export const reviewActions = ['approve', 'reject', 'mark_duplicate', 'reopen'] as const
export type ReviewAction = (typeof reviewActions)[number]

/** An approved entry becomes `imported` as soon as its receiver is stored. */
export const statusAfter = {
  approve: 'approved',
  reject: 'rejected',
  mark_duplicate: 'duplicate',
  reopen: 'pending',
} as const satisfies Record<ReviewAction, QueueStatus>

/** Returns why the action is not possible for the entry, or null. */
export function reviewError({ id, status }: Pick<QueueEntry, 'id' | 'status'>, action: ReviewAction): string | null {
  const next = nextStatuses[status]
  const isAllowed = next.includes(statusAfter[action]) || (action === 'approve' && next.includes('imported'))
  if (isAllowed) return null
  if (status === 'pending') return `Entry ${id} is already pending.`
  return action === 'reopen'
    ? `Entry ${id} is ${status} and cannot be reopened.`
    : `Entry ${id} has already been reviewed: it is ${status}.`
}

export type Approval =
  /** The new receiver takes over the API id, the slots and their entries from the one it replaces. */
  | { readonly kind: 'create'; readonly creation: Creation; readonly replaces: Receiver | null }
  /** The device now matches a known receiver, so no receiver is created. */
  | { readonly kind: 'link'; readonly receiver: Receiver }
  | { readonly kind: 'refuse'; readonly error: string }

/** `report` is the last stored report of the device. */
export function approveEntry(
  entry: QueueEntry,
  report: DeviceReport | null,
  known: KnownReceivers,
  at: number,
): Approval {
  const error = reviewError(entry, 'approve')
  if (error !== null) return { kind: 'refuse', error }
  const device = report ?? toReport(entry)
  if (device.kind !== 'receiver') {
    return {
      kind: 'refuse',
      error: `Entry ${entry.id} is a transmitter. Transmitters are added with the receiver that receives them.`,
    }
  }
  const outcome = reconcile(known, entry.manufacturer, device)
  switch (outcome.kind) {
    case 'duplicate':
    case 'moved':
      return { kind: 'link', receiver: outcome.receiver }
    case 'new':
    case 'conflict':
    // By approving the entry, the administrator accepts any conflict. Only this entry itself can cause the outcome
    // `excluded`, so it can still be approved.
    case 'excluded': {
      const replaces = known.byApiId(entry.manufacturer, device.id) ?? null
      const channels = device.channels ?? expectedChannels(device, replaces)
      return {
        kind: 'create',
        creation: { draft: toDraft(entry.manufacturer, device, at), readings: channels },
        replaces,
      }
    }
    default:
      return outcome satisfies never
  }
}

/**
 * Returns the channels for a device that has not reported any: those of the receiver that it replaces, unless their
 * models differ.
 */
function expectedChannels({ model_name }: DeviceReport, replaces: Receiver | null): readonly ChannelReading[] {
  if (replaces === null || (model_name ?? replaces.model) !== replaces.model) return []
  return replaces.channels.map(({ channel }) => ({ channel }))
}

function toReport(entry: QueueEntry): DeviceReport {
  const { api_device_id: id, device_type: kind, serial_number, mac_address, ip } = entry
  return { id, kind, serial_number, mac_address, ip }
}
