/** Every channel in one line, with every value. */

import { memo } from 'react'
import { useFacts, useHouse, useSurroundings } from '../context.ts'
import { formatMegahertz } from '../format.ts'
import { t } from '../i18n.ts'
import type { Place } from '../places.ts'
import type { Sort, View } from '../view.ts'
import { Battery } from './battery.tsx'
import { Marks } from './marks.tsx'
import { Meters } from './meters.tsx'
import { StateIcon } from './state-icon.tsx'

interface ChannelTableProps {
  readonly places: readonly Place[]
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

export function ChannelTable({ places, sort, change }: ChannelTableProps) {
  return (
    <table className="channels">
      <caption className="for-listeners">{t('live.table.caption')}</caption>
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
        {places.map((place) =>
          place.kind === 'channel' ? (
            <Row key={place.channelId} receiverId={place.receiverId} channelId={place.channelId} />
          ) : place.kind === 'planned' ? (
            <tr key={place.slot} className="row-planned">
              <td data-column="slot">{place.slot}</td>
              <td colSpan={heads.length - 1}>{t('card.planned')}</td>
            </tr>
          ) : null,
        )}
      </tbody>
    </table>
  )
}

const Row = memo(function Row({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const { mount } = useSurroundings()
  const facts = useFacts(receiverId, channelId)
  const threshold = useHouse((house) => house.config.alert_battery_threshold)
  if (facts === null) return null
  return (
    <tr data-state={facts.state} data-hand={facts.needsHand || undefined}>
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
        <Marks facts={facts} />
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
