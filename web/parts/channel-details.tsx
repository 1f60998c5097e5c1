/** Everything that is known of a channel's transmitter, receiver and network. */

import type { Group, ReceiverDetail } from '../../src/model/api.ts'
import { isObject } from '../api.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { useReading } from '../reading.ts'
import { type WatchedChannel, wearerKey } from '../state.ts'
import { channelTexts } from '../texts/channel.ts'
import { texts } from '../texts.ts'
import { searchOf, viewOf } from '../view.ts'
import { Ago } from './ago.tsx'
import { batteryText, channelPairs, transmitterPairs } from './gear-details.ts'
import { Loaded } from './loaded.tsx'
import { Pairs } from './pairs.tsx'

const words = channelTexts.fields

export function ChannelDetails({ facts, channel }: { facts: ChannelFacts; channel: WatchedChannel }) {
  const wearer = useHouse((house) => house.wearers.get(wearerKey(facts.receiverId, channel.channel))?.name ?? null)
  const { transmitter } = channel
  return (
    <>
      <section className="detail-part">
        <h2>{channelTexts.channel}</h2>
        <Pairs
          pairs={[
            { name: words.slot, value: String(channel.slot) },
            { name: words.number, value: String(channel.channel) },
            { name: words.name, value: channel.name && plainText(channel.name) },
            { name: words.frequency, value: facts.frequency && texts.card.frequency(facts.frequency) },
            { name: words.wearer, value: wearer && plainText(wearer) },
            ...channelPairs(channel.details),
          ]}
        />
        <Groups slot={channel.slot} />
      </section>
      <section className="detail-part">
        <h2>{channelTexts.transmitter}</h2>
        {transmitter === null ? <p>{channelTexts.noTransmitter}</p> : null}
        <Pairs
          pairs={[
            { name: words.transmitterName, value: plainText(transmitter?.name ?? channel.lastName ?? '') },
            { name: words.battery, value: batteryText(facts.battery, transmitter?.details) },
            { name: words.frequency, value: transmitter?.frequency && texts.card.frequency(transmitter.frequency) },
            { name: words.upstreamSlot, value: transmitter?.upstream_slot?.toString() },
            ...transmitterPairs(transmitter?.details),
          ]}
        />
      </section>
      <Receiver id={facts.receiverId} channelId={channel.id} />
    </>
  )
}

function Groups({ slot }: { slot: number }) {
  const { mount } = useSurroundings()
  const groups = useHouse((house) => house.groups)
  const own = groups.filter((one: Group) => one.slots.includes(slot))
  return (
    <p>
      {channelTexts.groups}:{' '}
      {own.length === 0
        ? channelTexts.noGroups
        : own.map(({ id, title }) => (
            <a key={id} className="choice" href={`${mount}/${searchOf({ ...viewOf(''), group: id })}`}>
              <bdi>{title}</bdi>
            </a>
          ))}
    </p>
  )
}

function Receiver({ id, channelId }: { id: number; channelId: number }) {
  const reading = useReading(`/api/receivers/${id}/`, isObject<ReceiverDetail>, 15_000)
  return (
    <Loaded reading={reading}>
      {(body) => (
        <>
          <section className="detail-part">
            <h2>{channelTexts.receiver}</h2>
            <Pairs pairs={receiverPairs(body)} />
            <Siblings body={body} channelId={channelId} />
          </section>
          <section className="detail-part">
            <h2>{channelTexts.network}</h2>
            <Pairs pairs={networkPairs(body)} />
          </section>
        </>
      )}
    </Loaded>
  )
}

function receiverPairs(body: ReceiverDetail) {
  return [
    { name: words.receiver, value: plainText(body.name) },
    { name: words.model, value: body.model },
    { name: words.type, value: body.device_type },
    { name: words.manufacturer, value: body.manufacturer },
    { name: words.serial, value: body.serial_number },
    { name: words.firmware, value: body.firmware_version },
    { name: words.hostedFirmware, value: body.hosted_firmware_version },
    { name: words.location, value: body.location?.name },
    { name: words.description, value: body.description && plainText(body.description) },
    { name: words.active, value: body.is_active ? words.yes : words.no },
    { name: words.lastSeen, value: <Ago at={body.last_seen} /> },
  ]
}

function networkPairs(body: ReceiverDetail) {
  return [
    { name: words.ip, value: body.ip },
    { name: words.mac, value: body.mac_address },
    { name: words.subnet, value: body.subnet_mask },
    { name: words.gateway, value: body.gateway },
    { name: words.networkMode, value: body.network_mode },
    { name: words.interfaceId, value: body.interface_id },
    { name: words.deviceId, value: body.api_device_id },
  ]
}

function Siblings({ body, channelId }: { body: ReceiverDetail; channelId: number }) {
  const { mount } = useSurroundings()
  if (body.channels.length < 2) return null
  return (
    <nav aria-label={channelTexts.siblings} className="siblings">
      {body.channels.map(({ id, channel, slot }) => (
        <a
          key={id}
          className="choice"
          href={`${mount}/channels/${id}`}
          aria-current={id === channelId ? 'page' : undefined}
        >
          {texts.card.position(String(slot), channel)}
        </a>
      ))}
    </nav>
  )
}
