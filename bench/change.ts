/**
 * The CPU time for one pushed change of a receiver with four channels, without viewers. References: a process that
 * receives the same frames and parses them, and parsing alone.
 */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type AtEnd, type Bench, cpuMsPerSecond } from './harness.ts'
import { startMicwatch, startReference, startUpstream } from './servers.ts'

const receivers = 1_000
const channelsPerReceiver = 4
const pushesPerSecond = 5
const changesPerSecond = receivers * pushesPerSecond
/** Long enough for V8 to optimize the measured code. */
const warmUpMs = 5_000
const seconds = 5
const sampleFrames = 1_000
const parseRounds = 200

export const change = (nodeOptions: readonly string[]): Bench => ({
  name: 'change',
  runs: 3,
  async open(atEnd) {
    const upstream = await startUpstream(atEnd, {
      ...{ systems: 1, receivers, channelsPerReceiver, pushesPerSecond },
      isSpread: true,
    })
    const micwatch = await startMicwatch(atEnd, upstream, { pollSeconds: 3600, nodeOptions })
    const mirror = upstream.systems[0]?.mirror ?? ''
    const reference = await startReference(atEnd, { args: ['parse', mirror] })
    const frames = await collectFrames(atEnd, mirror)
    await sleep(warmUpMs)
    const name = `${receivers.toLocaleString('en')} × ${channelsPerReceiver}, ${changesPerSecond.toLocaleString('en')} changes/s, CPU per change`
    return {
      async measure() {
        const rates = await cpuMsPerSecond([micwatch.pid, reference.pid], seconds)
        const [ours = 0, received = 0] = rates.map((msPerSecond) => (msPerSecond / changesPerSecond) * 1000)
        const parsed = measureParsing(frames)
        return [
          { name: `${name}; receiving and parsing`, unit: 'µs', ours, reference: received },
          { name: `${name}; parsing alone`, unit: 'µs', ours, reference: parsed },
        ]
      },
    }
  },
})

async function collectFrames(atEnd: AtEnd, address: string): Promise<readonly string[]> {
  const socket = new WebSocket(address, { perMessageDeflate: false })
  atEnd(() => socket.terminate())
  const frames: string[] = []
  while (frames.length < sampleFrames) {
    const [data] = await once(socket, 'message')
    frames.push(String(data))
  }
  socket.terminate()
  return frames
}

/** In µs. */
function measureParsing(frames: readonly string[]): number {
  const startedAt = performance.now()
  for (let round = 0; round < parseRounds; round += 1) for (const frame of frames) JSON.parse(frame)
  return ((performance.now() - startedAt) * 1000) / (parseRounds * frames.length)
}
