/** All channels as a table. */

import { memo } from 'react'
import { useFacts, useServices, useWatchState } from '../context.ts'
import { formatMegahertz } from '../format.ts'
import { t } from '../i18n.ts'
import type { Sort, View } from '../view.ts'
import type { VisibleSlot } from '../visible-slots.ts'
import { Battery } from './battery.tsx'
import { Flags } from './flags.tsx'
import { Meters } from './meters.tsx'
import { StateIcon } from './state-icon.tsx'

interface ChannelTableProps {
  readonly entries: readonly VisibleSlot[]
  readonly sort: Sort
  change(view: Partial<View>): void
}
type Column = 'slot' | 'name' | 'state' | 'flags' | 'battery' | 'levels' | 'frequency' | 'receiver'

const heads: readonly { readonly column: Column; readonly sort?: Sort }[] = [
  { column: 'slot', sort: 'slot' },
  { column: 'name', sort: 'name' },
  { column: 'state', sort: 'problems' },
  { column: 'flags' },
  { column: 'battery', sort: 'battery' },
  { column: 'levels', sort: 'rf' },
  { column: 'frequency' },
  { column: 'receiver' },
]

export function ChannelTable({ entries, sort, change }: ChannelTableProps) {
  return (
    <table className="channels">
      <caption className="visually-hidden">{t('live.table.caption')}</caption>
      <thead>
        <tr>
          {heads.map(({ column, sort: by }) => (
            <th key={column} scope="col" data-column={column} aria-sort={by === sort ? 'ascending' : undefined}>
              {by === undefined ? (
                t(`live.table.columns.${column}`)
              ) : (
                <button type="button" onClick={() => change({ sort: by })}>
                  {t(`live.table.columns.${column}`)}
                </button>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) =>
          entry.kind === 'channel' ? (
            <Row key={entry.channelId} receiverId={entry.receiverId} channelId={entry.channelId} />
          ) : entry.kind === 'planned' ? (
            <tr key={entry.slot} className="row-planned">
              <td data-column="slot">{entry.slot}</td>
              <td colSpan={heads.length - 1}>{t('card.planned')}</td>
            </tr>
          ) : null,
        )}
      </tbody>
    </table>
  )
}

const Row = memo(function Row({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const { mount } = useServices()
  const facts = useFacts(receiverId, channelId)
  const threshold = useWatchState((watchState) => watchState.config.alert_battery_threshold)
  if (facts === null) return null
  return (
    <tr data-state={facts.state} data-attention={facts.needsAttention || undefined}>
      <td data-column="slot">{facts.slot}</td>
      <th scope="row" data-column="name">
        <a href={`${mount}/channels/${channelId}`}>
          {facts.token === null ? null : <span className="card-token">{facts.token}</span>}{' '}
          <bdi dir="auto">{facts.name ?? t('card.noName')}</bdi>
        </a>
      </th>
      <td data-column="state">
        <span className="card-state">
          <StateIcon state={facts.state} />
          {t(`states.${facts.state}`)}
        </span>
      </td>
      <td data-column="flags">
        <Flags facts={facts} />
      </td>
      <td data-column="battery">
        <Battery percent={facts.battery} threshold={threshold} isOld={facts.isBatteryOld} />
      </td>
      <td data-column="levels">
        <Meters receiverId={receiverId} channelId={channelId} since={facts.since} />
      </td>
      <td data-column="frequency">
        {facts.frequency === null ? t('card.noFrequency') : formatMegahertz(facts.frequency)}
      </td>
      <td data-column="receiver">
        <bdi dir="auto">{facts.receiverName}</bdi>·{facts.channel}
      </td>
    </tr>
  )
})
