/** Performers belong to slots, and the active assignments of packs follow from that. */

import { groupBy } from '../group-by.ts'

/** The slot of a channel that has a performer. */
export interface CastSlot {
  readonly slot: number
  readonly channel: number
  /** The pack that the channel receives, or received last. */
  readonly unit: number | null
  readonly performer: number
  readonly role: string | null
}

/** The active assignment of a pack that channels receive. */
export interface WornPack {
  readonly id: number
  readonly performer: number
  readonly wireless_unit: number
  readonly role: string | null
  /** Null if no channel receives the pack. */
  readonly channel_id: number | null
}

export interface CastState {
  readonly slots: readonly CastSlot[]
  readonly assignments: readonly WornPack[]
}

/** A pack that its channel has received for long enough. */
export type ReceivedPack = Pick<CastSlot, 'slot' | 'channel'> & { readonly unit: number }

/** A slot whose performer or role was changed. */
export type CastEdit = Pick<CastSlot, 'channel' | 'unit'> & {
  /** The previous performer. */
  readonly former: number | null
}

export interface CastChanges {
  readonly ended: readonly WornPack[]
  readonly started: readonly Pick<WornPack, 'performer' | 'wireless_unit' | 'role'>[]
  /** Assignments with their new roles. */
  readonly changed: readonly WornPack[]
  /** Performers of packs that were assigned while they were in no slot. */
  readonly entered: readonly Pick<CastSlot, 'channel' | 'performer' | 'role'>[]
}

export function planCast(
  { slots, assignments }: CastState,
  received: readonly ReceivedPack[],
  edits: readonly CastEdit[] = [],
): CastChanges {
  const active = new Map<number, CastChanges['started'][number] & { readonly id?: number }>(
    assignments.map((assignment) => [assignment.wireless_unit, assignment]),
  )
  const slotOf = new Map(slots.map((slot) => [slot.channel, slot]))
  const slotsOf = groupByPerformer(slots)
  const assignmentsOf = groupByPerformer(assignments)
  const started: CastChanges['started'][number][] = []
  const changed: WornPack[] = []
  const entered: CastChanges['entered'][number][] = []

  const isWorn = ({ unit, performer }: CastSlot) => unit !== null && active.get(unit)?.performer === performer
  /** True if a lower slot, which receives nothing, keeps the pack for its performer. */
  const isKept = (performer: number, slot: number) =>
    slotsOf(performer).some((own) => own.unit === null && own.slot < slot)
  /** Ends assignments of packs that no slot of the performer receives, except one for each slot that lacks its pack. */
  const endPrevious = (performer: number) => {
    const away = assignmentsOf(performer).filter(
      ({ id, wireless_unit, channel_id }) =>
        active.get(wireless_unit)?.id === id && slotOf.get(channel_id ?? 0)?.performer !== performer,
    )
    const kept = slotsOf(performer).filter((slot) => !isWorn(slot)).length
    for (const { wireless_unit } of away.slice(0, Math.max(0, away.length - kept))) active.delete(wireless_unit)
  }

  for (const { channel, unit, former } of edits) {
    if (former === null || slotOf.get(channel)?.performer === former) continue
    if (unit !== null && active.get(unit)?.performer === former) active.delete(unit)
    endPrevious(former)
  }
  const edited = edits.flatMap(({ channel }): ReceivedPack[] => {
    const { slot = 0, unit = null } = slotOf.get(channel) ?? {}
    return unit === null ? [] : [{ slot, channel, unit }]
  })
  for (const { slot, channel, unit } of [...edited, ...received].sort((a, b) => a.slot - b.slot)) {
    const { performer, role = null } = slotOf.get(channel) ?? {}
    const current = active.get(unit)
    if (performer === undefined) {
      // A performer with a slot that lacks its pack is not moved.
      if (current !== undefined && slotsOf(current.performer).every(isWorn)) {
        entered.push({ channel, performer: current.performer, role: current.role })
      }
    } else if (current?.performer === performer) {
      const assignment = assignmentsOf(performer).find(({ id }) => id === current.id)
      if (assignment !== undefined && assignment.role !== role) changed.push({ ...assignment, role })
    } else if (current === undefined || !isKept(current.performer, slot)) {
      const assignment = { performer, wireless_unit: unit, role }
      active.set(unit, assignment)
      started.push(assignment)
      endPrevious(performer)
    }
  }
  const ended = assignments.filter(({ id, wireless_unit }) => active.get(wireless_unit)?.id !== id)
  return { ended, started, changed, entered }
}

function groupByPerformer<T extends { readonly performer: number }>(items: readonly T[]): (id: number) => readonly T[] {
  const groups = groupBy(items, ({ performer }) => performer)
  return (id) => groups.get(id) ?? []
}
