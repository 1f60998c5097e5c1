/**
 * Plays a tone for two minutes, in both players of the page and without a page. Its sender is 200 ppm fast and loses 1%
 * of its packets. Other clients do not read, or are too slow.
 */

import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createInstallation, until } from '../support/app.ts'
import { browserForTests } from '../support/browser/browser.ts'
import {
  type RecordedSound,
  type RecordedWindow,
  readRecordedSound,
  recordSound,
} from '../support/browser/recorded-sound.ts'
import { onTestEnd } from '../support/cleanup.ts'
import { eventually } from '../support/eventually.ts'
import { openRaw } from '../support/faults/raw-socket.ts'
import { openLine } from '../support/line.ts'
import { type ListeningClient, listenOrThrow } from '../support/listening-client.ts'
import { lanAddress } from '../support/network/lan-address.ts'
import { tokenHeaders } from '../support/tokens.ts'
import {
  clickStep,
  countClicks,
  countOthers,
  findGaps,
  findStart,
  frequencyOf,
  levelOf,
} from '../support/tone-measurements.ts'
import { addSilentTones, amplitude, tones } from '../support/tones.ts'
import { addListeningUser } from '../support/users.ts'

const browser = browserForTests()

const seconds = 120
const rate = 48_000
const framesPerSecond = 50
const driftPpm = 200
const [hz = 0] = tones
const sentHz = hz * (1 + driftPpm / 1e6)
/** The player resamples by at most this. */
const maxCorrection = 0.005
/** Those in which the sound begins. */
const settledWindows = 4
/** A frame that is later than this may leave the player without sound. */
const tolerableMs = 20

/** A service in a process of its own, with a channel that is mapped to a stream that has not begun. */
async function start() {
  const config = { require_login: true, listening: true, listening_without_tls: true, server: { host: '0.0.0.0' } }
  const installation = await createInstallation(config)
  const served = await installation.serve()
  const service = { ...served, databaseUrl: installation.databaseUrl, url: `http://127.0.0.1:${served.port}` }
  const admin = await tokenHeaders(service, 'admin')
  await addListeningUser(service, 'operator')
  const receivers = [{ api_device_id: 'rack-1', name: 'Rack 1', channels: [{ channel: 1 }] }]
  await service.post('/api/ingest/', { source: 'script', receivers }, admin)
  const id: number = await until('the receiver is known', async () => {
    const [receiver] = (await service.get('/api/data.json', admin)).json.receivers
    return receiver?.channels[0].id
  })
  const { stream, sender } = await addSilentTones(service, admin, { driftPpm, loss: 0.01 })
  await service.put(`/api/channels/${id}/audio/`, { stream_id: stream, channel: 1 }, admin)
  return { service, admin, id, stream, sender }
}

type Started = Awaited<ReturnType<typeof start>>

async function openPlayer({ service, id }: Started, host: string): Promise<Page> {
  const there = { ...service, url: `http://${host}:${service.port}` }
  const page = await browser.openAs(there, 'operator', '/about')
  await page.context().addInitScript(recordSound)
  await page.goto(`${there.url}/channels/${id}`)
  await page
    .getByRole('button', { name: /^Listen to / })
    .first()
    .click()
  return page
}

// Conformance: C-27.130, C-27.131, C-27.132.
it('plays without a click or a gap at the frequency and level that are sent, and slow clients need no memory', async () => {
  const started = await start()
  const { service, admin, stream, sender } = started
  const listen = async (ch: number, url = service.url) =>
    listenOrThrow(url, `stream=${stream}&ch=${ch}`, await tokenHeaders(service, 'viewer', ['listen']))
  const pages = { worklet: await openPlayer(started, 'localhost'), script: await openPlayer(started, lanAddress()) }
  const [client, other] = [await listen(1), await listen(2)]
  const line = await openLine(service.port)
  line.limit({ bytesPerSecond: 40_000, delayMs: 0 })
  const slow = [await listen(2, line.url), await listen(2, line.url)]
  for (let count = 0; count < 2; count++) await openDeaf(started)
  const listeners = async () => (await service.get('/api/audio/listeners/', admin)).json.length
  await until('all listen', async () => (await listeners()) === 8)

  sender.start()
  const memory: Memory[] = []
  for (let second = 5; second <= seconds; second += 5) {
    await until('five seconds have arrived', () => client.frames.length > second * framesPerSecond)
    memory.push(await readMemory(started))
  }
  const frames = client.frames.slice()
  const [{ status }] = (await service.get('/api/audio/streams/', admin)).json
  // Clients that read nothing are disconnected, as all that do not respond.
  await eventually(listeners).toBe(6)

  expectExact(frames, sender.dropped, status.lost)
  expectSmooth(other)
  for (const each of slow) expectSlow(each, frames.length)
  expectNoGrowth(memory)
  for (const [name, page] of Object.entries(pages)) expectPlayed(name, await readRecordedSound(page))
}, 300_000)

/** Opens a client that reads nothing after the response. */
async function openDeaf({ service, stream }: Started): Promise<void> {
  const { authorization } = await tokenHeaders(service, 'viewer', ['listen'])
  const path = `/api/audio/listen?stream=${stream}&ch=2`
  const { socket, status } = await openRaw(service.port, { path, head: `Authorization: ${authorization}\r\n` })
  onTestEnd(() => void socket.destroy())
  socket.pause()
  expect(status).toBe(101)
}

interface Memory {
  readonly external: number
  readonly resident: number
}

async function readMemory({ service, admin }: Started): Promise<Memory> {
  const text = String((await service.get('/metrics', admin)).bytes)
  const read = (name: string) => Number(new RegExp(`^${name}\\S* (\\S+)$`, 'm').exec(text)?.[1])
  return { external: read('nodejs_external_memory_bytes'), resident: read('process_resident_memory_bytes') }
}

/** Without a limit, the clients that are too slow would need 13 MB outside of the heap. */
function expectNoGrowth(memory: readonly Memory[]): void {
  const least = (list: readonly Memory[]) => Math.min(...list.map(({ external }) => external))
  const growth = least(memory.slice(-6)) - least(memory.slice(0, 6))
  const resident = memory.map((each) => Math.round(each.resident / 1e6))
  console.log(`memory: ${(growth / 1e6).toFixed(1)} MB more outside of the heap; resident ${resident.join(', ')} MB`)
  expect(growth).toBeLessThan(10e6)
}

/** All samples are those that were sent, except lost packets of 1 ms and the 2 ms in which the sound returns. */
function expectExact(frames: ListeningClient['frames'], dropped: number, lost: number): void {
  expect(frames.map(({ sequence }) => sequence)).toEqual(frames.map((_, index) => index))
  expect(frames.every(({ samples }) => samples.length === rate / framesPerSecond)).toBe(true)
  const samples = Int16Array.from(frames.flatMap((frame) => [...frame.samples]))
  const origin = findStart(frames[0]?.samples ?? samples, hz)
  const others = countOthers(samples, hz, origin)
  const delays = (list: typeof frames) => Math.min(...list.map(({ at, receivedAt }) => receivedAt - at))
  const growth = delays(frames.slice(-1000)) - delays(frames.slice(0, 1000))
  console.log(
    `socket: ${frames.length} frames, ${lost} packets lost, ${others} samples concealed, delay grew by ${growth} ms`,
  )
  // A machine that is too slow to receive all packets may leave out more than can be concealed.
  if (lost <= dropped) expect(others).toBeLessThanOrEqual(dropped * 0.003 * rate)
  expect(growth).toBeLessThan(20)
}

function expectSmooth({ frames }: ListeningClient): void {
  const samples = Float32Array.from(
    frames.flatMap((frame) => [...frame.samples]),
    (sample) => sample / 32_768,
  )
  const at = tones[1] ?? 0
  expect(countClicks(samples, clickStep(at))).toBe(0)
  expect(findGaps(samples)).not.toContain(true)
  expect(Math.abs(frequencyOf(samples, at) - at)).toBeLessThan(0.1)
}

/** It misses frames, and is not further and further behind. */
function expectSlow({ frames }: ListeningClient, sent: number): void {
  const last = frames.at(-1)?.sequence ?? 0
  console.log(`slow client: ${frames.length} frames of ${last}, ${sent - last} behind`)
  expect(frames.length).toBeLessThan(0.6 * last)
  expect(sent - last).toBeLessThan(10 * framesPerSecond)
}

function expectPlayed(name: string, { windows, arrivals, latencies }: RecordedSound): void {
  const played = windows.slice(windows.findIndex(({ samples }) => samples.some(isSound)) + settledWindows)
  const whole = played.filter(({ samples }) => !findGaps(samples).includes(true))
  const interrupted = played.length - whole.length
  const clicksIn = ({ samples }: RecordedWindow) => countClicks(samples, clickStep(hz))
  const clicks = played.reduce((sum, window) => sum + clicksIn(window), 0)
  const undisturbed = whole.filter((window) => clicksIn(window) === 0)
  const late = latenessOf(arrivals).filter((ms) => ms > tolerableMs).length
  const levels = undisturbed.map(({ samples }) => levelOf(samples))
  const frequencies = undisturbed.map(({ samples }) => frequencyOf(samples, hz))
  const [before, after] = [leastOf(latencies, 30, 60), leastOf(latencies, 90, 120)]
  const mean = frequencies.reduce((sum, frequency) => sum + frequency, 0) / frequencies.length
  const meanByPage = mean * speedOf(played)
  console.log(
    `${name}: ${played.length} windows, ${interrupted} interrupted, ${clicks} clicks, ${late} frames late, ${rangeOf(levels)} dBFS, ${rangeOf(frequencies)} Hz, on average ${meanByPage.toFixed(2)} Hz,`,
    `${before} ms, then ${after} ms`,
  )
  expect(played.length).toBeGreaterThan(seconds / 2)
  expect(undisturbed.length).toBeGreaterThan(seconds / 4)
  // Windows overlap. A ScriptProcessor clicks at both ends of a block for which a busy page is too late.
  expect(clicks).toBeLessThanOrEqual(name === 'worklet' ? 0 : 4 * late)
  expect(interrupted).toBeLessThanOrEqual(2 * late)
  for (const level of levels) expect(Math.abs(level - 20 * Math.log10(amplitude))).toBeLessThan(0.5)
  for (const frequency of frequencies) expect(Math.abs(frequency / hz - 1)).toBeLessThan(1.1 * maxCorrection)
  // Interruptions move the delay.
  if (interrupted > 0) return
  expect(Math.abs(meanByPage - sentHz)).toBeLessThan(1)
  // Without a correction, the delay would grow by 12 ms.
  expect(after - before).toBeLessThan(10)
}

const isSound = (value: number) => Math.abs(value) > amplitude / 2

/** Seconds of sound for each second on the clock of the page: less than 1 if the machine is too slow. */
function speedOf(windows: readonly RecordedWindow[]): number {
  const [first, last] = [windows[0] as RecordedWindow, windows.at(-1) as RecordedWindow]
  return (1000 * (last.time - first.time)) / (last.at - first.at)
}

/** How late each frame has arrived, in milliseconds, compared with the earliest. */
function latenessOf(arrivals: RecordedSound['arrivals']): number[] {
  const delays = arrivals.map(([sequence, at]) => at - (sequence * 1000) / framesPerSecond / (1 + driftPpm / 1e6))
  const least = Math.min(...delays)
  return delays.map((delay) => delay - least)
}

/** The least latency between these seconds. */
function leastOf(latencies: RecordedSound['latencies'], from: number, to: number): number {
  const [[start] = [0]] = latencies
  const isBetween = (at: number) => at >= start + from * 1000 && at < start + to * 1000
  return Math.min(...latencies.filter(([at]) => isBetween(at)).map(([, ms]) => ms))
}

function rangeOf(values: readonly number[]): string {
  return `${Math.min(...values).toFixed(2)} to ${Math.max(...values).toFixed(2)}`
}
