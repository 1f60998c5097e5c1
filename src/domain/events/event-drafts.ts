/** Creates the events about edits by users, locations of devices, markers, line checks and alerts. */

import { type Alert, noData } from '../alerts/alert.ts'
import type { Check } from '../checks.ts'
import type { Receiver } from '../equipment/receiver.ts'
import type { TitleOf } from '../equipment/slot-record.ts'
import { type Show, stateOf } from '../shows.ts'
import { aboutChannel, aboutReceiver, type NamedChannel, toEventData } from './channel-events.ts'
import { aboutAll, draftEvent, type EventDraft } from './event.ts'

interface Edit {
  readonly time: number
  readonly by: string | null
}

/** Lists the edits to a receiver's name, address and location. */
export function compareEdited(
  before: Receiver,
  after: Receiver,
  { time, by, locationName }: Edit & { locationName(id: number): string },
): EventDraft[] {
  const named = { ...noData, name: after.name, receiver: after.name }
  const drafts: EventDraft[] = []
  const add = (kind: 'renamed' | 'moved', from: string | null, to: string | null) => {
    if (from !== to) drafts.push(draftEvent(kind, aboutReceiver(after), { time, by, data: { ...named, from, to } }))
  }
  const nameOf = (location: number | null) => (location === null ? null : locationName(location))
  add('renamed', before.name, after.name)
  add('moved', before.ip, after.ip)
  if (before.location !== after.location) add('moved', nameOf(before.location), nameOf(after.location))
  return drafts
}

/** Lists the moves of a receiver's channels to other slots. Their titles move with them. */
export function compareSlots(
  before: Receiver,
  after: Receiver,
  { time, by, titleOf }: Edit & { readonly titleOf: TitleOf },
): EventDraft[] {
  return after.channels.flatMap((channel) => {
    const moved = before.channels.find(({ id }) => id === channel.id)
    if (moved === undefined || moved.slot === channel.slot) return []
    const named = { receiver: after, channel, title: titleOf(before, moved) }
    const data = { ...toEventData(named), from: moved.slot, to: channel.slot }
    return draftEvent('moved', aboutChannel(after, channel), { time, by, data })
  })
}

export interface ActiveAssignment {
  readonly performer: { readonly id: number; readonly name: string }
  readonly wireless_unit: number
  readonly manufacturer: string
  readonly channel_id: number | null
  readonly receiver_id: number | null
  readonly slot: number | null
  /** The name of the unit, else of its receiver. */
  readonly name: string | null
  readonly receiver: string | null
}

export function compareAssignments(
  before: readonly ActiveAssignment[],
  after: readonly ActiveAssignment[],
  { time, by }: Edit,
): EventDraft[] {
  const keyOf = ({ performer, wireless_unit }: ActiveAssignment) => `${performer.id} ${wireless_unit}`
  const missingIn = (list: readonly ActiveAssignment[]) => {
    const keys = new Set(list.map(keyOf))
    return (assignment: ActiveAssignment) => !keys.has(keyOf(assignment))
  }
  const toDraft = (kind: 'assigned' | 'unassigned') => (assignment: ActiveAssignment) => {
    const { performer, wireless_unit, name, slot, receiver } = assignment
    const names = slot === null ? {} : { title: performer.name, title_from: 'performer' as const, pack: name }
    const data = { ...noData, name, slot, receiver, ...names, performer, wireless_unit }
    return draftEvent(kind, assignment, { time, by, data })
  }
  return [
    ...before.filter(missingIn(after)).map(toDraft('unassigned')),
    ...after.filter(missingIn(before)).map(toDraft('assigned')),
  ]
}

/** Returns the event of a show that has just started or ended. */
export function toShowEvent(show: Show, by: string | null): EventDraft {
  const isRunning = stateOf(show) === 'running'
  const time = (isRunning ? show.started_at : show.ended_at) ?? 0
  const data = { name: show.title, show_id: show.id, title: show.title }
  return draftEvent(isRunning ? 'show_started' : 'show_ended', aboutAll, { time, by, data })
}

/** Times are epoch milliseconds. */
export interface Marker {
  readonly time: number
  /** Null for a moment. */
  readonly until: number | null
  readonly text: string
}

/** `marked` is null for all channels. */
export function toMarkerEvent(marker: Marker, marked: NamedChannel | null, by: string | null): EventDraft {
  if (marked === null) return draftEvent('marker', aboutAll, { ...marker, by })
  const about = aboutChannel(marked.receiver, marked.channel)
  return draftEvent('marker', about, { ...marker, by, data: toEventData(marked) })
}

/** Creates the event of a check that has a result. */
export function toCheckEvent(
  { show_id, checked_at, result, note, by }: Check & { readonly checked_at: number },
  checked: NamedChannel,
): EventDraft {
  return draftEvent('check', aboutChannel(checked.receiver, checked.channel), {
    time: checked_at,
    by,
    severity: result === 'fail' ? 'warning' : 'info',
    data: { ...toEventData(checked), ...(result !== null && { result }), note, show_id },
  })
}

export function toAlertEvent(
  event: 'alert_raised' | 'alert_acknowledged' | 'alert_cleared',
  { id, kind, severity, message, manufacturer, receiver_id, channel_id, data }: Alert,
  { time, by = null }: { readonly time: number; readonly by?: string | null },
): EventDraft {
  return draftEvent(
    event,
    { manufacturer, receiver_id, channel_id },
    {
      time,
      by,
      severity: event === 'alert_raised' ? severity : 'info',
      text: event === 'alert_acknowledged' ? `Acknowledged: ${message}` : message,
      data: { ...data, alert_id: id, kind },
    },
  )
}
