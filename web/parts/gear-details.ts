/** What some gear tells of a channel and its transmitter beyond the usual, as names and values. */

import type { ChannelDetails, Fault, TransmitterDetails } from '../../src/model/details.ts'
import { formatLevel, plainText } from '../format.ts'
import { words } from '../words.ts'
import type { Pair } from './pairs.tsx'

const fields = words.channel.fields

export function channelPairs(details: ChannelDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { antennas, audio_peak, audio_rms, audio_activity, quality, interference, muted, encryption, gain_db } = details
  const { rf_low, overload, second_frequency } = details
  return [
    { name: fields.rf, value: antennaLevels(details) ?? shown(details.rf_percent, words.card.percent) },
    { name: fields.antennas, value: antennas === '' ? words.channel.noAntenna : antennas },
    { name: fields.quality, value: shown(quality, words.card.percent) },
    { name: fields.rfLow, value: yesOrNo(rf_low) },
    { name: fields.interference, value: yesOrNo(interference) },
    { name: fields.secondFrequency, value: shown(second_frequency, words.card.frequency) },
    { name: fields.audioPeak, value: shown(audio_peak, (level) => words.channel.dbfs(formatLevel(level))) },
    { name: fields.audioRms, value: shown(audio_rms, (level) => words.channel.dbfs(formatLevel(level))) },
    { name: fields.audioActivity, value: shown(audio_activity, (one) => words.channel.activities[one]) },
    { name: fields.overload, value: yesOrNo(overload) },
    { name: fields.gain, value: shown(gain_db, inDb) },
    { name: fields.muted, value: yesOrNo(muted) },
    { name: fields.encryption, value: shown(encryption, (one) => words.channel.encryptions[one]) },
  ]
}

export function transmitterPairs(details: TransmitterDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { model, muted, gain_db, power_mw, battery_minutes, battery_bars, battery_type } = details
  const { battery_minutes_to_full, battery_health, battery_cycles, battery_temperature_c, battery_low, fault } = details
  return [
    { name: fields.model, value: shown(model, plainText) },
    { name: fields.muted, value: yesOrNo(muted) },
    { name: fields.gain, value: shown(gain_db, inDb) },
    { name: fields.power, value: shown(power_mw, words.channel.milliwatts) },
    { name: fields.runtime, value: shown(battery_minutes, inHours) },
    { name: fields.timeToFull, value: shown(battery_minutes_to_full, inHours) },
    { name: fields.batteryBars, value: shown(battery_bars, words.channel.bars) },
    { name: fields.batteryType, value: shown(battery_type, plainText) },
    { name: fields.batteryHealth, value: shown(battery_health, words.card.percent) },
    { name: fields.batteryCycles, value: shown(battery_cycles, String) },
    {
      name: fields.batteryTemperature,
      value: shown(battery_temperature_c, (degrees) => words.channel.celsius(formatLevel(degrees))),
    },
    { name: fields.batteryLow, value: yesOrNo(battery_low) },
    { name: fields.fault, value: faultText(fault) },
  ]
}

/** Where the gear tells bars alone, the percentage is only worked out from them. */
export function batteryText(percent: number | null, details: TransmitterDetails | undefined): string | null {
  if (percent === null) return null
  const text = words.card.percent(percent)
  return details?.battery_is_estimate === true ? words.channel.estimated(text) : text
}

export function faultText(fault: Fault | null | undefined): string | null {
  return shown(fault, (one) => words.channel.faults[one])
}

/** What there is to say of a pack's battery in one line. */
export function batteryLine(percent: number | null, details: TransmitterDetails | undefined): string {
  const full = shown(details?.battery_minutes_to_full || null, inHours)
  const left = shown(details?.battery_minutes, inHours)
  const said = [
    faultText(details?.fault),
    batteryText(percent, details),
    full && words.channel.fullIn(full),
    left && words.channel.lasts(left),
  ]
  return said.filter((one) => one !== null).join(', ')
}

function antennaLevels(details: ChannelDetails): string | null {
  const names = Object.keys(words.channel.antennaNames) as (keyof typeof words.channel.antennaNames)[]
  const levels = names.flatMap((key) => {
    const level = details[key] ?? null
    return level === null ? [] : [words.channel.dbmAt(words.channel.antennaNames[key], formatLevel(level))]
  })
  return levels.length === 0 ? null : levels.join(', ')
}

function shown<T>(value: T | null | undefined, say: (value: T) => string): string | null {
  return value === null || value === undefined ? null : say(value)
}

function yesOrNo(value: boolean | null | undefined): string | null {
  return shown(value, (is) => (is ? fields.yes : fields.no))
}

function inDb(gain: number): string {
  return words.channel.db(formatLevel(gain))
}

function inHours(minutes: number): string {
  return words.channel.hours(Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0'))
}
