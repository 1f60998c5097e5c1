/** What some gear tells of a channel and its transmitter beyond the usual, as names and values. */

import type { ChannelDetails, TransmitterDetails } from '../../src/model/details.ts'
import {
  formatCelsius,
  formatDb,
  formatDbfs,
  formatDbm,
  formatMilliwatts,
  formatPercent,
  formatShortDuration,
  plainText,
} from '../format.ts'
import { t } from '../i18n.ts'
import type { Pair } from './pairs.tsx'

export function channelPairs(details: ChannelDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { antennas, audio_peak, audio_rms, audio_activity, quality, interference, muted, encryption, gain_db } = details
  return [
    { name: t('channel.fields.rf'), value: antennaLevels(details) ?? shown(details.rf_percent, formatPercent) },
    { name: t('channel.fields.antennas'), value: antennas === '' ? t('channel.noAntenna') : antennas },
    { name: t('channel.fields.quality'), value: shown(quality, formatPercent) },
    { name: t('channel.fields.interference'), value: yesOrNo(interference) },
    { name: t('channel.fields.audioPeak'), value: shown(audio_peak, formatDbfs) },
    { name: t('channel.fields.audioRms'), value: shown(audio_rms, formatDbfs) },
    { name: t('channel.fields.audioActivity'), value: shown(audio_activity, (one) => t(`channel.activities.${one}`)) },
    { name: t('channel.fields.gain'), value: shown(gain_db, formatDb) },
    { name: t('channel.fields.muted'), value: yesOrNo(muted) },
    { name: t('channel.fields.encryption'), value: shown(encryption, (one) => t(`channel.encryptions.${one}`)) },
  ]
}

export function transmitterPairs(details: TransmitterDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { model, muted, gain_db, power_mw, battery_minutes, battery_bars, battery_type } = details
  const { battery_minutes_to_full, battery_health, battery_cycles, battery_temperature_c } = details
  return [
    { name: t('channel.fields.model'), value: shown(model, plainText) },
    { name: t('channel.fields.muted'), value: yesOrNo(muted) },
    { name: t('channel.fields.gain'), value: shown(gain_db, formatDb) },
    { name: t('channel.fields.power'), value: shown(power_mw, formatMilliwatts) },
    { name: t('channel.fields.runtime'), value: shown(battery_minutes, formatMinutes) },
    { name: t('channel.fields.timeToFull'), value: shown(battery_minutes_to_full, formatMinutes) },
    { name: t('channel.fields.batteryBars'), value: shown(battery_bars, (bars) => t('channel.bars', { bars })) },
    { name: t('channel.fields.batteryType'), value: shown(battery_type, plainText) },
    { name: t('channel.fields.batteryHealth'), value: shown(battery_health, formatPercent) },
    { name: t('channel.fields.batteryCycles'), value: shown(battery_cycles, String) },
    {
      name: t('channel.fields.batteryTemperature'),
      value: shown(battery_temperature_c, formatCelsius),
    },
  ]
}

/** Where the gear tells bars alone, the percentage is only worked out from them. */
export function batteryText(percent: number | null, details: TransmitterDetails | undefined): string | null {
  if (percent === null) return null
  const text = formatPercent(percent)
  return details?.battery_is_estimate === true ? t('channel.estimated', { percent: text }) : text
}

/** What there is to say of a pack's battery in one line. */
export function batteryLine(percent: number | null, details: TransmitterDetails | undefined): string {
  const full = shown(details?.battery_minutes_to_full || null, formatMinutes)
  const left = shown(details?.battery_minutes, formatMinutes)
  const said = [
    batteryText(percent, details),
    full && t('channel.fullIn', { time: full }),
    left && t('channel.timeLeft', { time: left }),
  ]
  return said.filter((one) => one !== null).join(', ')
}

function antennaLevels(details: ChannelDetails): string | null {
  const levels = (['rf_a', 'rf_b', 'rf_c', 'rf_d'] as const).flatMap((key) => {
    const level = details[key] ?? null
    return level === null
      ? []
      : [t('channel.antennaLevel', { antenna: t(`channel.antennaNames.${key}`), level: formatDbm(level) })]
  })
  return levels.length === 0 ? null : levels.join(', ')
}

function shown<T>(value: T | null | undefined, say: (value: T) => string): string | null {
  return value === null || value === undefined ? null : say(value)
}

function yesOrNo(value: boolean | null | undefined): string | null {
  return shown(value, (is) => (is ? t('channel.fields.yes') : t('channel.fields.no')))
}

function formatMinutes(minutes: number): string {
  return formatShortDuration(minutes * 60_000)
}
