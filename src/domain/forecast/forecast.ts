/** How long the battery of a transmitter will last. */

import type { TransmitterBody, TransmitterDetails } from '../../contract/resources/channels.ts'

/** Whole minutes. */
export type Forecast = NonNullable<TransmitterBody['forecast']>

/** Returns the minutes that the device reports as a forecast; null if it reports none. */
export function deviceForecast({ details }: { readonly details?: TransmitterDetails }): Forecast | null {
  const minutes = details?.battery_minutes ?? null
  return minutes === null ? null : { minutes_left: minutes, source: 'device', low: minutes, high: minutes }
}

const roundedTo = 5

/** Rounds a forecast to 5 minutes, so that it does not change every minute. */
export function roundForecast({ minutes_left, source, low, high }: Forecast): Forecast {
  return { minutes_left: round(minutes_left), source, low: round(low), high: round(high) }
}

function round(minutes: number): number {
  return roundedTo * Math.round(minutes / roundedTo)
}

export function isSameForecast(a: Forecast | null, b: Forecast | null): boolean {
  if (a === null || b === null) return a === b
  return a.minutes_left === b.minutes_left && a.source === b.source && a.low === b.low && a.high === b.high
}
