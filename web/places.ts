/** Which positions a page shows, and in what order. */

import type { Group } from '../src/model/api.ts'
import { bySlot, byUrgency, type ChannelFacts } from './channel-state.ts'
import type { Sort, StateFilter, View } from './view.ts'

export type Place =
  | { readonly kind: 'channel'; readonly slot: number; readonly receiverId: number; readonly channelId: number }
  /** A position of the group on which no channel stands: gear without telemetry, or gear that is still to come. */
  | { readonly kind: 'planned'; readonly slot: number }
  /** Left blank on purpose. */
  | { readonly kind: 'spacer'; readonly slot: number }

/** Positions from here on that hold no channel are blank: a group's list of distinct slots has no other room for them. */
const firstSpacer = 65_001
const lastSpacer = 65_535

export interface PlaceOptions {
  /** By slot. */
  readonly cards: readonly ChannelFacts[]
  readonly groups: readonly Group[]
  readonly view: Pick<View, 'manufacturer' | 'group' | 'q' | 'state' | 'sort'>
  rfOf(card: ChannelFacts): number | null
}

export function placesOf({ cards, groups, view, rfOf }: PlaceOptions): Place[] {
  const group = groups.find((one) => one.id === view.group)
  const isPlain = view.q === '' && view.state === 'all'
  if (group !== undefined && view.sort === 'slot' && isPlain) return groupPlaces(group, cards, view.manufacturer)
  const slots = group === undefined ? null : new Set(group.slots)
  const shown = cards.filter(
    (card) => (slots === null || slots.has(card.slot)) && isOfState(card, view.state) && isFound(card, view.q),
  )
  return sortCards(shown, view.sort, rfOf).map(toPlace)
}

/** Everything the group names, in its order. Of a group of several makers, a filter hides what may be another's. */
function groupPlaces(group: Group, cards: readonly ChannelFacts[], manufacturer: string | null): Place[] {
  const bySlots = new Map(cards.map((card) => [card.slot, card]))
  const isWhole = manufacturer === null || group.manufacturer === manufacturer
  return group.slots.flatMap((slot): Place[] => {
    const card = bySlots.get(slot)
    if (card !== undefined) return [toPlace(card)]
    if (isSpacer(slot)) return [{ kind: 'spacer', slot }]
    return isWhole ? [{ kind: 'planned', slot }] : []
  })
}

function toPlace({ slot, receiverId, channelId }: ChannelFacts): Place {
  return { kind: 'channel', slot, receiverId, channelId }
}

export function isSpacer(slot: number): boolean {
  return slot >= firstSpacer && slot <= lastSpacer
}

/** A blank position that none of these is; null when all are used. */
export function nextSpacer(slots: readonly number[]): number | null {
  for (let slot = firstSpacer; slot <= lastSpacer; slot++) if (!slots.includes(slot)) return slot
  return null
}

function isOfState(card: ChannelFacts, filter: StateFilter): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'problems':
      return card.needsHand || card.state === 'replace'
    case 'on':
      return !isOff(card)
    case 'off':
      return isOff(card)
    default:
      return filter satisfies never
  }
}

function isOff({ state, marks }: ChannelFacts): boolean {
  return [state, ...marks].some((one) => one === 'off' || one === 'off_recently')
}

/** Every word has to be found, wherever. */
function isFound(card: ChannelFacts, q: string): boolean {
  if (q === '') return true
  const { slot, token, name, receiverName, receiverModel, receiverIp, frequency, manufacturer } = card
  const text = [slot, token, name, receiverName, receiverModel, receiverIp, frequency, manufacturer].join(' ')
  const where = text.toLocaleLowerCase()
  return q
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => where.includes(word))
}

function sortCards(cards: readonly ChannelFacts[], sort: Sort, rfOf: PlaceOptions['rfOf']): ChannelFacts[] {
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

/** Nameless ones last. */
function nameOf({ name }: ChannelFacts): string {
  return name ?? '\uffff'
}

/** Unknown ones last. */
function weakestFirst(a: number | null, b: number | null): number {
  return a === b ? 0 : (a ?? Number.MAX_VALUE) - (b ?? Number.MAX_VALUE)
}

/** Places as one text, so that a page is laid out again only when it differs. */
export function encodePlaces(places: readonly Place[]): string {
  return places
    .map((one) => (one.kind === 'channel' ? `${one.slot}.${one.receiverId}.${one.channelId}` : `${one.slot}`))
    .join(' ')
}

export function decodePlaces(text: string): Place[] {
  if (text === '') return []
  return text.split(' ').map((one): Place => {
    const [slot = 0, receiverId, channelId] = one.split('.').map(Number)
    if (receiverId !== undefined && channelId !== undefined) return { kind: 'channel', slot, receiverId, channelId }
    return { kind: isSpacer(slot) ? 'spacer' : 'planned', slot }
  })
}
