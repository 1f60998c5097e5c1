/** Columns of the connection list. */

import { Link } from '@tanstack/react-router'
import type { ConnectionBody } from '../../src/contract/resources/connections.ts'
import type { ConnectionStatus } from '../../src/contract/values.ts'
import { useWatchState } from '../app/context.ts'
import { formatDuration, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import { ManufacturerName } from '../parts/manufacturer-name.tsx'

export const connectionColumns: readonly Column<ConnectionBody>[] = [
  { key: 'receiver', title: t('connections.columns.receiver'), cell: (row) => <Receiver connection={row} /> },
  { key: 'status', title: t('connections.columns.status'), cell: (row) => <Status connection={row} /> },
  { key: 'since', title: t('connections.columns.since'), cell: (row) => <Ago at={sinceOf(row)} /> },
  { key: 'duration', title: t('connections.columns.duration'), align: 'end', cell: (row) => durationOf(row) },
  {
    key: 'message',
    title: t('connections.columns.message'),
    cell: ({ last_message_at }) => <Ago at={last_message_at} />,
  },
  { key: 'errors', title: t('connections.columns.errors'), align: 'end', cell: ({ error_count }) => error_count },
  {
    key: 'attempts',
    title: t('connections.columns.attempts'),
    align: 'end',
    cell: ({ reconnect_attempts: tries }) => tries,
  },
  {
    key: 'error',
    title: t('connections.columns.error'),
    cell: ({ error_message }) => (error_message === null ? t('parts.unknown') : <bdi>{plainText(error_message)}</bdi>),
  },
]

/** Returns the name of the receiver, or the code of the site. */
export function receiverOf({ receiver, receiver_name, manufacturer }: ConnectionBody): string {
  if (receiver === null) return manufacturer
  return plainText(receiver_name ?? '') || t('connections.unnamed')
}

/** Returns the time at which the connection changed to its current status. */
function sinceOf({ status, connected_at, disconnected_at }: ConnectionBody): string | null {
  return status === 'connected' ? connected_at : (disconnected_at ?? connected_at)
}

function durationOf({ duration_seconds: seconds }: ConnectionBody): string {
  return seconds === null ? t('parts.unknown') : formatDuration(seconds * 1000)
}

function Receiver({ connection }: { connection: ConnectionBody }) {
  return (
    <span className="stacked">
      {connection.receiver === null ? (
        <bdi>{receiverOf(connection)}</bdi>
      ) : (
        <Link to="/receivers/$id" params={{ id: String(connection.receiver) }}>
          <bdi>{receiverOf(connection)}</bdi>
        </Link>
      )}
      <small>
        <ManufacturerName code={connection.manufacturer} /> · {t(`connections.transports.${connection.transport}`)}
      </small>
    </span>
  )
}

const tones = { connected: 'good', connecting: 'waiting', disconnected: 'bad', error: 'bad', stopped: 'calm' } as const

/** The connection of a system stays open while one of its receivers is offline. */
function Status({ connection: { status, receiver } }: { connection: Pick<ConnectionBody, 'status' | 'receiver'> }) {
  const isOffline = useWatchState(({ receivers }) => receivers.get(receiver ?? 0)?.is_active === false)
  if (isOffline && status === 'connected') {
    return (
      <span>
        <span className="tag" data-tone="bad">
          {t('states.receiver_offline')}
        </span>
      </span>
    )
  }
  return (
    <span>
      <span
        className="tag"
        data-tone={tones[status satisfies ConnectionStatus]}
        title={t(`connections.descriptions.${status}`)}
      >
        {t(`connections.statuses.${status}`)}
      </span>
    </span>
  )
}
