import { Link } from '@tanstack/react-router'
import { BellRing, LockKeyhole, MicOff } from 'lucide-react'
import { type CSSProperties, memo } from 'react'
import { hasRow } from '../../../src/domain/conditions/condition.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useFacts, useServices, useWatchState } from '../../app/context.ts'
import { formatDb, formatPercent, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useIsKiosk } from '../../app/query.ts'
import { slotTitle } from '../../app/slot-records.ts'
import { Age, AgeAgo, StateAge, ValueAge } from '../age.tsx'
import { alertLine } from '../alerts/alert-text.ts'
import { isUnhandled, useChannelAlert } from '../alerts/alerts.ts'
import { HandledMark } from '../alerts/handled-mark.tsx'
import { useAlertResponses } from '../alerts/use-alert-responses.ts'
import { rangeAround } from '../channels/channel-range.ts'
import { Chart, Level, Meters, qualityTextOf } from '../meters/meters.tsx'
import { AssignButton } from '../slots/assign-button.tsx'
import { MoveHere } from '../slots/move-here.tsx'
import { SwapButton } from '../slots/swap-button.tsx'
import { Flags } from '../state-icon.tsx'
import { useIsNear } from '../use-near.ts'
import { Battery } from './battery.tsx'
import { BeltpackMark, Carrier } from './carrier.tsx'
import { ListenButton, SoundMark } from './listen-button.tsx'
import { fitName } from './name-fit.ts'
import { OfflineReceiver } from './offline-receiver.tsx'
import { SlotNumber } from './slot-number.tsx'
import { ShownState, TimeLeft } from './time-left.tsx'

export interface ChannelCardProps {
  readonly receiverId: number
  readonly channelId: number
  /** `status`: without levels. `full`: always with a chart. */
  readonly step: 'full' | 'usual' | 'status'
  readonly hasChart: boolean
  /** Complete from the start. Other cards have only their slot, name and state until they are near the viewport. */
  readonly isFirst?: boolean
  readonly actions?: CardActions | undefined
}

export interface CardActions {
  readonly mayOperate: boolean
  assign(slot: number): void
  swap(slot: number): void
}

export const ChannelCard = memo(function ChannelCard({
  receiverId,
  channelId,
  step,
  hasChart,
  isFirst = true,
  actions,
}: ChannelCardProps) {
  const facts = useFacts(receiverId, channelId)
  const [isNear, ref] = useIsNear<HTMLLIElement>(isFirst)
  if (facts === null) return null
  const { state, condition } = facts
  return (
    <li
      ref={ref}
      className="card monitor-card"
      data-channel={channelId}
      data-far={!isNear || undefined}
      data-state={state}
      data-severity={condition.severity}
      data-step={step}
      data-attention={facts.needsAttention || undefined}
    >
      <div className="card-head">
        <Slot facts={facts} />
        {step === 'status' || !isNear ? <BeltpackMark facts={facts} /> : null}
        <SoundMark facts={facts} />
        <ShownState facts={facts} />
      </div>
      <div className="card-who">
        <Name facts={facts} />
        {isNear ? <Picture facts={facts} actions={actions} /> : null}
      </div>
      {isNear ? <Readings {...{ facts, step, hasChart, actions }} /> : null}
      <Open facts={facts} />
    </li>
  )
})

interface ReadingsProps extends Pick<ChannelCardProps, 'step' | 'hasChart' | 'actions'> {
  readonly facts: ChannelFacts
}

function Readings({ facts, step, hasChart, actions }: ReadingsProps) {
  const { receiverId, channelId, state, condition, hasLevels } = facts
  const isLost = state === 'receiver_offline'
  const isOff = hasRow(condition, 'tx_off') || state === 'battery_died'
  return (
    <>
      <div className="card-power">
        {isOff && !isLost ? (
          <LastTransmitter facts={facts} />
        ) : (
          <>
            <Battery facts={facts} />
            <TimeLeft facts={facts} />
            {step === 'status' || !hasLevels ? <ValueAge facts={facts} /> : null}
          </>
        )}
        <Flags flags={facts.flags} />
      </div>
      {step === 'status' ? null : (
        <>
          {isLost ? (
            <OfflineReceiver facts={facts} />
          ) : !hasLevels ? null : (
            <Meters
              {...{ receiverId, channelId }}
              hasAntennas={facts.hasAntennas}
              hasPeak={step === 'full'}
              since={isOff ? null : facts.since}
            />
          )}
          <Radio facts={facts} />
        </>
      )}
      <div className="card-bottom">
        {hasChart && step !== 'status' && hasLevels ? <Chart {...{ receiverId, channelId }} isAsleep={isLost} /> : null}
        <ListenButton facts={facts} />
        {actions?.mayOperate === true ? <MoveHere facts={facts} className="card-acknowledge" /> : null}
        {actions !== undefined && facts.needsAttention ? (
          <SwapButton facts={facts} className="card-swap" isIcon={true} onPress={() => actions.swap(facts.slot)} />
        ) : null}
        <CardAlert facts={facts} mayOperate={actions?.mayOperate === true} />
      </div>
    </>
  )
}

/** A button for users who may assign performers. */
function Picture({ facts, actions }: { facts: ChannelFacts; actions: CardActions | undefined }) {
  const { slot, title, picture } = facts
  if (actions?.mayOperate === true) {
    return <AssignButton {...{ slot, picture }} name={title} assign={actions.assign} />
  }
  return picture === null ? null : <img className="card-portrait" src={picture} alt="" />
}

function Radio({ facts }: { facts: ChannelFacts }) {
  const { receiverId, channelId, encryption, receiverName, channel, hasQuality } = facts
  const gains = gainsOf(facts)
  return (
    <div className="card-radio">
      <div className="card-line">
        <span className="card-frequency">
          <Carrier facts={facts} />
        </span>
        {encryption === 'on' ? (
          <span className="card-encryption" title={t('card.encrypted')}>
            <LockKeyhole className="icon" aria-hidden="true" />
            <span className="visually-hidden">{t('card.encrypted')}</span>
          </span>
        ) : null}
        {hasQuality ? (
          <span className="card-quality">
            <abbr title={t('card.qualityLong')}>{t('card.quality')}</abbr>
            <Level {...{ receiverId, channelId }} textOf={qualityTextOf} />
          </span>
        ) : null}
      </div>
      <div className="card-line">
        {gains === '' ? null : <span className="card-gains">{gains}</span>}
        <span className="card-receiver" title={t('card.receiverChannel', { receiver: receiverName, channel })}>
          <bdi dir="auto" className="card-receiver-name">
            {receiverName}
          </bdi>
          <span className="card-channel">·{channel}</span>
        </span>
      </div>
    </div>
  )
}

function gainsOf({ transmitterModel, receiverGain, transmitterGain }: ChannelFacts): string {
  return [
    transmitterModel,
    receiverGain === null ? null : t('card.receiverGain', { gain: formatDb(receiverGain) }),
    transmitterGain === null ? null : t('card.transmitterGain', { gain: formatDb(transmitterGain) }),
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

/** Screen readers read the title before the pack, and not again in `Name`. */
function Slot({ facts: { slot, color, title, token, ownName } }: { facts: ChannelFacts }) {
  return (
    <span className="card-position">
      <SlotNumber slot={slot} color={color} />
      <bdi className="visually-hidden">{title}</bdi>
      {token === null ? null : (
        <span className="card-token" aria-hidden="true">
          {token}
        </span>
      )}
      {ownName === null ? null : <bdi className="card-token">{ownName}</bdi>}
    </span>
  )
}

/** The style sheet computes the font size from the estimated width. */
function Name({ facts: { title, name } }: { facts: ChannelFacts }) {
  const { whole, broken } = fitName(name)
  const size = { '--whole': whole, '--broken': broken } as CSSProperties
  return (
    <div className="card-name" title={title} aria-hidden="true">
      <span className="card-name-text" style={size}>
        <bdi dir="auto">{name}</bdi>
      </span>
    </div>
  )
}

/** Covers the whole card, to be a large touch target. */
function Open({ facts: { channelId, slot, title } }: { facts: ChannelFacts }) {
  const isReplay = useServices().replay !== null
  const minute = useWatchState(({ now }) => (isReplay ? Math.floor(now / 60_000) : null))
  const isKiosk = useIsKiosk()
  if (isKiosk) return null
  const text = t('card.details', { name: title, slot })
  // The channel page is live, but its charts show the time of the card.
  const search = minute === null ? {} : rangeAround(minute * 60_000)
  return (
    <Link className="card-link" to="/channels/$id" params={{ id: String(channelId) }} search={search}>
      <span className="visually-hidden">{text}</span>
    </Link>
  )
}

function LastTransmitter({ facts }: { facts: ChannelFacts }) {
  const { state, since, battery, lastSeenAt } = facts
  const age =
    since === null ? null : !since.isKnown ? (
      <StateAge since={since} />
    ) : (
      <>
        <span className="age-sentence">
          <StateAge since={since} />
        </span>
        <span className="age-alone">
          <Age since={since.at} isShort={true} />
        </span>
      </>
    )
  const what = state === 'battery_died' ? t('card.died') : t(state === 'charging' ? 'states.charging' : 'states.tx_off')
  return (
    <span className="last-transmitter">
      <span>
        <span className={since?.isKnown === false ? 'state-word' : undefined}>{what} </span>
        {age}
      </span>
      {battery === null ? null : (
        <span>
          {t('card.wasBattery', { percent: formatPercent(battery) })}{' '}
          {since?.isKnown === false && lastSeenAt !== null ? <AgeAgo since={lastSeenAt} /> : null}
        </span>
      )}
    </span>
  )
}

interface CardAlertProps {
  readonly facts: ChannelFacts
  readonly mayOperate: boolean
}

function CardAlert({ facts, mayOperate }: CardAlertProps) {
  const { acknowledge, markMuted, isSending } = useAlertResponses()
  const { receiverId, channelId, condition } = facts
  const alert = useChannelAlert(receiverId, channelId)
  if (alert !== null && !isUnhandled(alert)) return <HandledMark facts={facts} />
  const isMuteDue = condition.state === 'muted' && condition.attention && facts.site === null
  if (mayOperate && (alert === null ? isMuteDue : alert.kind === 'muted' && alert.site === null)) {
    const name = slotTitle(facts)
    return (
      <button
        type="button"
        className="card-acknowledge"
        aria-disabled={isSending || undefined}
        aria-label={t('mute.of', { name })}
        onClick={() => void markMuted(channelId, name)}
      >
        <MicOff className="icon" aria-hidden="true" />
        {t('mute.action')}
      </button>
    )
  }
  if (alert === null) return null
  if (!mayOperate) return null
  if (alert.site !== null) {
    const text = t('alerts.atSite', { site: plainText(alert.site.name) })
    return (
      <span className="card-at-site" title={text}>
        <BellRing className="icon" aria-hidden="true" />
        <span className="visually-hidden">{text}</span>
      </span>
    )
  }
  return (
    <button
      type="button"
      className="card-acknowledge"
      aria-disabled={isSending || undefined}
      onClick={() => void acknowledge([alert])}
    >
      <BellRing className="icon" aria-hidden="true" />
      {t('card.acknowledge')}
      <span className="visually-hidden"> {alertLine(alert)}</span>
    </button>
  )
}
