import type { BatteryList } from '../../contract/reports.ts'
import { toBatteryList } from '../../domain/reports/battery-list.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'

const defaultMs = 2 * 60 * 60_000

/** Lists the batteries to change until a time (epoch ms); by default, until the end of the running show or two hours. */
export function listBatteries(
  { receiverStore, forecasts, settings, slotRecords, lists }: Service,
  until?: number,
): BatteryList {
  const time = now()
  const ends = lists.runningShows().map(({ ends_at }) => ends_at ?? 0)
  const end = Math.max(...ends, 0)
  return toBatteryList({
    receivers: receiverStore.listFacts(),
    before: until ?? (end > time ? end : time + defaultMs),
    now: time,
    titleOf: (receiver, channel) => slotRecords.titleOf(receiver, channel).title ?? '',
    forecastOf: (channel) => forecasts.forecastOf(channel),
    thresholdsOf: ({ manufacturer }, { slot }) => settings.thresholds(manufacturer, slot),
  })
}
