/** Assignments belong to packs, performers to slots: another pack in a slot takes over its performer. */

import type { Assignment } from './hardware.ts'
import type { SlotEntry } from './slot-entry.ts'

/** A pack that its channel has received for long enough. */
export interface ReceivedPack {
  readonly slot: number
  readonly channel: number
  readonly unit: number
}

/** `entries` are those with a performer, `assignments` the active ones. */
export interface CastState {
  readonly entries: readonly SlotEntry[]
  readonly assignments: readonly Assignment[]
  slotOf(channel: number): number
  /** The unit that the channel receives, or received last. */
  unitOf(channel: number): number | undefined
  /** The channel of a unit; null if no channel receives it, undefined for a device unit. */
  channelOf(unit: number): number | null | undefined
}

export interface CastChanges {
  readonly ended: readonly Assignment[]
  readonly started: readonly Pick<Assignment, 'performer' | 'wireless_unit' | 'role'>[]
  /** Performers of packs that were assigned while they were in no slot. */
  readonly entered: readonly { readonly channel: number; readonly performer: number; readonly role: string | null }[]
}

export function planCast(received: readonly ReceivedPack[], state: CastState): CastChanges {
  const active = new Map<number, Pick<Assignment, 'performer' | 'wireless_unit' | 'role'>>(
    state.assignments.map((assignment) => [assignment.wireless_unit, assignment]),
  )
  const entryOf = new Map(state.entries.map((entry) => [entry.channel_id, entry]))
  entryOf.delete(null)
  const started: CastChanges['started'][number][] = []
  const entered: CastChanges['entered'][number][] = []

  const entriesOf = (performer: number) => state.entries.filter((entry) => entry.performer === performer)
  const hasAssignment = ({ channel_id, performer }: SlotEntry) =>
    active.get(state.unitOf(channel_id ?? 0) ?? 0)?.performer === performer
  /** True if a lower slot, which receives nothing, keeps the pack for its performer. */
  const isKept = (performer: number, slot: number) =>
    entriesOf(performer).some(
      ({ channel_id }) =>
        channel_id !== null && state.slotOf(channel_id) < slot && state.unitOf(channel_id) === undefined,
    )
  /** Ends the assignments of packs that the performer's slots received before. */
  const endPrevious = (performer: number) => {
    for (const [unit, assignment] of active) {
      const channel = assignment.performer === performer ? state.channelOf(unit) : undefined
      if (channel === undefined || entryOf.get(channel ?? 0)?.performer === performer) continue
      active.delete(unit)
    }
  }

  for (const { slot, channel, unit } of received.toSorted((a, b) => a.slot - b.slot)) {
    const { performer = null, role = null } = entryOf.get(channel) ?? {}
    const current = active.get(unit)
    if (performer === null) {
      // A performer with a slot that lacks its pack is not moved.
      if (current !== undefined && entriesOf(current.performer).every(hasAssignment)) {
        entered.push({ channel, performer: current.performer, role: current.role })
      }
    } else if (current?.performer !== performer && !(current && isKept(current.performer, slot))) {
      endPrevious(performer)
      const assignment = { performer, wireless_unit: unit, role }
      active.set(unit, assignment)
      started.push(assignment)
    }
  }
  const ended = state.assignments.filter((assignment) => active.get(assignment.wireless_unit) !== assignment)
  return { ended, started, entered }
}
