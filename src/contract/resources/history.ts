/** Recorded levels. */

import Type from 'typebox'
import { type Body, flag, listOf, named, orNull, text, time, whole } from '../described.ts'
import { SiteReference } from './common.ts'
import { Data } from './data.ts'

const values = (description: string) =>
  Type.Array(Type.Union([Type.Integer(), Type.Null()]), { description: `${description}, for each step.` })

const HistoryChannel = named('HistoryChannel', 'The levels of one channel. All lists have the same length.', {
  id: whole('Id of the channel.'),
  state: text(
    'A letter for each step: `1` on, `m` muted, `0` transmitter off, `x` receiver offline, `-` not recorded.',
  ),
  rf: Type.Optional(Type.Object({ min: values('Lowest RF level in dBm'), max: values('Highest RF level in dBm') })),
  audio: Type.Optional(
    Type.Object({ max: values('Highest peak level in dBFS'), last: values('Last RMS level in dBFS') }),
  ),
  quality: Type.Optional(Type.Object({ min: values('Lowest link quality in percent') })),
  battery: Type.Optional(Type.Object({ last: values('Last battery level in percent') })),
  minutes: Type.Optional(Type.Object({ last: values('Last remaining battery time in minutes') })),
  weak_ms: values('Milliseconds of weak RF while a transmitter was on'),
})

export const HistoryLevels = named('HistoryLevels', 'Recorded levels of channels.', {
  from: time('Start of the first step.'),
  to: time('End of the range.'),
  step_seconds: whole('Length of a step in seconds.'),
  channels: listOf(HistoryChannel, 'In the order of the request.'),
  interrupted_sites: Type.Optional(
    listOf(SiteReference, 'Sites that could not be asked for missing levels. Absent if every site could be asked.'),
  ),
})
export type HistoryLevelsBody = Body<typeof HistoryLevels>

export const DataAtTime = named('DataAtTime', 'What was shown at an earlier time.', {
  ...Data.properties,
  as_of: time('The requested second.'),
  recorded: flag('False in a gap of the recording: the last state before it, without levels.'),
  step_seconds: orNull(whole('Seconds.'), 'Length of the recorded step that contains the second.'),
})
export type DataAtTimeBody = Body<typeof DataAtTime>
