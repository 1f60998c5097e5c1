/** What some gear tells of a channel and its transmitter beyond the usual, as names and values. */

import type { ChannelDetails, TransmitterDetails } from '../../src/model/details.ts'
import { formatLevel, plainText } from '../format.ts'
import { channelTexts } from '../texts/channel.ts'
import { texts } from '../texts.ts'
import type { Pair } from './pairs.tsx'

const words = channelTexts.fields

export function channelPairs(details: ChannelDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { antennas, audio_peak, audio_rms, audio_activity, quality, interference, muted, encryption, gain_db } = details
  return [
    { name: words.rf, value: antennaLevels(details) ?? shown(details.rf_percent, texts.card.percent) },
    { name: words.antennas, value: antennas === '' ? channelTexts.noAntenna : antennas },
    { name: words.quality, value: shown(quality, texts.card.percent) },
    { name: words.interference, value: yesOrNo(interference) },
    { name: words.audioPeak, value: shown(audio_peak, (level) => channelTexts.dbfs(formatLevel(level))) },
    { name: words.audioRms, value: shown(audio_rms, (level) => channelTexts.dbfs(formatLevel(level))) },
    { name: words.audioActivity, value: shown(audio_activity, (one) => channelTexts.activities[one]) },
    { name: words.gain, value: shown(gain_db, inDb) },
    { name: words.muted, value: yesOrNo(muted) },
    { name: words.encryption, value: shown(encryption, (one) => channelTexts.encryptions[one]) },
  ]
}

export function transmitterPairs(details: TransmitterDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { model, muted, gain_db, power_mw, battery_minutes, battery_bars, battery_type } = details
  const { battery_minutes_to_full, battery_health, battery_cycles, battery_temperature_c } = details
  return [
    { name: words.model, value: shown(model, plainText) },
    { name: words.muted, value: yesOrNo(muted) },
    { name: words.gain, value: shown(gain_db, inDb) },
    { name: words.power, value: shown(power_mw, channelTexts.milliwatts) },
    { name: words.runtime, value: shown(battery_minutes, inHours) },
    { name: words.timeToFull, value: shown(battery_minutes_to_full, inHours) },
    { name: words.batteryBars, value: shown(battery_bars, channelTexts.bars) },
    { name: words.batteryType, value: shown(battery_type, plainText) },
    { name: words.batteryHealth, value: shown(battery_health, texts.card.percent) },
    { name: words.batteryCycles, value: shown(battery_cycles, String) },
    {
      name: words.batteryTemperature,
      value: shown(battery_temperature_c, (degrees) => channelTexts.celsius(formatLevel(degrees))),
    },
  ]
}

/** Where the gear tells bars alone, the percentage is only worked out from them. */
export function batteryText(percent: number | null, details: TransmitterDetails | undefined): string | null {
  if (percent === null) return null
  const text = texts.card.percent(percent)
  return details?.battery_is_estimate === true ? channelTexts.estimated(text) : text
}

/** What there is to say of a pack's battery in one line. */
export function batteryLine(percent: number | null, details: TransmitterDetails | undefined): string {
  const full = shown(details?.battery_minutes_to_full || null, inHours)
  const left = shown(details?.battery_minutes, inHours)
  const said = [batteryText(percent, details), full && channelTexts.fullIn(full), left && channelTexts.lasts(left)]
  return said.filter((one) => one !== null).join(', ')
}

function antennaLevels(details: ChannelDetails): string | null {
  const names = Object.keys(channelTexts.antennaNames) as (keyof typeof channelTexts.antennaNames)[]
  const levels = names.flatMap((key) => {
    const level = details[key] ?? null
    return level === null ? [] : [channelTexts.dbmAt(channelTexts.antennaNames[key], formatLevel(level))]
  })
  return levels.length === 0 ? null : levels.join(', ')
}

function shown<T>(value: T | null | undefined, say: (value: T) => string): string | null {
  return value === null || value === undefined ? null : say(value)
}

function yesOrNo(value: boolean | null | undefined): string | null {
  return shown(value, (is) => (is ? words.yes : words.no))
}

function inDb(gain: number): string {
  return channelTexts.db(formatLevel(gain))
}

function inHours(minutes: number): string {
  return channelTexts.hours(Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0'))
}
