import type { RecordChange } from '../../src/contract/imports.ts'
import type { SlotColor } from '../../src/contract/values.ts'
import { isRecord, type Json } from '../../src/domain/json.ts'
import { formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { formatSlots } from '../parts/channels/slots.ts'
import { colorName } from '../parts/slots/slot-entries.ts'

export interface RecallRow {
  readonly key: string
  readonly kind: string
  readonly name: string
  readonly before: string
  readonly after: string
}

export function toRows(changes: readonly RecordChange[]): readonly RecallRow[] {
  const others = changes.filter(({ what }) => what !== 'assignment')
  const first = others.findIndex(({ what }) => what === 'planned_frequency')
  const split = first === -1 ? others.length : first
  return [
    ...others.slice(0, split).map(toRow),
    ...toAssignmentRows(changes.filter(({ what }) => what === 'assignment')),
    ...others.slice(split).map(toRow),
  ]
}

function toRow({ what, id, from, to }: RecordChange): RecallRow {
  const [before, after] = [recordOf(from), recordOf(to)]
  return {
    key: `${what} ${id}`,
    kind: what === 'slot' ? t('shows.scenes.slot', { slot: Number(after.slot) }) : kindText(what),
    name: plainText(String(before.title ?? before.name ?? '')),
    ...describeBoth(before, after),
  }
}

/** One row per unit: the previous assignment ends with a change of its own. */
function toAssignmentRows(changes: readonly RecordChange[]): readonly RecallRow[] {
  const rows = new Map<unknown, RecallRow>()
  for (const { from, to } of changes) {
    const { wireless_unit: unit, slot } = recordOf(to ?? from)
    const row = rows.get(unit) ?? {
      ...{ key: `unit ${String(unit)}`, kind: t('shows.scenes.kinds.assignment') },
      name: typeof slot === 'number' ? t('shows.scenes.slot', { slot }) : t('shows.scenes.kinds.unit'),
      ...{ before: t('shows.scenes.nobody'), after: t('shows.scenes.nobody') },
    }
    rows.set(unit, {
      ...row,
      ...(from !== null && { before: wearerText(recordOf(from)) }),
      ...(to !== null && { after: wearerText(recordOf(to)) }),
    })
  }
  return [...rows.values()]
}

function wearerText({ performer, role }: Json): string {
  const name = plainText(String(recordOf(performer).name ?? ''))
  return typeof role === 'string' ? `${name} (${plainText(role)})` : name
}

function describeBoth(before: Json, after: Json): Pick<RecallRow, 'before' | 'after'> {
  const changed = Object.keys(after).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  const describe = (record: Json) => changed.map((field) => fieldText(field, record[field])).join(', ')
  return { before: describe(before), after: describe(after) }
}

function fieldText(field: string, value: unknown): string {
  switch (field) {
    case 'slot':
      return t('shows.scenes.slot', { slot: Number(value) })
    case 'slots':
    case 'spares':
      return t('shows.scenes.slots', { slots: formatSlots(value as readonly number[]) })
    case 'color':
      return colorName((value as SlotColor | null) ?? '')
    case 'performer':
      return isRecord(value) ? plainText(String(value.name)) : t('shows.scenes.nobody')
    case 'planned':
      return plannedText(recordOf(value))
    case 'frequency':
      return typeof value === 'string' ? formatMegahertz(value) : t('shows.scenes.noFrequency')
    case 'kind':
      return t(`arrange.placeholder.kinds.${value as 'wired'}`)
    default:
      return value === null ? t('parts.unknown') : plainText(String(value))
  }
}

function plannedText({ frequency, transmitter }: Json): string {
  const texts = [
    typeof frequency === 'string' ? formatMegahertz(frequency) : null,
    typeof transmitter === 'string' ? plainText(transmitter) : null,
  ].filter((text) => text !== null)
  return texts.length === 0 ? t('shows.scenes.noFrequency') : texts.join(' ')
}

function kindText(what: string): string {
  switch (what) {
    case 'group':
    case 'channel':
    case 'placeholder':
    case 'performer':
    case 'unit':
    case 'planned_frequency':
      return t(`shows.scenes.kinds.${what}`)
    default:
      return what
  }
}

export function skippedText({ what, name }: { readonly what: string; readonly name: string | null }): string {
  return name === null || name === '' ? kindText(what) : `${kindText(what)}: ${plainText(name)}`
}

function recordOf(value: unknown): Json {
  return isRecord(value) ? value : {}
}
