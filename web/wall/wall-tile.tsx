import { type CSSProperties, memo } from 'react'
import { hasRow } from '../../src/domain/conditions/condition.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useFacts } from '../app/context.ts'
import { formatMegahertz, formatPercent } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { ValueAge } from '../parts/age.tsx'
import { HandledMark } from '../parts/alerts/handled-mark.tsx'
import { BeltpackMark, Carrier } from '../parts/card/carrier.tsx'
import { SoundMark } from '../parts/card/listen-button.tsx'
import { splitName } from '../parts/card/name-fit.ts'
import { OfflineReceiver } from '../parts/card/offline-receiver.tsx'
import { Spacer, usePlaceholder } from '../parts/card/placeholder-card.tsx'
import { SlotNumber } from '../parts/card/slot-number.tsx'
import { spokenTimeLeft, timeLeftText, useMissedEnd } from '../parts/card/time-left.tsx'
import { Chart, LevelBars, Meters } from '../parts/meters/meters.tsx'
import { Flags, StateIcon } from '../parts/state-icon.tsx'
import { stateWord } from './use-names.ts'
import type { Fit, Shape } from './wall-fit.ts'

/** The same object for all tiles. */
export interface TileLayout {
  readonly shapes: Fit['shapes']
  /** em of the names. */
  readonly lineWidth: number
  readonly hasPictures: boolean
  measure(text: string): number
}

interface WallTileProps {
  readonly receiverId: number
  readonly channelId: number
  readonly layout: TileLayout
}

export const WallTile = memo(function WallTile({ receiverId, channelId, layout }: WallTileProps) {
  const facts = useFacts(receiverId, channelId)
  // The list of slots follows within a second.
  if (facts === null) return <Spacer />
  const shape = shapeOf(layout, facts.name)
  const hasNumbers = shape.parts.includes('numbers')
  const isLost = facts.state === 'receiver_offline'
  const picture = layout.hasPictures && shape.hasPicture && !facts.needsAttention ? facts.picture : null
  return (
    <li
      className="card wall-tile"
      data-state={facts.state}
      data-severity={facts.condition.severity}
      data-attention={facts.needsAttention || undefined}
      data-lines={shape.lines}
      style={styleOf(shape, layout.measure(stateWord(facts.state) ?? '') + aroundWord(facts, shape))}
    >
      <div className="wall-name">
        <Name name={facts.name} />
      </div>
      <div className="wall-body">
        {picture === null ? null : <img className="wall-picture" src={picture} alt="" />}
        <div className="wall-values">
          <div className="wall-status">
            <div className="wall-state">
              <SlotNumber slot={facts.slot} color={facts.color} />
              {shape.parts.includes('frequency') ? null : <BeltpackMark facts={facts} />}
              <TileState facts={facts} />
              {hasNumbers && facts.hasLevels ? null : <ValueAge facts={facts} />}
              <Flags flags={facts.flags} />
              <HandledMark facts={facts} />
              <SoundMark facts={facts} />
            </div>
            <TileBattery facts={facts} />
          </div>
          <TileLevels facts={facts} hasNumbers={hasNumbers} />
        </div>
      </div>
      {shape.parts.includes('chart') && facts.hasLevels ? (
        <Chart {...{ receiverId, channelId }} isAsleep={isLost || hasRow(facts.condition, 'tx_off')} />
      ) : null}
      {shape.parts.includes('frequency') ? <Foot facts={facts} hasReceiver={shape.parts.includes('receiver')} /> : null}
    </li>
  )
})

function TileLevels({ facts, hasNumbers }: { readonly facts: ChannelFacts; readonly hasNumbers: boolean }) {
  const { receiverId, channelId, state, since, hasLevels } = facts
  if (hasNumbers && state === 'receiver_offline') return <OfflineReceiver facts={facts} />
  // As high as the levels, so that the lines of all tiles are aligned.
  if (!hasLevels) return <div className={hasNumbers ? 'meters' : 'level-bars'} />
  if (!hasNumbers) return <LevelBars {...{ receiverId, channelId }} />
  return <Meters {...{ receiverId, channelId }} hasAntennas={false} since={since} />
}

function shapeOf({ shapes, lineWidth, measure }: TileLayout, name: string): Shape {
  return shapes[measure(name) > lineWidth ? 1 : 0]
}

/** `width`: of the state in em. */
function styleOf({ alarm, space }: Shape, width = 1): CSSProperties {
  return { '--alarm': `${alarm}px`, '--space': `${space}px`, '--width': width } as CSSProperties
}

/** em: slot, icons and battery; the age and the hatched battery of what is not live. */
function aroundWord({ isBatteryOld, isBeltpack }: ChannelFacts, { parts }: Shape): number {
  const mark = isBeltpack && !parts.includes('frequency') ? 1.4 : 0
  return 7.4 + mark + (isBatteryOld ? 1.9 : 0) + (isBatteryOld && !parts.includes('numbers') ? 1.7 : 0)
}

function Name({ name }: { name: string }) {
  const [start, end] = splitName(name)
  return (
    <bdi dir="auto">
      <span className="wall-name-start">{start}</span>
      {end === '' ? null : <span className="wall-name-end">{end}</span>}
    </bdi>
  )
}

function TileState({ facts: { channelId, state, condition } }: { facts: ChannelFacts }) {
  const isShort = useMissedEnd(channelId) !== null && condition.severity === 'ok'
  const word = stateWord(state)
  const name = t(isShort ? 'card.willNotLast' : `states.${state}`)
  if (word === null && !isShort) return <span className="visually-hidden">{name}</span>
  return (
    <>
      <span className="card-state" data-short={isShort || undefined} title={name}>
        <StateIcon state={isShort ? 'battery_replace_soon' : state} />
        <span className="visually-hidden">{name}</span>
      </span>
      {word === null ? null : (
        <span className="wall-word" aria-hidden="true">
          {word}
        </span>
      )}
    </>
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

function Foot({ facts, hasReceiver }: { facts: ChannelFacts; hasReceiver: boolean }) {
  const { receiverName, channel } = facts
  return (
    <div className="wall-foot">
      <span>
        <Carrier facts={facts} />
      </span>
      {hasReceiver ? (
        <span className="card-receiver">
          <bdi dir="auto" className="card-receiver-name">
            {receiverName}
          </bdi>
          <span className="card-channel">·{channel}</span>
        </span>
      ) : null}
    </div>
  )
}

export const PlaceholderTile = memo(function PlaceholderTile({ id, layout }: { id: number; layout: TileLayout }) {
  const placeholder = usePlaceholder(id)
  if (placeholder === null) return <Spacer />
  const shape = shapeOf(layout, placeholder.title)
  return (
    <li
      className="card wall-tile"
      data-state="unmonitored"
      data-severity="ok"
      data-lines={shape.lines}
      style={styleOf(shape)}
    >
      <div className="wall-name">
        <Name name={placeholder.title} />
      </div>
      <div className="wall-body">
        <div className="wall-status">
          <div className="wall-state">
            <SlotNumber slot={placeholder.slot} color={placeholder.record?.color} />
            <span className="card-state">
              <StateIcon state="unmonitored" />
            </span>
            <span className="wall-word">{t(`card.kinds.${placeholder.kind}`)}</span>
          </div>
          {placeholder.frequency === null ? null : (
            <span className="wall-frequency">{formatMegahertz(placeholder.frequency)}</span>
          )}
        </div>
      </div>
    </li>
  )
})
