import { beforeEach, describe, expect, it } from 'vitest'
import { buildReceiver } from '../../test/support/builders.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import { type Channel, emptyChannel, type Receiver } from '../domain/equipment/receiver.ts'
import type { Database } from '../storage/database.ts'
import { listDischarges } from '../storage/discharges.ts'
import { BatteryForecasts } from './battery-forecasts.ts'

const minute = 60_000

let now: number
let receiver: Receiver
let db: Database
let isOwn: boolean
let changed: number

beforeEach(async () => {
  now = Date.UTC(2026, 10, 23, 18)
  receiver = buildReceiver(1, { model: 'UR4', channels: [emptyChannel(7, 1, 1)] })
  db = await openStore('sqlite')
  isOwn = true
  changed = 0
})

function openForecasts(): BatteryForecasts {
  const subsystems = {
    db,
    receiverStore: {
      facts: () => receiver,
      listFacts: () => [receiver],
      lastReceivedAt: () => (isOwn ? 1 : Number.NEGATIVE_INFINITY),
    },
    ownReceivers: { has: () => isOwn },
    settings: { thresholds: () => ({ MINUTES_CRITICAL: 15 }) },
    leaseManager: { hasOtherNodes: true },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  }
  const forecasts = new BatteryForecasts(subsystems as never, () => now)
  forecasts.changed.subscribe(() => {
    changed += 1
  })
  return forecasts
}

function channelWith(battery: number | null, minutes?: number): Channel {
  const transmitter =
    battery === null
      ? null
      : {
          ...{ upstream_slot: null, name: 'Nora', battery, audio_level: null, rf_level: null, frequency: null },
          ...(minutes !== undefined && { details: { battery_minutes: minutes } }),
        }
  return { ...emptyChannel(7, 1, 1), transmitter }
}

function set(battery: number | null, minutes?: number): void {
  receiver = { ...receiver, channels: [channelWith(battery, minutes)] }
}

const forecastOf = (forecasts: BatteryForecasts) => forecasts.forecastOf(receiver.channels[0] as Channel)

/** Discharges a battery by 20% an hour from full until `until` percent, checked every minute. */
async function discharge(forecasts: BatteryForecasts, until: number): Promise<void> {
  for (let percent = 100; percent >= until; percent -= 1) {
    set(percent)
    for (let checks = 0; checks < 3; checks++) {
      await forecasts.check()
      now += minute
    }
  }
}

describe('forecasts', () => {
  // Conformance: C-13.36.
  it('are the minutes that the device reports, with no range', () => {
    set(80, 143)
    expect(forecastOf(openForecasts())).toEqual({ minutes_left: 143, source: 'device', low: 143, high: 143 })
  })

  // Conformance: C-13.37.
  it('come from this discharge and earlier ones of the same model, with a wide range without earlier ones', async () => {
    const forecasts = openForecasts()
    await discharge(forecasts, 95)
    expect(forecastOf(forecasts)).toBeNull()
    await discharge(forecasts, 61)
    const alone = forecastOf(forecasts)
    expect(alone?.low).toBeLessThan(150)
    expect(alone?.high).toBeGreaterThan(220)
    for (let runs = 0; runs < 3; runs++) await discharge(forecasts, 1)
    await discharge(forecasts, 61)
    // 120 minutes have passed of 300.
    const forecast = forecastOf(forecasts)
    expect(forecast).toMatchObject({ source: 'history' })
    expect(Math.abs((forecast?.minutes_left ?? 0) - 180)).toBeLessThanOrEqual(5)
    expect(forecast?.low).toBeLessThan(175)
    expect(forecast?.high).toBeGreaterThan(185)
    expect((forecast?.minutes_left ?? 1) % 5).toBe(0)
    set(null)
    expect(forecastOf(forecasts)).toBeNull()
    expect(changed).toBeGreaterThan(0)
  })

  // Conformance: C-13.38.
  it('survive a restart, and are the same in another process', async () => {
    const forecasts = openForecasts()
    for (let runs = 0; runs < 3; runs++) await discharge(forecasts, 1)
    await discharge(forecasts, 61)
    const before = forecastOf(forecasts)
    expect(before).not.toBeNull()
    now += 4 * minute
    const restarted = openForecasts()
    await restarted.open()
    expect(Math.abs((forecastOf(restarted)?.minutes_left ?? 0) - (before?.minutes_left ?? 0))).toBeLessThanOrEqual(5)
    isOwn = false
    const other = openForecasts()
    await other.check()
    expect(forecastOf(other)?.minutes_left).toBe(forecastOf(restarted)?.minutes_left)
  })

  it('are forgotten with the battery', async () => {
    const forecasts = openForecasts()
    for (let runs = 0; runs < 3; runs++) await discharge(forecasts, 1)
    await discharge(forecasts, 50)
    const since = forecasts.batterySince(7)
    set(90)
    await forecasts.check()
    expect(forecastOf(forecasts)).toBeNull()
    expect(forecasts.batterySince(7)).toBeGreaterThan(since ?? 0)
    expect((await listDischarges(db.read)).filter(({ endedAt }) => endedAt === null)).toHaveLength(1)
  })
})
