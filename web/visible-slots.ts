/** Which slots a page displays, and in what order. */

import type { Group } from '../src/contract/resources/groups.ts'
import { bySlot, byUrgency, type ChannelFacts } from './channel-state.ts'
import type { Sort, StateFilter, View } from './view.ts'

export type VisibleSlot =
  | { readonly kind: 'channel'; readonly slot: number; readonly receiverId: number; readonly channelId: number }
  /** A slot of the group to which no channel is assigned yet, or which equipment without telemetry uses. */
  | { readonly kind: 'planned'; readonly slot: number }
  /** A blank slot: left empty on purpose. */
  | { readonly kind: 'spacer'; readonly slot: number }

/**
 * Slots in this range are blank slots if they have no channel. A group is a list of distinct slots, so blank slots need
 * numbers of their own.
 */
const firstSpacer = 65_001
const lastSpacer = 65_535

export interface VisibleSlotOptions {
  /** Sorted by slot. */
  readonly cards: readonly ChannelFacts[]
  readonly groups: readonly Group[]
  readonly view: Pick<View, 'manufacturer' | 'group' | 'q' | 'state' | 'sort'>
  rfOf(card: ChannelFacts): number | null
}

export function visibleSlots({ cards, groups, view, rfOf }: VisibleSlotOptions): VisibleSlot[] {
  const group = groups.find((group) => group.id === view.group)
  const isUnfiltered = view.q === '' && view.state === 'all'
  if (group !== undefined && view.sort === 'slot' && isUnfiltered) return groupSlots(group, cards, view.manufacturer)
  const slots = group === undefined ? null : new Set(group.slots)
  const shown = cards.filter(
    (card) => (slots === null || slots.has(card.slot)) && matchesState(card, view.state) && matchesSearch(card, view.q),
  )
  return sortCards(shown, view.sort, rfOf).map(toVisibleSlot)
}

/**
 * Returns the slots of the group in the group's order. If the page shows one manufacturer, planned slots are included
 * only if the group belongs to that manufacturer.
 */
function groupSlots(group: Group, cards: readonly ChannelFacts[], manufacturer: string | null): VisibleSlot[] {
  const bySlots = new Map(cards.map((card) => [card.slot, card]))
  const includesPlanned = manufacturer === null || group.manufacturer === manufacturer
  return group.slots.flatMap((slot): VisibleSlot[] => {
    const card = bySlots.get(slot)
    if (card !== undefined) return [toVisibleSlot(card)]
    if (isSpacer(slot)) return [{ kind: 'spacer', slot }]
    return includesPlanned ? [{ kind: 'planned', slot }] : []
  })
}

function toVisibleSlot({ slot, receiverId, channelId }: ChannelFacts): VisibleSlot {
  return { kind: 'channel', slot, receiverId, channelId }
}

export function isSpacer(slot: number): boolean {
  return slot >= firstSpacer && slot <= lastSpacer
}

/** Returns an unused blank slot; null when all are used. */
export function nextSpacer(slots: readonly number[]): number | null {
  for (let slot = firstSpacer; slot <= lastSpacer; slot++) if (!slots.includes(slot)) return slot
  return null
}

function matchesState(card: ChannelFacts, filter: StateFilter): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'problems':
      return card.needsAttention || card.state === 'replace'
    case 'on':
      return !isOff(card)
    case 'off':
      return isOff(card)
    default:
      return filter satisfies never
  }
}

function isOff({ state, flags }: ChannelFacts): boolean {
  return [state, ...flags].some((item) => item === 'off' || item === 'off_recently')
}

/** Whether every word of the search occurs in at least one field. */
function matchesSearch(card: ChannelFacts, q: string): boolean {
  if (q === '') return true
  const { slot, token, name, receiverName, receiverModel, receiverIp, frequency, manufacturer } = card
  const text = [slot, token, name, receiverName, receiverModel, receiverIp, frequency, manufacturer].join(' ')
  const where = text.toLocaleLowerCase()
  return q
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word))
}

function sortCards(cards: readonly ChannelFacts[], sort: Sort, rfOf: VisibleSlotOptions['rfOf']): ChannelFacts[] {
  const orders: Record<Sort, (a: ChannelFacts, b: ChannelFacts) => number> = {
    slot: bySlot,
    problems: byUrgency,
    name: (a, b) => collator.compare(nameOf(a), nameOf(b)) || bySlot(a, b),
    battery: (a, b) => weakestFirst(a.battery, b.battery) || bySlot(a, b),
    rf: (a, b) => weakestFirst(rfOf(a), rfOf(b)) || bySlot(a, b),
  }
  return cards.toSorted(orders[sort])
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' })

/** Returns the sort key; channels without a name come last. */
function nameOf({ name }: ChannelFacts): string {
  return name ?? '\uffff'
}

/** Compares two levels; unknown values come last. */
function weakestFirst(a: number | null, b: number | null): number {
  return a === b ? 0 : (a ?? Number.MAX_VALUE) - (b ?? Number.MAX_VALUE)
}

/** Encodes the slots as a string, so that React re-renders only when they differ. */
export function encodeSlots(entries: readonly VisibleSlot[]): string {
  return entries
    .map((entry) =>
      entry.kind === 'channel' ? `${entry.slot}.${entry.receiverId}.${entry.channelId}` : `${entry.slot}`,
    )
    .join(' ')
}

export function decodeSlots(text: string): VisibleSlot[] {
  if (text === '') return []
  return text.split(' ').map((part): VisibleSlot => {
    const [slot = 0, receiverId, channelId] = part.split('.').map(Number)
    if (receiverId !== undefined && channelId !== undefined) return { kind: 'channel', slot, receiverId, channelId }
    return { kind: isSpacer(slot) ? 'spacer' : 'planned', slot }
  })
}
