/** One channel, from the loudest to the quietest. */

import { type CSSProperties, memo } from 'react'
import type { ChannelFacts, Mark } from '../channel-state.ts'
import { useFacts, useHouse, useSurroundings } from '../context.ts'
import { formatTime } from '../format.ts'
import { texts } from '../texts.ts'
import { Age } from './age.tsx'
import { Battery } from './battery.tsx'
import { Meters } from './meters.tsx'
import { StateIcon } from './state-icon.tsx'

interface ChannelCardProps {
  readonly receiverId: number
  readonly channelId: number
}

export const ChannelCard = memo(function ChannelCard({ receiverId, channelId }: ChannelCardProps) {
  const facts = useFacts(receiverId, channelId)
  const threshold = useHouse((house) => house.config.alert_battery_threshold)
  if (facts === null) return null
  const isLost = facts.state === 'receiver_lost'
  return (
    <li className="card" data-state={facts.state} data-hand={facts.needsHand || undefined}>
      <div className="card-head">
        <span className="card-place">
          <span className="card-slot">
            <span className="for-listeners">{texts.card.slot(facts.slot)}</span>
            <span aria-hidden="true">{facts.slot}</span>
          </span>
          {facts.token === null ? null : <span className="card-token">{facts.token}</span>}
        </span>
        <State facts={facts} />
      </div>
      <Name token={facts.token} name={facts.name} />
      <div className="card-power">
        <Battery percent={facts.battery} threshold={threshold} isOld={facts.isBatteryOld} />
        <Marks facts={facts} />
      </div>
      {isLost ? <LostReceiver facts={facts} /> : <Meters {...{ receiverId, channelId }} since={facts.since} />}
      <div className="card-foot">
        <span className="card-frequency">
          {facts.frequency === null ? texts.card.noFrequency : texts.card.frequency(facts.frequency)}
        </span>
        <span className="card-receiver" title={texts.card.position(facts.receiverName, facts.channel)}>
          <bdi dir="auto" className="card-receiver-name">
            {facts.receiverName}
          </bdi>
          <span className="card-channel">·{facts.channel}</span>
        </span>
      </div>
    </li>
  )
})

function State({ facts }: { facts: ChannelFacts }) {
  return (
    <span className="card-state">
      <StateIcon state={facts.state} />
      <span className="card-word">{texts.states[facts.state]}</span>
    </span>
  )
}

/** As large as fits: the style sheet divides the card's width by the number of characters. */
function Name({ token, name }: Pick<ChannelFacts, 'token' | 'name'>) {
  const length = Math.min(40, Math.max(4, [...(name ?? texts.card.noName)].length))
  const size = { '--characters': length } as CSSProperties
  return (
    <div className="card-name" style={size} title={name === null ? undefined : [token, name].filter(Boolean).join(' ')}>
      {name === null ? <span className="card-no-name">{texts.card.noName}</span> : <bdi dir="auto">{name}</bdi>}
    </div>
  )
}

function Marks({ facts }: { facts: ChannelFacts }) {
  const { store } = useSurroundings()
  const { overloadAt, receiverId, channelId } = facts
  const isClippingNow = facts.state === 'clipping' || facts.marks.includes('clipping')
  const clear = () => store.dispatch({ type: 'overload_cleared', receiverId, channelId, at: Date.now() })
  return (
    <span className="marks">
      {facts.marks.map((mark) => (
        <MarkIcon key={mark} mark={mark} />
      ))}
      {overloadAt === null || isClippingNow ? null : (
        <button
          type="button"
          className="overload"
          onClick={clear}
          title={texts.card.clearOverload(formatTime(overloadAt))}
        >
          {texts.card.overload} <span className="overload-time">{formatTime(overloadAt).slice(0, 5)}</span>
        </button>
      )}
    </span>
  )
}

function MarkIcon({ mark }: { mark: Mark }) {
  return (
    <span className="mark" data-mark={mark} title={texts.marks[mark]}>
      <StateIcon state={mark} />
      <span className="for-listeners">{texts.marks[mark]}</span>
    </span>
  )
}

function LostReceiver({ facts }: { facts: ChannelFacts }) {
  const hardware = [facts.receiverModel, facts.receiverIp].filter((part) => part !== null && part !== '').join(' · ')
  return (
    <div className="lost">
      <span className="lost-line">
        <span className="lost-what">{texts.card.lost}</span>
        {facts.since === null ? null : (
          <span title={`${texts.card.lastSeen} ${formatTime(facts.since)}`}>
            <span className="for-listeners">{texts.card.lastSeen} </span>
            <Age since={facts.since} isShort={true} /> {texts.card.ago}
          </span>
        )}
      </span>
      <bdi className="lost-hardware">{hardware}</bdi>
    </div>
  )
}
