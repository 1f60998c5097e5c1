/** Compares a cast list with the stored performers, assignments and placeholders. */

import type { Performer } from '../../contract/performers.ts'
import type { Assignment, Unit } from '../equipment/hardware.ts'
import type { Placeholder } from '../equipment/slots.ts'
import { type CastRow, isAddress, isSlot } from './cast-columns.ts'

export interface CastState {
  readonly performers: readonly Performer[]
  /** The active assignments. */
  readonly assignments: readonly Assignment[]
  readonly units: readonly Pick<Unit, 'id' | 'name' | 'channel_id' | 'device_type'>[]
  /** The id of the channel in each slot. */
  readonly slots: ReadonlyMap<number, number>
  /** The placeholder in each slot that has one. */
  readonly placeholders: ReadonlyMap<number, Placeholder>
}

export interface Skipped {
  readonly row: number
  readonly name: string | null
  readonly reason: string
}

/** A performer in the list. Empty texts stand for cells that change nothing. */
interface PlannedPerformer {
  /** Null if the performer is not stored yet. */
  readonly stored: Performer | null
  readonly name: string
  readonly note: string
  /** The address of the photo. */
  readonly photo: string
}

/** A unit that a performer wears according to the list. */
interface PlannedAssignment {
  readonly unit: number
  /** Key in `performers`. */
  readonly performer: string
  readonly role: string | null
  /** The assignment that gets another role; null if a new assignment begins. */
  readonly changed: Assignment | null
}

/** A placeholder that gets another name or note. */
interface PlannedPlaceholder {
  readonly before: Placeholder
  readonly after: Placeholder
}

export interface CastPlan {
  /** The performers in the list, by the key of their name. */
  readonly performers: ReadonlyMap<string, PlannedPerformer>
  readonly ended: readonly Assignment[]
  readonly assigned: readonly PlannedAssignment[]
  readonly placeholders: readonly PlannedPlaceholder[]
  readonly skipped: readonly Skipped[]
}

/** A row whose slot does not exist. Such a list is not imported at all. */
export interface UnknownSlot {
  readonly row: number
  readonly unknownSlot: string
}

/** Names that differ only in case or Unicode normalization belong to the same performer. */
function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

interface WantedUnit {
  readonly row: number
  readonly performer: string
  readonly role: string
}

interface NamedPlaceholder extends PlannedPlaceholder {
  readonly row: number
}

/** Collects the rows read so far. */
interface Draft {
  readonly performers: Map<string, PlannedPerformer>
  /** By the id of the unit. */
  readonly wanted: Map<number, WantedUnit>
  /** By the id of the placeholder. */
  readonly named: Map<number, NamedPlaceholder>
  readonly skipped: Skipped[]
}

export function planCast(rows: readonly CastRow[], state: CastState): CastPlan | UnknownSlot {
  const draft: Draft = { performers: new Map(), wanted: new Map(), named: new Map(), skipped: [] }
  const lastFilled = rows.findLastIndex((row) => !isEmpty(row))
  for (const cast of rows.slice(0, lastFilled + 1)) {
    const fault = findFault(cast)
    if (fault !== null) {
      skip(draft, cast, fault)
      continue
    }
    if (cast.slot !== '' && !isUsed(Number(cast.slot), state)) return { row: cast.row, unknownSlot: cast.slot }
    const target = findTarget(cast, state)
    if (typeof target === 'string') skip(draft, cast, target)
    else if (typeof target === 'number') addUnit(draft, cast, target, state)
    else addPlaceholder(draft, cast, target)
  }
  const { performers, wanted, named, skipped } = draft
  const placeholders = [...named.values()].filter(
    ({ before, after }) => before.name !== after.name || before.note !== after.note,
  )
  return { performers, placeholders, skipped, ...planAssignments(performers, wanted, state) }
}

function skip({ skipped }: Draft, { row, name }: CastRow, reason: string): void {
  skipped.push({ row, name: name || null, reason })
}

function isUsed(slot: number, { slots, placeholders }: CastState): boolean {
  return slots.has(slot) || placeholders.has(slot)
}

function addUnit(draft: Draft, cast: CastRow, unit: number, state: CastState): void {
  const { performers, wanted } = draft
  const earlier = wanted.get(unit)
  if (earlier !== undefined) {
    skip(draft, cast, `Row ${earlier.row} already assigns this pack.`)
    return
  }
  const key = keyOf(cast.name)
  const isUsable = cast.photo === '' || isAddress(cast.photo)
  if (!isUsable) skip(draft, cast, 'The photo is not an address, so it is not imported.')
  addPerformer(performers, key, isUsable ? cast : { ...cast, photo: '' }, state, unit)
  wanted.set(unit, { row: cast.row, performer: key, role: cast.role })
}

function addPlaceholder(draft: Draft, cast: CastRow, placeholder: Placeholder): void {
  const { row, name, note, role, photo } = cast
  const earlier = draft.named.get(placeholder.id)
  if (earlier !== undefined) {
    skip(draft, cast, `Row ${earlier.row} already names this placeholder.`)
    return
  }
  if (role !== '' || photo !== '')
    skip(draft, cast, 'A placeholder has no role and no photo, so they are not imported.')
  draft.named.set(placeholder.id, {
    row,
    before: placeholder,
    after: { ...placeholder, name, note: note || placeholder.note },
  })
}

function isEmpty({ row: _, ...cells }: CastRow): boolean {
  return Object.values(cells).every((cell) => cell === '')
}

/** Returns why a row cannot be imported; null if it can. */
function findFault(cast: CastRow): string | null {
  if (isEmpty(cast)) return 'The row is empty.'
  if (cast.name === '') return 'The row has no name.'
  if (cast.slot === '' && cast.pack === '') return 'The row has no slot and no pack.'
  if (cast.slot !== '' && !/^\d+$/.test(cast.slot)) return `${cast.slot} is not a slot number.`
  if (cast.name.length > 255) return 'The name is longer than 255 characters.'
  if (cast.role.length > 255) return 'The role is longer than 255 characters.'
  return cast.note.length > 4096 ? 'The note is longer than 4096 characters.' : null
}

/**
 * Returns the id of the unit that a row names by its pack or its slot, or the placeholder in its slot. Returns a text
 * that says why there is neither.
 */
function findTarget({ slot, pack }: CastRow, { units, slots, placeholders }: CastState): number | Placeholder | string {
  const named = pack === '' ? [] : units.filter(({ name }) => name !== null && keyOf(name) === keyOf(pack))
  if (named.length > 1) return `Several packs have the name ${pack}.`
  const [only] = named
  if (only !== undefined) return only.id
  if (pack !== '' && !isSlot(pack)) return `There is no pack with the name ${pack}.`
  const number = Number(pack === '' ? slot : pack)
  const channel = slots.get(number)
  const unit = channel === undefined ? undefined : units.find(({ channel_id }) => channel_id === channel)
  return placeholders.get(number) ?? unit?.id ?? `No pack has been received in slot ${number} yet.`
}

/** Adds the performer of a row. Several rows may have the same performer; later cells complete earlier ones. */
function addPerformer(
  performers: Map<string, PlannedPerformer>,
  key: string,
  { name, note, photo }: CastRow,
  { performers: stored, assignments }: CastState,
  unit: number,
): void {
  const known = performers.get(key)
  const namesakes = stored.filter((performer) => keyOf(performer.name) === key)
  const current = assignments.find(({ wireless_unit }) => wireless_unit === unit)?.performer
  performers.set(key, {
    stored: known?.stored ?? namesakes.find(({ id }) => id === current) ?? namesakes[0] ?? null,
    name: known?.name ?? name,
    note: note || (known?.note ?? ''),
    photo: photo || (known?.photo ?? ''),
  })
}

function planAssignments(
  performers: ReadonlyMap<string, PlannedPerformer>,
  wanted: ReadonlyMap<number, WantedUnit>,
  { assignments, units }: CastState,
): Pick<CastPlan, 'ended' | 'assigned'> {
  const typeOf = (unit: number) => units.find(({ id }) => id === unit)?.device_type
  /** The types of packs that the list assigns to each stored performer. */
  const typesByPerformer = new Map<number, Set<string | undefined>>()
  for (const [unit, { performer }] of wanted) {
    const id = performers.get(performer)?.stored?.id
    if (id !== undefined) typesByPerformer.set(id, (typesByPerformer.get(id) ?? new Set()).add(typeOf(unit)))
  }
  const isKept = ({ performer, wireless_unit }: Assignment) => {
    const want = wanted.get(wireless_unit)
    if (want !== undefined) return performers.get(want.performer)?.stored?.id === performer
    // A performer moves from another pack of the same type, and keeps for instance an in-ear pack.
    return !typesByPerformer.get(performer)?.has(typeOf(wireless_unit))
  }
  const ended = assignments.filter((assignment) => !isKept(assignment))
  const assigned = [...wanted].flatMap(([unit, { performer, role }]): PlannedAssignment[] => {
    const id = performers.get(performer)?.stored?.id
    const current = assignments.find((assignment) => assignment.wireless_unit === unit && assignment.performer === id)
    if (current !== undefined) {
      return role === '' || role === current.role ? [] : [{ unit, performer, role, changed: current }]
    }
    const previous = ended.find((assignment) => assignment.performer === id)
    return [{ unit, performer, role: role || (previous?.role ?? null), changed: null }]
  })
  return { ended, assigned }
}
