/** What was raised about a channel or its receiver, the newest first. */

import type { AlertBody } from '../../src/model/alert.ts'
import { isList } from '../api.ts'
import { useReading } from '../reading.ts'
import { words } from '../words.ts'
import { Ago } from './ago.tsx'
import { Loaded } from './loaded.tsx'

const most = 50

export function ChannelAlerts({ receiverId, channelId }: { receiverId: number; channelId: number }) {
  const reading = useReading(`/api/alerts/?receiver=${receiverId}`, isList<AlertBody>, 10_000)
  return (
    <section className="detail-part detail-wide">
      <h2>{words.channel.alerts}</h2>
      <Loaded reading={reading}>
        {(alerts) => {
          const own = alerts.filter((one) => one.channel_id === channelId || one.channel_id === null)
          return own.length === 0 ? (
            <p>{words.channel.noAlerts}</p>
          ) : (
            <ul className="alerts">
              {own
                .toReversed()
                .slice(0, most)
                .map((alert) => (
                  <AlertItem key={alert.id} alert={alert} />
                ))}
            </ul>
          )
        }}
      </Loaded>
    </section>
  )
}

export function AlertItem({ alert: { state, severity, message, raised_at, cleared_at } }: { alert: AlertBody }) {
  return (
    <li data-severity={state === 'raised' ? severity : 'cleared'}>
      <bdi>{message}</bdi>
      <span className="alert-times">
        {words.channel.raised} <Ago at={raised_at} />
        {' · '}
        {cleared_at === null ? (
          words.channel.stillOpen
        ) : (
          <>
            {words.channel.cleared} <Ago at={cleared_at} />
          </>
        )}
      </span>
    </li>
  )
}
