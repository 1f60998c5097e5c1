/** One channel, from the loudest to the quietest. */

import { type CSSProperties, memo } from 'react'
import type { ChannelFacts } from '../channel-state.ts'
import { useFacts, useHouse, useSurroundings } from '../context.ts'
import { formatMegahertz } from '../format.ts'
import { t } from '../i18n.ts'
import { fitName } from '../name-fit.ts'
import type { Step } from '../wall-fit.ts'
import { Battery } from './battery.tsx'
import { LostReceiver } from './lost-receiver.tsx'
import { Marks } from './marks.tsx'
import { Chart, Meters } from './meters.tsx'
import { StateIcon } from './state-icon.tsx'

interface ChannelCardProps {
  readonly receiverId: number
  readonly channelId: number
  readonly step: Step
  readonly hasChart: boolean
  /** Nobody presses anything on a wall. */
  readonly isWall?: boolean
  readonly hasPicture?: boolean
}

export const ChannelCard = memo(function ChannelCard(props: ChannelCardProps) {
  const { receiverId, channelId, step, isWall = false } = props
  const facts = useFacts(receiverId, channelId)
  const threshold = useHouse((house) => house.config.alert_battery_threshold)
  if (facts === null) return null
  const picture = props.hasPicture ? facts.picture : null
  const battery = <Battery percent={facts.battery} threshold={threshold} isOld={facts.isBatteryOld} />
  const isSmall = step === 'name'
  return (
    <li className="card" data-state={facts.state} data-step={step} data-hand={facts.needsHand || undefined}>
      {picture === null ? null : <img className="card-picture" src={picture} alt="" />}
      <div className="card-head">
        <Place facts={facts} />
        {isSmall ? <Marks facts={facts} isFixed={isWall} /> : null}
        {isSmall ? battery : null}
        <span className="card-state">
          <StateIcon state={facts.state} />
          <span className={isSmall ? 'for-listeners' : 'card-word'}>{t(`states.${facts.state}`)}</span>
        </span>
      </div>
      <Name facts={facts} />
      {isSmall ? null : (
        <div className="card-power">
          {battery}
          <Marks facts={facts} isFixed={isWall} />
        </div>
      )}
      {step === 'full' || step === 'usual' ? <Levels facts={facts} hasChart={props.hasChart} /> : null}
      {isWall ? null : <Open facts={facts} />}
    </li>
  )
})

function Place({ facts: { slot, token } }: { facts: ChannelFacts }) {
  return (
    <span className="card-place">
      <span className="card-slot">
        <span className="for-listeners">{t('card.slot', { slot })}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      {token === null ? null : <span className="card-token">{token}</span>}
    </span>
  )
}

/** As large as fits: the style sheet divides the room by the number of characters. */
function Name({ facts: { token, name } }: { facts: ChannelFacts }) {
  const { whole, broken } = fitName(name ?? t('card.noName'))
  const size = { '--whole': whole, '--broken': broken } as CSSProperties
  return (
    <div className="card-name" title={name === null ? undefined : [token, name].filter(Boolean).join(' ')}>
      <span className="card-name-text" style={size}>
        {name === null ? <span className="card-no-name">{t('card.noName')}</span> : <bdi dir="auto">{name}</bdi>}
      </span>
    </div>
  )
}

/** Over the whole card, so that a thumb finds it. */
function Open({ facts: { channelId, slot, name } }: { facts: ChannelFacts }) {
  const { mount } = useSurroundings()
  const text = t('card.details', { name: name ?? t('card.noName'), slot })
  return (
    <a className="card-link" href={`${mount}/channels/${channelId}`}>
      <span className="for-listeners">{text}</span>
    </a>
  )
}

function Levels({ facts, hasChart }: { facts: ChannelFacts; hasChart: boolean }) {
  const { receiverId, channelId } = facts
  const isLost = facts.state === 'receiver_lost'
  const isAsleep = isLost || facts.marks.includes('off') || facts.state === 'off' || facts.state === 'off_recently'
  return (
    <>
      {isLost ? <LostReceiver facts={facts} /> : <Meters {...{ receiverId, channelId }} since={facts.since} />}
      {hasChart ? <Chart {...{ receiverId, channelId, isAsleep }} /> : null}
      <div className="card-foot">
        <span className="card-frequency">
          {facts.frequency === null ? t('card.noFrequency') : formatMegahertz(facts.frequency)}
        </span>
        <span
          className="card-receiver"
          title={t('card.receiverChannel', { receiver: facts.receiverName, channel: facts.channel })}
        >
          <bdi dir="auto" className="card-receiver-name">
            {facts.receiverName}
          </bdi>
          <span className="card-channel">·{facts.channel}</span>
        </span>
      </div>
    </>
  )
}
