/** A channel card, with the most important information first. */

import { type CSSProperties, memo } from 'react'
import type { ChannelFacts } from '../channel-state.ts'
import { useFacts, useServices, useWatchState } from '../context.ts'
import { formatMegahertz } from '../format.ts'
import { t } from '../i18n.ts'
import { fitName } from '../name-fit.ts'
import type { Step } from '../wall-fit.ts'
import { Battery } from './battery.tsx'
import { Flags } from './flags.tsx'
import { Chart, Meters } from './meters.tsx'
import { OfflineReceiver } from './offline-receiver.tsx'
import { StateIcon } from './state-icon.tsx'

export interface ChannelCardProps {
  readonly receiverId: number
  readonly channelId: number
  readonly step: Step
  readonly hasChart: boolean
  /** Whether the card is on the wall, where it has no link and nothing to click. */
  readonly isWall?: boolean
  readonly hasPicture?: boolean
}

export const ChannelCard = memo(function ChannelCard(props: ChannelCardProps) {
  const { receiverId, channelId, step, isWall = false } = props
  const facts = useFacts(receiverId, channelId)
  const threshold = useWatchState((watchState) => watchState.config.alert_battery_threshold)
  if (facts === null) return null
  const picture = props.hasPicture ? facts.picture : null
  const battery = <Battery percent={facts.battery} threshold={threshold} isOld={facts.isBatteryOld} />
  const isSmall = step === 'name'
  return (
    <li className="card" data-state={facts.state} data-step={step} data-attention={facts.needsAttention || undefined}>
      {picture === null ? null : <img className="card-picture" src={picture} alt="" />}
      <div className="card-head">
        <Slot facts={facts} />
        {isSmall ? <Flags facts={facts} isFixed={isWall} /> : null}
        {isSmall ? battery : null}
        <span className="card-state">
          <StateIcon state={facts.state} />
          <span className={isSmall ? 'visually-hidden' : 'card-state-text'}>{t(`states.${facts.state}`)}</span>
        </span>
      </div>
      <Name facts={facts} />
      {isSmall ? null : (
        <div className="card-power">
          {battery}
          <Flags facts={facts} isFixed={isWall} />
        </div>
      )}
      {step === 'full' || step === 'usual' ? <Levels facts={facts} hasChart={props.hasChart} /> : null}
      {isWall ? null : <Open facts={facts} />}
    </li>
  )
})

function Slot({ facts: { slot, token } }: { facts: ChannelFacts }) {
  return (
    <span className="card-position">
      <span className="card-slot">
        <span className="visually-hidden">{t('card.slot', { slot })}</span>
        <span aria-hidden="true">{slot}</span>
      </span>
      {token === null ? null : <span className="card-token">{token}</span>}
    </span>
  )
}

/** The name, as large as possible: the style sheet computes the font size from the estimated width. */
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

/** The link to the channel page. It covers the whole card, to be a large touch target. */
function Open({ facts: { channelId, slot, name } }: { facts: ChannelFacts }) {
  const { mount } = useServices()
  const text = t('card.details', { name: name ?? t('card.noName'), slot })
  return (
    <a className="card-link" href={`${mount}/channels/${channelId}`}>
      <span className="visually-hidden">{text}</span>
    </a>
  )
}

function Levels({ facts, hasChart }: { facts: ChannelFacts; hasChart: boolean }) {
  const { receiverId, channelId } = facts
  const isLost = facts.state === 'receiver_lost'
  const isAsleep = isLost || facts.flags.includes('off') || facts.state === 'off' || facts.state === 'off_recently'
  return (
    <>
      {isLost ? <OfflineReceiver facts={facts} /> : <Meters {...{ receiverId, channelId }} since={facts.since} />}
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
