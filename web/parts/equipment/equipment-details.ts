import { type FaultValues, nameFaults } from '../../../src/contract/alert-kinds.ts'
import type {
  ChannelDetails,
  TransmitterBody,
  TransmitterDetails,
  TransmitterSlot,
} from '../../../src/contract/channels.ts'
import {
  formatCelsius,
  formatDb,
  formatDbfs,
  formatDbm,
  formatHertz,
  formatMegahertz,
  formatMilliwatts,
  formatMinutes,
  formatPercent,
  plainText,
} from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import type { Pair } from '../pairs.tsx'

export function channelPairs(details: ChannelDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { antennas, audio_peak, audio_rms, audio_activity, quality, interference, muted, encryption, gain_db } = details
  const {
    rf_low,
    rf_concealed,
    overload,
    second_frequency,
    band,
    transmission_mode,
    frequency_diversity,
    group_channel,
  } = details
  const { unregistered_transmitter, input_level, audio_mode, rf_overload, booster_feed, sync_result } = details
  return [
    { name: t('channel.fields.rf'), value: antennaLevels(details) ?? optional(details.rf_percent, formatPercent) },
    { name: t('channel.fields.antennas'), value: antennas === '' ? t('channel.noAntenna') : antennas },
    { name: t('channel.fields.quality'), value: optional(quality, formatPercent) },
    { name: t('channel.fields.rfLow'), value: yesOrNo(rf_low) },
    { name: t('channel.fields.rfConcealed'), value: yesOrNo(rf_concealed) },
    { name: t('channel.fields.rfOverload'), value: yesOrNo(rf_overload) },
    { name: t('channel.fields.interference'), value: yesOrNo(interference) },
    { name: t('channel.fields.secondFrequency'), value: optional(second_frequency, formatMegahertz) },
    {
      name: t('channel.fields.frequencyDiversity'),
      value: optional(frequency_diversity, (item) => t(`channel.frequencyDiversities.${item}`)),
    },
    { name: t('channel.fields.groupChannel'), value: optional(group_channel, plainText) },
    { name: t('channel.fields.unregisteredTransmitter'), value: yesOrNo(unregistered_transmitter) },
    { name: t('channel.fields.band'), value: optional(band, plainText) },
    {
      name: t('channel.fields.transmissionMode'),
      value: optional(transmission_mode, (item) => t(`channel.transmissionModes.${item}`)),
    },
    { name: t('channel.fields.boosterFeed'), value: yesOrNo(booster_feed) },
    { name: t('channel.fields.syncResult'), value: sync_result ? plainText(sync_result) : null },
    { name: t('channel.fields.audioPeak'), value: optional(audio_peak, formatDbfs) },
    { name: t('channel.fields.audioRms'), value: optional(audio_rms, formatDbfs) },
    {
      name: t('channel.fields.audioActivity'),
      value: optional(audio_activity, (item) => t(`channel.activities.${item}`)),
    },
    { name: t('channel.fields.overload'), value: yesOrNo(overload) },
    { name: t('channel.fields.gain'), value: optional(gain_db, formatDb) },
    {
      name: t('channel.fields.inputLevel'),
      value: optional(input_level, (item) => t(`channel.inputLevels.${item}`)),
    },
    { name: t('channel.fields.audioMode'), value: optional(audio_mode, (item) => t(`channel.audioModes.${item}`)) },
    {
      name: t('channel.fields.charging'),
      value: optional(details.charging, (item) => t(`channel.chargingStates.${item}`)),
    },
    { name: t('channel.fields.muted'), value: yesOrNo(muted) },
    { name: t('channel.fields.encryption'), value: optional(encryption, (item) => t(`channel.encryptions.${item}`)) },
  ]
}

export function transmitterPairs(details: TransmitterDetails | undefined): readonly Pair[] {
  if (details === undefined) return []
  const { model, capsule, muted, gain_db, low_cut_hz, power_mw, lock, talk_switch, test_tone, version_mismatch } =
    details
  const { battery_minutes, battery_bars, battery_type, antenna, link_quality, rssi, rssi_2 } = details
  const { battery_minutes_to_full, battery_health, battery_cycles, battery_temperature_c, battery_low } = details
  return [
    { name: t('channel.fields.model'), value: optional(model, plainText) },
    { name: t('channel.fields.capsule'), value: optional(capsule, plainText) },
    { name: t('channel.fields.muted'), value: yesOrNo(muted) },
    { name: t('channel.fields.gain'), value: optional(gain_db, formatDb) },
    {
      name: t('channel.fields.lowCut'),
      value: optional(low_cut_hz, (hz) => (hz === 0 ? t('channel.noLowCut') : formatHertz(hz))),
    },
    { name: t('channel.fields.power'), value: optional(power_mw, formatMilliwatts) },
    { name: t('channel.fields.lock'), value: optional(lock, (item) => t(`channel.locks.${item}`)) },
    { name: t('channel.fields.talkSwitch'), value: yesOrNo(talk_switch) },
    { name: t('channel.fields.testTone'), value: yesOrNo(test_tone) },
    { name: t('channel.fields.versionMismatch'), value: yesOrNo(version_mismatch) },
    { name: t('channel.fields.antennaNumber'), value: optional(antenna, String) },
    { name: t('channel.fields.ownQuality'), value: optional(link_quality, String) },
    { name: t('channel.fields.ownRssi'), value: rssiText(rssi, rssi_2) },
    { name: t('channel.fields.runtime'), value: optional(battery_minutes, formatMinutes) },
    { name: t('channel.fields.timeToFull'), value: optional(battery_minutes_to_full, formatMinutes) },
    { name: t('channel.fields.batteryBars'), value: optional(battery_bars, (bars) => t('channel.bars', { bars })) },
    { name: t('channel.fields.batteryType'), value: optional(battery_type, plainText) },
    { name: t('channel.fields.batteryHealth'), value: optional(battery_health, formatPercent) },
    { name: t('channel.fields.batteryCycles'), value: optional(battery_cycles, String) },
    {
      name: t('channel.fields.batteryTemperature'),
      value: optional(battery_temperature_c, formatCelsius),
    },
    {
      name: t('channel.fields.charging'),
      value: optional(details.charging, (item) => t(`channel.chargingStates.${item}`)),
    },
    { name: t('channel.fields.batteryLow'), value: yesOrNo(battery_low) },
    { name: t('channel.fields.fault'), value: faultText(details) },
  ]
}

/** On a scale that is not public. */
function rssiText(...values: readonly (number | null | undefined)[]): string | undefined {
  const known = values.filter((value) => value !== null && value !== undefined)
  return known.length === 0 ? undefined : known.join(' / ')
}

export function slotTexts({ status, model, name, rf_muted, battery, battery_bars, battery_minutes }: TransmitterSlot) {
  const left = optional(battery_minutes, formatMinutes)
  const identity = [name && plainText(name), model && plainText(model)]
  const state = [
    optional(battery, formatPercent) ?? optional(battery_bars, (bars) => t('channel.slots.bars', { bars })),
    left && t('channel.timeLeft', { time: left }),
    rf_muted === true ? t('channel.slots.rfMuted') : t(`channel.slots.statuses.${status}`),
  ]
  return { identity: identity.filter(Boolean).join(', '), state: state.filter(Boolean).join(', ') }
}

/** Approximate if it was estimated from battery bars. */
export function batteryText(percent: number | null, details: TransmitterDetails | undefined): string | null {
  if (percent === null) return null
  const text = formatPercent(percent)
  return details?.battery_is_estimate === true ? t('channel.estimated', { percent: text }) : text
}

export function forecastText(forecast: TransmitterBody['forecast'] | undefined): string | null {
  if (!forecast || forecast.source === 'device') return null
  return t('channel.forecastRange', {
    time: formatMinutes(forecast.minutes_left),
    low: formatMinutes(forecast.low),
    high: formatMinutes(forecast.high),
  })
}

/** The fault, and in brackets the words of the device. */
export function faultText(values: FaultValues | undefined): string | null {
  if (!values?.fault) return null
  const fault = t(`channel.faults.${values.fault}`)
  const words = nameFaults(values)
  return words === '' ? fault : t('channel.faultWithWords', { fault, words: plainText(words) })
}

export function batteryLine(percent: number | null, details: TransmitterDetails | undefined): string {
  const full = optional(details?.battery_minutes_to_full || null, formatMinutes)
  const left = optional(details?.battery_minutes, formatMinutes)
  const parts = [
    faultText({ fault: details?.fault }),
    batteryText(percent, details),
    full && t('channel.fullIn', { time: full }),
    left && t('channel.timeLeft', { time: left }),
  ]
  return parts.filter((part) => part !== null).join(', ')
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

function optional<T>(value: T | null | undefined, format: (value: T) => string): string | null {
  return value === null || value === undefined ? null : format(value)
}

function yesOrNo(value: boolean | null | undefined): string | null {
  return optional(value, (is) => (is ? t('channel.fields.yes') : t('channel.fields.no')))
}
