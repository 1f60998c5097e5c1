import type { EventBody } from '../../src/contract/history.ts'
import type { ChannelAssignment } from '../../src/contract/performers.ts'
import type { EventKind } from '../../src/contract/values.ts'
import { formatDbm, formatMegahertz, formatPercent, formatUnit, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import type { EventChange } from '../app/watch-state.ts'
import { alertTitle } from './alerts/alert-text.ts'

export const categories = {
  rf: ['rf_dropout', 'interference'],
  audio: ['clipping', 'audio_dropout', 'audio_clipping', 'muted', 'unmuted'],
  battery: ['battery_low', 'battery_critical', 'battery_changed'],
  power: ['transmitter_on', 'transmitter_off'],
  alert: ['alert_raised', 'alert_acknowledged', 'alert_cleared'],
  equipment: [
    ...(['receiver_offline', 'receiver_online', 'source_failing', 'source_recovered', 'moved'] as const),
    ...(['frequency_changed', 'renamed', 'swapped', 'assigned', 'unassigned'] as const),
  ],
  show: ['show_started', 'show_ended', 'check'],
  marker: ['marker'],
  gap: ['recording_gap'],
} as const satisfies Record<string, readonly EventKind[]>
export type EventCategory = keyof typeof categories

export const categoryNames = Object.keys(categories) as readonly EventCategory[]

export function categoryOf(kind: EventKind): EventCategory {
  return categoryNames.find((name) => (categories[name] as readonly EventKind[]).includes(kind)) ?? 'equipment'
}

/** All events, those of a category, or those of one kind. */
export type KindFilter = '' | EventCategory | EventKind

export function kindsOf(filter: KindFilter): readonly EventKind[] | null {
  if (filter === '') return null
  return filter in categories ? categories[filter as EventCategory] : [filter as EventKind]
}

export function mergeEvents(
  read: readonly EventBody[],
  changes: readonly EventChange[],
  isWanted: (event: EventBody) => boolean,
): readonly EventBody[] {
  const events = new Map(read.map((event) => [event.id, event]))
  for (const { id, event } of changes) {
    if (event !== null && isWanted(event)) events.set(id, event)
    else events.delete(id)
  }
  return [...events.values()].sort((a, b) => startOf(b) - startOf(a) || b.id - a.id)
}

/** Epoch ms */
export function startOf({ time }: Pick<EventBody, 'time'>): number {
  return Date.parse(time)
}

/** Epoch ms; `now` while the event continues, null for a moment. */
export function endOf({ until, data }: Pick<EventBody, 'until' | 'data'>, now: number): number | null {
  if (until !== null) return Date.parse(until)
  return data.open === true ? now : null
}

export function overlaps(event: EventBody, { start, end }: { readonly start: number; readonly end: number }): boolean {
  return startOf(event) <= end && (endOf(event, Number.POSITIVE_INFINITY) ?? startOf(event)) >= start
}

export function isPerformer(value: unknown): value is ChannelAssignment['performer'] {
  if (typeof value !== 'object' || value === null || !('id' in value) || !('name' in value)) return false
  return typeof value.id === 'number' && typeof value.name === 'string'
}

export function concerns(
  { channel_id, receiver_id }: Pick<EventBody, 'channel_id' | 'receiver_id'>,
  { channelId, receiverId }: { readonly channelId: number; readonly receiverId: number | null },
): boolean {
  if (channel_id !== null) return channel_id === channelId
  return receiver_id === null || receiver_id === receiverId
}

export function eventTitle({ kind }: Pick<EventBody, 'kind'>): string {
  return t(`events.kinds.${kind}`)
}

/** Null if nothing besides the kind is worth knowing. */
export function eventDetail({ kind, data, text }: Pick<EventBody, 'kind' | 'data' | 'text'>): string | null {
  const { from, to } = data
  const read = (key: string) => (typeof data[key] === 'string' ? plainText(data[key]) : null)
  const number = (key: string) => (typeof data[key] === 'number' ? data[key] : null)
  const seconds = number('seconds')
  switch (kind) {
    case 'marker':
      return plainText(text)
    case 'rf_dropout': {
      const lowest = number('lowest_dbm')
      return join(
        seconds === null ? null : formatUnit('second', seconds),
        lowest === null ? null : t('events.lowest', { level: formatDbm(lowest) }),
      )
    }
    case 'interference':
    case 'clipping':
    case 'audio_dropout':
    case 'audio_clipping':
      return seconds === null ? null : formatUnit('second', seconds)
    case 'battery_changed':
      return typeof from === 'number' && typeof to === 'number'
        ? t('events.change', { from: formatPercent(from), to: formatPercent(to) })
        : null
    case 'frequency_changed':
      return changeText(from, to, formatMegahertz)
    case 'renamed':
      return changeText(from, to, plainText)
    case 'moved':
      return changeText(placeText(from), placeText(to), plainText)
    case 'swapped':
      return data.what === 'people' || data.what === 'equipment'
        ? t(`events.swaps.${data.what}`, { a: number('slot') ?? '', b: number('with') ?? '' })
        : null
    case 'assigned':
    case 'unassigned':
      return join(isPerformer(data.performer) ? plainText(data.performer.name) : null, read('name'))
    case 'alert_raised':
    case 'alert_acknowledged':
    case 'alert_cleared': {
      const alert = read('kind')
      return alert === null ? null : alertTitle({ kind: alert, message: alert })
    }
    case 'check':
      return join(read('result'), read('note'))
    case 'recording_gap': {
      const reason = read('reason')
      return reason === 'stopped' || reason === 'storage' || reason === 'off' ? t(`events.gaps.${reason}`) : null
    }
    default:
      return null
  }
}

function join(...parts: readonly (string | null)[]): string | null {
  const known = parts.filter((part) => part !== null && part !== '')
  return known.length === 0 ? null : known.join(', ')
}

/** A slot, an address or a location; null for none. */
function placeText(place: unknown): unknown {
  if (typeof place === 'number') return String(place)
  return place === null ? '–' : place
}

function changeText(from: unknown, to: unknown, format: (value: string) => string): string | null {
  if (typeof from !== 'string' || typeof to !== 'string') return null
  return t('events.change', { from: format(from), to: format(to) })
}
