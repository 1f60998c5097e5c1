/** Listening to channels: the audio streams to which they are mapped, and who listens. */

import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  body,
  flag,
  id,
  listOf,
  named,
  nullable,
  oneOf,
  orNull,
  recordId,
  text,
  textOrNull,
  time,
  whole,
  wholeOrNull,
} from './schema.ts'
import { proposalReasons } from './values.ts'

const streamId = whole('Id of the audio stream.')
const streamChannel = whole('Number of the channel in the stream; starts at 1.')

export const ChannelAudio = named(
  'ChannelAudio',
  'The channel of an audio stream that carries the sound of a channel.',
  {
    stream_id: streamId,
    channel: streamChannel,
    label: textOrNull('Label of the stream channel when a person confirmed the mapping; null if it had none.'),
    label_now: textOrNull('Its label now; null if it has none, or if the stream no longer exists.'),
    label_changed: flag('True if the label differs: check that the stream still carries this channel.'),
  },
)
export type ChannelAudioBody = Body<typeof ChannelAudio>

const AudioMapping = named('AudioMapping', 'A channel that is mapped to a channel of an audio stream.', {
  channel_id: whole('Id of the channel.'),
  ...ChannelAudio.properties,
})

const AudioProposal = named('AudioProposal', 'A mapping that a person may confirm. Nothing is mapped automatically.', {
  channel_id: whole('Id of the channel.'),
  stream_id: streamId,
  channel: streamChannel,
  by: oneOf(
    proposalReasons,
    '`label`: the label is the name of the channel; `device`: the stream has the name of the receiver; `address`: it comes from the address of the receiver.',
  ),
})
export type AudioProposalBody = Body<typeof AudioProposal>

export const AudioListener = named('AudioListener', 'A person or token that listens at the moment.', {
  id,
  by: text('Name of the person or token.'),
  channel_id: wholeOrNull('Id of the channel; null if a channel of a stream was chosen directly.'),
  stream_id: streamId,
  ch: streamChannel,
  since: time('When it began.'),
})
export type AudioListenerBody = Body<typeof AudioListener>

const ChannelAudioRequest = nullable(
  body({
    stream_id: recordId,
    channel: Type.Integer({ minimum: 1, maximum: 64, description: 'a whole number from 1 to 64' }),
  }),
  'an object with stream_id and channel',
)

export const listeningOperations = operationsOf({
  getChannelAudio: endpoint('GET', '/api/channels/:id/audio/', {
    ...about('Audio', 'The channel of an audio stream to which a channel is mapped; null if it is not mapped.'),
    params: ById,
    response: { 200: orNull(ChannelAudio, 'Null if the channel is not mapped.') },
  }),

  setChannelAudio: endpoint('PUT', '/api/channels/:id/audio/', {
    ...about('Audio', 'Maps a channel to a channel of an audio stream; null: to none.'),
    params: ById,
    body: ChannelAudioRequest,
    response: { 200: orNull(ChannelAudio, 'Null if the channel is not mapped.'), 409: ErrorResponse },
  }),

  listAudioMappings: endpoint('GET', '/api/audio/mappings/', {
    ...about('Audio', 'All channels that are mapped to an audio stream.'),
    response: { 200: listOf(AudioMapping, 'In the order of the ids of the channels.') },
  }),

  listAudioProposals: endpoint('GET', '/api/audio/proposals/', {
    ...about(
      'Audio',
      'Mappings of channels that are not mapped yet, by label, by name of the device or by its address.',
    ),
    response: { 200: listOf(AudioProposal, 'At most one for each channel.') },
  }),

  listAudioListeners: endpoint('GET', '/api/audio/listeners/', {
    ...about('Audio', 'Who listens to what at the moment.'),
    response: { 200: listOf(AudioListener, 'In the order in which they began.'), 409: ErrorResponse },
  }),
})
