import { useMemo, useSyncExternalStore } from 'react'
import type { Group } from '../../../src/contract/groups.ts'
import type { PlaceholderInData } from '../../../src/contract/placeholders.ts'
import { hasRow } from '../../../src/domain/conditions/condition.ts'
import { includesSite } from '../../../src/domain/equipment/sites.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useServices } from '../../app/context.ts'
import { memoize } from '../../app/memoize.ts'
import { recordOf } from '../../app/slot-records.ts'
import type { StateFilter, View } from '../../app/view.ts'
import type { Levels } from '../../app/watch.ts'
import type { WatchState } from '../../app/watch-state.ts'
import { isByLevel, sortCards } from './channel-order.ts'
import { searchFor, textOf } from './search.ts'

export type VisibleSlot =
  | { readonly kind: 'channel'; readonly slot: number; readonly receiverId: number; readonly channelId: number }
  | { readonly kind: 'placeholder'; readonly slot: number; readonly placeholderId: number }
  | { readonly kind: 'planned'; readonly slot: number }
  | { readonly kind: 'spacer'; readonly slot: number }

/** Blank slots need numbers of their own, because a group is a list of distinct slots. */
const firstSpacer = 65_001
const lastSpacer = 65_535

export interface VisibleSlotOptions {
  readonly cards: readonly ChannelFacts[]
  readonly placeholders: readonly PlaceholderInData[]
  readonly slotRecords: WatchState['slotRecords']
  readonly groups: readonly Group[]
  readonly view: Pick<View, 'manufacturer' | 'site' | 'group' | 'q' | 'state' | 'sort'>
  levelsOf(card: ChannelFacts): Levels
}

export function visibleSlots(options: VisibleSlotOptions): VisibleSlot[] {
  const { cards, placeholders, slotRecords, groups, view, levelsOf } = options
  const own = cards.filter((card) => isOfManufacturer(card, view) && isOfSite(card.site, view))
  const group = groups.find((group) => group.id === view.group)
  const isUnfiltered = view.q === '' && view.state === 'all'
  if (group !== undefined && view.sort === 'slot' && isUnfiltered) {
    return groupSlots(group, own, isOfSite(null, view) ? placeholders : [], view.manufacturer)
  }
  const slots = group === undefined ? null : new Set(group.slots)
  const isInGroup = ({ slot }: { slot: number }) => slots === null || slots.has(slot)
  const matches = searchFor(view.q)
  const shown = own.filter(
    (card) => isInGroup(card) && matchesState(card, view.state) && matches(textOf(card), card.receiverIp),
  )
  const channels = sortCards(shown, view.sort, levelsOf).map(toVisibleSlot)
  // Placeholders belong to no manufacturer, and have no condition to filter by.
  if (view.manufacturer !== null || view.state !== 'all' || !isOfSite(null, view)) return channels
  const hasBlanks = view.sort === 'slot' && isUnfiltered
  const others = placeholders
    .filter((placeholder) => (placeholder.kind !== 'blank' || hasBlanks) && isInGroup(placeholder))
    .filter((placeholder) => matches(placeholderText(slotRecords, placeholder), null))
    .map(placeholderSlot)
    .toSorted(bySlot)
  return view.sort === 'slot' ? withoutLastBlanks([...channels, ...others].sort(bySlot)) : [...channels, ...others]
}

function isOfManufacturer({ manufacturer }: ChannelFacts, view: Pick<View, 'manufacturer'>): boolean {
  return view.manufacturer === null || view.manufacturer === manufacturer
}

function isOfSite(site: ChannelFacts['site'], view: Pick<View, 'site'>): boolean {
  return view.site === null || includesSite({ site: view.site }, site?.code ?? null)
}

function bySlot(a: VisibleSlot, b: VisibleSlot): number {
  return a.slot - b.slot
}

/** Blank slots after everything else separate nothing and make the other tiles smaller. */
function withoutLastBlanks(entries: readonly VisibleSlot[]): VisibleSlot[] {
  return entries.slice(0, entries.findLastIndex(({ kind }) => kind !== 'spacer') + 1)
}

/**
 * In the group's order. With a manufacturer filter, slots without a channel are included only if the group belongs to
 * that manufacturer.
 */
function groupSlots(
  group: Group,
  cards: readonly ChannelFacts[],
  placeholders: readonly PlaceholderInData[],
  manufacturer: string | null,
): VisibleSlot[] {
  const bySlots = new Map(cards.map((card) => [card.slot, card]))
  const placeholderBySlot = new Map(placeholders.map((placeholder) => [placeholder.slot, placeholder]))
  const includesOthers = manufacturer === null || group.manufacturer === manufacturer
  return group.slots.flatMap((slot): VisibleSlot[] => {
    const card = bySlots.get(slot)
    if (card !== undefined) return [toVisibleSlot(card)]
    const placeholder = placeholderBySlot.get(slot)
    if (placeholder === undefined && isSpacer(slot)) return [{ kind: 'spacer', slot }]
    if (!includesOthers) return []
    return [placeholder === undefined ? { kind: 'planned', slot } : placeholderSlot(placeholder)]
  })
}

function placeholderSlot({ id, slot, kind }: PlaceholderInData): VisibleSlot {
  return kind === 'blank' ? { kind: 'spacer', slot } : { kind: 'placeholder', slot, placeholderId: id }
}

function toVisibleSlot({ slot, receiverId, channelId }: ChannelFacts): VisibleSlot {
  return { kind: 'channel', slot, receiverId, channelId }
}

function isSpacer(slot: number): boolean {
  return slot >= firstSpacer && slot <= lastSpacer
}

function matchesState(card: ChannelFacts, filter: StateFilter): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'problems':
      return card.needsAttention && !card.isHandled
    case 'handled':
      return card.isHandled
    case 'replace':
      return isToReplace(card)
    case 'on':
      return !isOff(card)
    case 'off':
      return isOff(card)
    default:
      return filter satisfies never
  }
}

function isOff({ condition }: ChannelFacts): boolean {
  return hasRow(condition, 'tx_off')
}

function isToReplace({ condition }: ChannelFacts): boolean {
  return !hasRow(condition, 'tx_off') && hasRow(condition, 'battery_replace_soon')
}

function placeholderText(slotRecords: WatchState['slotRecords'], placeholder: PlaceholderInData): string {
  const { id, slot, name, frequency } = placeholder
  const { title, role } = recordOf(slotRecords, { kind: 'placeholder', id }) ?? {}
  return [slot, title, name, role, frequency].join(' ').toLocaleLowerCase()
}

/** Encodes the slots as a string, so that React re-renders only when they differ. */
export function encodeSlots(entries: readonly VisibleSlot[]): string {
  return entries.map(encodeSlot).join(' ')
}

function encodeSlot(entry: VisibleSlot): string {
  switch (entry.kind) {
    case 'channel':
      return `c.${entry.slot}.${entry.receiverId}.${entry.channelId}`
    case 'placeholder':
      return `p.${entry.slot}.${entry.placeholderId}`
    case 'planned':
      return `e.${entry.slot}`
    case 'spacer':
      return `s.${entry.slot}`
    default:
      return entry satisfies never
  }
}

export function decodeSlots(text: string): VisibleSlot[] {
  if (text === '') return []
  return text.split(' ').map((part): VisibleSlot => {
    const [slot = 0, first = 0, second = 0] = part.slice(2).split('.').map(Number)
    switch (part[0]) {
      case 'c':
        return { kind: 'channel', slot, receiverId: first, channelId: second }
      case 'p':
        return { kind: 'placeholder', slot, placeholderId: first }
      default:
        return { kind: part[0] === 's' ? 'spacer' : 'planned', slot }
    }
  })
}

export function useVisibleSlots(view: View): string {
  const { watch } = useServices()
  const { manufacturer, site, group, q, state, sort } = view
  const read = useMemo(() => {
    const view = { manufacturer, site, group, q, state, sort }
    const levelsOf = ({ receiverId, channelId }: ChannelFacts) => watch.levels(receiverId, channelId)
    return memoize(
      () => {
        const { groups, placeholders, slotRecords, now } = watch.get()
        // Once per second, as the cards, so that channels do not jump.
        return [watch.cards(), groups, placeholders, slotRecords, isByLevel(sort) ? now : null]
      },
      ([cards, groups, placeholders, slotRecords]) =>
        encodeSlots(visibleSlots({ cards, placeholders, slotRecords, groups, view, levelsOf })),
    )
  }, [watch, manufacturer, site, group, q, state, sort])
  return useSyncExternalStore(watch.subscribe, read)
}
