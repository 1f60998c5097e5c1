/** The body of `GET /data.json`, which has the shape of micboard's, so that programs written for micboard can read it. */

import Type from 'typebox'
import { type Body, listOf, named, oneOf, text, whole } from '../described.ts'
import { micboardStatuses } from '../values.ts'

const none = Type.Object({}, { description: 'Always empty.' })

const MicboardChannel = named('MicboardChannel', 'A channel, as micboard describes it.', {
  id: text('Id of the channel, as text.'),
  channel: whole('Number of the channel on its receiver.'),
  slot: whole('Slot.'),
  name: text("The performer's name if one is assigned, otherwise as `name_raw`."),
  name_raw: text('Name of the transmitter, or of the channel.'),
  type: text('Type of the receiver.'),
  status: oneOf([...micboardStatuses], 'Derived from the condition of the channel.'),
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

export const Micboard = named('Micboard', 'All receivers, in the shape of micboard.', {
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
          hide_charts: Type.Boolean({ description: 'Whether the group is shown without charts.' }),
        }),
        'All groups.',
      ),
    },
    { description: 'Slots and groups.' },
  ),
  discovered: listOf(none, 'Always empty.'),
})
export type MicboardBody = Body<typeof Micboard>
