/** Two minutes of sound over the socket: a clock that drifts, lost packets, and clients that do not read. */

import { expect, it } from 'vitest'
import { startApp } from './support/app.ts'
import { eventually } from './support/eventually.ts'
import { type ListeningClient, listenOrThrow, type ReceivedFrame } from './support/listening-client.ts'
import { tokenHeaders } from './support/tokens.ts'
import { addTones, tones } from './support/tones.ts'

const rate = 48_000
const seconds = 120
const driftPpm = 200
const hz = tones[1] ?? 0
const amplitude = 0.5 * 32_768

// Conformance: C-27.104, C-27.105.
it('plays without a gap or a step, while others that do not read lose frames and need no memory', async () => {
  const app = await startApp({ config: { require_login: true, listening: true } })
  const stream = await addTones(app, await tokenHeaders(app, 'admin'), { driftPpm, loss: 0.01 })
  const query = `stream=${stream}&ch=2`
  const clients: ListeningClient[] = []
  for (let person = 0; person < 4; person++) {
    const headers = await tokenHeaders(app, 'viewer', ['listen'])
    for (let each = 0; each < 2; each++) clients.push(await listenOrThrow(app.url, query, headers))
  }
  const [listener, ...stalled] = clients as [ListeningClient, ...ListeningClient[]]
  await eventually(() => Math.min(...clients.map(({ frames }) => frames.length))).toBeGreaterThan(50)
  for (const { socket } of stalled) socket.pause()

  const usage = { first: Number.POSITIVE_INFINITY, last: Number.POSITIVE_INFINITY }
  // The smallest of many values, because the others include garbage.
  const measuring = setInterval(() => {
    const { length } = listener.frames
    const bytes = process.memoryUsage().arrayBuffers - length * rate * 0.02 * 2
    if (length < 1000) usage.first = Math.min(usage.first, bytes)
    else if (length > seconds * 50 - 1000) usage.last = Math.min(usage.last, bytes)
  }, 100)
  try {
    for (let second = 1; second <= seconds; second++)
      await eventually(() => listener.frames.length).toBeGreaterThan(second * 50)
  } finally {
    clearInterval(measuring)
  }
  const frames = listener.frames.slice()
  expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index))
  const samples = Int16Array.from(frames.flatMap((frame) => [...frame.samples]))
  expect(samples.length).toBe(frames.length * rate * 0.02)
  expect(largestStep(samples)).toBeLessThan(1.5 * amplitude * Math.sin((2 * Math.PI * hz) / rate))
  expect(quietestFrame(frames)).toBeGreaterThan(0.5 * amplitude)
  const measured = frequencyOf(samples)
  expect(Math.abs(measured - hz)).toBeLessThan(0.5)
  // The times follow the clock of the sender.
  const [start, end] = [frames[500] as ReceivedFrame, frames.at(-1) as ReceivedFrame]
  const secondsPerSecond = (end.at - start.at) / ((end.sequence - start.sequence) * 20)
  expect(Math.abs(measured / secondsPerSecond - hz * (1 + driftPpm / 1e6))).toBeLessThan(0.5)

  // Without a limit, these clients would have needed 80 MB.
  expect(usage.last - usage.first).toBeLessThan(20e6)
  for (const { socket } of stalled) socket.resume()
  for (const client of stalled) {
    await eventually(() => client.frames.at(-1)?.sequence ?? 0).toBeGreaterThan(frames.length)
    const { length } = client.frames
    expect((client.frames.at(-1)?.sequence ?? 0) + 1 - length).toBeGreaterThan(1000)
  }
}, 300_000)

function largestStep(samples: Int16Array): number {
  let largest = 0
  for (let index = 1; index < samples.length; index++) {
    largest = Math.max(largest, Math.abs((samples[index] ?? 0) - (samples[index - 1] ?? 0)))
  }
  return largest
}

/** The smallest peak of a frame. */
function quietestFrame(frames: readonly ReceivedFrame[]): number {
  return Math.min(...frames.map(({ samples }) => samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)))
}

/** From how the phase advances, second by second. */
function frequencyOf(samples: Int16Array): number {
  let turns = 0
  let before: number | null = null
  let count = 0
  for (let from = 0; from + rate <= samples.length; from += rate) {
    let [real, imaginary] = [0, 0]
    for (let index = from; index < from + rate; index++) {
      const angle = (2 * Math.PI * hz * index) / rate
      real += (samples[index] ?? 0) * Math.cos(angle)
      imaginary -= (samples[index] ?? 0) * Math.sin(angle)
    }
    const phase = Math.atan2(imaginary, real) / (2 * Math.PI)
    if (before !== null) {
      turns += phase - before - Math.round(phase - before)
      count++
    }
    before = phase
  }
  return hz + turns / count
}
