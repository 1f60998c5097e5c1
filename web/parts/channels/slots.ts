import { useSyncExternalStore } from 'react'
import { lastSlot } from '../../../src/domain/equipment/slots.ts'
import type { Problem } from '../../app/api.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useServices, useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { placeholderTitle } from '../../app/slot-records.ts'

/** Three or more consecutive slots become a range. */
export function formatSlots(slots: readonly number[]): string {
  const parts: string[] = []
  for (let from = 0; from < slots.length; ) {
    const first = slots[from] ?? 0
    let to = from
    while (slots[to + 1] === (slots[to] ?? 0) + 1) to += 1
    // Two adjacent slots are written separately.
    if (to - from < 2) to = from
    parts.push(to === from ? `${first}` : `${first}–${slots[to]}`)
    from = to + 1
  }
  return parts.join(', ')
}

/** In the order of the text. The error names the invalid part. */
export function parseSlots(text: string): { ok: true; slots: number[] } | { ok: false; expected: string } {
  const slots: number[] = []
  const written = text.replaceAll(/\s*[-–]\s*/g, '-')
  for (const part of written.split(/[\s,;]+/).filter((part) => part !== '')) {
    const read = readRange(part)
    if (read === null) return { ok: false, expected: t('parts.notASlot', { part }) }
    const twice = read.find((slot) => slots.includes(slot))
    if (twice !== undefined) return { ok: false, expected: t('parts.slotTwice', { slot: twice }) }
    slots.push(...read)
  }
  return { ok: true, slots }
}

export function slotsProblem(values: FormData, field: string): Problem | null {
  const read = parseSlots(String(values.get(field)))
  return read.ok ? null : { kind: 'refused', field, detail: read.expected }
}

function readRange(part: string): number[] | null {
  const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (from === undefined || first < 1 || last > lastSlot || last < first || last - first >= 10_000) return null
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

export interface SlotContent {
  readonly slot: number
  readonly name: string
  readonly facts: ChannelFacts | null
}

export function useSlotContents(slots: readonly number[]): readonly SlotContent[] {
  const { watch } = useServices()
  const cards = useSyncExternalStore(watch.subscribe, watch.cards)
  const placeholders = useWatchState((watchState) => watchState.placeholders)
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  const cardBySlot = new Map(cards.map((card) => [card.slot, card]))
  const nameBySlot = new Map(
    placeholders.map((placeholder) => [
      placeholder.slot,
      placeholderTitle(slotRecords, placeholder) || t(`card.kinds.${placeholder.kind}`),
    ]),
  )
  return slots.map((slot) => {
    const facts = cardBySlot.get(slot)
    if (facts === undefined) return { slot, name: nameBySlot.get(slot) ?? t('card.planned'), facts: null }
    return { slot, name: facts.title, facts }
  })
}
