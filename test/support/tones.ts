/** A stream from the network whose channels are tones. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { expect } from 'vitest'
import { StreamSender } from '../../simulators/audio/stream-sender.ts'
import type { TestApp } from './app.ts'
import { onTestEnd } from './cleanup.ts'

/** Hz, by channel. */
export const tones = [997, 440]
/** Of full scale: -6.02 dBFS. */
const amplitude = 0.5

/** Sends a stream to this machine, and adds it. Returns its id. `admin`: headers of an administrator. */
export async function addTones(
  app: Pick<TestApp, 'post'>,
  admin: Record<string, string>,
  faults: { readonly driftPpm?: number; readonly loss?: number } = {},
): Promise<number> {
  const sender = await StreamSender.open({
    ...{ address: '127.0.0.1', port: await freePort(), channels: 2, encoding: 'L16' },
    ...{ name: 'Stage : 1', labels: ['Nora', 'Max'], ...faults },
    signal: (frame, channel, rate) => amplitude * Math.sin((2 * Math.PI * (tones[channel] ?? 0) * frame) / rate),
  })
  onTestEnd(() => sender.close())
  sender.start()
  const { status, json } = await app.post('/api/audio/streams/', { sdp: sender.sdp }, admin)
  expect([status, json]).toMatchObject([201, { labels: ['Nora', 'Max'] }])
  return json.id
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4')
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}
