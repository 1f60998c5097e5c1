import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type {
  ChannelBody,
  ChannelDetails as ChannelDetailValues,
  TransmitterSlot,
} from '../../src/contract/channels.ts'
import type { Group } from '../../src/contract/groups.ts'
import type { ReceiverDetail } from '../../src/contract/receivers.ts'
import { pathOf } from '../../src/domain/pages.ts'
import type { ChannelFacts } from '../app/channel-state.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useNow } from '../app/now.ts'
import { useResource } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import {
  batteryText,
  channelPairs,
  forecastText,
  slotTexts,
  transmitterPairs,
} from '../parts/equipment/equipment-details.ts'
import { Loaded } from '../parts/loaded.tsx'
import { type Pair, Pairs } from '../parts/pairs.tsx'
import { SlotDialog } from '../parts/slots/dialogs.ts'
import { MoveHere } from '../parts/slots/move-here.tsx'
import { networkPairs, receiverPairs, receiverTopics } from './receiver-details.tsx'

interface ChannelProps {
  readonly facts: ChannelFacts
  readonly channel: ChannelBody
}

export function LevelDetails({ facts, channel }: ChannelProps) {
  const details = useDetails(channel)
  return (
    <section className="detail-part">
      <h2>{t('channel.levels')}</h2>
      <Pairs
        pairs={[
          { name: t('channel.fields.name'), value: channel.name && plainText(channel.name) },
          { name: t('channel.fields.frequency'), value: facts.frequency && formatMegahertz(facts.frequency) },
          ...channelPairs(details),
        ]}
      />
      <Groups slot={channel.slot} />
    </section>
  )
}

export function TransmitterDetails({ facts, channel: { transmitter, last_transmitter: last } }: ChannelProps) {
  return (
    <section className="detail-part">
      <h2>{t('channel.transmitter')}</h2>
      {transmitter === null ? <p>{t('channel.noTransmitter')}</p> : null}
      <Pairs
        pairs={[
          { name: t('channel.fields.transmitterName'), value: plainText(transmitter?.name ?? last?.name ?? '') },
          { name: t('channel.fields.battery'), value: batteryText(facts.battery, transmitter?.details) },
          { name: t('channel.fields.forecast'), value: forecastText(transmitter?.forecast) },
          {
            name: t('channel.fields.frequency'),
            value: transmitter?.frequency && formatMegahertz(transmitter.frequency),
          },
          ...transmitterPairs(transmitter?.details),
        ]}
      />
    </section>
  )
}

/** Transmitters that are not on air, such as a spare pack with its battery. */
export function SlotDetails({ channel: { details } }: ChannelProps) {
  const others = details?.slots?.filter(({ on_air }) => !on_air) ?? []
  if (others.length === 0) return null
  return (
    <section className="detail-part">
      <h2>{t('channel.slots.title')}</h2>
      <Pairs pairs={others.map(toSlotPair)} />
    </section>
  )
}

function toSlotPair(slot: TransmitterSlot): Pair {
  const { identity, state } = slotTexts(slot)
  const value = (
    <>
      {identity === '' ? null : (
        <>
          <bdi>{identity}</bdi>
          <br />
        </>
      )}
      {state}
    </>
  )
  return { name: t('channel.slots.slot', { slot: slot.slot }), value }
}

export function Assignment({ facts }: { facts: ChannelFacts }) {
  const { slot, performer, picture, role } = facts
  const mayOperate = useMay('operate')
  const [isEditing, setEditing] = useState(false)
  return (
    <section className="detail-part">
      <h2>{t('channel.assignment')}</h2>
      {performer === null ? (
        <p>{t('channel.noAssignment')}</p>
      ) : (
        <div className="assignment">
          {picture === null ? null : <img src={picture} alt="" />}
          <div>
            <strong>{performer}</strong>
            {role === null ? null : <p>{plainText(role)}</p>}
          </div>
        </div>
      )}
      {mayOperate ? (
        <div className="siblings">
          <button type="button" className="choice" onClick={() => setEditing(true)}>
            {t('slot.edit')}
          </button>
          <MoveHere facts={facts} className="choice" />
        </div>
      ) : null}
      {isEditing ? <SlotDialog slot={slot} onClose={() => setEditing(false)} /> : null}
    </section>
  )
}

export function RawDetails({ facts, channel }: ChannelProps) {
  const { condition, transmitter } = channel
  return (
    <details className="detail-part detail-more">
      <summary>{t('channel.details')}</summary>
      <Pairs
        pairs={[
          { name: t('channel.raw.channel'), value: String(channel.id) },
          { name: t('channel.raw.receiver'), value: String(facts.receiverId) },
          { name: t('channel.fields.number'), value: String(channel.channel) },
          { name: t('channel.raw.manufacturer'), value: facts.manufacturer },
          { name: t('channel.fields.upstreamSlot'), value: transmitter?.upstream_slot?.toString() },
          { name: t('channel.raw.state'), value: condition.state },
          { name: t('channel.raw.flags'), value: condition.flags.join(', ') },
        ]}
      />
    </details>
  )
}

function useDetails({ id, details }: ChannelBody): ChannelDetailValues | undefined {
  const { watch } = useServices()
  useNow()
  return details === undefined ? undefined : { ...details, ...watch.detailLevels(id) }
}

function Groups({ slot }: { slot: number }) {
  const groups = useWatchState((watchState) => watchState.groups)
  const own = groups.filter((group: Group) => group.slots.includes(slot))
  return (
    <p>
      {t('channel.groups')}:{' '}
      {own.length === 0
        ? t('channel.noGroups')
        : own.map(({ id, title }) => (
            <Link key={id} className="choice" to={pathOf('monitor')} search={{ group: id }}>
              <bdi>{title}</bdi>
            </Link>
          ))}
    </p>
  )
}

export function ReceiverOfChannel({ id }: { id: number }) {
  const resource = useResource(`/api/receivers/${id}/`, 'object', receiverTopics)
  const isActive = useWatchState((watchState) => watchState.receivers.get(id)?.is_active === true)
  return (
    <Loaded resource={resource}>
      {(body) => (
        <section className="detail-part">
          <h2>
            <Link to="/receivers/$id" params={{ id: String(id) }}>
              {t('channel.receiver')}
            </Link>
          </h2>
          <Pairs pairs={[...receiverPairs({ ...body, is_active: isActive }), ...networkPairs(body)]} />
          <Siblings body={body} />
        </section>
      )}
    </Loaded>
  )
}

function Siblings({ body }: { body: ReceiverDetail }) {
  if (body.channels.length < 2) return null
  return (
    <nav aria-label={t('channel.siblings')} className="siblings">
      {body.channels.map(({ id, channel, slot }) => (
        <Link key={id} className="choice" to="/channels/$id" params={{ id: String(id) }}>
          {t('card.receiverChannel', { receiver: String(slot), channel })}
        </Link>
      ))}
    </nav>
  )
}
