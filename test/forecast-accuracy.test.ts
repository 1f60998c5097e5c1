/**
 * Measures forecasts from history against the true remaining time of simulated batteries, in simulated time. There are
 * several models and types of batteries, which equipment reports in percent or in a few steps.
 */

import { describe, expect, it } from 'vitest'
import { type BatteryType, batteryAt, type Pack } from '../simulators/show/battery.ts'
import { chance } from '../simulators/show/levels.ts'
import { type Discharge, isUsedUp, observe } from '../src/domain/forecast/discharge.ts'
import { estimate, forecastBattery, type Reference, toReference } from '../src/domain/forecast/estimate.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const pollMs = 20_000

interface Model {
  readonly name: string
  readonly type: BatteryType
  /** Percent per hour. */
  readonly drain: number
  /** Converts percent to what the equipment reports. */
  report(percent: number): number
}

const inPercent = (percent: number) => percent
const inSteps = (count: number) => (percent: number) =>
  Math.round((100 / count) * Math.max(1, Math.ceil((percent * count) / 100)))

const models: readonly Model[] = [
  { name: 'lithium in percent', type: 'lithium', drain: 10.5, report: inPercent },
  { name: 'NiMH in percent', type: 'nimh', drain: 14, report: inPercent },
  { name: 'alkaline in percent', type: 'alkaline', drain: 12, report: inPercent },
  { name: 'lithium in 8 steps', type: 'lithium', drain: 16, report: inSteps(8) },
  { name: 'NiMH in 5 bars', type: 'nimh', drain: 16, report: inSteps(5) },
  { name: 'alkaline in 5 bars', type: 'alkaline', drain: 13, report: inSteps(5) },
]

/** Batteries of one model last 10% longer or shorter. Most are inserted full; some were used before. */
function createPack({ type, drain }: Model, number: number): Pack {
  const seed = Math.round(1000 * drain) + 37 * number
  const perHour = drain * (0.9 + 0.2 * chance(seed, 1))
  const charge = chance(seed, 2) < 0.7 ? 100 : Math.round(70 + 30 * chance(seed, 3))
  return { type, seed, charge, firstPerHour: perHour, perHour }
}

/** Discharges a pack until it is empty. `onPoll` is called with what is known, and with the true remaining time. */
function discharge(
  model: Model,
  pack: Pack,
  onPoll?: (known: Discharge, remainingMinutes: number) => void,
): Discharge | null {
  const kind = { manufacturer: 'shure', model: model.name, batteryType: model.type, name: 'Pack' }
  let known: Discharge | null = null
  for (let timeMs = 0; ; timeMs += pollMs) {
    const battery = batteryAt(pack, timeMs)
    if (battery === null) return known
    known = observe(known, { ...kind, percent: model.report(battery.percent) }, timeMs)
    if (known !== null) onPoll?.(known, battery.remainingMs / minuteMs)
  }
}

function train(model: Model, count: number): readonly Reference[] {
  return Array.from({ length: count }, (_, number) => discharge(model, createPack(model, number)))
    .filter((run) => run !== null)
    .filter(isUsedUp)
    .map(toReference)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

interface Measured {
  /** Relative errors of `minutes_left` every 5 minutes of the last two hours. */
  readonly errors: number[]
  /** True where the true time was between `low` and `high`. */
  readonly within: boolean[]
  /** By how many minutes `low` was too high an hour before each pack died. */
  readonly tooHighAnHourBefore: number[]
}

function measure(
  model: Model,
  references: readonly Reference[],
  packs: number,
  batteryType: string | null = model.type,
): Measured {
  const measured: Measured = { errors: [], within: [], tooHighAnHourBefore: [] }
  for (let number = 1000; number < 1000 + packs; number++) {
    let beforeHour = Number.NaN
    discharge(model, createPack(model, number), (known, remaining) => {
      const isSampled = known.observedAt % (5 * minuteMs) === 0
      const isHour = remaining <= 60 && remaining > 60 - pollMs / minuteMs
      if (remaining > 120 || !(isSampled || isHour)) return
      const forecast = forecastBattery({ ...known, batteryType }, references)
      if (forecast === null) return
      if (isHour) beforeHour = forecast.low - remaining
      if (!isSampled || remaining < 1) return
      measured.errors.push(Math.abs(forecast.minutes_left - remaining) / remaining)
      measured.within.push(forecast.low <= remaining && remaining <= forecast.high)
    })
    measured.tooHighAnHourBefore.push(beforeHour)
  }
  return measured
}

describe('a forecast after 20 discharges of each model', () => {
  const measured = models.map((model) => measure(model, train(model, 20), 25))

  // Conformance: C-13.30.
  it('has a median error under 10% in the last two hours', () => {
    expect(measured.every(({ errors }) => errors.length > 400)).toBe(true)
    expect(median(measured.flatMap(({ errors }) => errors))).toBeLessThan(0.1)
    for (const [index, { errors }] of measured.entries()) expect(median(errors), models[index]?.name).toBeLessThan(0.1)
  })

  // Conformance: C-13.31.
  it('warns an hour ahead of every pack that dies more than 10 minutes before the end of the show', () => {
    // With `low` at most 10 minutes too high, `will_not_last` is true for a show that ends later than that.
    for (const [index, { tooHighAnHourBefore }] of measured.entries()) {
      expect(tooHighAnHourBefore).toHaveLength(25)
      for (const minutes of tooHighAnHourBefore) expect(minutes, models[index]?.name).toBeLessThanOrEqual(10)
    }
  })

  // Conformance: C-13.32.
  it('has a range that contains at least 80% of the true times', () => {
    const within = measured.flatMap((model) => model.within)
    expect(within.filter(Boolean).length / within.length).toBeGreaterThanOrEqual(0.8)
  })
})

it('is roughly right after three discharges, with a wide range', () => {
  const measured = models.map((model) => measure(model, train(model, 4), 10))
  expect(median(measured.flatMap(({ errors }) => errors))).toBeLessThan(0.15)
  const within = measured.flatMap((model) => model.within)
  expect(within.filter(Boolean).length / within.length).toBeGreaterThanOrEqual(0.8)
  for (const { tooHighAnHourBefore } of measured) {
    for (const minutes of tooHighAnHourBefore) expect(minutes).toBeLessThanOrEqual(10)
  }
})

it('uses the curve of the battery type if nothing was recorded, but never for a few bars', () => {
  for (const model of models) {
    const { errors, within, tooHighAnHourBefore } = measure(model, [], 10)
    // A pack without a forecast is shown as lasting neither; 8 steps may say too little an hour before.
    for (const minutes of tooHighAnHourBefore) expect(minutes > 10, model.name).toBe(false)
    if (model.name.endsWith('in percent')) {
      expect(median(errors), model.name).toBeLessThan(0.35)
      expect(within.filter(Boolean).length / within.length, model.name).toBeGreaterThanOrEqual(0.5)
    }
    if (model.name.endsWith('bars')) expect(errors).toEqual([])
  }
})

it('is too short rather than too long for an unknown type of battery', () => {
  for (const model of models) {
    const { errors, within, tooHighAnHourBefore } = measure(model, [], 5, null)
    if (model.name.endsWith('bars')) expect(errors).toEqual([])
    else expect(within.filter(Boolean).length / within.length, model.name).toBeGreaterThanOrEqual(0.75)
    if (!model.name.endsWith('in percent')) continue
    for (const minutes of tooHighAnHourBefore) expect(minutes, model.name).toBeLessThanOrEqual(0)
  }
})

it('needs 20 minutes of this discharge', () => {
  const model = models[0] as Model
  const references = train(model, 3)
  let firstAt: number | null = null
  discharge(model, createPack(model, 2000), (known) => {
    if (firstAt === null && estimate(known, references) !== null) firstAt = known.observedAt
  })
  expect(firstAt).toBe(20 * minuteMs)
})

it('counts a plateau that lasts longer than usual as a slower pace', () => {
  const reference: Reference = {
    steps: [
      [100, 0],
      [80, hourMs],
      [60, 2 * hourMs],
      [40, 4 * hourMs],
      [20, 5 * hourMs],
    ],
    endMs: 6 * hourMs,
    isTypical: false,
  }
  const references = Array.from({ length: 10 }, () => reference)
  const steps = reference.steps.slice(0, 3)
  const left = (onMs: number) => estimate({ steps, onMs }, references)?.minutes_left ?? 0
  expect(left(2 * hourMs)).toBe(240)
  expect(left(3 * hourMs)).toBe(180)
  // The step to 40% was expected after four hours.
  expect(left(4 * hourMs)).toBe(120)
  expect(left(5 * hourMs)).toBeGreaterThan(120)
})
