/** Plans of Planning Center: who is scheduled, the slots of their positions, and the cast list that follows. */

import type { CastRow } from './cast-columns.ts'

export interface ServiceType {
  readonly id: string
  readonly name: string
}

export interface PlanSummary {
  readonly id: string
  readonly title: string | null
  /** As Planning Center writes them, such as `6 September 2026`. Its `sort_date` is local time that is marked as UTC. */
  readonly dates: string
}

/** A service of a plan, which may have several on one day. Times are in epoch milliseconds. */
export interface ServiceTime {
  readonly id: string
  readonly name: string | null
  readonly starts_at: number
  readonly ends_at: number | null
}

export interface ScheduledPerson {
  readonly name: string
  readonly position: string
  readonly team: string
  /** The services for which the person is scheduled; empty: all. */
  readonly times: readonly string[]
  /** The address of the photo. */
  readonly photo: string | null
}

export interface ServicePlan extends PlanSummary {
  readonly service_type: ServiceType
  /** By start. */
  readonly times: readonly ServiceTime[]
  readonly people: readonly ScheduledPerson[]
}

/** `refused`: the token or the request. `away`: no usable response. `limited`: too many requests. */
type PlanningCenterFailure = 'refused' | 'away' | 'limited'

/** The message is a sentence for the user. */
export class PlanningCenterError extends Error {
  override readonly name = 'PlanningCenterError'
  readonly failure: PlanningCenterFailure
  readonly retryAfter: number | null

  constructor(failure: PlanningCenterFailure, message: string, retryAfter: number | null = null) {
    super(message)
    this.failure = failure
    this.retryAfter = retryAfter
  }
}

/** The address of Planning Center, unless another one is configured. */
export const planningCenterUrl = 'https://api.planningcenteronline.com'

/** Tokens have the form `<application id>:<secret>`. */
export function isPlanningCenterToken(text: string): boolean {
  return /^[^:\s]+:\S+$/.test(text)
}

/** Returns the service that runs or comes next, or the last one if all have ended; null if the plan has no services. */
export function findNextTime(times: readonly ServiceTime[], now: number): ServiceTime | null {
  return times.find(({ starts_at, ends_at }) => (ends_at ?? starts_at) > now) ?? times.at(-1) ?? null
}

/** True once all services of a plan have ended. */
export function hasEnded({ times }: Pick<ServicePlan, 'times'>, now: number): boolean {
  return times.length > 0 && times.every(({ starts_at, ends_at }) => (ends_at ?? starts_at) <= now)
}

/** The slot of each position; null: none. A position is its name, or `team / name` if several teams have the name. */
export type PositionSlots = Readonly<Record<string, number | null>>

/** Returns both, where `newer` takes precedence. */
export function mergeSlots(older: PositionSlots, newer: PositionSlots): PositionSlots {
  const replaced = new Set(Object.keys(newer).map(keyOf))
  const kept = Object.entries(older).filter(([position]) => !replaced.has(keyOf(position)))
  return { ...Object.fromEntries(kept), ...newer }
}

/** A position for which people are scheduled. */
export interface FilledPosition {
  readonly position: string
  readonly people: readonly ScheduledPerson[]
}

/** Returns the positions at a service, or at all services if `time` is null, in the order of the plan. */
export function listPositions({ people }: ServicePlan, time: string | null): FilledPosition[] {
  const teams = new Map<string, Set<string>>()
  for (const { position, team } of people) {
    teams.set(keyOf(position), (teams.get(keyOf(position)) ?? new Set()).add(team))
  }
  const positions = new Map<string, { position: string; people: ScheduledPerson[] }>()
  for (const person of people) {
    if (time !== null && person.times.length > 0 && !person.times.includes(time)) continue
    const isShared = (teams.get(keyOf(person.position))?.size ?? 0) > 1
    const position = isShared ? qualified(person) : person.position
    const filled = positions.get(keyOf(position)) ?? { position, people: [] }
    // A person may be scheduled twice for one position, once for each service.
    if (filled.people.every(({ name }) => keyOf(name) !== keyOf(person.name))) filled.people.push(person)
    positions.set(keyOf(position), filled)
  }
  return [...positions.values()]
}

/** Texts that differ only in case, white space or Unicode normalization are the same position. */
function keyOf(text: string): string {
  return text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim()
}

function qualified({ team, position }: Pick<ScheduledPerson, 'team' | 'position'>): string {
  return `${team} / ${position}`
}

/** Returns the slot of a position; null if it has none on purpose, undefined if it is not listed. */
function slotOf({ position, people }: FilledPosition, slots: PositionSlots): number | null | undefined {
  const byKey = new Map(Object.entries(slots).map(([name, slot]) => [keyOf(name), slot]))
  const names = [position, ...people.flatMap((person) => [qualified(person), person.position])]
  return names.map((name) => byKey.get(keyOf(name))).find((slot) => slot !== undefined)
}

interface SkippedPosition {
  readonly position: string
  readonly name: string | null
  readonly reason: string
}

export interface PlannedCast {
  readonly rows: readonly CastRow[]
  /** The position of each row. */
  readonly positions: readonly string[]
  readonly skipped: readonly SkippedPosition[]
}

/**
 * Returns the cast list of a service. `pictureOf` returns the stored picture of a person. Positions without people are
 * in `skipped`, because the performers in their slots keep them.
 */
export function toCast(
  filled: readonly FilledPosition[],
  slots: PositionSlots,
  pictureOf: (person: ScheduledPerson) => string | null,
): PlannedCast {
  const rows: CastRow[] = []
  const positions: string[] = []
  const skipped: SkippedPosition[] = []
  const holders = new Map<number, string>()
  for (const entry of filled) {
    const { position, people } = entry
    const slot = slotOf(entry, slots) ?? null
    if (slot === null) {
      const name = people.map((person) => person.name).join(', ')
      skipped.push({ position, name, reason: 'No slot is selected for this position.' })
      continue
    }
    for (const person of people) {
      const { name } = person
      const holder = holders.get(slot)
      if (holder !== undefined) {
        if (keyOf(holder) !== keyOf(name))
          skipped.push({ position, name, reason: `Slot ${slot} is already used for ${holder}.` })
        continue
      }
      holders.set(slot, name)
      positions.push(position)
      const photo = pictureOf(person) ?? ''
      rows.push({ row: positions.length, slot: String(slot), name, role: person.position, note: '', photo, pack: '' })
    }
  }
  return { rows, positions, skipped: [...skipped, ...listUnfilled(filled, slots)] }
}

function listUnfilled(filled: readonly FilledPosition[], slots: PositionSlots): SkippedPosition[] {
  const known = new Set(
    filled
      .flatMap(({ position, people }) => [position, ...people.flatMap((one) => [one.position, qualified(one)])])
      .map(keyOf),
  )
  return Object.entries(slots)
    .filter(([position, slot]) => slot !== null && !known.has(keyOf(position)))
    .map(([position]) => ({ position, name: null, reason: 'Nobody is scheduled for this position at this service.' }))
}

/** A slot with the names of its channel or placeholder. */
export interface NamedSlot {
  readonly slot: number
  readonly names: readonly string[]
}

/**
 * Returns a slot for every position, or null. The remembered slot comes first, then one that has the position's name,
 * then the number at the end of a name such as `Vox 1`. No slot is suggested twice.
 */
export function suggestSlots(
  filled: readonly FilledPosition[],
  remembered: PositionSlots,
  slots: readonly NamedSlot[],
): ReadonlyMap<string, number | null> {
  const isKnown = (slot: number) => slots.some((candidate) => candidate.slot === slot)
  const suggestions = new Map<string, number | null>()
  for (const entry of filled) {
    const slot = slotOf(entry, remembered)
    if (slot === null || (slot !== undefined && isKnown(slot))) suggestions.set(entry.position, slot)
  }
  const guesses = [
    (name: string) => slots.find(({ names }) => names.some((candidate) => keyOf(candidate) === keyOf(name)))?.slot,
    (name: string) => findNumber(name),
  ]
  for (const guess of guesses) {
    for (const { position, people } of filled) {
      const slot = guess(people[0]?.position ?? position)
      const isFree = slot !== undefined && isKnown(slot) && ![...suggestions.values()].includes(slot)
      if (isFree && !suggestions.has(position)) suggestions.set(position, slot)
    }
  }
  return new Map(filled.map(({ position }) => [position, suggestions.get(position) ?? null]))
}

const microphoneNames =
  /^(?:lead |backing )?(?:vox|vocals?|vocalists?|singers?|voice|mics?|microphones?|handhelds?|hh|headsets?|wireless|rf|packs?) ?#? ?(\d{1,5})$/

function findNumber(position: string): number | undefined {
  const [, digits] = microphoneNames.exec(keyOf(position)) ?? []
  return digits === undefined ? undefined : Number(digits)
}
