import { useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useServices } from '../../app/context.ts'
import { formatDateTime, formatDbfs, formatDbm, formatMegahertz, formatPercent } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { serviceNow } from '../../app/service-time.ts'
import { placeholderTitle } from '../../app/slot-records.ts'
import type { View } from '../../app/view.ts'
import { timeLeftText } from '../card/time-left.tsx'
import { parseSort } from './channel-order.ts'
import type { VisibleSlot } from './visible-slots.ts'

export function useIsPrinting(): boolean {
  const [isPrinting, setPrinting] = useState(() => matchMedia('print').matches)
  useEffect(() => {
    const media = matchMedia('print')
    // The browser prints the page as it is when the event ends.
    const change = () => flushSync(() => setPrinting(media.matches))
    const before = () => flushSync(() => setPrinting(true))
    const after = () => flushSync(() => setPrinting(false))
    media.addEventListener('change', change)
    addEventListener('beforeprint', before)
    addEventListener('afterprint', after)
    return () => {
      media.removeEventListener('change', change)
      removeEventListener('beforeprint', before)
      removeEventListener('afterprint', after)
    }
  }, [])
  return isPrinting
}

const columns = [
  'slot',
  'name',
  'performer',
  'state',
  'battery',
  'time_left',
  'rf_a',
  'audio',
  'frequency',
  'receiver',
  'flags',
] as const

type PrintedColumn = (typeof columns)[number]

export function PrintTable({ entries, view }: { entries: readonly VisibleSlot[]; view: Pick<View, 'sort'> }) {
  const { watch } = useServices()
  const rows = entries.map((entry) => ({ key: `${entry.kind} ${entry.slot}`, row: rowOf(entry) }))
  function rowOf(entry: VisibleSlot): Partial<Record<PrintedColumn, string>> | null {
    if (entry.kind === 'channel') {
      const facts = watch.facts(entry.receiverId, entry.channelId)
      return facts && channelRow(facts, watch.levels(entry.receiverId, entry.channelId))
    }
    if (entry.kind === 'spacer') return null
    if (entry.kind === 'planned') return { slot: String(entry.slot), name: t('card.planned') }
    const { placeholders, slotRecords } = watch.get()
    const placeholder = placeholders.find(({ id }) => id === entry.placeholderId)
    if (placeholder === undefined) return null
    const { slot, kind, frequency } = placeholder
    return {
      ...{ slot: String(slot), name: placeholderTitle(slotRecords, placeholder), state: t('states.unmonitored') },
      ...{ frequency: frequency === null ? '' : formatMegahertz(frequency), receiver: t(`card.kinds.${kind}`) },
    }
  }
  const { key: sortKey } = parseSort(view.sort)
  return (
    <table className="print-table">
      <caption>
        {t('live.printed', { time: formatDateTime(serviceNow()) })} · {t(`live.sorts.${sortKey}`)}
      </caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {t(`live.table.columns.${column === 'rf_a' ? 'rf' : column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, row }) =>
          row === null ? null : (
            <tr key={key}>
              {columns.map((column) => (
                <td key={column}>{row[column] ?? ''}</td>
              ))}
            </tr>
          ),
        )}
      </tbody>
    </table>
  )
}

type Levels = ReturnType<ReturnType<typeof useServices>['watch']['levels']>

function channelRow(facts: ChannelFacts, levels: Levels): Record<PrintedColumn, string> {
  const { slot, title, ownName, performer, role, state, battery, frequency, receiverName, channel, flags } = facts
  return {
    slot: String(slot),
    name: ownName === null ? title : `${title} (${ownName})`,
    performer: [performer, role].filter(Boolean).join(', '),
    state: t(`states.${state}`),
    battery: battery === null ? '' : formatPercent(battery),
    time_left: timeLeftText(facts) ?? '',
    rf_a: levels.rf === null ? '' : formatDbm(levels.rf),
    audio: levels.audio === null || !levels.isLive ? '' : formatDbfs(levels.audio),
    frequency: frequency === null ? '' : formatMegahertz(frequency),
    receiver: `${receiverName}·${channel}`,
    flags: flags.map((flag) => t(`flags.${flag}`)).join(', '),
  }
}
