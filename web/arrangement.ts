/** Rearranging positions and groups: what a drop means, and what takes it back. */

import type { Group } from '../src/model/api.ts'
import type { ChannelFacts } from './channel-state.ts'

interface Standing {
  readonly channelId: number
  readonly slot: number
}

/** One thing that is done, and can be undone. */
export type Deed =
  | { readonly type: 'move'; readonly channelId: number; readonly from: number; readonly to: number }
  | { readonly type: 'swap'; readonly a: Standing; readonly b: Standing }
  | { readonly type: 'change_group'; readonly before: Group; readonly after: Group }
  | { readonly type: 'create_group'; readonly group: Group }
  | { readonly type: 'delete_group'; readonly group: Group }

/** What to do to the groups as they are when its turn comes; null when there is nothing left to do. */
export type Plan = (groups: readonly Group[]) => Deed | null

export type Target =
  | { readonly kind: 'place'; readonly slot: number }
  /** Behind the last place of the group that is shown. */
  | { readonly kind: 'end' }
  | { readonly kind: 'group'; readonly id: number }

export interface Scene {
  readonly cards: readonly ChannelFacts[]
  readonly groups: readonly Group[]
  /** The group that is shown; null when every position is. */
  readonly shown: Group | null
}

/** What it means to put what stands at `slot` there; null when it changes nothing. */
export function planDrop({ cards, groups, shown }: Scene, slot: number, target: Target): Deed | null {
  if (target.kind === 'group') {
    const group = groups.find((one) => one.id === target.id)
    if (group === undefined || group.slots.includes(slot)) return null
    return changeGroup(group, { slots: [...group.slots, slot] })
  }
  if (shown !== null) return planOrder(shown, slot, target)
  return target.kind === 'place' ? planMove(cards, slot, target.slot) : null
}

/** It ends up where the target stood; the others close up. */
function planOrder(group: Group, slot: number, target: Exclude<Target, { kind: 'group' }>): Deed | null {
  const at = target.kind === 'end' ? group.slots.length : group.slots.indexOf(target.slot)
  if (at < 0) return null
  const slots = group.slots.filter((one) => one !== slot).toSpliced(at, 0, slot)
  return slots.join() === group.slots.join() ? null : changeGroup(group, { slots })
}

function planMove(cards: readonly ChannelFacts[], from: number, to: number): Deed | null {
  const moved = cards.find((card) => card.slot === from)
  if (moved === undefined || from === to) return null
  const holder = cards.find((card) => card.slot === to)
  if (holder === undefined) return { type: 'move', channelId: moved.channelId, from, to }
  return { type: 'swap', a: { channelId: moved.channelId, slot: from }, b: { channelId: holder.channelId, slot: to } }
}

/** To change one group, from what it then is. */
export function planChange(id: number, change: (group: Group) => Partial<Omit<Group, 'id'>>): Plan {
  return (groups) => {
    const group = groups.find((one) => one.id === id)
    return group === undefined ? null : changeGroup(group, change(group))
  }
}

function changeGroup(before: Group, change: Partial<Omit<Group, 'id'>>): Deed {
  return { type: 'change_group', before, after: { ...before, ...change } }
}

/** What takes it back. */
export function undoOf(deed: Deed): Deed {
  switch (deed.type) {
    case 'move':
      return { ...deed, from: deed.to, to: deed.from }
    case 'swap':
      return { type: 'swap', a: { ...deed.a, slot: deed.b.slot }, b: { ...deed.b, slot: deed.a.slot } }
    case 'change_group':
      return { type: 'change_group', before: deed.after, after: deed.before }
    case 'create_group':
      return { type: 'delete_group', group: deed.group }
    case 'delete_group':
      return { type: 'create_group', group: deed.group }
    default:
      return deed satisfies never
  }
}

const mostFreeInARow = 8

/** Every position in use, and the free ones between and behind them; of a long run of free ones only the first few. */
export function positionsToShow(cards: readonly Pick<ChannelFacts, 'slot'>[]): number[] {
  const used = cards.map((card) => card.slot).toSorted((a, b) => a - b)
  const shown: number[] = []
  let next = 1
  for (const slot of used) {
    for (let free = next; free < slot && free < next + mostFreeInARow; free++) shown.push(free)
    shown.push(slot)
    next = slot + 1
  }
  return [...shown, next, next + 1]
}
