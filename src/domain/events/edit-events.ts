/** Events about edits by users, and about the locations of devices. */

import { noData } from '../alerts/alert.ts'
import { toChannelData } from '../alerts/channel-alerts.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { type Show, stateOf } from '../shows.ts'
import { aboutChannel, aboutReceiver } from './channel-events.ts'
import { aboutAll, draftEvent, type EventDraft } from './event.ts'

interface Edit {
  readonly time: number
  readonly by: string | null
}

/** Lists the edits to a receiver's name, address and location, and to the slots of its channels. */
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
  for (const channel of after.channels) {
    const from = before.channels.find(({ id }) => id === channel.id)?.slot
    if (from === undefined || from === channel.slot) continue
    const data = { ...toChannelData(after, channel, null), from, to: channel.slot }
    drafts.push(draftEvent('moved', aboutChannel(after, channel), { time, by, data }))
  }
  return drafts
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
    const data = { ...noData, name, slot, receiver, performer, wireless_unit }
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
