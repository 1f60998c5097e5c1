import { describe, expect, it } from 'vitest'
import { type ColumnName, noValue, stateLetters } from '../../src/domain/history/columns.ts'
import { dayMs, planDay, type VenueDay } from './day.ts'
import { listChannelEvents, listMarkers } from './day-events.ts'
import { commonScale, findWeakSpans, type PlayedChannel, playSeconds } from './day-levels.ts'
import { createShow, type Show } from './show.ts'

/** A whole second, in epoch milliseconds. */
const startedAt = Date.parse('2026-05-01T18:00:00Z')
const startSecond = startedAt / 1000

function playedChannels(show: Show, day: VenueDay): (PlayedChannel & { deviceId: string })[] {
  let id = 0
  return show.setups().flatMap(({ device, channels }) =>
    channels.map((setup) => {
      const { offline, channels: days } = day.devices.get(device.id) ?? { offline: [], channels: new Map() }
      id += 1
      return {
        ...{ id, deviceId: device.id, setup, day: days.get(setup.channel), offline },
        ...{ scale: commonScale, isMuted: false },
      }
    }),
  )
}

const show = createShow({ seed: 1 })
const day = planDay(1, show.setups())
const channels = playedChannels(show, day)

/** Returns the values of one second of every channel. */
function secondAt(second: number, name: ColumnName): number[] {
  return [...playSeconds(channels, startedAt, { from: second, count: 1 }).columns[name]]
}

function countStates(hoursBefore: number): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const state of secondAt(startSecond + Math.round(hoursBefore * 3600), 'state')) {
    const letter = stateLetters[state] ?? '?'
    counts[letter] = (counts[letter] ?? 0) + 1
  }
  return counts
}

describe('the day before', () => {
  it('has periods in order, within the day, with batteries between 0 and 100 percent', () => {
    for (const { day } of channels) {
      for (const periods of [day.on, day.muted, day.interference]) {
        const times = periods.flatMap(({ fromMs, toMs }) => [fromMs, toMs])
        expect(times).toEqual(times.toSorted((a, b) => a - b))
        expect(times.every((time) => time >= -dayMs && time <= 0)).toBe(true)
      }
      for (const { batteryFrom, batteryTo } of day.on) {
        expect(batteryFrom).toBeLessThanOrEqual(100)
        expect(batteryTo).toBeGreaterThan(0)
        expect(batteryFrom).toBeGreaterThanOrEqual(batteryTo)
      }
    }
  })

  it('has most transmitters on in the matinee, and all off at night', () => {
    expect(countStates(-12)).toEqual({ '0': channels.length })
    expect(countStates(-4)['1']).toBeGreaterThan(0.75 * channels.length)
    expect(countStates(-3.5).m).toBeGreaterThan(0.5 * channels.length)
  })

  it('has a receiver that is offline in the rehearsal, without levels', () => {
    const second = startSecond - 7.5 * 3600
    const states = secondAt(second, 'state').map((state) => stateLetters[state])
    const offline = channels.flatMap(({ deviceId }, index) => (states[index] === 'x' ? [{ deviceId, index }] : []))
    expect(new Set(offline.map(({ deviceId }) => deviceId)).size).toBe(1)
    const rf = secondAt(second, 'rf_min')
    expect(offline.map(({ index }) => rf[index])).toEqual(offline.map(() => noValue))
  })

  it('has a battery that ran low and was changed, and interference on a spare channel', () => {
    const events = channels.flatMap((channel) => listChannelEvents(channel, 1, startedAt))
    const low = events.filter(({ kind }) => kind === 'battery_low' || kind === 'battery_critical')
    expect(low.map(({ kind }) => kind)).toEqual(['battery_critical', 'battery_low', 'battery_critical', 'battery_low'])
    const changes = events.filter(({ kind, data }) => kind === 'battery_changed' && data?.to === 100)
    expect(changes.map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { from: 7, to: 100 },
        { from: 3, to: 100 },
      ]),
    )
    const [interference] = events.filter(({ kind }) => kind === 'interference')
    expect(interference?.data).toEqual({ seconds: 214 })
    const noise = secondAt((interference?.time ?? 0) / 1000 + 60, 'rf_min')
    expect(noise[(interference?.channelId ?? 0) - 1]).toBeGreaterThan(-75)
  })

  it('has markers, of which those about an incident belong to its channel', () => {
    const find = (deviceId: string, channel: number) => {
      const found = channels.find((each) => each.deviceId === deviceId && each.setup.channel === channel)
      return found === undefined ? null : { id: found.id, receiverId: 1 }
    }
    const markers = listMarkers(day, startedAt, find)
    expect(markers.find(({ text }) => text === 'Interval')).toMatchObject({ channelId: null, kind: 'marker' })
    const changed = markers.find(({ text }) => text === 'Battery changed in the quick change')
    expect(changed?.channelId).not.toBeNull()
  })

  it('records every dropout as an event and as weak milliseconds of the same seconds', () => {
    const range = { from: startSecond - 3600, count: 3600 }
    const spans = findWeakSpans(channels, startedAt, range)
    const { columns } = playSeconds(channels, startedAt, range)
    expect(spans.length).toBeGreaterThan(20)
    for (const { channelId, fromMs, toMs, lowestDbm } of spans) {
      const position = (channelId - 1) * range.count
      const first = Math.floor(fromMs / 1000) - range.from
      const last = Math.floor(toMs / 1000) - range.from
      const weak = columns.weak_ms.slice(position + first, position + last + 1)
      expect(weak.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(0)
      const lowest = Math.min(...columns.rf_min.slice(position + first, position + last + 1))
      expect(Math.abs(lowest - lowestDbm)).toBeLessThanOrEqual(6)
    }
  })

  it('is the same for the same seed, and another for another seed', () => {
    expect(planDay(1, createShow({ seed: 1 }).setups())).toEqual(day)
    expect(planDay(2, createShow({ seed: 2 }).setups()).remarks).not.toEqual(day.remarks)
  })
})

describe('the start of the show', () => {
  // Conformance: C-12.75.
  it('continues the levels, batteries and states of the day before', () => {
    const before = playSeconds(channels, startedAt, { from: startSecond - 1, count: 1 }).columns
    const live = show.devicesAt(500).flatMap((state) => state.channels)
    for (const [index, { transmitter, rf_level }] of live.entries()) {
      expect(stateLetters[before.state[index] ?? 0]).toBe(transmitter === null ? '0' : '1')
      const level = transmitter?.rf_level ?? rf_level ?? 0
      expect(level).toBeGreaterThanOrEqual((before.rf_min[index] ?? 0) - 8)
      expect(level).toBeLessThanOrEqual((before.rf_max[index] ?? 0) + 8)
      const battery = before.battery[index] ?? 0
      if (transmitter !== null) expect(Math.abs(transmitter.battery - battery)).toBeLessThanOrEqual(1)
    }
  })

  it('is played like the live show', () => {
    const range = { from: startSecond, count: 30 }
    const { columns } = playSeconds(channels, startedAt, range)
    for (let second = 0; second < range.count; second++) {
      const live = show.devicesAt(second * 1000 + 400).flatMap((state) => state.channels)
      for (const [index, { transmitter, rf_level }] of live.entries()) {
        const position = index * range.count + second
        expect(transmitter?.rf_level ?? rf_level).toBeGreaterThanOrEqual((columns.rf_min[position] ?? 0) - 1)
        expect(transmitter?.rf_level ?? rf_level).toBeLessThanOrEqual((columns.rf_max[position] ?? 0) + 1)
        if (transmitter !== null) expect(transmitter.audio_level).toBeLessThanOrEqual(columns.audio_max[position] ?? 0)
        expect(Math.abs((transmitter?.battery ?? noValue) - (columns.battery[position] ?? 0))).toBeLessThanOrEqual(1)
      }
    }
  })
})
