/** Compares a cast list with the stored performers, slots and packs. */

import type { Performer } from '../../contract/performers.ts'
import type { EntryHolder } from '../equipment/slot-entry.ts'
import { groupBy } from '../group-by.ts'
import { nameKey } from '../text.ts'
import { type CastRow, isAddress, isSlot, isWebAddress } from './cast-columns.ts'

export interface CastSlot {
  readonly slot: number
  readonly holder: EntryHolder
  readonly isInEar: boolean
  readonly performer: number | null
  readonly role: string | null
  /** The name of the site that monitors its channel; null for one of this installation. */
  readonly site: string | null
}

export interface CastState {
  readonly performers: readonly Performer[]
  readonly slots: ReadonlyMap<number, CastSlot>
  /** `slot` is null for a unit that no channel receives. */
  readonly units: readonly { readonly id: number; readonly name: string | null; readonly slot: number | null }[]
  /** The performers of units, by unit. */
  readonly wearers: ReadonlyMap<number, { readonly performer: number; readonly role: string | null }>
}

export interface CastOptions {
  /** Adds placeholders for slots that do not exist. */
  readonly createSlots?: boolean
  /** Imports photos that are web addresses. */
  readonly fetchPhotos?: boolean
  /** Assigns a performer to every slot whose row has the name. */
  readonly allowsRepeatedNames?: boolean
}

export interface Skipped {
  readonly row: number
  readonly slot: number | null
  readonly name: string | null
  readonly reason: string
}

/** A performer in the list. Empty texts stand for cells that change nothing. */
export interface PlannedPerformer {
  /** Null if the performer is not stored yet. */
  readonly stored: Performer | null
  readonly name: string
  readonly note: string
  /** The address of the photo, and its row. */
  readonly photo: string
  readonly photoRow: number
}

/** A slot that changes. */
interface PlannedSlot {
  readonly slot: number
  /** Null for a slot that is added. */
  readonly before: CastSlot | null
  /** Key in `performers`; null: the performer moves to another slot. */
  readonly performer: string | null
  readonly role: string | null
}

/** A unit in no slot that gets another performer or role. */
interface PlannedUnit {
  readonly unit: number
  /** Key in `performers`. */
  readonly performer: string
  readonly role: string | null
}

export interface CastPlan {
  /** The performers in the list, by the key that slots and units refer to. */
  readonly performers: ReadonlyMap<string, PlannedPerformer>
  readonly slots: readonly PlannedSlot[]
  readonly units: readonly PlannedUnit[]
  readonly skipped: readonly Skipped[]
}

interface Wanted {
  readonly row: number
  readonly performer: string
  readonly role: string
}

export function planCast(rows: readonly CastRow[], state: CastState, options: CastOptions = {}): CastPlan {
  const planner = new CastPlanner(state, options)
  const lastFilled = rows.findLastIndex((row) => !isEmpty(row))
  for (const row of rows.slice(0, lastFilled + 1)) planner.add(row)
  return planner.finish()
}

class CastPlanner {
  readonly #state: CastState
  readonly #options: CastOptions
  readonly #performers = new Map<string, PlannedPerformer>()
  readonly #wantedSlots = new Map<number, Wanted>()
  readonly #wantedUnits = new Map<number, Wanted>()
  /** The row that assigns a performer first, by the key of the performer and the kind of slot. */
  readonly #firstRows = new Map<string, number>()
  readonly #skipped: Skipped[] = []
  readonly #namesakes: ReadonlyMap<string, readonly Performer[]>
  readonly #packs: ReadonlyMap<string, readonly CastState['units'][number][]>

  constructor(state: CastState, options: CastOptions) {
    this.#state = state
    this.#options = options
    this.#namesakes = groupBy(state.performers, ({ name }) => nameKey(name))
    this.#packs = groupBy(state.units, ({ name }) => nameKey(name ?? ''))
  }

  add(row: CastRow): void {
    const target = findFault(row) ?? this.#findTarget(row)
    const problem = typeof target === 'string' ? target : this.#assign(row, target)
    if (problem !== null) this.#skip(row, problem)
  }

  finish(): CastPlan {
    return {
      performers: this.#performers,
      slots: [...this.#listLeft(), ...this.#listTaken()],
      units: this.#listUnits(),
      skipped: this.#skipped,
    }
  }

  #skip({ row, slot, name }: CastRow, reason: string): void {
    this.#skipped.push({ row, slot: isSlot(slot) ? Number(slot) : null, name: name || null, reason })
  }

  /** Returns the slot or the unit of a row, or why it has neither. */
  #findTarget({ slot, pack }: CastRow): Target | string {
    // People are assigned to slots, whichever packs they receive now or later.
    const named = pack === '' || slot !== '' ? [] : (this.#packs.get(nameKey(pack)) ?? [])
    if (named.length > 1) return `Several packs have the name ${pack}.`
    const [only] = named
    if (only === undefined && slot === '' && !isSlot(pack)) return `There is no pack with the name ${pack}.`
    if (only !== undefined && only.slot === null) return { kind: 'unit', id: only.id }
    const number = only?.slot ?? Number(slot || pack)
    const known = this.#state.slots.get(number)
    if (known === undefined && !this.#options.createSlots) return `There is no slot ${number}.`
    if (known?.site != null) return `Slot ${number} is monitored by the site ${known.site}. Change its performer there.`
    return { kind: 'slot', id: number }
  }

  /** Returns why the row is not imported; null if it is. */
  #assign(row: CastRow, { kind, id }: Target): string | null {
    const wanted = kind === 'slot' ? this.#wantedSlots : this.#wantedUnits
    const earlier = wanted.get(id)
    if (earlier !== undefined)
      return `Row ${earlier.row} already assigns ${kind === 'slot' ? `slot ${id}` : 'this pack'}.`
    const slot = kind === 'slot' ? this.#state.slots.get(id) : undefined
    const current = kind === 'slot' ? slot?.performer : this.#state.wearers.get(id)?.performer
    const stored = this.#findStored(row.name, current ?? null)
    const key = stored === null ? `= ${nameKey(row.name)}` : keyOf(stored.id)
    const kindKey = `${key} ${kind === 'unit' ? `unit ${id}` : (slot?.isInEar ?? false)}`
    const first = this.#firstRows.get(kindKey)
    const isKept = stored !== null && stored.id === current
    if (first !== undefined && !isKept && !this.#options.allowsRepeatedNames)
      return `Row ${first} already has this name.`
    if (first === undefined) this.#firstRows.set(kindKey, row.row)
    this.#addPerformer(key, stored, row)
    wanted.set(id, { row: row.row, performer: key, role: row.role })
    return null
  }

  /** Prefers the same spelling, then the performer of the slot. */
  #findStored(name: string, current: number | null): Performer | null {
    const namesakes = this.#namesakes.get(nameKey(name)) ?? []
    const exact = namesakes.filter((performer) => performer.name === name)
    const candidates = exact.length > 0 ? exact : namesakes
    const isPlanned = ({ id }: Performer) => this.#performers.has(keyOf(id))
    return candidates.find(({ id }) => id === current) ?? candidates.find(isPlanned) ?? candidates[0] ?? null
  }

  /** Several rows may have the same performer; later cells complete earlier ones. */
  #addPerformer(key: string, stored: Performer | null, row: CastRow): void {
    const known = this.#performers.get(key)
    const photo = this.#photoOf(row)
    this.#performers.set(key, {
      stored,
      name: known?.name ?? row.name,
      note: row.note || (known?.note ?? ''),
      photo: photo || (known?.photo ?? ''),
      photoRow: photo === '' ? (known?.photoRow ?? row.row) : row.row,
    })
  }

  #photoOf(row: CastRow): string {
    const { photo } = row
    if (photo === '' || (isAddress(photo) && !isWebAddress(photo))) return photo
    if (isWebAddress(photo) && this.#options.fetchPhotos) return photo
    const reason = isWebAddress(photo)
      ? 'The photo is a web address. Turn on fetching of photos to import it.'
      : 'The photo is not an address, so it is not imported.'
    this.#skip(row, reason)
    return ''
  }

  /** Lists the slots that performers leave for another slot of the same kind. An in-ear slot, for instance, is kept. */
  #listLeft(): PlannedSlot[] {
    const movers = new Set<string>()
    for (const [slot, { performer }] of this.#wantedSlots) {
      const { isInEar = false, performer: current = null } = this.#state.slots.get(slot) ?? {}
      const stored = this.#performers.get(performer)?.stored
      if (stored != null && stored.id !== current) movers.add(`${stored.id} ${isInEar}`)
    }
    return [...this.#state.slots.values()]
      .filter(({ slot, performer, isInEar, site }) => {
        return site === null && !this.#wantedSlots.has(slot) && movers.has(`${performer} ${isInEar}`)
      })
      .map((before) => ({ slot: before.slot, before, performer: null, role: null }))
  }

  #listTaken(): PlannedSlot[] {
    const rolesBefore = new Map(
      [...this.#state.slots.values()].flatMap(({ performer, role }) => (role === null ? [] : [[performer, role]])),
    )
    return [...this.#wantedSlots].flatMap(([slot, { performer, role }]) => {
      const before = this.#state.slots.get(slot) ?? null
      const stored = this.#performers.get(performer)?.stored ?? null
      const isSame = stored !== null && before?.performer === stored.id
      const after = role || (isSame ? before.role : (rolesBefore.get(stored?.id ?? 0) ?? null))
      return isSame && after === before.role ? [] : [{ slot, before, performer, role: after }]
    })
  }

  #listUnits(): PlannedUnit[] {
    return [...this.#wantedUnits].flatMap(([unit, { performer, role }]) => {
      const before = this.#state.wearers.get(unit)
      const stored = this.#performers.get(performer)?.stored
      const isSame = before !== undefined && before.performer === stored?.id
      if (isSame && (role === '' || role === before.role)) return []
      return [{ unit, performer, role: role || null }]
    })
  }
}

interface Target {
  readonly kind: 'slot' | 'unit'
  readonly id: number
}

const keyOf = (id: number) => `# ${id}`

function isEmpty({ row: _, ...cells }: CastRow): boolean {
  return Object.values(cells).every((cell) => cell === '')
}

/** Returns why a row cannot be imported; null if it can. */
function findFault(cast: CastRow): string | null {
  if (isEmpty(cast)) return 'The row is empty.'
  if (cast.name === '') return 'The row has no name.'
  if (cast.slot === '' && cast.pack === '') return 'The row has no slot and no pack.'
  if (cast.slot !== '' && !isSlot(cast.slot)) return `${shorten(cast.slot)} is not a slot from 1 to 65535.`
  if (cast.name.length > 255) return 'The name is longer than 255 characters.'
  if (cast.role.length > 255) return 'The role is longer than 255 characters.'
  return cast.note.length > 4096 ? 'The note is longer than 4096 characters.' : null
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40).toWellFormed()}…` : text
}
