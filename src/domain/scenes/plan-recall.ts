/** Plans the recall of a scene: its changes, and the entries that no longer exist. */

import type { Group } from '../../contract/groups.ts'
import type { RecordChange } from '../../contract/imports.ts'
import type { Performer } from '../../contract/performers.ts'
import type { Arrangement, SceneRecall } from '../../contract/shows.ts'
import type { Assignment } from '../equipment/hardware.ts'
import { type EntryHolder, holderOf, type SlotFields } from '../equipment/slot-entry.ts'
import type { Placeholder } from '../equipment/slots.ts'
import { describeHolder, listSlotHolders, type PlannedMove, planSlots } from '../equipment/slots.ts'
import { isSameJson } from '../json.ts'
import { type Arranged, type Frequencies, type PresentSlot, type SceneSlot, toSceneSlots } from './arrangement.ts'

type Skipped = SceneRecall['skipped'][number]

interface Changed<Item> {
  readonly before: Item
  readonly after: Item
}

/** The entries about a slot, before and after the recall. */
interface ChangedEntry extends Changed<SlotFields> {
  readonly holder: EntryHolder
  readonly slot: number
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
  /** The placeholders that move or become another kind. */
  readonly placeholders: readonly Changed<Placeholder>[]
  readonly entries: readonly ChangedEntry[]
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
  const { found, stored, skipped } = matchSlots(arrangement.slots, arranged)
  const groups = matchById('group', arrangement.groups, arranged.groups)
  const performers = matchById('performer', arrangement.performers, arranged.performers)
  const units = matchById('unit', arrangement.units, arranged.units)
  const moves = planSlots(
    listSlotHolders(arranged.receivers, arranged.placeholders),
    new Map(stored.map(([{ slot }, present]) => [describeHolder(holderOf(present)), slot])),
  )
  const slots = new Map(moves.map(({ holder, slot }) => [describeHolder(holder), slot]))
  const kinds = new Map(stored.map(([{ kind }, { placeholder_id }]) => [placeholder_id, kind]))
  const knownPerformers = new Set(arranged.performers.map(({ id }) => id))
  return {
    groups: listChanged(groups.found.map(([stored, before]) => ({ before, after: { ...before, ...stored } }))),
    moves,
    placeholders: listChanged(
      arranged.placeholders.map((before) => {
        const slot = slots.get(describeHolder({ kind: 'placeholder', id: before.id })) ?? before.slot
        return { before, after: { ...before, slot, kind: kinds.get(before.id) ?? before.kind } }
      }),
    ),
    entries: found.flatMap(([{ slot, entered }, present]) => {
      const before = present.entered
      const { performer = null } = entered
      const isKnown = performer === null || knownPerformers.has(performer)
      const { performer: _, role: __, ...others } = entered
      const after = { ...before, ...(isKnown ? entered : others) }
      return isSameJson(before, after) ? [] : [{ holder: holderOf(present), slot, before, after }]
    }),
    performers: listChanged(performers.found.map(([stored, before]) => ({ before, after: { ...before, ...stored } }))),
    ...planAssignments(
      units.found.map(([stored]) => stored),
      arranged.assignments,
      knownPerformers,
    ),
    frequencies: new Map(
      stored.flatMap(([{ frequency }, { channel_id: id, frequency: present }]) => {
        if (id === null) return []
        const before = planned.get(id) ?? present
        return frequency === null || frequency === before ? [] : [[id, { before, after: frequency }] as const]
      }),
    ),
    skipped: [
      ...[...groups.skipped, ...skipped, ...performers.skipped],
      // Without a performer, nothing of a unit is restored.
      ...units.skipped.filter(({ id }) => arrangement.units.some((unit) => unit.id === id && unit.performer !== null)),
    ],
  }
}

type SlotPair = readonly [SceneSlot, PresentSlot]

/**
 * Pairs the slots of a scene with the present ones of the same channel or placeholder (`stored`). If that is gone, what
 * was entered is restored for the channel or placeholder that is in the slot now, for instance after a merge.
 */
function matchSlots(
  slots: readonly SceneSlot[],
  arranged: Arranged,
): { readonly found: readonly SlotPair[]; readonly stored: readonly SlotPair[]; readonly skipped: readonly Skipped[] } {
  const present = toSceneSlots(arranged)
  const byHolder = new Map(present.map((slot) => [describeHolder(holderOf(slot)), slot]))
  const bySlot = new Map(present.map((slot) => [slot.slot, slot]))
  const stored = slots.flatMap((slot): SlotPair[] => {
    const match = byHolder.get(describeHolder(holderOf(slot)))
    return match === undefined ? [] : [[slot, match]]
  })
  const taken = new Set(stored.map(([, match]) => match))
  const known = new Set(stored.map(([slot]) => slot))
  const replaced: SlotPair[] = []
  const skipped: Skipped[] = []
  for (const slot of slots.filter((slot) => !known.has(slot))) {
    const { kind, id } = holderOf(slot)
    const successor = bySlot.get(slot.slot)
    if (successor !== undefined && !taken.has(successor)) replaced.push([slot, successor])
    else skipped.push({ what: kind, id, name: slot.name, reason: `The ${kind} no longer exists.` })
  }
  return { found: [...stored, ...replaced], stored, skipped }
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
  const channelsById = new Map(toSceneSlots(arranged).map((slot) => [slot.channel_id, slot]))
  const toSlot = new Map(
    plan.moves.flatMap(({ holder, slot }) => (holder.kind === 'channel' ? [[holder.id, slot]] : [])),
  )
  const slotAfter = (id: number) => toSlot.get(id) ?? channelsById.get(id)?.slot ?? null
  const names = new Map(arranged.performers.map(({ id, name }) => [id, name]))
  const newNames = new Map([...names, ...plan.performers.map(({ after: { id, name } }) => [id, name] as const)])
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
    ...plan.entries.map(({ slot, before, after }) =>
      change(
        'slot',
        slot,
        { slot, ...toEntered(before, after, names) },
        { slot, ...toEntered(after, before, newNames) },
      ),
    ),
    ...listAssignmentChanges(plan, arranged.units, { slotAfter, names, newNames, newIds }),
    ...[...plan.frequencies].map(([id, { before, after }]) => {
      const fields = { name: channelsById.get(id)?.name ?? null, slot: slotAfter(id) }
      return change('planned_frequency', id, { ...fields, frequency: before }, { ...fields, frequency: after })
    }),
  ]
}

/** The fields that differ from `other`. */
function toEntered(fields: SlotFields, other: SlotFields, names: Names) {
  const { performer, ...rest } = fields
  const named = { performer: performer === null ? null : { id: performer, name: names.get(performer) ?? '' }, ...rest }
  const isChanged = ([name]: readonly [string, unknown]) =>
    !isSameJson(fields[name as keyof SlotFields], other[name as keyof SlotFields])
  return Object.fromEntries(Object.entries(named).filter(isChanged))
}

type Names = ReadonlyMap<number, string>

interface Described {
  /** The names of performers before and after the recall. */
  readonly names: Names
  readonly newNames: Names
  readonly newIds: ReadonlyMap<number, number>
  slotAfter(channel: number): number | null
}

function listAssignmentChanges(
  plan: RecallPlan,
  units: Arranged['units'],
  { slotAfter, names, newNames, newIds }: Described,
): RecordChange[] {
  const channelOf = new Map(units.map(({ id, channel_id }) => [id, channel_id]))
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

function toPlaceholder({ slot, name, kind }: Placeholder) {
  return { name, slot, kind }
}
