import { type CSSProperties, memo } from 'react'
import { hasRow } from '../../src/domain/conditions/condition.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useFacts } from '../app/context.ts'
import { formatMegahertz, formatPercent } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { BatteryAge } from '../parts/card/battery.tsx'
import { splitName } from '../parts/card/name-fit.ts'
import { OfflineReceiver } from '../parts/card/offline-receiver.tsx'
import { usePlaceholder } from '../parts/card/placeholder-card.tsx'
import { SlotNumber } from '../parts/card/slot-number.tsx'
import { ShownState, spokenTimeLeft, timeLeftText, useMissedEnd } from '../parts/card/time-left.tsx'
import { Chart, Meters } from '../parts/meters/meters.tsx'
import { Flags, StateIcon } from '../parts/state-icon.tsx'
import type { Part } from './wall-fit.ts'

interface WallTileProps {
  readonly receiverId: number
  readonly channelId: number
  /** Separated by spaces. */
  readonly parts: string
  readonly hasPicture: boolean
  readonly grows: boolean
}

export const WallTile = memo(function WallTile({ receiverId, channelId, parts, hasPicture, grows }: WallTileProps) {
  const facts = useFacts(receiverId, channelId)
  if (facts === null) return null
  const picture = hasPicture && !facts.needsAttention ? facts.picture : null
  return (
    <li
      className="card wall-tile"
      data-state={facts.state}
      data-severity={facts.condition.severity}
      data-attention={facts.needsAttention || undefined}
      data-wide={(grows && facts.needsAttention) || undefined}
    >
      {picture === null ? null : <img className="card-picture" src={picture} alt="" />}
      <div className="wall-name">
        <Name name={facts.name} />
      </div>
      <div className="wall-status">
        <SlotNumber slot={facts.slot} color={facts.color} />
        <ShownState facts={facts} />
        <Flags flags={facts.flags} />
        {parts.includes('meters') ? null : <BatteryAge facts={facts} />}
        <TileBattery facts={facts} />
      </div>
      <Levels facts={facts} parts={parts.split(' ') as Part[]} />
    </li>
  )
})

function Name({ name }: { name: string }) {
  const [start, end] = splitName(name)
  return (
    <bdi dir="auto">
      <span className="wall-name-start">{start}</span>
      {end === '' ? null : <span className="wall-name-end">{end}</span>}
    </bdi>
  )
}

function TileBattery({ facts }: { facts: ChannelFacts }) {
  const { battery, batteryLevel, isBatteryOld } = facts
  const isShort = useMissedEnd(facts.channelId) !== null
  const percent = battery === null ? null : formatPercent(battery)
  const text = timeLeftText(facts) ?? percent ?? t('card.percentUnknown')
  const value = spokenTimeLeft(facts) ?? percent
  const spoken = value === null ? t('card.noBattery') : t('wall.battery', { value })
  return (
    <span
      className="battery wall-battery"
      data-level={batteryLevel}
      data-short={isShort || undefined}
      data-old={isBatteryOld || undefined}
    >
      {battery === null ? null : (
        <span className="wall-gauge" style={{ '--charged': `${battery}%` } as CSSProperties} aria-hidden="true" />
      )}
      <span className="wall-battery-text" aria-hidden="true">
        {text}
      </span>
      <span className="visually-hidden">{isBatteryOld ? t('wall.lastKnown', { value: spoken }) : spoken}</span>
    </span>
  )
}

function Levels({ facts, parts }: { facts: ChannelFacts; parts: readonly Part[] }) {
  const { receiverId, channelId, frequency, receiverName, channel } = facts
  const isLost = facts.state === 'receiver_offline'
  const isAsleep = isLost || hasRow(facts.condition, 'tx_off')
  return (
    <>
      {!parts.includes('meters') ? null : isLost ? (
        <OfflineReceiver facts={facts} />
      ) : (
        <Meters {...{ receiverId, channelId }} hasAntennas={false} since={facts.since} />
      )}
      {parts.includes('chart') ? <Chart {...{ receiverId, channelId, isAsleep }} /> : null}
      {parts.includes('frequency') ? (
        <div className="wall-foot">
          <span>{frequency === null ? t('card.noFrequency') : formatMegahertz(frequency)}</span>
          {parts.includes('receiver') ? (
            <span className="card-receiver">
              <bdi dir="auto" className="card-receiver-name">
                {receiverName}
              </bdi>
              <span className="card-channel">·{channel}</span>
            </span>
          ) : null}
        </div>
      ) : null}
    </>
  )
}

export const PlaceholderTile = memo(function PlaceholderTile({ id }: { id: number }) {
  const placeholder = usePlaceholder(id)
  if (placeholder === null) return null
  return (
    <li className="card wall-tile" data-state="unmonitored" data-severity="ok">
      <div className="wall-name">
        <bdi dir="auto">{placeholder.title}</bdi>
      </div>
      <div className="wall-status">
        <SlotNumber slot={placeholder.slot} color={placeholder.record?.color} />
        <span className="card-state">
          <StateIcon state="unmonitored" />
          <span className="card-state-text">{t(`card.kinds.${placeholder.kind}`)}</span>
        </span>
        {placeholder.frequency === null ? null : (
          <span className="wall-frequency">{formatMegahertz(placeholder.frequency)}</span>
        )}
      </div>
    </li>
  )
})
