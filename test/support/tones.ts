/** A stream from the network whose channels are tones. */

import { expect } from 'vitest'
import { findFreePort, StreamSender } from '../../simulators/audio/stream-sender.ts'
import type { TestApp } from './app.ts'
import { onTestEnd } from './cleanup.ts'

/** Hz, by channel. */
export const tones = [997, 440]
/** Of full scale: -6.02 dBFS. */
export const amplitude = 0.5

/** A sample from -1 to 1. `frame` counts from the start of the sender. */
export function toneAt(frame: number, hz: number, rate: number): number {
  return amplitude * Math.sin((2 * Math.PI * hz * frame) / rate)
}

/** Sends a stream to this machine, and adds it. Returns its id. `admin`: headers of an administrator. */
export async function addTones(app: Pick<TestApp, 'post'>, admin: Record<string, string>): Promise<number> {
  const { stream, sender } = await addSilentTones(app, admin)
  sender.start()
  return stream
}

/** As `addTones`, but nothing is sent before the sender starts. */
export async function addSilentTones(
  app: Pick<TestApp, 'post'>,
  admin: Record<string, string>,
  faults: { readonly driftPpm?: number; readonly loss?: number } = {},
): Promise<{ readonly stream: number; readonly sender: StreamSender }> {
  const sender = await StreamSender.open({
    ...{ address: '127.0.0.1', port: await findFreePort('127.0.0.1'), channels: 2, encoding: 'L16' },
    ...{ name: 'Stage : 1', labels: ['Nora', 'Max'], ...faults },
    signal: (frame, channel, rate) => toneAt(frame, tones[channel] ?? 0, rate),
  })
  onTestEnd(() => sender.close())
  const { status, json } = await app.post('/api/audio/streams/', { sdp: sender.sdp }, admin)
  expect([status, json]).toMatchObject([201, { labels: ['Nora', 'Max'] }])
  return { stream: json.id, sender }
}
