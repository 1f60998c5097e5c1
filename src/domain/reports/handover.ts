/** The lists of a handover. */

import {
  type HandoverBody,
  type HandoverChange,
  type HandoverContents,
  type HandoverEvent,
  handoverLists,
} from '../../contract/handovers.ts'
import type { HandoverChangeKind, HandoverEventKind } from '../../contract/values.ts'
import { type Alert, happenedAt } from '../alerts/alert.ts'
import { describeAlert } from '../alerts/describe-alert.ts'
import type { Check } from '../checks.ts'
import type { EventRecord } from '../events/event.ts'
import type { Show } from '../shows.ts'
import { toTimestamp } from '../timestamp.ts'

const maxItems = 200
/** One more item shows that a list is truncated. */
export const readItems = maxItems + 1

type Lists = Pick<HandoverContents, (typeof handoverLists)[number]>

export function toHandover(since: number, until: number, lists: Lists): HandoverContents {
  const cut = Object.fromEntries(handoverLists.map((name) => [name, lists[name].slice(0, maxItems)]))
  return {
    since: toTimestamp(since),
    until: toTimestamp(until),
    ...(cut as unknown as Lists),
    truncated: handoverLists.filter((name) => lists[name].length > maxItems),
  }
}

const ranks = { critical: 0, warning: 1, info: 2 }

export function bySeverity(a: Alert, b: Alert): number {
  return ranks[a.severity] - ranks[b.severity] || b.raised_at - a.raised_at || b.id - a.id
}

export function toHandoverEvent(event: EventRecord): HandoverEvent {
  const { id, time, kind, channel_id, text, data, by } = event
  const { slot = null, receiver, name } = data
  const title = data.title ?? receiver ?? name ?? event.manufacturer
  const what = kind as HandoverEventKind
  return { at: toTimestamp(time), by, what, id, slot, title, channel_id, from: null, to: null, text }
}

/** The message of a cleared alert says why it was cleared. */
export function toDeath(alert: Alert): HandoverEvent {
  const { id, raised_at, channel_id, data } = alert
  const { slot, title = null } = data
  const at = happenedAt({ raised_at: toTimestamp(raised_at), data })
  const nobody = { by: null, from: null, to: null }
  return { at, what: 'battery_died', id, slot, title, channel_id, text: describeAlert(alert), ...nobody }
}

/** A carrier that was tuned on the equipment. */
export function toTuned({ time, channel_id, data, by }: EventRecord): HandoverChange {
  const { slot = null, title = null, from = null, to = null } = data
  return { at: toTimestamp(time), by, what: 'frequency', id: channel_id, slot, title, from, to }
}

interface RecordedChange extends Pick<HandoverChange, 'by' | 'slot' | 'title'> {
  readonly at: number
  readonly what: HandoverChangeKind
  readonly target: number | string
  readonly before: HandoverChange['from']
  readonly after: HandoverChange['to']
}

/** Without a recorded title, a change gets the current title of its slot. */
export function toChange(
  { at, target, before, after, title, ...change }: RecordedChange,
  presentTitle: (slot: number) => string | null,
): HandoverChange {
  const named = title ?? (change.slot === null ? null : presentTitle(change.slot))
  return { ...change, at: toTimestamp(at), id: target, title: named, from: before, to: after }
}

/** Newest first. Items of the same millisecond keep their order. */
export function newestFirst<Item extends { readonly at: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

export function toFailedCheck(
  show: Pick<Show, 'id' | 'title'>,
  { channel_id, checked, by, note, checked_at }: Check,
): HandoverBody['failed_checks'][number] {
  return {
    ...{ show_id: show.id, show: show.title, channel_id, by, note },
    ...{ slot: checked?.slot ?? null, title: checked?.title ?? null, at: toTimestamp(checked_at ?? 0) },
  }
}
