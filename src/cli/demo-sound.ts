/** Maps the microphones of the demo to the stream of their voices, and keeps clips of the day before. */

import { setTimeout as pause } from 'node:timers/promises'
import type { DemoMicrophone } from '../../simulators/audio/demo-sound.ts'
import { DemoVoices } from '../../simulators/audio/demo-voices.ts'
import type { Demo } from '../../simulators/demo.ts'
import { newStream } from '../audio/audio-streams.ts'
import { fromDescription } from '../audio/found-streams.ts'
import { ClipSpan } from '../domain/audio/clip.ts'
import { parseSdp } from '../domain/audio/sdp.ts'
import { toWavBytes, toWavHeader, wavHeaderBytes } from '../domain/audio/wav.ts'
import type { EventRecord } from '../domain/events/event.ts'
import type { Service } from '../service.ts'
import { insertAudioStream } from '../storage/audio-streams.ts'
import { saveAudioMapping } from '../storage/channel-audio.ts'
import { listEvents } from '../storage/events.ts'
import { saveSetting } from '../storage/settings.ts'

const checkEveryMs = 200
/** The clips of the day before. */
const clipCount = 3

/**
 * Sends the voices until the signal aborts. `filled` resolves when the history has the events of the day before.
 * Throws if UDP to this machine is not possible.
 */
export async function playVoices(
  service: Service,
  { microphones, venue }: Pick<Demo, 'microphones' | 'venue'>,
  { filled, signal }: { readonly filled: Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const voices = await DemoVoices.start(microphones, venue.startedAt)
  const closed = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  try {
    const streamId = await addStream(service, voices.sdp)
    const channelIds = await mapChannels(service, microphones, { streamId, signal })
    await filled
    if (!signal.aborted) await keepClips(service, voices, { microphones, channelIds, startedAt: venue.startedAt })
    await closed
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await voices.close()
  }
}

async function addStream({ db, audioStreams }: Service, sdp: string): Promise<number> {
  const parsed = parseSdp(sdp)
  const description = 'streams' in parsed ? parsed.streams[0] : undefined
  if (description === undefined) throw new Error('The description of the voices cannot be read.')
  await audioStreams.whenReceiving()
  return audioStreams.edits.run(async () => {
    const entered = { ...newStream, ...fromDescription(description, null), source: 'manual' } as const
    const stream = await db.transaction((tx) => insertAudioStream(tx, entered))
    audioStreams.put(stream)
    return stream.id
  })
}

/** Waits for the channels, and returns their ids in the order of the microphones. */
async function mapChannels(
  service: Service,
  microphones: readonly DemoMicrophone[],
  { streamId, signal }: { readonly streamId: number; readonly signal: AbortSignal },
): Promise<number[]> {
  const channelIds: number[] = []
  for (const [index, microphone] of microphones.entries()) {
    let id = findChannel(service, microphone)
    for (; id === undefined; id = findChannel(service, microphone)) await pause(checkEveryMs, undefined, { signal })
    channelIds.push(id)
    const mapping = { channel_id: id, stream_id: streamId, channel: index + 1, label: microphone.setup.name }
    await service.db.transaction((tx) => saveAudioMapping(tx, mapping))
  }
  // No show is running.
  const always = { manufacturer: null, group: null, key: 'AUDIO_EVIDENCE_ALWAYS', value: 'true' } as const
  await service.db.transaction((tx) => saveSetting(tx, always))
  await service.reload()
  return channelIds
}

function findChannel({ receiverStore }: Service, microphone: DemoMicrophone): number | undefined {
  const { manufacturer, reportedIds, setup } = microphone
  const receiver = receiverStore
    .listFacts()
    .find((known) => known.manufacturer === manufacturer && reportedIds.includes(known.api_device_id ?? ''))
  return receiver?.channels.find(({ channel }) => channel === setup.channel)?.id
}

interface Kept {
  readonly microphones: readonly DemoMicrophone[]
  readonly channelIds: readonly number[]
  readonly startedAt: number
}

/** Keeps the sound of the last RF dropouts before the start, as Micwatch would have. */
async function keepClips(service: Service, voices: DemoVoices, { microphones, channelIds, startedAt }: Kept) {
  const filter = { to: startedAt, kinds: ['rf_dropout'] } as const
  const dropouts = await listEvents(service.db.read, filter, { limit: 1000 })
  const audible = dropouts.flatMap((event) => {
    const microphone = channelIds.indexOf(event.channel_id ?? 0)
    const { from, to } = new ClipSpan(event)
    const muted = microphones[microphone]?.day.muted ?? []
    const isMuted = muted.some(({ fromMs, toMs }) => startedAt + fromMs < to && startedAt + toMs > from)
    return microphone < 0 || isMuted || to > startedAt ? [] : [{ event, microphone, from, to }]
  })
  for (const { event, microphone, from, to } of audible.slice(0, clipCount)) {
    await keepClip(service, event, { from, to, samples: await voices.read(microphone, from, to) })
  }
}

interface Sound {
  readonly from: number
  readonly to: number
  readonly samples: Int16Array
}

async function keepClip({ clips }: Service, event: EventRecord, { from, to, samples }: Sound): Promise<void> {
  const { name, handle } = await clips.createFile()
  try {
    await handle.write(Buffer.concat([toWavHeader(samples.length), toWavBytes(samples)]))
  } finally {
    await handle.close()
  }
  await clips.add(name, {
    ...{ channel_id: event.channel_id ?? 0, event_ids: [event.id], from, to },
    ...{ size: wavHeaderBytes + 2 * samples.length, faults: [], lost_packets: 0 },
  })
}
