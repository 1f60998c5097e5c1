import type { TransmitterBody, TransmitterDetails } from '../../contract/channels.ts'

/** Whole minutes. */
export type Forecast = NonNullable<TransmitterBody['forecast']>

/** Returns the device's own forecast, or null. */
export function deviceForecast({ details }: { readonly details?: TransmitterDetails }): Forecast | null {
  const minutes = details?.battery_minutes ?? null
  return minutes === null ? null : { minutes_left: minutes, source: 'device', low: minutes, high: minutes }
}

const roundedTo = 5

/** Below this, every minute counts. */
const roundedFrom = 15

/** Rounds longer forecasts to 5 minutes, so that they do not change every minute. */
export function roundForecast({ minutes_left, source, low, high }: Forecast): Forecast {
  return { minutes_left: round(minutes_left), source, low: round(low), high: round(high) }
}

function round(minutes: number): number {
  return minutes < roundedFrom ? Math.max(1, Math.round(minutes)) : roundedTo * Math.round(minutes / roundedTo)
}

export function isSameForecast(a: Forecast | null, b: Forecast | null): boolean {
  if (a === null || b === null) return a === b
  return a.minutes_left === b.minutes_left && a.source === b.source && a.low === b.low && a.high === b.high
}

/** The largest plausible factor between a battery's rate and the usual one. */
const plausibleFactor = 5
/** The highest plausible rate in percent per hour, without comparable batteries. */
export const fastestRate = 60
const plausibleRates = [2, fastestRate] as const
/** Fewer discharges of a model are not representative. */
const fewRates = 3

/**
 * True if a battery at this level can last that long. `ofModel` and `ofType` are the rates of earlier discharges of its
 * model, and of all models with its type of battery, in percent per hour.
 */
export function isPlausible(
  percent: number,
  minutesLeft: number,
  { ofModel, ofType }: { readonly ofModel: readonly number[]; readonly ofType: readonly number[] },
): boolean {
  const rate = percent / (Math.max(1, minutesLeft) / 60)
  const usual = median(ofModel.length >= fewRates ? ofModel : ofType)
  const [lowest, highest] = usual === null ? plausibleRates : [usual / plausibleFactor, usual * plausibleFactor]
  return rate >= lowest && rate <= highest
}

function median(values: readonly number[]): number | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}
