/**
 * Equipment reports 0 for values that it does not know yet. A zero that a healthy value in the same report contradicts
 * is unknown.
 */

import type { ChannelReading, DeviceReport, TransmitterDetails } from './receiver.ts'

interface BatteryValues
  extends Pick<
    TransmitterDetails,
    'battery_minutes' | 'battery_minutes_to_full' | 'battery_bars' | 'battery_health' | 'fault'
  > {
  readonly battery?: number | null | undefined
}

/** Above this charge (percent), a battery has minutes and health left; above the second one, a bar as well. */
const emptyPercent = 5
const lowPercent = 20
/** With at least this many minutes or bars, a battery is not empty. */
const healthyMinutes = 30
const healthyBars = 2
/** A battery may be full from this charge (percent). */
const fullPercent = 95

/** Returns `report` itself if it has no false zeros. */
export function withoutFalseZeros(report: DeviceReport): DeviceReport {
  const channels = report.channels && mapIfChanged(report.channels, cleanChannel)
  const units = report.units && mapIfChanged(report.units, cleanReading)
  const isSame = channels === report.channels && units === report.units
  const cleaned = cleanReading(report)
  return isSame ? cleaned : { ...cleaned, ...(channels && { channels }), ...(units && { units }) }
}

function cleanChannel(reading: ChannelReading): ChannelReading {
  const { details } = reading
  const transmitter = reading.transmitter && cleanReading(reading.transmitter)
  const slots = details?.slots && mapIfChanged(details.slots, cleanValues)
  if (transmitter === reading.transmitter && slots === details?.slots) return reading
  return { ...reading, transmitter, ...(slots && { details: { ...details, slots } }) }
}

/** `battery` is in the reading itself; the other battery values are in `details`. */
function cleanReading<Reading extends Pick<BatteryValues, 'battery'> & { readonly details?: BatteryValues }>(
  reading: Reading,
): Reading {
  const { battery, details } = reading
  if (details === undefined || battery === undefined || battery === null) return reading
  const before = { ...details, battery }
  const after = cleanValues(before)
  if (after === before) return reading
  const { battery: charge, ...cleaned } = after
  return { ...reading, battery: charge, details: cleaned }
}

function cleanValues<Values extends BatteryValues>(values: Values): Values {
  const { battery, battery_minutes, battery_bars, battery_minutes_to_full, fault } = values
  if (battery === undefined || battery === null) return values
  const isFalse: Partial<Record<keyof BatteryValues, boolean>> = {
    battery: battery === 0 && ((battery_minutes ?? 0) >= healthyMinutes || (battery_bars ?? 0) >= healthyBars),
    battery_minutes: battery_minutes === 0 && battery > emptyPercent,
    battery_health: values.battery_health === 0 && battery > emptyPercent,
    battery_bars: battery_bars === 0 && battery > lowPercent,
    // In storage mode, a battery is charged to about 40%.
    battery_minutes_to_full: battery_minutes_to_full === 0 && battery < fullPercent && fault !== 'storage_mode',
  }
  const names = Object.entries(isFalse).flatMap(([name, isTrue]) => (isTrue ? [[name, null]] : []))
  return names.length === 0 ? values : { ...values, ...Object.fromEntries(names) }
}

function mapIfChanged<Item>(items: readonly Item[], map: (item: Item) => Item): readonly Item[] {
  const mapped = items.map(map)
  return mapped.some((item, index) => item !== items[index]) ? mapped : items
}
