/** What the movement log says of each movement. */

import type { MovementBody } from '../../src/model/discovery-api.ts'
import { plainText } from '../format.ts'
import { Ago } from '../parts/ago.tsx'
import type { Column } from '../parts/data-table.tsx'
import '../styles/movements.css'
import { words } from '../words.ts'

const texts = words.movements

export const movementColumns: readonly Column<MovementBody>[] = [
  { key: 'device', title: texts.columns.device, cell: ({ device }) => <Device device={device} /> },
  { key: 'change', title: texts.columns.change, cell: (movement) => <Changes movement={movement} /> },
  { key: 'times', title: texts.columns.times, align: 'end', cell: ({ times_seen }) => times_seen },
  {
    key: 'detected',
    title: texts.columns.detected,
    cell: ({ detected_at, detected_by }) => (
      <span>
        <Ago at={detected_at} /> {texts.detectedBy[detected_by]}
      </span>
    ),
  },
  {
    key: 'reason',
    title: texts.columns.reason,
    cell: ({ reason }) => (reason === '' ? words.parts.unknown : <bdi>{plainText(reason)}</bdi>),
  },
  { key: 'acknowledged', title: texts.columns.acknowledged, cell: (movement) => <Acknowledged movement={movement} /> },
]

function Device({ device }: Pick<MovementBody, 'device'>) {
  return (
    <span className="stacked">
      <bdi>{plainText(device.name)}</bdi>
      <small>{plainText(device.serial_number ?? '')}</small>
    </span>
  )
}

function Changes({ movement }: { movement: MovementBody }) {
  const { movement_type, old_ip, new_ip, old_location, new_location } = movement
  return (
    <span className="stacked">
      {movement_type === 'location_only' ? null : <Change what={texts.address} before={old_ip} after={new_ip} />}
      {movement_type === 'ip_only' ? null : (
        <Change what={texts.place} before={old_location?.name} after={new_location?.name} />
      )}
    </span>
  )
}

interface ChangeProps {
  readonly what: string
  readonly before: string | null | undefined
  readonly after: string | null | undefined
}

function Change({ what, before, after }: ChangeProps) {
  return (
    <span>
      <span className="for-listeners">{what} </span>
      <bdi>{plainText(before ?? '') || texts.nowhere}</bdi> <span aria-hidden="true">→</span>
      <span className="for-listeners"> {texts.became} </span>{' '}
      <bdi className="after">{plainText(after ?? '') || texts.nowhere}</bdi>
    </span>
  )
}

function Acknowledged({ movement: { acknowledged, acknowledged_by } }: { movement: MovementBody }) {
  if (!acknowledged) {
    return (
      <span>
        <span className="tag" data-tone="waiting">
          {texts.notYet}
        </span>
      </span>
    )
  }
  return <bdi>{texts.by(plainText(acknowledged_by ?? words.parts.unknown))}</bdi>
}
