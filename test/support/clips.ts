import { toWavBytes, toWavHeader } from '../../src/domain/audio/wav.ts'
import { now } from '../../src/platform/clock.ts'
import type { TestApp } from './app.ts'

/** Adds a clip, by default with a second of sound. */
export async function addClip(
  { service: { clips } }: TestApp,
  { channel = 5, to = now() - 1000, seconds = 1 } = {},
): Promise<number> {
  const samples = Int16Array.from({ length: 48_000 * seconds }, (_, i) => i % 1000)
  const { name, handle } = await clips.createFile()
  await handle.write(Buffer.concat([toWavHeader(samples.length), toWavBytes(samples)]))
  await handle.close()
  const clip = await clips.add(name, {
    ...{ channel_id: channel, event_ids: [7, 8], from: to - 1000 * seconds, to, size: 44 + 2 * samples.length },
    ...{ faults: ['audio_dropout', 'hum'], lost_packets: 3 },
  })
  return clip?.id ?? 0
}
