/** What the list of connections says of each. */

import type { ConnectionBody, ConnectionStatus } from '../../src/model/connection.ts'
import { formatAge, plainText } from '../format.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import { words } from '../words.ts'

const texts = words.connections

export const connectionColumns: readonly Column<ConnectionBody>[] = [
  { key: 'receiver', title: texts.columns.receiver, cell: (one) => <Receiver connection={one} /> },
  { key: 'status', title: texts.columns.status, cell: (one) => <Status connection={one} /> },
  { key: 'since', title: texts.columns.since, cell: (one) => <Ago at={sinceOf(one)} /> },
  { key: 'duration', title: texts.columns.duration, align: 'end', cell: (one) => durationOf(one) },
  { key: 'message', title: texts.columns.message, cell: ({ last_message_at }) => <Ago at={last_message_at} /> },
  { key: 'errors', title: texts.columns.errors, align: 'end', cell: ({ error_count }) => error_count },
  { key: 'attempts', title: texts.columns.attempts, align: 'end', cell: ({ reconnect_attempts: tries }) => tries },
  {
    key: 'error',
    title: texts.columns.error,
    cell: ({ error_message }) => (error_message === null ? words.parts.unknown : <bdi>{plainText(error_message)}</bdi>),
  },
]

export function receiverOf({ receiver_name }: ConnectionBody): string {
  return plainText(receiver_name ?? '') || texts.unnamed
}

/** Of the state it is in. */
function sinceOf({ status, connected_at, disconnected_at }: ConnectionBody): string | null {
  return status === 'connected' ? connected_at : disconnected_at
}

function durationOf({ duration_seconds: seconds }: ConnectionBody): string {
  return seconds === null ? words.parts.unknown : formatAge(seconds * 1000)
}

function Receiver({ connection }: { connection: ConnectionBody }) {
  return (
    <span className="stacked">
      <bdi>{receiverOf(connection)}</bdi>
      <small>
        {connection.manufacturer} · {texts.transports[connection.transport]}
      </small>
    </span>
  )
}

const tones = { connected: 'good', connecting: 'waiting', disconnected: 'bad', error: 'bad', stopped: 'calm' } as const

function Status({ connection: { status } }: { connection: Pick<ConnectionBody, 'status'> }) {
  return (
    <span>
      <span className="tag" data-tone={tones[status satisfies ConnectionStatus]} title={texts.means[status]}>
        {texts.statuses[status]}
      </span>
    </span>
  )
}
