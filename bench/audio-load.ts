/**
 * Levels of 400 channels beside 8 audio streams of 8 channels that are received, metered, held and searched for faults.
 * Reference: the same process before it receives audio.
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createToken } from '../src/actions/access/people.ts'
import type { AudioStreamBody } from '../src/contract/audio-streams.ts'
import type { Actor } from '../src/domain/access/access.ts'
import { openDatabase } from '../src/storage/database.ts'
import { createGroup, readViewerMessage, viewedOf, watchLatencies } from './crowd.ts'
import {
  type AtEnd,
  cpuMsPerSecond,
  createTempFolder,
  type Figure,
  longestHoldMs,
  percentile,
  residentMegabytes,
  startChild,
  watchEventLoop,
} from './harness.ts'
import { openClient } from './push.ts'
import { type Micwatch, openViewer, startMicwatch, startUpstream } from './servers.ts'

const receivers = 100
const channelsPerReceiver = 4
const streams = 8
const channelsPerStream = 8
const seconds = 20
/** After this time, the memory for held sound is full. */
const warmUpMs = 25_000

const actor: Actor = { kind: 'cli', id: null, name: 'bench', role: 'admin', address: null }

export async function measureAudioLoad(atEnd: AtEnd, nodeOptions: readonly string[]): Promise<readonly Figure[]> {
  const upstream = await startUpstream(atEnd, {
    ...{ systems: 1, receivers, channelsPerReceiver, pushesPerSecond: 10, isSpread: true, marked: 25 },
  })
  const marks = await openClient(atEnd, upstream.marks)
  const folder = await createTempFolder(atEnd)
  const micwatch = await startMicwatch(atEnd, upstream, {
    ...{ pollSeconds: 3600, nodeOptions: [...nodeOptions, ...watchEventLoop], folder },
    config: { audio: { interfaces: ['127.0.0.1'] }, audio_evidence: true },
  })
  const viewed = viewedOf(upstream, micwatch)
  const group = await createGroup(micwatch, [...viewed.values()])
  const channels = new Map([...viewed].map(([deviceId, receiver]) => [receiver.channels[0]?.id, deviceId]))
  const latencies = watchLatencies(atEnd, marks)
  await openViewer(atEnd, micwatch.address, {
    query: `?group=${group}`,
    onMessage: (text) => latencies.arrived(readViewerMessage(text, channels)),
  })

  const measure = async () => {
    await sleep(warmUpMs)
    latencies.clear()
    await longestHoldMs(micwatch)
    const [msPerSecond = 0] = await cpuMsPerSecond([micwatch.pid], seconds)
    const delays = latencies.of('level')
    return {
      p50: percentile(delays, 50),
      p99: percentile(delays, 99),
      holdMs: await longestHoldMs(micwatch),
      cpu: msPerSecond / 10,
      megabytes: (await residentMegabytes(micwatch.pid)) ?? 0,
    }
  }
  const without = await measure()
  const readStreams = await startAudio(atEnd, micwatch, folder)
  const withAudio = await measure()
  const received = await readStreams()
  const size = `${receivers * channelsPerReceiver} channels beside ${streams * channelsPerStream} of audio`
  const figure = (name: string, unit: Figure['unit'], key: keyof typeof without): Figure => ({
    ...{ name: `${size}, ${name}`, unit, ours: withAudio[key], reference: without[key] },
  })
  const packets = received.reduce((sum, { status }) => sum + status.packets, 0)
  const lost = received.reduce((sum, { status }) => sum + status.lost, 0)
  return [
    figure('level to message, every 100 ms, p50', 'ms', 'p50'),
    figure('level to message, every 100 ms, p99', 'ms', 'p99'),
    figure('longest hold of the event loop', 'ms', 'holdMs'),
    figure('CPU of a core', '%', 'cpu'),
    figure('memory', 'MB', 'megabytes'),
    { name: `${size}, packets lost`, unit: '%', ours: (100 * lost) / (packets + lost), reference: null },
  ]
}

/** Maps a channel to each channel of the streams. Returns a function that reads the streams, all of which must play. */
async function startAudio(
  atEnd: AtEnd,
  { address, receivers: shown }: Micwatch,
  folder: string,
): Promise<() => Promise<readonly AudioStreamBody[]>> {
  const program = fileURLToPath(new URL('audio-senders.ts', import.meta.url))
  const senders = await startChild(atEnd, ['--import', 'tsx', program, String(streams), String(channelsPerStream)])
  const db = await openDatabase({ url: `sqlite:${join(folder, 'data', 'micwatch.db')}` })
  const { text } = await createToken(db, actor, { name: 'bench', role: 'admin' }).finally(() => db.close())
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${text}`, 'content-type': 'application/json' }
    const response = await fetch(address + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${method} ${path} responded with ${response.status} ${await response.text()}`)
    return response.json()
  }
  const ids = shown.flatMap((receiver) => receiver.channels.map(({ id }) => id))
  for (const [index, sdp] of (senders.output.descriptions as readonly string[]).entries()) {
    const stream = (await send('POST', '/api/audio/streams/', { sdp })) as AudioStreamBody
    for (let channel = 1; channel <= channelsPerStream; channel += 1) {
      const id = ids[index * channelsPerStream + channel - 1]
      await send('PUT', `/api/channels/${id}/audio/`, { stream_id: stream.id, channel })
    }
  }
  await send('POST', '/api/config/', { key: 'AUDIO_EVIDENCE_ALWAYS', value: 'true' })
  return async () => {
    const received = (await send('GET', '/api/audio/streams/')) as readonly AudioStreamBody[]
    for (const { name, status } of received) {
      if (status.levels === null || status.error !== null)
        throw new Error(`The stream ${name} does not play: ${status.error}`)
    }
    return received
  }
}
