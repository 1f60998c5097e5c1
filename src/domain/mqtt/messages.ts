/** The retained MQTT messages that describe the installation: channels, receivers and Home Assistant's devices. */

import { type Channel, frequencyOf, type Receiver, reportedName } from '../equipment/receiver.ts'
import type { TitleOf } from '../equipment/slot-record.ts'
import { isRecord } from '../json.ts'
import { toTimestamp } from '../timestamp.ts'

/** The payload is created only when it is published. */
export interface RetainedMessage {
  readonly topic: string
  /** The values on which the payload depends, except levels. */
  readonly facts: readonly unknown[]
  readonly levels: readonly unknown[]
  toPayload(): string
}

/** Component key -> its Home Assistant platform. */
export type Components = ReadonlyMap<string, string>

export interface MqttTopics {
  readonly prefix: string
  /** Null without Home Assistant. */
  readonly discoveryPrefix: string | null
  readonly version: string
  /** `server.public_url`, or null. */
  readonly publicUrl: string | null
}

export function statusTopic({ prefix }: Pick<MqttTopics, 'prefix'>): string {
  return `${prefix}/status`
}

export function alertTopic({ prefix }: Pick<MqttTopics, 'prefix'>): string {
  return `${prefix}/alert`
}

export function toStateMessages(receiver: Receiver, topics: MqttTopics, titleOf: TitleOf): RetainedMessage[] {
  const { id, name, manufacturer, model, device_type, ip, is_active, channels } = receiver
  return [
    {
      topic: receiverTopic(topics, id),
      facts: [name, manufacturer, model, device_type, ip, is_active, ...channels.map((channel) => channel.id)],
      levels: [],
      toPayload: () => JSON.stringify(toReceiverState(receiver)),
    },
    ...channels.map((channel) => toChannelMessage(channel, topics, titleOf(receiver, channel).title)),
  ]
}

/**
 * Returns the message that creates a device in Home Assistant; null without Home Assistant. `known` are the components
 * that Home Assistant may have. The message lists removed ones with only their platform, which deletes them.
 */
export function toDiscoveryMessage(
  receiver: Receiver,
  topics: MqttTopics,
  titleOf: TitleOf,
  known: Components = new Map(),
): RetainedMessage | null {
  if (topics.discoveryPrefix === null) return null
  const { id, name, manufacturer, model, device_type, serial_number, firmware_version } = receiver
  const channels = receiver.channels.map((channel) => {
    const { title } = titleOf(receiver, channel)
    return { id: channel.id, name: `${channel.slot} ${title ?? ''}`.trim() }
  })
  const prefixes = ['online', ...channels.map((channel) => `channel_${channel.id}_`)]
  const removed = [...known].filter(([key]) => !prefixes.some((prefix) => key.startsWith(prefix)))
  return {
    topic: discoveryTopic(topics, id),
    facts: [
      ...[name, manufacturer, model, device_type, serial_number, firmware_version],
      ...channels.flatMap((channel) => [channel.id, channel.name]),
      ...removed.map(([key]) => key),
    ],
    levels: [],
    toPayload: () => JSON.stringify(toDiscovery(receiver, channels, topics, removed)),
  }
}

/** Omits the components that the message removes. */
export function listComponents(payload: string): Components {
  const message = parse(payload)
  const components = isRecord(message) && isRecord(message.components) ? Object.entries(message.components) : []
  return new Map(
    components.flatMap(([key, component]) =>
      isRecord(component) && isShortText(component.platform) && isShortText(key) && 'unique_id' in component
        ? [[key, component.platform]]
        : [],
    ),
  )
}

/** Components are remembered, so longer texts are skipped. This service does not publish any. */
function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 100
}

function parse(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return null
  }
}

/** Filters for all retained topics of this service. The broker may still have messages about removed equipment. */
export function listRetainedFilters({ prefix, discoveryPrefix }: MqttTopics): string[] {
  const states = [`${prefix}/channel/+/state`, `${prefix}/receiver/+/state`]
  return discoveryPrefix === null ? states : [...states, `${discoveryPrefix}/device/+/config`]
}

/** True if this service published the retained message, not another one with another prefix. */
export function isOwnMessage({ prefix, discoveryPrefix }: MqttTopics, topic: string, payload: string): boolean {
  if (/^\/(channel|receiver)\/\d+\/state$/.test(topic.slice(prefix.length))) return topic.startsWith(`${prefix}/`)
  if (discoveryPrefix === null || !topic.startsWith(`${discoveryPrefix}/device/micwatch_`)) return false
  return payload.includes(`"availability_topic":${JSON.stringify(statusTopic({ prefix }))}`)
}

export function discoveryTopic({ discoveryPrefix }: MqttTopics, id: number): string {
  return `${discoveryPrefix}/device/micwatch_${id}/config`
}

function receiverTopic({ prefix }: MqttTopics, id: number): string {
  return `${prefix}/receiver/${id}/state`
}

function channelTopic({ prefix }: MqttTopics, id: number): string {
  return `${prefix}/channel/${id}/state`
}

function toReceiverState({ id, name, manufacturer, model, device_type, ip, is_active, channels }: Receiver) {
  const channel_ids = channels.map((channel) => channel.id)
  return { id, name, manufacturer, model, device_type, ip, is_active, channel_ids }
}

function toChannelMessage(channel: Channel, topics: MqttTopics, title: string | null): RetainedMessage {
  const { id, slot, transmitter, condition, forecast } = channel
  const { state, severity, attention, since, flags } = condition
  const facts = {
    name: title,
    name_raw: reportedName(channel),
    slot,
    battery: transmitter?.battery ?? null,
    minutes_left: transmitter === null ? null : (forecast?.minutes_left ?? null),
    frequency: frequencyOf(channel),
    transmitter_on: transmitter !== null,
  }
  const levels = {
    rf_level: transmitter?.rf_level ?? channel.rf_level,
    audio_level: transmitter?.audio_level ?? channel.audio_level,
  }
  return {
    topic: channelTopic(topics, id),
    facts: [...Object.values(facts), state, severity, attention, since, ...flags],
    levels: Object.values(levels),
    toPayload: () => JSON.stringify({ ...facts, condition: { ...condition, since: toTimestamp(since) }, ...levels }),
  }
}

interface NamedChannel {
  readonly id: number
  /** Slot and title. */
  readonly name: string
}

/** Home Assistant creates a device for the receiver and entities for its channels. */
function toDiscovery(
  { id, name, manufacturer, model, device_type, serial_number, firmware_version }: Receiver,
  channels: readonly NamedChannel[],
  topics: MqttTopics,
  removed: readonly (readonly [string, string])[],
) {
  const { version, publicUrl } = topics
  const online = {
    platform: 'binary_sensor',
    unique_id: `micwatch_receiver_${id}_online`,
    name: 'Online',
    device_class: 'connectivity',
    entity_category: 'diagnostic',
    state_topic: receiverTopic(topics, id),
    value_template: "{{ 'ON' if value_json.is_active else 'OFF' }}",
  }
  return {
    device: {
      identifiers: [`micwatch_${id}`],
      name,
      manufacturer,
      model: model ?? device_type,
      ...(serial_number !== null && { serial_number }),
      ...(firmware_version !== null && { sw_version: firmware_version }),
      ...(publicUrl !== null && { configuration_url: publicUrl }),
    },
    origin: { name: 'Micwatch', sw_version: version },
    availability_topic: statusTopic(topics),
    components: {
      online,
      ...Object.assign({}, ...channels.map((channel) => toComponents(channel, topics))),
      ...Object.fromEntries(removed.map(([key, platform]) => [key, { platform }])),
    },
  }
}

/** Levels change every second, which fills Home Assistant's recorder, so their entities are disabled. */
function toComponents({ id, name: channelName }: NamedChannel, topics: MqttTopics): Record<string, object> {
  const component = (key: string, platform: string, name: string, template: string, fields: object = {}) => [
    `channel_${id}_${key}`,
    {
      platform,
      unique_id: `micwatch_channel_${id}_${key}`,
      name: `${channelName} ${name}`,
      state_topic: channelTopic(topics, id),
      value_template: `{{ ${template} }}`,
      ...fields,
    },
  ]
  const onOff = (condition: string) => `'ON' if ${condition} else 'OFF'`
  const level = { state_class: 'measurement', enabled_by_default: false }
  return Object.fromEntries([
    component('name', 'sensor', 'name', 'value_json.name'),
    component('battery', 'sensor', 'battery', 'value_json.battery', {
      device_class: 'battery',
      unit_of_measurement: '%',
      state_class: 'measurement',
    }),
    component('minutes_left', 'sensor', 'battery time', 'value_json.minutes_left', {
      device_class: 'duration',
      unit_of_measurement: 'min',
    }),
    component('condition', 'sensor', 'condition', 'value_json.condition.state'),
    component('attention', 'binary_sensor', 'needs attention', onOff('value_json.condition.attention'), {
      device_class: 'problem',
    }),
    component('transmitter', 'binary_sensor', 'transmitter', onOff('value_json.transmitter_on'), {
      device_class: 'power',
    }),
    component('frequency', 'sensor', 'frequency', 'value_json.frequency', {
      unit_of_measurement: 'MHz',
      entity_category: 'diagnostic',
    }),
    component('rf_level', 'sensor', 'RF level', 'value_json.rf_level', {
      ...level,
      device_class: 'signal_strength',
      unit_of_measurement: 'dBm',
    }),
    component('audio_level', 'sensor', 'audio level', 'value_json.audio_level', {
      ...level,
      unit_of_measurement: 'dBFS',
    }),
  ])
}

/** The last publication to a topic. `at` uses the same clock as `now`. */
export interface Published {
  readonly facts: readonly unknown[]
  readonly levels: readonly unknown[]
  readonly at: number
}

/** A change of levels alone is published this long after the last publication. */
const levelIntervalMs = 1_000

/** Differs from every message. */
export const unknownContent: Published = { facts: [], levels: [], at: 0 }

export function isDue(last: Published | undefined, { facts, levels }: RetainedMessage, now: number): boolean {
  if (last === undefined || !isSame(last.facts, facts)) return true
  return now - last.at >= levelIntervalMs && !isSame(last.levels, levels)
}

function isSame(before: readonly unknown[], after: readonly unknown[]): boolean {
  return before.length === after.length && before.every((value, index) => value === after[index])
}
