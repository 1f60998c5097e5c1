/** Unknown values come last in both directions, and equal ones are ordered by slot. */

import { bySeverity, bySlot, type ChannelFacts } from '../../app/channel-state.ts'
import type { SortKey } from '../../app/columns.ts'
import type { Sort } from '../../app/view.ts'
import type { Levels } from '../../app/watch.ts'
import { type SortValue, sortRows } from '../tables/sorting.ts'

type LevelsOf = (card: ChannelFacts) => Levels

export interface ParsedSort {
  readonly key: SortKey
  readonly isDescending: boolean
}

export function parseSort(sort: Sort): ParsedSort {
  return sort.startsWith('-')
    ? { key: sort.slice(1) as SortKey, isDescending: true }
    : { key: sort as SortKey, isDescending: false }
}

export function isByLevel(sort: Sort): boolean {
  return ['rf', 'rf_a', 'rf_b', 'audio', 'quality'].includes(parseSort(sort).key)
}

export function sortCards(cards: readonly ChannelFacts[], sort: Sort, levelsOf: LevelsOf): readonly ChannelFacts[] {
  const { key, isDescending } = parseSort(sort)
  const ordered = cards.toSorted(bySlot)
  if (key !== 'problems') return sortRows(ordered, (card) => sortValueOf(card, key, levelsOf), isDescending)
  return ordered.sort(isDescending ? (a, b) => bySeverity(b, a) : bySeverity)
}

function sortValueOf(card: ChannelFacts, key: Exclude<SortKey, 'problems'>, levelsOf: LevelsOf): SortValue {
  switch (key) {
    case 'slot':
      return card.slot
    case 'name':
      return card.name
    case 'performer':
      return card.performer
    case 'battery':
      return card.battery
    case 'time_left':
      return card.minutesLeft
    case 'rf':
      return levelsOf(card).rf
    case 'rf_a':
      return levelsOf(card).rfA
    case 'rf_b':
      return levelsOf(card).rfB
    case 'audio':
      return levelsOf(card).audio
    case 'quality':
      return levelsOf(card).quality
    case 'frequency':
      return card.frequency === null ? null : Number(card.frequency)
    case 'receiver':
      return `${card.receiverName} ${card.channel}`
    case 'flags':
      return -card.flags.length
    default:
      return key satisfies never
  }
}
