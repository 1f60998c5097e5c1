/** Everything that is known of a channel's transmitter, receiver and network. */

import type { Group, ReceiverDetail } from '../../src/model/api.ts'
import { isObject } from '../api.ts'
import type { ChannelFacts } from '../channel-state.ts'
import { useHouse, useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { useReading } from '../reading.ts'
import { type WatchedChannel, wearerKey } from '../state.ts'
import { searchOf, viewOf } from '../view.ts'
import { words } from '../words.ts'
import { Ago } from './ago.tsx'
import { batteryText, channelPairs, faultText, transmitterPairs } from './gear-details.ts'
import { Loaded } from './loaded.tsx'
import { Pairs } from './pairs.tsx'

const fields = words.channel.fields

export function ChannelDetails({ facts, channel }: { facts: ChannelFacts; channel: WatchedChannel }) {
  const wearer = useHouse((runtime) => runtime.wearers.get(wearerKey(facts.receiverId, channel.channel))?.name ?? null)
  const { transmitter } = channel
  return (
    <>
      <section className="detail-part">
        <h2>{words.channel.channel}</h2>
        <Pairs
          pairs={[
            { name: fields.slot, value: String(channel.slot) },
            { name: fields.number, value: String(channel.channel) },
            { name: fields.name, value: channel.name && plainText(channel.name) },
            { name: fields.frequency, value: facts.frequency && words.card.frequency(facts.frequency) },
            { name: fields.wearer, value: wearer && plainText(wearer) },
            ...channelPairs(channel.details),
          ]}
        />
        <Groups slot={channel.slot} />
      </section>
      <section className="detail-part">
        <h2>{words.channel.transmitter}</h2>
        {transmitter === null ? <p>{words.channel.noTransmitter}</p> : null}
        <Pairs
          pairs={[
            { name: fields.transmitterName, value: plainText(transmitter?.name ?? channel.lastName ?? '') },
            { name: fields.battery, value: batteryText(facts.battery, transmitter?.details) },
            { name: fields.frequency, value: transmitter?.frequency && words.card.frequency(transmitter.frequency) },
            { name: fields.upstreamSlot, value: transmitter?.upstream_slot?.toString() },
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
  const groups = useHouse((runtime) => runtime.groups)
  const own = groups.filter((one: Group) => one.slots.includes(slot))
  return (
    <p>
      {words.channel.groups}:{' '}
      {own.length === 0
        ? words.channel.noGroups
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
            <h2>{words.channel.receiver}</h2>
            <Pairs pairs={receiverPairs(body)} />
            <Siblings body={body} channelId={channelId} />
          </section>
          <section className="detail-part">
            <h2>{words.channel.network}</h2>
            <Pairs pairs={networkPairs(body)} />
          </section>
        </>
      )}
    </Loaded>
  )
}

function receiverPairs(body: ReceiverDetail) {
  return [
    { name: fields.receiver, value: plainText(body.name) },
    { name: fields.model, value: body.model },
    { name: fields.type, value: body.device_type },
    { name: fields.manufacturer, value: body.manufacturer },
    { name: fields.serial, value: body.serial_number },
    { name: fields.firmware, value: body.firmware_version },
    { name: fields.fault, value: faultText(body.details?.fault) },
    { name: fields.hostedFirmware, value: body.hosted_firmware_version },
    { name: fields.location, value: body.location?.name },
    { name: fields.description, value: body.description && plainText(body.description) },
    { name: fields.active, value: body.is_active ? fields.yes : fields.no },
    { name: fields.lastSeen, value: <Ago at={body.last_seen} /> },
  ]
}

function networkPairs(body: ReceiverDetail) {
  return [
    { name: fields.ip, value: body.ip },
    { name: fields.mac, value: body.mac_address },
    { name: fields.subnet, value: body.subnet_mask },
    { name: fields.gateway, value: body.gateway },
    { name: fields.networkMode, value: body.network_mode },
    { name: fields.interfaceId, value: body.interface_id },
    { name: fields.deviceId, value: body.api_device_id },
  ]
}

function Siblings({ body, channelId }: { body: ReceiverDetail; channelId: number }) {
  const { mount } = useSurroundings()
  if (body.channels.length < 2) return null
  return (
    <nav aria-label={words.channel.siblings} className="siblings">
      {body.channels.map(({ id, channel, slot }) => (
        <a
          key={id}
          className="choice"
          href={`${mount}/channels/${id}`}
          aria-current={id === channelId ? 'page' : undefined}
        >
          {words.card.position(String(slot), channel)}
        </a>
      ))}
    </nav>
  )
}
