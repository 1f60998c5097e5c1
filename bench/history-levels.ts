/** The levels that the benchmark of the history stores. */

import { type ColumnName, columnNames, noValue, type RecordedSeconds } from '../src/domain/history/columns.ts'

export const channelIds: readonly number[] = Array.from({ length: 400 }, (_, index) => index + 1)
export const hourSeconds = 3600
export const daySeconds = 24 * hourSeconds
export const batchSeconds = 5
/** 2026-05-01T00:00:00Z */
export const start = 1_777_593_600

/** An hour of all channels: random walks at ten samples a second, by 2 dB RF and 6 dB audio, or only noise. */
export function createHour(isOn: boolean): RecordedSeconds {
  const length = hourSeconds * channelIds.length
  const columns = Object.fromEntries(
    columnNames.map((name) => [name, new Int16Array(length).fill(name === 'rows' ? 0 : noValue)]),
  ) as Record<ColumnName, Int16Array>
  columns.state.fill(isOn ? 4 : 2)
  columns.weak_ms.fill(0)
  if (!isOn) columns.rf_min.fill(-99)
  if (!isOn) columns.rf_max.fill(-98)
  if (isOn) for (const channel of channelIds.keys()) fillChannel(columns, channel * hourSeconds)
  return { from: start, count: hourSeconds, channelIds, columns }
}

function fillChannel(columns: Record<ColumnName, Int16Array>, first: number): void {
  const random = (limit: number) => Math.floor(Math.random() * (2 * limit + 1)) - limit
  const reflect = (value: number, min: number, max: number) =>
    value < min ? 2 * min - value : value > max ? 2 * max - value : value
  let [rf, audio] = [-60, -30]
  for (let at = first; at < first + hourSeconds; at++) {
    let [rfMin, rfMax, audioMax] = [0, -200, -200]
    for (let sample = 0; sample < 10; sample++) {
      rf = reflect(rf + random(2), -90, -30)
      audio = reflect(audio + random(6), -60, 0)
      rfMin = Math.min(rfMin, rf)
      rfMax = Math.max(rfMax, rf)
      audioMax = Math.max(audioMax, audio)
    }
    columns.rf_min[at] = rfMin
    columns.rf_max[at] = rfMax
    columns.audio_max[at] = audioMax
    columns.audio_last[at] = audio - 11 + random(3)
    columns.battery[at] = 80
    columns.minutes[at] = 300
  }
}

/** Returns a part of the hour, which begins `shift` channels later, as if it began at `from`. */
export function cut(levels: RecordedSeconds, second: number, count: number, from: number, shift = 0): RecordedSeconds {
  const columns = Object.fromEntries(
    columnNames.map((name) => {
      const values = new Int16Array(count * channelIds.length)
      for (const channel of channelIds.keys()) {
        const at = ((channel + shift) % channelIds.length) * hourSeconds + second
        values.set(levels.columns[name].subarray(at, at + count), channel * count)
      }
      return [name, values]
    }),
  ) as Record<ColumnName, Int16Array>
  return { from, count, channelIds, columns }
}
