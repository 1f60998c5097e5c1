/**
 * Simulates DSQD receivers at their command ports, following the command reference. Queries end with CR, answers with
 * CR LF. A leading `!` requests an answer that repeats the query. Devices push nothing and require no authentication.
 */

import { commonScale, type ReportedScale } from '../show/day-levels.ts'
import { type LineDeviceOptions, type LineDevices, startLineDevices } from '../show/line-devices.ts'
import type { DeviceState, ShowChannel } from '../show/show.ts'
import type { SentValue } from '../show/silence.ts'
import { createShowContext } from '../show/simulator.ts'

export type LectrosonicsSimulatorOptions = LineDeviceOptions

/** Starts one DSQD for each receiver in the show, at the given port and the following ones. */
export function startLectrosonicsSimulator(options: LectrosonicsSimulatorOptions = {}): Promise<LineDevices> {
  return startLineDevices(
    createShowContext('lectrosonics', 2, options),
    { answerEnd: '\r\n', answer: toAnswer, kindOf },
    options,
  )
}

// --- Answers ----------------------------------------------------------------------------------------------------------

/** The status contains the levels, the link and the charge. */
function kindOf(line: string): SentValue {
  const [, name, channel] = /^!?([a-z]+)(?:\(([1-4])\))?/.exec(line) ?? []
  return { isLevel: name === 'chstat', channel: channel === undefined ? null : Number(channel) }
}

function toAnswer(line: string, state: DeviceState): string {
  const [, prefix, name = '', address] = /^(!?)([a-z]+)(?:\(([1-4]|\*)\))?\?$/.exec(line) ?? []
  const value = address === undefined ? deviceValue(name, state) : channelValues(name, address, state)
  if (value === undefined) return 'ERROR'
  const suffix = address === undefined ? '' : `(${address})`
  return prefix === '!' ? `OK ${name}${suffix}=${value}` : value
}

function deviceValue(name: string, { device }: DeviceState): string | undefined {
  switch (name) {
    case 'id':
      return quote('DSQD')
    case 'serial':
      return quote(device.serial_number)
    case 'macaddr':
      return quote(String(device.mac_address).replaceAll(':', '-'))
    case 'version':
      return quote(device.firmware_version)
    case 'desc':
      return quote(device.name.slice(0, 30))
    case 'ipaddr':
      return quote(device.ip)
    case 'netmask':
      return quote(device.subnet_mask)
    case 'defgate':
      return quote(device.gateway)
    case 'dhcpen':
      return device.network_mode === 'manual' ? '0' : '1'
    case 'hwstat':
      return '0'
    default:
      return undefined
  }
}

/** Returns the value of one channel; for `(*)`, those of all channels. Texts and the status do not support `(*)`. */
function channelValues(name: string, address: string, { channels }: DeviceState): string | undefined {
  if (address !== '*') {
    const channel = channels.find((candidate) => candidate.channel === Number(address))
    return channel && channelValue(name, channel)
  }
  const values = channels.map((channel) => channelValue(name, channel))
  const isNumeric = values.every((value) => value !== undefined && /^-?\d+$/.test(value))
  return isNumeric ? `{${values.join(',')}}` : undefined
}

function channelValue(name: string, channel: ShowChannel): string | undefined {
  const { transmitter } = channel
  switch (name) {
    case 'rxname':
      return quote(channel.name.slice(0, 15))
    case 'rxfreq':
      return String(Math.round(Number(channel.frequency) * 1000))
    case 'rxmode':
    case 'rxmute':
      return '0'
    case 'rxalevel':
      return '0'
    case 'txname':
      return quote(transmitter?.name.slice(0, 15) ?? '')
    case 'txbatt':
      return '4'
    case 'txgain':
      return transmitter === null ? '0' : '12'
    case 'txkeygood':
    case 'txrfon':
      return transmitter === null ? '0' : '1'
    case 'chstat':
      return `{${statusOf(channel).join(',')}}`
    default:
      return undefined
  }
}

/**
 * Returns the values of `chstat`. Audio levels are limited to -60 to 0 dBFS, RF levels to 0 to 60 dBµV. The active
 * antenna changes with the RF level.
 */
function statusOf({ audio_level, rf_level, transmitter }: ShowChannel): number[] {
  const rf = rf_level ?? -107
  const linked = transmitter === null ? 0 : 1
  const receiver = [1, 1, linked, clamp((audio_level ?? -60) * 2, -120, 0), clamp((rf + 107) * 4, 0, 240), 0]
  const battery = transmitter?.battery ?? 0
  const warning = battery < 10 ? 2 : Number(battery < 25)
  return [...receiver, 1 + (Math.abs(rf) % 2), 0, 1 - linked, 42, linked * warning, 0, 0, 0, linked * 30, battery]
}

/** The part of the show that `statusOf` reports. */
export const reportedScale: ReportedScale = { ...commonScale, rf: [-107, -47], audio: [-60, 0] }

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, Math.round(value)))
}

function quote(text: string | null): string {
  return `"${(text ?? '').replace(/["\\]/g, '\\$&')}"`
}
