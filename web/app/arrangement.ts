/** Turns a drop into an edit, and an edit into the one that reverts it. */

import type { Group } from '../../src/contract/groups.ts'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { describeHolder, type SlotHolder, takesChannels } from '../../src/domain/equipment/slots.ts'
import { isSameJson } from '../../src/domain/json.ts'
import type { Unstored } from '../../src/domain/versions.ts'

export interface Move extends Pick<SlotHolder, 'kind' | 'id'> {
  readonly from: number
  readonly to: number
}

export type Edit =
  /**
   * Applied at once. The first move is the one that the user requested. Its channel is merged with the placeholder
   * `merged`; undoing that restores the placeholder `restored`.
   */
  | {
      readonly type: 'move'
      readonly moves: readonly Move[]
      readonly merged?: number | undefined
      readonly restored?: number | undefined
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

/** Null if nothing changes. */
export function planDrop(
  { holders, placeholders, groups, shown }: Arrangement,
  thing: Thing,
  target: Target,
  placing: Placing,
): Edit | null {
  const slot = slotOf(thing, holders)
  if (slot === null) return null
  if (target.kind === 'group') {
    const group = groups.find((group) => group.id === target.id)
    if (group === undefined || group.slots.includes(slot)) return null
    return changeGroup(group, { slots: [...group.slots, slot] })
  }
  if (shown !== null) return planOrder(shown, slot, target)
  if (target.kind !== 'slot') return null
  const merged = placing === 'swap' ? placeholderFor(thing, placeholders, target.slot) : undefined
  return planMove(holders, { from: slot, to: target.slot, merged: merged?.id }, placing)
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

/** Moves the slot within its group. */
function planOrder(group: Group, slot: number, target: Exclude<Target, { kind: 'group' }>): Edit | null {
  const index = target.kind === 'end' ? group.slots.length : group.slots.indexOf(target.slot)
  if (index < 0) return null
  const slots = group.slots.filter((item) => item !== slot).toSpliced(index, 0, slot)
  return slots.join() === group.slots.join() ? null : changeGroup(group, { slots })
}

interface RequestedMove {
  readonly from: number
  readonly to: number
  readonly merged: number | undefined
}

function planMove(holders: readonly SlotHolder[], { from, to, merged }: RequestedMove, placing: Placing): Edit | null {
  const bySlot = new Map(holders.map((holder) => [holder.slot, holder]))
  const moved = bySlot.get(from)
  if (moved === undefined || from === to) return null
  if (merged !== undefined) return { type: 'move', moves: [moveOf(moved, to)], merged }
  const displaced = placing === 'swap' ? displacedBySwap(bySlot, from, to) : displacedByInsertion(bySlot, from, to)
  return { type: 'move', moves: [moveOf(moved, to), ...displaced] }
}

type BySlot = ReadonlyMap<number, SlotHolder>

function displacedBySwap(bySlot: BySlot, from: number, to: number): Move[] {
  const other = bySlot.get(to)
  return other === undefined ? [] : [moveOf(other, from)]
}

/** Everything from `to` moves by one slot towards `from`, up to the first free slot. */
function displacedByInsertion(bySlot: BySlot, from: number, to: number): Move[] {
  const step = to < from ? 1 : -1
  const moves: Move[] = []
  for (let slot = to; slot !== from; slot += step) {
    const holder = bySlot.get(slot)
    if (holder === undefined) break
    moves.push(moveOf(holder, slot + step))
  }
  return moves
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

/** The first move whose channel or placeholder is no longer in its slot. */
export function findOutdatedMove(edit: Edit, holders: readonly SlotHolder[]): Move | undefined {
  if (edit.type !== 'move') return undefined
  const slots = new Map(holders.map(({ kind, id, slot }) => [`${kind} ${id}`, slot]))
  return edit.moves.find(({ kind, id, from }) => slots.get(`${kind} ${id}`) !== from)
}

export function isApplied(edit: Edit, { holders, groups, placeholders }: Omit<Arrangement, 'shown'>): boolean {
  const hasPlaceholder = (id: number) => placeholders.some((placeholder) => placeholder.id === id)
  switch (edit.type) {
    case 'move':
      return (
        findOutdatedMove(undoOf(edit), holders) === undefined &&
        (edit.merged === undefined || !hasPlaceholder(edit.merged)) &&
        (edit.restored === undefined || hasPlaceholder(edit.restored))
      )
    case 'add_placeholder':
      return hasPlaceholder(edit.placeholder.id)
    case 'change_placeholder': {
      const placeholder = placeholders.find(({ id }) => id === edit.after.id)
      return (
        placeholder !== undefined &&
        isSameJson({ ...placeholder, ...edit.after, version: placeholder.version }, placeholder)
      )
    }
    case 'delete_placeholder':
      return !hasPlaceholder(edit.placeholder.id)
    case 'change_group':
      return groups.some((group) => isSameJson(group, { ...edit.after, version: group.version }))
    case 'create_group':
      return groups.some(({ id }) => id === edit.group.id)
    case 'delete_group':
      return !groups.some(({ id }) => id === edit.group.id)
    default:
      return edit satisfies never
  }
}

/** A group that was deleted and created again has a new id, to which earlier edits must refer. */
export function withRestored(edit: Edit, deleted: Edit, restored: Edit): Edit {
  return deleted.type === 'delete_group' && restored.type === 'create_group'
    ? withGroupId(edit, deleted.group.id, restored.group.id)
    : edit
}

function withGroupId(edit: Edit, oldId: number, id: number): Edit {
  switch (edit.type) {
    case 'change_group':
      return edit.after.id === oldId ? { ...edit, before: { ...edit.before, id }, after: { ...edit.after, id } } : edit
    case 'create_group':
      return edit.group.id === oldId ? { ...edit, group: { ...edit.group, id } } : edit
    default:
      return edit
  }
}

export function firstFreeSlot(holders: readonly Pick<SlotHolder, 'slot'>[]): number {
  const used = new Set(holders.map(({ slot }) => slot))
  let slot = 1
  while (used.has(slot)) slot += 1
  return slot
}

const lastSlot = 65_535
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
