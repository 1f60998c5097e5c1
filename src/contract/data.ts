/** `GET /api/data.json`, the same in the shape of micboard, and the summary. */

import Type from 'typebox'
import { Configuration } from './configuration.ts'
import { DiscoveredDevice } from './discovery.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { Group } from './groups.ts'
import { ChannelAssignment } from './performers.ts'
import { PlaceholderInData } from './placeholders.ts'
import { ReceiverInData } from './receivers.ts'
import {
  type Body,
  flag,
  idOf,
  listOf,
  manufacturerFilter,
  NoContent,
  named,
  oneOf,
  query,
  siteFilter,
  text,
  whole,
} from './schema.ts'
import { SlotRecord } from './slots.ts'
import { conditionStates, micboardStatuses } from './values.ts'

export const Data = named('Data', 'All receivers with their channels, discovered devices, settings and groups.', {
  receivers: listOf(ReceiverInData, 'By id.'),
  discovered: listOf(DiscoveredDevice, 'Devices that a scan has found in the last 24 hours.'),
  config: Configuration,
  groups: listOf(Group, 'By id.'),
  assignments: listOf(ChannelAssignment, 'All active assignments.'),
  placeholders: listOf(PlaceholderInData, 'By id.'),
  slot_records: listOf(SlotRecord, 'By slot: what people entered, and the equipment in the slot.'),
})
export type DataBody = Body<typeof Data>

const none = Type.Object({}, { description: 'Always empty.' })

const MicboardChannel = named('MicboardChannel', 'A channel, as micboard describes it.', {
  id: text('Id of the channel, as text.'),
  channel: whole('Number of the channel on its receiver.'),
  slot: whole('Slot.'),
  name: text("The performer's name if one is assigned, otherwise as `name_raw`."),
  name_raw: text('Name of the transmitter, or of the channel.'),
  type: text('Type of the receiver.'),
  status: oneOf(micboardStatuses, 'Derived from the condition of the channel.'),
  battery: whole('Bars from 0 to 5; 255 if unknown.'),
  rf_level: whole('0 (-100 dBm or less, or unknown) to 100 (-20 dBm or more).'),
  audio_level: whole('0 (-60 dBFS or less, or unknown) to 100 (0 dBFS).'),
  quality: whole('Link quality from 0 to 5; 255 if unknown.'),
  antenna: text('The antennas in use: `AB`, `AX`, `XB` or `XX`.'),
  frequency: text('MHz with three decimal places; empty if unknown.'),
  tx_offset: whole('Gain offset of the transmitter in dB; 255 if unknown.'),
  raw: none,
})
export type MicboardChannel = Body<typeof MicboardChannel>

const MicboardReceiver = named('MicboardReceiver', 'A receiver, as micboard describes it.', {
  ip: text('IP address; empty if unknown.'),
  type: text('Type of the receiver.'),
  status: oneOf(['CONNECTED', 'DISCONNECTED'], 'Whether the receiver is online.'),
  raw: none,
  tx: listOf(MicboardChannel, 'Its channels.'),
})

export const Micboard = named('Micboard', 'All receivers, in the format of micboard.', {
  receivers: listOf(MicboardReceiver, 'All receivers.'),
  url: text('`server.public_url`; empty if it is not configured.'),
  gif: listOf(Type.String(), 'Always empty.'),
  jpg: listOf(Type.String(), 'Always empty.'),
  mp4: listOf(Type.String(), 'Always empty.'),
  config: Type.Object(
    {
      slots: listOf(
        Type.Object({
          slot: whole('Slot.'),
          ip: text('IP address of the receiver; empty if unknown.'),
          type: text('Type of the receiver.'),
          channel: whole('Number of the channel on its receiver.'),
        }),
        'The slots of all channels.',
      ),
      groups: listOf(
        Type.Object({
          group: whole('Id of the group.'),
          title: text('Title.'),
          slots: listOf(Type.Integer(), 'Slots.'),
          hide_charts: flag('Whether the group is shown without charts.'),
        }),
        'All groups.',
      ),
    },
    { description: 'Slots and groups.' },
  ),
  discovered: listOf(none, 'Always empty.'),
})
export type MicboardBody = Body<typeof Micboard>

const states = Object.fromEntries(conditionStates.map((state) => [state, whole('Channels in this state.')])) as Record<
  (typeof conditionStates)[number],
  ReturnType<typeof whole>
>

const Summary = named('Summary', 'Numbers of channels, and of those that need attention.', {
  channels: whole('All channels.'),
  transmitters_on: whole('Channels of active receivers that have a transmitter.'),
  attention: whole('Channels that need attention.'),
  problems: whole('The same, but the channels of one offline receiver or one failing source count once.'),
  handled: whole(
    'Channels that need attention, all of whose causes are acknowledged, snoozed or silenced. They are part of `attention` and `problems`.',
  ),
  conflicts: Type.Union(
    [
      Type.Object({
        critical: whole('Conflicts between carriers that are on, of the kinds `duplicate`, `spacing` and `foreign`.'),
        other: whole('All other conflicts.'),
      }),
      Type.Null(),
    ],
    {
      description: 'Frequency conflicts, as `GET /api/frequencies/` lists them; null with too many carriers to check.',
    },
  ),
  queue_pending: whole('Devices that are waiting for review.'),
  disconnected: whole('Real-time connections that are neither connected nor stopped.'),
  replace_soon: whole('Channels with a transmitter whose battery is at or under `BATTERY_REPLACE_SOON`.'),
  states: Type.Object(states, { description: 'By state.' }),
  receivers: Type.Object(
    { online: whole('Active receivers.'), offline: whole('Inactive receivers.') },
    { description: 'Receivers.' },
  ),
  sources: Type.Object(
    { healthy: whole('Sources without a problem.'), failing: whole('Sources whose last cycle failed.') },
    { description: 'Monitored systems and devices.' },
  ),
})

const group = idOf('Id of a group, to return only channels whose slot is in it.')
const DataQuery = query({ manufacturer: manufacturerFilter, group, site: siteFilter })

export const dataOperations = operationsOf({
  getData: endpoint('GET', '/api/data.json', {
    ...about('Monitoring', 'All receivers with their channels, discovered devices, settings and groups.'),
    querystring: DataQuery,
    response: { 200: Data, 304: NoContent },
  }),

  getDataAlias: endpoint('GET', '/api/data/', {
    ...about('Monitoring', 'The same as `/api/data.json`.'),
    querystring: DataQuery,
    response: { 200: Data, 304: NoContent },
  }),

  getMicboardData: endpoint('GET', '/data.json', {
    ...about('Monitoring', 'The same data in the format of micboard, for programs written for micboard.'),
    response: { 200: Micboard, 304: NoContent },
  }),

  getSummary: endpoint('GET', '/api/summary/', {
    ...about('Monitoring', 'Numbers of channels, and of those that need attention.'),
    querystring: DataQuery,
    response: { 200: Summary },
  }),
})
