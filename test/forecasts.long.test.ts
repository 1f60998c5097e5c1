/**
 * Forecasts of packs that drain in the simulator, received by command strings, compared with the true remaining time. The
 * clock runs ahead, so a rehearsal and a show of several hours take less than a minute.
 */

import { expect, it } from 'vitest'
import { batteryTypes, type Pack } from '../simulators/show/battery.ts'
import { createShow } from '../simulators/show/show.ts'
import { startStringsSimulator } from '../simulators/shure/strings.ts'
import type { AlertBody } from '../src/contract/alerts.ts'
import type { ChannelBody } from '../src/contract/channels.ts'
import type { ChannelCheckBody } from '../src/contract/checks.ts'
import type { Channel } from '../src/domain/equipment/receiver.ts'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { minutesLeft, receiversInMemory } from './support/internals.ts'
import { startRunningClock } from './support/running-clock.ts'
import { tokenHeaders } from './support/tokens.ts'

const minuteMs = 60_000
/** How far the clock is set ahead at once. */
const stepMs = 2 * minuteMs
/** The pack of the first channel reports its remaining minutes; those of the others, only their percentage. */
const perHour = { lithium: 34, nimh: 32, alkaline: 30 } as const

/** Starts a receiver with a pack of each type of battery. */
async function startReceiver() {
  const show = createShow({ story: false, manufacturers: { shure: 0 } })
  const id = show.add('shure', { model: 'ULXD4Q', device_type: 'ulxd', channels: 4, name: 'RACK 1' })
  const startedAt = Date.now()
  const receiver = await startStringsSimulator({ family: 'ulxd', show, id, startedAt })
  onTestEnd(() => receiver.close())
  const elapsedMs = () => Date.now() - startedAt
  receiver.change(4, { transmitter: false })
  return {
    url: receiver.url,
    /** Puts a full battery of its type into each pack. */
    insertBatteries(seed: number) {
      for (const [index, type] of batteryTypes.entries()) {
        const drain = { firstPerHour: perHour[type], perHour: perHour[type] }
        const pack: Pack = { type, seed: seed + index, charge: 100, ...drain, insertedAtMs: elapsedMs() }
        receiver.change(index + 1, { pack, transmitter: true, rf_level: -50, audio_level: -20 })
      }
    },
    switchOff(channel: number) {
      receiver.change(channel, { transmitter: false })
    },
    /** Returns the true remaining minutes of a pack; null while it is off. */
    remaining(channel: number) {
      const remainingMs = show.remainingMsAt(elapsedMs(), id, channel)
      return remainingMs === null ? null : remainingMs / minuteMs
    },
    battery: (channel: number) => receiver.state.channels[channel - 1]?.transmitter?.battery ?? null,
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function channelOf(app: TestApp, receiverId: number, number: number): Channel {
  const channel = receiversInMemory(app).get(receiverId)?.channels[number - 1]
  if (channel === undefined) throw new Error(`no channel ${number}`)
  return channel
}

// Conformance: C-13.66, C-13.67.
it('are within a tenth in the last two hours, and warn an hour ahead of a pack that dies before the end', async () => {
  const advance = startRunningClock()
  const receiver = await startReceiver()
  receiver.insertBatteries(10)
  const rate = { calls_per_second: 1000, burst: 1000, poll_interval: 60 }
  const app = await startApp({ manufacturers: [{ code: 'shure', config: { devices: [receiver.url], ...rate } }] })
  const operator = await tokenHeaders(app, 'operator')
  const { id: receiverId } = await until('the receiver is listed', async () => (await app.receivers())[0])
  const channels = async () => (await app.get(`/api/receivers/${receiverId}/`)).json.channels as ChannelBody[]
  const numbers = [1, 2, 3]
  const ids = (await channels()).map(({ id }) => id)

  /** Lets time pass, and waits until the service has received what the packs report then. */
  const step = async (ms = stepMs) => {
    advance(ms)
    return until('the batteries are received', async () => {
      const listed = await channels()
      return numbers.every((number) => (listed[number - 1]?.transmitter?.battery ?? null) === receiver.battery(number))
        ? listed
        : false
    })
  }

  // The rehearsal, from which the service learns how the batteries drain: each pack until it is nearly empty.
  await step(1000)
  while (numbers.some((number) => (receiver.remaining(number) ?? 0) > 3)) {
    await step()
    for (const number of numbers) if ((receiver.remaining(number) ?? 0) <= 3) receiver.switchOff(number)
  }
  for (let steps = 0; steps < 5; steps += 1) await step()

  // The show: every pack dies before its end.
  receiver.insertBatteries(20)
  await step(1000)
  const lives = numbers.map((number) => receiver.remaining(number) ?? 0)
  const endsAt = Date.now() + (Math.max(...lives) + 12) * minuteMs
  const body = { title: 'The show', ends_at: new Date(endsAt).toISOString() }
  const { id: showId } = (await app.post('/api/shows/', body, operator)).json
  expect((await app.post(`/api/shows/${showId}/start`, undefined, operator)).status).toBe(200)

  const planEnd = async (time: number) => {
    const headers = { ...operator, 'content-type': 'application/json' }
    const body = JSON.stringify({ ends_at: new Date(time).toISOString() })
    expect((await app.send('PATCH', `/api/shows/${showId}/`, { headers, body })).status).toBe(200)
  }

  const errors = new Map<number, number[]>(numbers.map((number) => [number, []]))
  const announced = new Set<number>()
  while (numbers.some((number) => (receiver.remaining(number) ?? 0) > 3)) {
    const listed = await step()
    for (const number of numbers) {
      const remaining = receiver.remaining(number)
      if (remaining === null) continue
      if (remaining <= 3) {
        receiver.switchOff(number)
        continue
      }
      const transmitter = listed[number - 1]?.transmitter
      const forecast = transmitter?.forecast ?? null
      if (remaining <= 120 && forecast !== null)
        errors.get(number)?.push(Math.abs(forecast.minutes_left - remaining) / remaining)
      if (remaining > 60 || announced.has(number)) continue
      announced.add(number)
      expect([number, forecast?.source]).toEqual([number, number === 1 ? 'device' : 'history'])
      const untilEnd = (endsAt - Date.now()) / minuteMs
      expect([number, (forecast?.low ?? Number.POSITIVE_INFINITY) < untilEnd]).toEqual([number, true])
      const lasts = async () => {
        const checks = (await app.get(`/api/shows/${showId}/checks/`)).json as ChannelCheckBody[]
        return checks.find(({ channel_id }) => channel_id === ids[number - 1])?.sees.lasts
      }
      expect(await lasts()).toBe(false)
      const isRaised = async () => {
        const query = `state=open&kind=will_not_last&channel=${ids[number - 1]}`
        return ((await app.get(`/api/alerts/?${query}`)).json as AlertBody[]).length === 1
      }
      await until('the alert is raised', isRaised)
      // A show that ends earlier clears it.
      await planEnd(Date.now() + 10 * minuteMs)
      await until('the alert is cleared', async () => !(await isRaised()))
      // The line check and the alert compare the same minute with the end.
      const current = () => minutesLeft(app, channelOf(app, receiverId, number))
      const before = Date.now() + (current() - 0.4) * minuteMs
      await planEnd(before)
      expect([number, await lasts(), await isRaised()]).toEqual([number, true, false])
      await planEnd(before + 0.8 * minuteMs)
      expect([number, await lasts()]).toEqual([number, false])
      await until('the alert is raised at the boundary', isRaised)
      await planEnd(endsAt)
    }
  }
  expect(announced.size).toBe(numbers.length)
  for (const [number, ofPack] of errors) {
    expect([number, ofPack.length > 40]).toEqual([number, true])
    // The first pack reports minutes; the others have a forecast from one earlier discharge.
    expect(medianOf(ofPack), `pack ${number}`).toBeLessThan(0.1)
  }
})
