/** Turns a drop into an edit, and an edit into the one that reverts it. */

import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { describeHolder, lastSlot, type SlotHolder, takesChannels } from '../../src/domain/equipment/slots.ts'
import { isSameJson } from '../../src/domain/json.ts'
import type { Unstored } from '../../src/domain/versions.ts'

export interface Move extends Pick<SlotHolder, 'kind' | 'id'> {
  readonly from: number
  readonly to: number
}

export type Edit =
  /**
   * Applied at once. The first moves are those that the user requested; `requested` is their number. The placeholders
   * `merged` are merged into their channels; undoing that restores the placeholders `restored`.
   */
  | {
      readonly type: 'move'
      readonly moves: readonly Move[]
      readonly requested: number
      readonly merged?: readonly number[]
      readonly restored?: readonly number[]
    }
  | { readonly type: 'add_placeholder'; readonly placeholder: PlaceholderBody }
  | { readonly type: 'change_placeholder'; readonly before: PlaceholderBody; readonly after: PlaceholderBody }
  | { readonly type: 'delete_placeholder'; readonly placeholder: PlaceholderBody }
  | { readonly type: 'change_group'; readonly before: Group; readonly after: Group }
  | { readonly type: 'create_group'; readonly group: Group }
  | { readonly type: 'delete_group'; readonly group: Group }

export type Target =
  | { readonly kind: 'slot'; readonly slot: number }
  /** After the last slot of the displayed group. */
  | { readonly kind: 'end' }
  | { readonly kind: 'group'; readonly id: number }

/** `channel 3`, `placeholder 5`, or `slot 7` if it is empty. The selection follows these to other slots. */
export type Thing = string

export function thingIn(slot: number, holder: Pick<SlotHolder, 'kind' | 'id'> | null): Thing {
  return holder === null ? `slot ${slot}` : describeHolder(holder)
}

/** Null if the channel or placeholder has been removed. */
export function slotOf(thing: Thing, holders: readonly SlotHolder[]): number | null {
  const slot = /^slot (\d+)$/.exec(thing)?.[1]
  return slot === undefined ? (holders.find((holder) => describeHolder(holder) === thing)?.slot ?? null) : Number(slot)
}

export function formatTarget(target: Target): string {
  if (target.kind === 'slot') return `slot ${target.slot}`
  return target.kind === 'group' ? `group ${target.id}` : 'end'
}

/** Null if the element has no target. */
export function parseTarget(text: string | null): Target | null {
  if (text === 'end') return { kind: 'end' }
  const [kind, number] = (text ?? '').split(' ')
  if (kind === 'slot') return { kind, slot: Number(number) }
  return kind === 'group' ? { kind, id: Number(number) } : null
}

/** The content of the target slot swaps, or it makes room. */
export type Placing = 'swap' | 'insert'

export interface Arrangement {
  readonly holders: readonly SlotHolder[]
  readonly placeholders: readonly PlaceholderBody[]
  readonly groups: readonly Group[]
  /** Null while all slots are displayed. */
  readonly shown: Group | null
}

/** Called when all earlier edits have been applied. Null if nothing changes. */
export type Plan = (arrangement: Omit<Arrangement, 'shown'>) => Edit | null

/**
 * Moves things together: to consecutive slots from the target on, or to its place in the displayed group. Things that
 * are gone are left out. Null if nothing changes, or if the slots do not suffice.
 */
export function planDrop(
  arrangement: Arrangement,
  things: readonly Thing[],
  target: Target,
  placing: Placing,
): Edit | null {
  const { holders, groups, shown } = arrangement
  const slots = slotsOf(things, holders, shown)
  if (slots.length === 0) return null
  if (target.kind === 'group') {
    const group = groups.find((group) => group.id === target.id)
    const added = slots.filter((slot) => group?.slots.includes(slot) === false)
    return group === undefined || added.length === 0 ? null : changeGroup(group, { slots: [...group.slots, ...added] })
  }
  if (shown !== null) return planOrder(shown, slots, target)
  return target.kind === 'slot' ? planMoves(arrangement, slots, target.slot, placing) : null
}

/** In the order in which they are displayed. */
export function slotsOf(things: readonly Thing[], holders: readonly SlotHolder[], shown: Group | null): number[] {
  const order = new Map(shown?.slots.map((slot, index) => [slot, index]))
  const indexOf = (slot: number) => order.get(slot) ?? order.size
  const slots = things.flatMap((thing) => slotOf(thing, holders) ?? [])
  return [...new Set(slots)].sort((a, b) => indexOf(a) - indexOf(b) || a - b)
}

/** Returns the placeholder in the slot onto which this channel can be put. */
export function placeholderFor(
  thing: Thing,
  placeholders: readonly PlaceholderBody[],
  slot: number,
): PlaceholderBody | undefined {
  if (!thing.startsWith('channel ')) return undefined
  return placeholders.find((placeholder) => placeholder.slot === slot && takesChannels(placeholder))
}

/** Moves slots within their group. A slot that moves forwards comes after the target, like a single one. */
function planOrder(group: Group, moved: readonly number[], target: Exclude<Target, { kind: 'group' }>): Edit | null {
  const [first = 0] = moved
  const others = group.slots.filter((slot) => !moved.includes(slot))
  const at = target.kind === 'end' ? others.length : others.indexOf(target.slot)
  if (at < 0) return null
  const from = group.slots.indexOf(first)
  const isForwards = target.kind === 'slot' && from >= 0 && from < group.slots.indexOf(target.slot)
  const slots = others.toSpliced(isForwards ? at + 1 : at, 0, ...moved)
  return slots.join() === group.slots.join() ? null : changeGroup(group, { slots })
}

type Placed = readonly (readonly [SlotHolder, number])[]

function planMoves(
  { holders, placeholders }: Arrangement,
  slots: readonly number[],
  to: number,
  placing: Placing,
): Edit | null {
  const moved = slots.flatMap((slot) => holders.find((holder) => holder.slot === slot) ?? [])
  const mergeable = placeholders.filter(
    (placeholder) => takesChannels(placeholder) && !slots.includes(placeholder.slot),
  )
  const merged = moved.flatMap(({ kind }, index) => {
    const placeholder = mergeable.find(({ slot }) => slot === to + index)
    return placing === 'insert' || kind === 'placeholder' || placeholder === undefined ? [] : placeholder.id
  })
  const remaining = holders.filter(
    (holder) => !moved.includes(holder) && (holder.kind === 'channel' || !merged.includes(holder.id)),
  )
  const others = new Map(remaining.map((holder) => [holder.slot, holder]))
  const placed = placing === 'insert' ? insert(others, moved, to) : swap(others, moved, to)
  const moves = placed.flatMap(([holder, slot]) => (holder.slot === slot ? [] : moveOf(holder, slot)))
  if (moves.length === 0 || placed.some(([, slot]) => slot > lastSlot)) return null
  const requested = moves.filter(({ from }) => slots.includes(from)).length
  return { type: 'move', moves, requested, ...(merged.length > 0 && { merged }) }
}

type BySlot = ReadonlyMap<number, SlotHolder>

/** Holders of the target slots move to those that become free, in order. */
function swap(others: BySlot, moved: readonly SlotHolder[], to: number): Placed {
  const placed = moved.map((holder, index) => [holder, to + index] as const)
  const targets = placed.map(([, slot]) => slot)
  const free = moved.map(({ slot }) => slot).filter((slot) => !targets.includes(slot))
  const displaced = targets.flatMap((slot) => others.get(slot) ?? [])
  return [...placed, ...displaced.map((holder, index) => [holder, free[index] ?? holder.slot] as const)]
}

/** Things that move to higher slots end in the target slot and shift others down, if there is room. */
function insert(others: BySlot, moved: readonly SlotHolder[], to: number): Placed {
  const end = to - moved.length + 1
  const shiftedDown = (moved[0]?.slot ?? 0) < to ? shift(others, to, end, -1) : null
  const shifted = shiftedDown ?? shift(others, to, to + moved.length - 1, 1)
  const start = shiftedDown === null ? to : end
  return shifted === null ? [] : [...moved.map((holder, index) => [holder, start + index] as const), ...shifted]
}

/** Moves everything out of a block of slots, past its last one, up to the first free slots. Null if there are too few. */
function shift(others: BySlot, first: number, last: number, step: 1 | -1): Placed | null {
  const waiting: SlotHolder[] = []
  const shifted: (readonly [SlotHolder, number])[] = []
  for (let slot = first; ; slot += step) {
    const isBehind = step > 0 ? slot > last : slot < last
    if (isBehind && waiting.length === 0) return shifted
    if (slot < 1 || slot > lastSlot) return null
    const holder = others.get(slot)
    if (holder !== undefined) waiting.push(holder)
    const next = isBehind ? waiting.shift() : undefined
    if (next !== undefined) shifted.push([next, slot])
  }
}

function moveOf({ kind, id, slot }: SlotHolder, to: number): Move {
  return { kind, id, from: slot, to }
}

/** Uses the group as it is when the plan runs. */
export function planChange(id: number, change: (group: Group) => Partial<Unstored<Group>>): Plan {
  return ({ groups }) => {
    const group = groups.find((group) => group.id === id)
    return group === undefined ? null : changeGroup(group, change(group))
  }
}

function changeGroup(before: Group, change: Partial<Unstored<Group>>): Edit {
  return { type: 'change_group', before, after: { ...before, ...change } }
}

export function undoOf(edit: Edit): Edit {
  switch (edit.type) {
    case 'move':
      return {
        type: 'move',
        moves: edit.moves.map((move) => ({ ...move, from: move.to, to: move.from })),
        requested: edit.requested,
        ...(edit.merged !== undefined && { restored: edit.merged }),
        ...(edit.restored !== undefined && { merged: edit.restored }),
      }
    case 'add_placeholder':
      return { type: 'delete_placeholder', placeholder: edit.placeholder }
    case 'change_placeholder':
      return { type: 'change_placeholder', before: edit.after, after: edit.before }
    case 'delete_placeholder':
      return { type: 'add_placeholder', placeholder: edit.placeholder }
    case 'change_group':
      return { type: 'change_group', before: edit.after, after: edit.before }
    case 'create_group':
      return { type: 'delete_group', group: edit.group }
    case 'delete_group':
      return { type: 'create_group', group: edit.group }
    default:
      return edit satisfies never
  }
}

/** True if the state contains the edit, whatever others have changed since. */
export function isAnnounced(edit: Edit, { holders, groups, placeholders }: Omit<Arrangement, 'shown'>): boolean {
  switch (edit.type) {
    case 'move': {
      const slots = new Map(holders.map((holder) => [describeHolder(holder), holder.slot]))
      const has = (id: number) => placeholders.some((placeholder) => placeholder.id === id)
      return (
        edit.moves.every((move) => slots.get(describeHolder(move)) !== move.from) &&
        edit.merged?.some(has) !== true &&
        edit.restored?.every(has) !== false
      )
    }
    case 'change_placeholder':
      return isNewer(placeholders, edit)
    case 'change_group':
      return isNewer(groups, edit)
    case 'add_placeholder':
    case 'delete_placeholder':
      return placeholders.some(({ id }) => id === edit.placeholder.id) === (edit.type === 'add_placeholder')
    case 'create_group':
    case 'delete_group':
      return groups.some(({ id }) => id === edit.group.id) === (edit.type === 'create_group')
    default:
      return edit satisfies never
  }
}

interface Versioned {
  readonly id: number
  readonly version: number
}

/** The edit that undoes another one has the older version in `after`, but the restored record gets a new one. */
function isNewer(
  records: readonly Versioned[],
  { before, after }: { readonly before: Versioned; readonly after: Versioned },
) {
  const record = records.find(({ id }) => id === after.id)
  return record === undefined || record.version >= Math.max(after.version, before.version + 1)
}

/** True if another user has meanwhile changed a field of the edit to a different value. */
export function hasConflict<Fields extends object>(before: Fields, after: Fields, current: Fields): boolean {
  return Object.entries(after).some(([key, value]) => {
    const [was, is] = [before[key as keyof Fields], current[key as keyof Fields]]
    return key !== 'version' && !isSameJson(value, was) && !isSameJson(is, was) && !isSameJson(is, value)
  })
}

export function firstFreeSlot(holders: readonly Pick<SlotHolder, 'slot'>[]): number {
  const used = new Set(holders.map(({ slot }) => slot))
  let slot = 1
  while (used.has(slot)) slot += 1
  return slot
}

const maxFreeInARow = 8

/** Used slots and the free slots between and after them. Long runs of free slots are shortened. */
export function positionsToShow(holders: readonly Pick<SlotHolder, 'slot'>[]): number[] {
  const used = holders.map(({ slot }) => slot).toSorted((a, b) => a - b)
  const shown: number[] = []
  let next = 1
  for (const slot of used) {
    for (let free = next; free < slot && free < next + maxFreeInARow; free++) shown.push(free)
    shown.push(slot)
    next = slot + 1
  }
  return [...shown, next, next + 1].filter((slot) => slot <= lastSlot)
}
