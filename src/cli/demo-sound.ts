/** Maps the microphones of the demo to the stream of their voices, and keeps clips of the day before. */

import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { DemoMicrophone } from '../../simulators/audio/demo-sound.ts'
import { DemoVoices } from '../../simulators/audio/demo-voices.ts'
import type { Demo } from '../../simulators/demo.ts'
import { fromDescription } from '../audio/found-streams.ts'
import { newStream } from '../domain/audio/audio-stream.ts'
import { ClipSpan } from '../domain/audio/clip.ts'
import { parseSdp } from '../domain/audio/sdp.ts'
import { toWavBytes, toWavHeader, wavHeaderBytes } from '../domain/audio/wav.ts'
import type { Receiver } from '../domain/equipment/receiver.ts'
import type { EventRecord } from '../domain/events/event.ts'
import type { Service } from '../service.ts'
import { insertAudioStream } from '../storage/audio-streams.ts'
import { saveAudioMapping } from '../storage/channel-audio.ts'
import { listEvents } from '../storage/events.ts'
import { saveSetting } from '../storage/settings.ts'

const microphoneCount = 4
const checkEveryMs = 200
/** The devices were found if no other one appears for this long. */
const settledMs = 3000
/** The clips of the day before. */
const clipCount = 3

/** A microphone that is monitored. */
interface Monitored {
  readonly microphone: DemoMicrophone
  readonly channelId: number
  readonly slot: number
}

/**
 * Sends the voices until the signal aborts. `filled` resolves when the history has the events of the day before.
 * Throws if UDP to this machine is not possible.
 */
export async function playVoices(
  service: Service,
  { microphones, venue }: Pick<Demo, 'microphones' | 'venue'>,
  { filled, signal }: { readonly filled: Promise<void>; readonly signal: AbortSignal },
): Promise<void> {
  const { startedAt } = venue
  let voices: DemoVoices | null = null
  try {
    const monitored = await findFirst(service, microphones, signal)
    voices = await DemoVoices.start(
      monitored.map(({ microphone }) => microphone),
      startedAt,
    )
    await mapChannels(service, monitored, await addStream(service, voices.sdp))
    await filled
    if (!signal.aborted) await keepClips(service, voices, { monitored, startedAt })
    if (!signal.aborted) await once(signal, 'abort')
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await voices?.close()
  }
}

/** Waits until the devices are found, and returns the microphones in the first slots, which the monitor shows first. */
async function findFirst(
  { receiverStore }: Service,
  microphones: readonly DemoMicrophone[],
  signal: AbortSignal,
): Promise<Monitored[]> {
  let found: Monitored[] = []
  let foundAt = performance.now()
  while (found.length < microphones.length && (found.length === 0 || performance.now() - foundAt < settledMs)) {
    await pause(checkEveryMs, undefined, { signal })
    const receivers = receiverStore.listFacts()
    const next = microphones.flatMap((microphone) => findMonitored(receivers, microphone))
    if (next.length > found.length) foundAt = performance.now()
    found = next
  }
  return found.sort((a, b) => a.slot - b.slot).slice(0, microphoneCount)
}

function findMonitored(receivers: readonly Receiver[], microphone: DemoMicrophone): Monitored[] {
  const { manufacturer, reportedIds, setup } = microphone
  const receiver = receivers.find(
    (known) => known.manufacturer === manufacturer && reportedIds.includes(known.api_device_id ?? ''),
  )
  const channel = receiver?.channels.find((known) => known.channel === setup.channel)
  return channel === undefined ? [] : [{ microphone, channelId: channel.id, slot: channel.slot }]
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

async function mapChannels(service: Service, monitored: readonly Monitored[], streamId: number): Promise<void> {
  // No show is running.
  const always = { manufacturer: null, group: null, key: 'AUDIO_EVIDENCE_ALWAYS', value: 'true' } as const
  await service.db.transaction(async (tx) => {
    for (const [index, { channelId, microphone }] of monitored.entries()) {
      const label = microphone.setup.name
      await saveAudioMapping(tx, { channel_id: channelId, stream_id: streamId, channel: index + 1, label })
    }
    await saveSetting(tx, always)
  })
  await service.reload()
}

interface Kept {
  readonly monitored: readonly Monitored[]
  readonly startedAt: number
}

/** Keeps the sound of the last RF dropouts before the start, as Micwatch would have. */
async function keepClips(service: Service, voices: DemoVoices, { monitored, startedAt }: Kept): Promise<void> {
  const filter = { to: startedAt, kinds: ['rf_dropout'] } as const
  const dropouts = await listEvents(service.db.read, filter, { limit: 1000 })
  const audible = dropouts.flatMap((event) => {
    const index = monitored.findIndex(({ channelId }) => channelId === event.channel_id)
    const { from, to } = new ClipSpan(event)
    const muted = monitored[index]?.microphone.day.muted ?? []
    const isMuted = muted.some(({ fromMs, toMs }) => startedAt + fromMs < to && startedAt + toMs > from)
    return index < 0 || isMuted || to > startedAt ? [] : [{ event, index, from, to }]
  })
  for (const { event, index, from, to } of audible.slice(0, clipCount)) {
    await keepClip(service, event, { from, to, samples: await voices.read(index, from, to) })
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
