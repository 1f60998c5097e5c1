/** All known values of a channel's transmitter, receiver and network. */

import type { ChannelDetails as ChannelDetailValues } from '../../src/contract/resources/channels.ts'
import type { Group } from '../../src/contract/resources/groups.ts'
import type { ReceiverDetail } from '../../src/contract/resources/receivers.ts'
import { performerOf } from '../assigned-performers.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { useServices, useWatchState } from '../context.ts'
import { formatMegahertz, plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { useNow } from '../now.ts'
import { useResource } from '../resource.ts'
import type { WatchedChannel } from '../state.ts'
import { searchOf, viewOf } from '../view.ts'
import { Ago } from './ago.tsx'
import { batteryText, channelPairs, faultText, transmitterPairs } from './equipment-details.ts'
import { Loaded } from './loaded.tsx'
import { Pairs } from './pairs.tsx'

/** Messages after which the details of a receiver may have changed. */
const receiverTopics = ['receiver', 'source', 'slots'] as const

export function ChannelDetails({ facts, channel }: { facts: ChannelFacts; channel: WatchedChannel }) {
  const performer = useWatchState((watchState) => performerOf(watchState, channel.id)?.name ?? null)
  const { transmitter } = channel
  const details = useDetails(channel)
  return (
    <>
      <section className="detail-part">
        <h2>{t('channel.channel')}</h2>
        <Pairs
          pairs={[
            { name: t('channel.fields.slot'), value: String(channel.slot) },
            { name: t('channel.fields.number'), value: String(channel.channel) },
            { name: t('channel.fields.name'), value: channel.name && plainText(channel.name) },
            { name: t('channel.fields.frequency'), value: facts.frequency && formatMegahertz(facts.frequency) },
            { name: t('channel.fields.performer'), value: performer && plainText(performer) },
            ...channelPairs(details),
          ]}
        />
        <Groups slot={channel.slot} />
      </section>
      <section className="detail-part">
        <h2>{t('channel.transmitter')}</h2>
        {transmitter === null ? <p>{t('channel.noTransmitter')}</p> : null}
        <Pairs
          pairs={[
            {
              name: t('channel.fields.transmitterName'),
              value: plainText(transmitter?.name ?? channel.lastName ?? ''),
            },
            { name: t('channel.fields.battery'), value: batteryText(facts.battery, transmitter?.details) },
            {
              name: t('channel.fields.frequency'),
              value: transmitter?.frequency && formatMegahertz(transmitter.frequency),
            },
            { name: t('channel.fields.upstreamSlot'), value: transmitter?.upstream_slot?.toString() },
            ...transmitterPairs(transmitter?.details),
          ]}
        />
      </section>
      <Receiver id={facts.receiverId} channelId={channel.id} />
    </>
  )
}

/** Returns the details of the channel with the current levels, updated once per second. */
function useDetails({ id, details }: WatchedChannel): ChannelDetailValues | undefined {
  const { store } = useServices()
  useNow()
  return details === undefined ? undefined : { ...details, ...store.detailLevels(id) }
}

function Groups({ slot }: { slot: number }) {
  const { mount } = useServices()
  const groups = useWatchState((watchState) => watchState.groups)
  const own = groups.filter((group: Group) => group.slots.includes(slot))
  return (
    <p>
      {t('channel.groups')}:{' '}
      {own.length === 0
        ? t('channel.noGroups')
        : own.map(({ id, title }) => (
            <a key={id} className="choice" href={`${mount}/${searchOf({ ...viewOf(''), group: id })}`}>
              <bdi>{title}</bdi>
            </a>
          ))}
    </p>
  )
}

function Receiver({ id, channelId }: { id: number; channelId: number }) {
  const resource = useResource(`/api/receivers/${id}/`, 'object', receiverTopics)
  return (
    <Loaded resource={resource}>
      {(body) => (
        <>
          <section className="detail-part">
            <h2>{t('channel.receiver')}</h2>
            <Pairs pairs={receiverPairs(body)} />
            <Siblings body={body} channelId={channelId} />
          </section>
          <section className="detail-part">
            <h2>{t('channel.network')}</h2>
            <Pairs pairs={networkPairs(body)} />
          </section>
        </>
      )}
    </Loaded>
  )
}

function receiverPairs(body: ReceiverDetail) {
  return [
    { name: t('channel.fields.receiver'), value: plainText(body.name) },
    { name: t('channel.fields.model'), value: body.model },
    { name: t('channel.fields.type'), value: body.device_type },
    { name: t('channel.fields.manufacturer'), value: body.manufacturer },
    { name: t('channel.fields.serial'), value: body.serial_number },
    { name: t('channel.fields.firmware'), value: body.firmware_version },
    { name: t('channel.fields.fault'), value: faultText(body.details?.fault) },
    { name: t('channel.fields.hostedFirmware'), value: body.hosted_firmware_version },
    { name: t('channel.fields.location'), value: body.location?.name },
    { name: t('channel.fields.description'), value: body.description && plainText(body.description) },
    { name: t('channel.fields.active'), value: body.is_active ? t('channel.fields.yes') : t('channel.fields.no') },
    {
      name: t('channel.fields.lastSeen'),
      // While the receiver responds, this page does not read `last_seen` again, so the time would be out of date.
      value: body.is_active ? t('parts.justNow') : <Ago at={body.last_seen} />,
    },
  ]
}

function networkPairs(body: ReceiverDetail) {
  return [
    { name: t('channel.fields.ip'), value: body.ip },
    { name: t('channel.fields.mac'), value: body.mac_address },
    { name: t('channel.fields.subnet'), value: body.subnet_mask },
    { name: t('channel.fields.gateway'), value: body.gateway },
    { name: t('channel.fields.networkMode'), value: body.network_mode },
    { name: t('channel.fields.interfaceId'), value: body.interface_id },
    { name: t('channel.fields.deviceId'), value: body.api_device_id },
  ]
}

function Siblings({ body, channelId }: { body: ReceiverDetail; channelId: number }) {
  const { mount } = useServices()
  if (body.channels.length < 2) return null
  return (
    <nav aria-label={t('channel.siblings')} className="siblings">
      {body.channels.map(({ id, channel, slot }) => (
        <a
          key={id}
          className="choice"
          href={`${mount}/channels/${id}`}
          aria-current={id === channelId ? 'page' : undefined}
        >
          {t('card.receiverChannel', { receiver: String(slot), channel })}
        </a>
      ))}
    </nav>
  )
}
