/** Edits of slots and groups: turns a drop into an edit, and an edit into the edit that reverts it. */

import type { Group } from '../src/contract/resources/groups.ts'
import type { ChannelFacts } from './channel-state.ts'

interface PlacedReceiver {
  readonly channelId: number
  readonly slot: number
}

/** An edit that can be undone. */
export type Edit =
  | { readonly type: 'move'; readonly channelId: number; readonly from: number; readonly to: number }
  | { readonly type: 'swap'; readonly a: PlacedReceiver; readonly b: PlacedReceiver }
  | { readonly type: 'change_group'; readonly before: Group; readonly after: Group }
  | { readonly type: 'create_group'; readonly group: Group }
  | { readonly type: 'delete_group'; readonly group: Group }

/** Called when all earlier edits have been applied. Returns the edit for the current groups; null if there is none. */
export type Plan = (groups: readonly Group[]) => Edit | null

export type Target =
  | { readonly kind: 'place'; readonly slot: number }
  /** After the last slot of the displayed group. */
  | { readonly kind: 'end' }
  | { readonly kind: 'group'; readonly id: number }

export interface Scene {
  readonly cards: readonly ChannelFacts[]
  readonly groups: readonly Group[]
  /** The displayed group; null when all slots are displayed. */
  readonly shown: Group | null
}

/** Returns the edit that moves the content of `slot` to `target`; null when nothing changes. */
export function planDrop({ cards, groups, shown }: Scene, slot: number, target: Target): Edit | null {
  if (target.kind === 'group') {
    const group = groups.find((group) => group.id === target.id)
    if (group === undefined || group.slots.includes(slot)) return null
    return changeGroup(group, { slots: [...group.slots, slot] })
  }
  if (shown !== null) return planOrder(shown, slot, target)
  return target.kind === 'place' ? planMove(cards, slot, target.slot) : null
}

/** Returns the edit that moves the slot to the target position within its group. */
function planOrder(group: Group, slot: number, target: Exclude<Target, { kind: 'group' }>): Edit | null {
  const index = target.kind === 'end' ? group.slots.length : group.slots.indexOf(target.slot)
  if (index < 0) return null
  const slots = group.slots.filter((item) => item !== slot).toSpliced(index, 0, slot)
  return slots.join() === group.slots.join() ? null : changeGroup(group, { slots })
}

function planMove(cards: readonly ChannelFacts[], from: number, to: number): Edit | null {
  const moved = cards.find((card) => card.slot === from)
  if (moved === undefined || from === to) return null
  const holder = cards.find((card) => card.slot === to)
  if (holder === undefined) return { type: 'move', channelId: moved.channelId, from, to }
  return { type: 'swap', a: { channelId: moved.channelId, slot: from }, b: { channelId: holder.channelId, slot: to } }
}

/** Plans a change of one group, based on its state when the plan runs. */
export function planChange(id: number, change: (group: Group) => Partial<Omit<Group, 'id'>>): Plan {
  return (groups) => {
    const group = groups.find((group) => group.id === id)
    return group === undefined ? null : changeGroup(group, change(group))
  }
}

function changeGroup(before: Group, change: Partial<Omit<Group, 'id'>>): Edit {
  return { type: 'change_group', before, after: { ...before, ...change } }
}

/** Returns the edit that reverts `edit`. */
export function undoOf(edit: Edit): Edit {
  switch (edit.type) {
    case 'move':
      return { ...edit, from: edit.to, to: edit.from }
    case 'swap':
      return { type: 'swap', a: { ...edit.a, slot: edit.b.slot }, b: { ...edit.b, slot: edit.a.slot } }
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

const maxFreeInARow = 8

/** Returns all used slots and the free slots between and after them; long runs of free slots are shortened. */
export function positionsToShow(cards: readonly Pick<ChannelFacts, 'slot'>[]): number[] {
  const used = cards.map((card) => card.slot).toSorted((a, b) => a - b)
  const shown: number[] = []
  let next = 1
  for (const slot of used) {
    for (let free = next; free < slot && free < next + maxFreeInARow; free++) shown.push(free)
    shown.push(slot)
    next = slot + 1
  }
  return [...shown, next, next + 1]
}
