/** The changes and events of a handover in plain words, such as `3 Nora → Ben`. */

import type { HandoverChange, HandoverEvent } from '../../src/contract/handovers.ts'
import { isSettingKey } from '../../src/contract/settings.ts'
import type { SlotColor } from '../../src/contract/values.ts'
import { groupBy } from '../../src/domain/group-by.ts'
import { formatSetting, settingTitle } from '../admin/settings/setting-row.ts'
import { formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { slotTitle } from '../app/slot-records.ts'

/** Changes that one person made to one thing at the same time, as one line. */
export interface ChangeLine extends Pick<HandoverChange, 'at' | 'by'> {
  readonly key: string
  readonly text: string
}

/** In the order of the changes. */
export function toChangeLines(changes: readonly HandoverChange[]): readonly ChangeLine[] {
  const groups = groupBy(changes, ({ at, by, what, id, slot }) => {
    return `${at} ${by} ${slot ?? `${what} ${id}`}`
  })
  return [...groups].flatMap(([key, group]): ChangeLine | [] => {
    const [first] = group
    return first === undefined ? [] : { key, at: first.at, by: first.by, text: lineText(group.toReversed()) }
  })
}

function lineText(changes: readonly HandoverChange[]): string {
  const person = changes.find(({ what }) => what === 'performer')
  // A role belongs to its performer.
  const others = changes.filter((change) => change !== person && (person?.to !== null || change.what !== 'role'))
  const details = others.map(detailText).join(', ')
  if (person === undefined) return t('handover.of', { name: subjectOf(others[0]), details })
  const to = plainText(String(person.to ?? t('handover.nobody')))
  const from = plainText(String(person.from ?? t('handover.nobody')))
  const moved = changeText(slotTitle({ slot: person.slot ?? 0, title: from }), to)
  return details === '' ? moved : t('handover.with', { change: moved, details })
}

/** The title of the slot, the name of a performer, or the title of a setting. */
function subjectOf(change: HandoverChange | undefined): string {
  if (change === undefined) return ''
  const { what, id, slot, title, from } = change
  const name = plainText(title ?? '')
  if (what === 'setting') {
    const key = String(id)
    const setting = isSettingKey(key) ? settingTitle(key) : key
    return title === null ? setting : t('handover.settingOf', { setting, name })
  }
  if (what === 'equipment' || what === 'frequency_plan') return t(`handover.${what}`)
  if (what === 'moved' && name !== '') return name
  if (what === 'name') return plainText(String(from))
  return titleOf({ slot, title })
}

/** `3 Ben`, or only the name without a slot. */
export function titleOf({ slot, title }: Pick<HandoverEvent, 'slot' | 'title'>): string {
  const name = plainText(title ?? '')
  return slot === null ? name : slotTitle({ slot, title: name }).trim()
}

function detailText({ what, id, from, to }: HandoverChange): string {
  const format = (value: HandoverChange['from']) => {
    if (value === null) return t('handover.none')
    const key = String(id)
    if (what === 'setting' && isSettingKey(key)) return formatSetting(key, value)
    if (what === 'color') return t(`card.colors.${value as SlotColor}`)
    const isFrequency = what === 'frequency' || what === 'planned_frequency'
    return isFrequency ? formatMegahertz(String(value)) : plainText(String(value))
  }
  if (what === 'frequency_plan' && from === to) return t('handover.edited', { name: format(to) })
  const change = from === null && to !== null ? format(to) : changeText(format(from), format(to))
  if (what === 'setting' || what === 'performer' || what === 'frequency_plan') return change
  return t('handover.field', { field: t(`handover.fields.${what}`), change })
}

function changeText(from: string, to: string): string {
  return t('events.change', { from, to })
}

export interface EventLine {
  readonly key: string
  readonly text: string
  readonly count: number
  /** Times of the first and the last event. */
  readonly first: string
  readonly last: string
}

/** Events of one kind and one slot in a line, the newest first. */
export function toEventLines(events: readonly HandoverEvent[]): readonly EventLine[] {
  const groups = groupBy(events, ({ what, slot, title }) => `${what} ${slot} ${title}`)
  return [...groups].map(([key, group]) => {
    const [newest] = group
    return {
      ...{ key, text: newest === undefined ? '' : eventText(newest), count: group.length },
      ...{ first: group.at(-1)?.at ?? '', last: newest?.at ?? '' },
    }
  })
}

function eventText({ what, slot, title }: HandoverEvent): string {
  const kind = what === 'battery_died' ? t('alerts.kinds.battery_died') : t(`events.kinds.${what}`)
  const subject = titleOf({ slot, title })
  return subject === '' ? kind : t('alerts.line', { name: subject, title: kind })
}
