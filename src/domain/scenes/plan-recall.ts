/** Plans the recall of a scene: its changes, and the entries that no longer exist. */

import type { Group } from '../../contract/groups.ts'
import type { RecordChange } from '../../contract/imports.ts'
import type { Performer } from '../../contract/performers.ts'
import type { Arrangement, SceneRecall } from '../../contract/shows.ts'
import type { Assignment } from '../equipment/hardware.ts'
import type { Placeholder } from '../equipment/slots.ts'
import { describeHolder, listSlotHolders, type PlannedMove, planSlots } from '../equipment/slots.ts'
import { isSameJson } from '../json.ts'
import { type Arranged, captureArrangement, type Frequencies } from './arrangement.ts'

type Skipped = SceneRecall['skipped'][number]

interface Changed<Item> {
  readonly before: Item
  readonly after: Item
}

interface PlannedAssignment {
  readonly unit: number
  readonly performer: number
  readonly role: string | null
  /** The assignment whose role changes; null for a new assignment. */
  readonly changed: Assignment | null
}

export interface RecallPlan {
  readonly groups: readonly Changed<Group>[]
  readonly moves: readonly PlannedMove[]
  /** The changed placeholders, in their new slots. */
  readonly placeholders: readonly Changed<Placeholder>[]
  readonly performers: readonly Changed<Performer>[]
  readonly ended: readonly Assignment[]
  readonly assigned: readonly PlannedAssignment[]
  /** The changed planned frequencies, by channel id. */
  readonly frequencies: ReadonlyMap<number, Changed<string | null>>
  readonly skipped: readonly Skipped[]
}

/**
 * Plans the recall of an arrangement. Anything that the arrangement does not contain is unchanged, unless it occupies a
 * slot of something that the arrangement contains. `planned` are the planned frequencies before the recall.
 */
export function planRecall(arrangement: Arrangement, arranged: Arranged, planned: Frequencies): RecallPlan {
  const present = captureArrangement({ group_ids: [] }, arranged)
  const channels = matchById('channel', arrangement.channels, present.channels)
  const placeholders = matchById('placeholder', arrangement.placeholders, arranged.placeholders)
  const groups = matchById('group', arrangement.groups, arranged.groups)
  const performers = matchById('performer', arrangement.performers, arranged.performers)
  const units = matchById('unit', arrangement.units, arranged.units)
  const requested = [
    ...channels.found.map(([{ id, slot }]) => ({ kind: 'channel', id, slot }) as const),
    ...placeholders.found.map(([{ id, slot }]) => ({ kind: 'placeholder', id, slot }) as const),
  ]
  const moves = planSlots(
    listSlotHolders(arranged.receivers, arranged.placeholders),
    new Map(requested.map((holder) => [describeHolder(holder), holder.slot])),
  )
  const restored = new Map(placeholders.found.map(([stored]) => [stored.id, stored]))
  const slots = new Map(moves.map(({ holder, slot }) => [describeHolder(holder), slot]))
  const knownPerformers = new Set(arranged.performers.map(({ id }) => id))
  return {
    groups: listChanged(groups.found.map(([stored, before]) => ({ before, after: { ...before, ...stored } }))),
    moves,
    placeholders: listChanged(
      arranged.placeholders.map((before) => {
        const slot = slots.get(describeHolder({ kind: 'placeholder', id: before.id })) ?? before.slot
        return { before, after: { ...before, slot, ...restored.get(before.id) } }
      }),
    ),
    performers: listChanged(performers.found.map(([stored, before]) => ({ before, after: { ...before, ...stored } }))),
    ...planAssignments(
      units.found.map(([stored]) => stored),
      arranged.assignments,
      knownPerformers,
    ),
    frequencies: new Map(
      channels.found.flatMap(([{ id, frequency }, channel]) => {
        const before = planned.get(id) ?? channel.frequency
        return frequency === null || frequency === before ? [] : [[id, { before, after: frequency }] as const]
      }),
    ),
    skipped: [
      ...[...groups.skipped, ...channels.skipped, ...placeholders.skipped, ...performers.skipped],
      // Without a performer, nothing of a unit is restored.
      ...units.skipped.filter(({ id }) => arrangement.units.some((unit) => unit.id === id && unit.performer !== null)),
    ],
  }
}

interface Named {
  readonly id: number
  readonly name?: string | null
  readonly title?: string
}

/** Pairs the entries of a scene with existing ones. */
function matchById<Stored extends Named, Known extends { readonly id: number }>(
  what: Skipped['what'],
  stored: readonly Stored[],
  known: readonly Known[],
): { readonly found: readonly (readonly [Stored, Known])[]; readonly skipped: readonly Skipped[] } {
  const byId = new Map(known.map((item) => [item.id, item]))
  const found: (readonly [Stored, Known])[] = []
  const skipped: Skipped[] = []
  for (const item of stored) {
    const match = byId.get(item.id)
    if (match !== undefined) found.push([item, match])
    else {
      const { id, title, name = title ?? null } = item
      skipped.push({ what, id, name, reason: `The ${what === 'unit' ? 'pack' : what} no longer exists.` })
    }
  }
  return { found, skipped }
}

function listChanged<Item extends object>(pairs: readonly Changed<Item>[]): readonly Changed<Item>[] {
  return pairs.filter(({ before, after }) => !isSameJson(before, after))
}

function planAssignments(
  units: Arrangement['units'],
  assignments: readonly Assignment[],
  performers: ReadonlySet<number>,
): Pick<RecallPlan, 'ended' | 'assigned'> {
  const active = new Map(assignments.map((assignment) => [assignment.wireless_unit, assignment]))
  const ended: Assignment[] = []
  const assigned: PlannedAssignment[] = []
  for (const { id: unit, performer, role } of units) {
    const current = active.get(unit)
    if (performer !== null && !performers.has(performer)) continue
    if (current !== undefined && current.performer === performer) {
      if (current.role !== role) assigned.push({ unit, performer, role, changed: current })
      continue
    }
    if (current !== undefined) ended.push(current)
    if (performer !== null) assigned.push({ unit, performer, role, changed: null })
  }
  return { ended, assigned }
}

/** `newIds` are the ids of the new assignments, by unit. */
export function listChanges(
  plan: RecallPlan,
  arranged: Arranged,
  newIds: ReadonlyMap<number, number> = new Map(),
): RecordChange[] {
  const { channels } = captureArrangement({ group_ids: [] }, arranged)
  const channelsById = new Map(channels.map((channel) => [channel.id, channel]))
  const toSlot = new Map(
    plan.moves.flatMap(({ holder, slot }) => (holder.kind === 'channel' ? [[holder.id, slot]] : [])),
  )
  const slotAfter = (id: number) => toSlot.get(id) ?? channelsById.get(id)?.slot ?? null
  return [
    ...plan.groups.map(({ before, after }) => change('group', before.id, toGroup(before), toGroup(after))),
    ...[...toSlot].map(([id, slot]) => {
      const { name = null, slot: from = 0 } = channelsById.get(id) ?? {}
      return change('channel', id, { name, slot: from }, { name, slot })
    }),
    ...plan.placeholders.map(({ before, after }) =>
      change('placeholder', before.id, toPlaceholder(before), toPlaceholder(after)),
    ),
    ...plan.performers.map(({ before, after }) =>
      change('performer', before.id, { name: before.name }, { name: after.name }),
    ),
    ...listAssignmentChanges(plan, arranged, slotAfter, newIds),
    ...[...plan.frequencies].map(([id, { before, after }]) => {
      const fields = { name: channelsById.get(id)?.name ?? null, slot: slotAfter(id) }
      return change('planned_frequency', id, { ...fields, frequency: before }, { ...fields, frequency: after })
    }),
  ]
}

function listAssignmentChanges(
  plan: RecallPlan,
  { units, performers }: Arranged,
  slotAfter: (channel: number) => number | null,
  newIds: ReadonlyMap<number, number>,
): RecordChange[] {
  const channelOf = new Map(units.map(({ id, channel_id }) => [id, channel_id]))
  const names = new Map(performers.map(({ id, name }) => [id, name]))
  const newNames = new Map([...names, ...plan.performers.map(({ after: { id, name } }) => [id, name] as const)])
  const describe = (unit: number, performer: number, role: string | null, nameOf = newNames) => {
    const channel = channelOf.get(unit) ?? null
    const slot = channel === null ? null : slotAfter(channel)
    return { slot, wireless_unit: unit, performer: { id: performer, name: nameOf.get(performer) ?? '' }, role }
  }
  const describeStored = ({ wireless_unit, performer, role }: Assignment) =>
    describe(wireless_unit, performer, role, names)
  return [
    ...plan.ended.map((assignment) => change('assignment', assignment.id, describeStored(assignment), null)),
    ...plan.assigned.map(({ unit, performer, role, changed }) =>
      change(
        'assignment',
        changed?.id ?? newIds.get(unit) ?? null,
        changed && describeStored(changed),
        describe(unit, performer, role),
      ),
    ),
  ]
}

function change(what: string, id: number | null, from: unknown, to: unknown): RecordChange {
  return { what, id, from, to }
}

function toGroup({ title, slots }: Group) {
  return { title, slots }
}

function toPlaceholder({ slot, name, kind, frequency }: Placeholder) {
  return { slot, name, kind, frequency }
}
