/** Clips: sound that was kept around an event. */

import Type from 'typebox'
import { audioFaults } from '../domain/audio/faults/finding.ts'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import {
  type Body,
  ById,
  binary,
  dayOrTime,
  id,
  idOf,
  listOf,
  NoContent,
  named,
  pagedOf,
  paging,
  query,
  time,
  whole,
} from './schema.ts'

export const Clip = named('Clip', 'Sound of a channel that was kept around an event.', {
  id,
  channel_id: whole('Id of the channel.'),
  event_id: whole('Id of the event for which it was kept.'),
  event_ids: listOf(Type.Integer(), 'Ids of all events of the channel in it that belong to the chosen kinds.'),
  from: time('Time of the first sample.'),
  to: time('Time after the last sample.'),
  size: whole('Size of the file in bytes.'),
  faults: Type.Array(Type.Enum([...audioFaults]), { description: 'What the detectors found in it.' }),
  lost_packets: whole('Lost sound, in packets of 1 ms. It is silent in the file.'),
  expires_at: time('When it is deleted.'),
})
export type ClipBody = Body<typeof Clip>

export const ClipWaveform = named('ClipWaveform', 'The waveform of a clip.', {
  step_ms: whole('Milliseconds of a step.'),
  peaks: listOf(Type.Number(), 'The largest sample of each step, from 0 to 1.'),
})
export type ClipWaveform = Body<typeof ClipWaveform>

const ClipQuery = query({
  channel: idOf('Id of a channel, to return only its clips.'),
  from: dayOrTime('Only clips that end at or after this time'),
  to: dayOrTime('Only clips that begin at or before this time'),
  ...paging,
})

const refusals = { 409: ErrorResponse }

export const clipOperations = operationsOf({
  listClips: endpoint('GET', '/api/audio/clips/', {
    ...about('Audio', 'Clips, newest first.'),
    querystring: ClipQuery,
    response: { 200: pagedOf(Clip), ...refusals },
  }),

  getClip: endpoint('GET', '/api/audio/clips/:id/', {
    ...about('Audio', 'One clip, without its sound.'),
    params: ById,
    response: { 200: Clip, ...refusals },
  }),

  getClipSound: endpoint('GET', '/api/audio/clips/:id/audio.wav', {
    ...about('Audio', 'The sound of a clip: mono PCM16 at 48 kHz. Each request is audited.'),
    params: ById,
    response: { 200: binary('audio/wav', 'A WAV file.'), 206: binary('audio/wav', 'The range of it.'), ...refusals },
  }),

  getClipWaveform: endpoint('GET', '/api/audio/clips/:id/waveform/', {
    ...about('Audio', 'The waveform of a clip. It is no sound, so requests are not audited.'),
    params: ById,
    response: { 200: ClipWaveform, ...refusals },
  }),

  removeClip: endpoint('DELETE', '/api/audio/clips/:id/', {
    ...about('Audio', 'Deletes a clip.'),
    params: ById,
    response: { 204: NoContent, ...refusals },
  }),

  removeClips: endpoint('DELETE', '/api/audio/clips/', {
    ...about('Audio', 'Deletes all clips.'),
    response: { 204: NoContent, ...refusals },
  }),
})
