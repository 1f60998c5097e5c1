/**
 * Simulates Audio-Technica receivers (System 20 PRO and ESW) and chargers at their control ports, following the public
 * parts of their specifications. Messages end with CR and have at most 287 bytes. A device accepts one session, pushes
 * nothing and requires no authentication. Values of a transmitter that is no longer received remain.
 */

import { type LineDeviceOptions, type LineDevices, type LineProtocol, startLineDevices } from '../show/line-devices.ts'
import type { DeviceState, ShowChannel, ShowTransmitter } from '../show/show.ts'
import { createShowContext } from '../show/simulator.ts'

const maxMessageBytes = 287

interface SimulatedFamily {
  /** The value that must follow the handshake in a query. */
  readonly linkId: string
  /** Returns undefined for an unknown command. */
  deviceValue(command: string, state: DeviceState): string | undefined
  /** Returns undefined for an unknown command, and null for a value that does not exist. */
  channelValue(
    command: string,
    channel: ShowChannel,
    transmitter: ShowTransmitter | undefined,
  ): string | null | undefined
}

/** Starts one device for each receiver in the show, at the given port and the following ones. */
export function startAudioTechnicaSimulator(options: LineDeviceOptions = {}): Promise<LineDevices> {
  const lastTransmitters = new Map<string, ShowTransmitter>()
  const findLastTransmitter = ({ device, channels }: DeviceState, number: number) => {
    for (const { channel, transmitter } of channels) {
      if (transmitter !== null) lastTransmitters.set(`${device.id} ${channel}`, transmitter)
    }
    return lastTransmitters.get(`${device.id} ${number}`)
  }
  const protocol: LineProtocol = {
    answerEnd: '\r',
    hasOneSession: true,
    answer: (query, state, { isBusy }) =>
      isBusy ? reject(query, state, 90) : toAnswer(query, state, (channel) => findLastTransmitter(state, channel)),
    answerWithStatus: reject,
    kindOf(query) {
      const [, command = '', channel] = /^(g\w+) O \d{4} 00 NC ?(\d*)$/.exec(query) ?? []
      return { isLevel: /^glevel(?:rf|afrx)$/.test(command), channel: channel ? Number(channel) : null }
    },
  }
  return startLineDevices(createShowContext('audio_technica', 2, options), protocol, options)
}

function toAnswer(
  query: string,
  state: DeviceState,
  findLastTransmitter: (channel: number) => ShowTransmitter | undefined,
): string {
  const { linkId, deviceValue, channelValue } = familyOf(state)
  const [, command = '', requestedLink, parameter = ''] = /^(g\w+) O (\d{4}) 00 NC ?(\d*)$/.exec(query) ?? []
  if (command === '' || query.length >= maxMessageBytes) return reject(query, state, 1)
  if (requestedLink !== linkId) return reject(query, state, 4)
  const accept = (value: string) => `${command} ${linkId} ${unitOf(state)} NC ${value}`
  if (parameter === '') {
    const value = deviceValue(command, state)
    return value === undefined ? reject(query, state, 2) : accept(value)
  }
  const channel = state.channels.find((candidate) => candidate.channel === Number(parameter))
  if (channel === undefined) return reject(query, state, 4)
  const value = channelValue(command, channel, findLastTransmitter(channel.channel))
  if (value === undefined) return reject(query, state, 2)
  return value === null ? reject(query, state, command === 'glevelbatt' ? 11 : 62) : accept(`${parameter},${value}`)
}

function reject(query: string, state: DeviceState, code: number): string {
  const [command] = query.split(' ')
  return `${command} ${familyOf(state).linkId} ${unitOf(state)} NC NAK ${String(code).padStart(2, '0')}`
}

/** The unit number of a reply is the device ID. */
function unitOf({ device }: DeviceState): string {
  return String(Number(device.ip?.split('.').at(-1) ?? 0)).padStart(2, '0')
}

function familyOf({ device }: DeviceState): SimulatedFamily {
  return families[device.device_type] ?? system20
}

function commonValue(command: string, state: DeviceState): string | undefined {
  const { device } = state
  switch (command) {
    case 'gmyname':
      return quote(device.name.slice(0, 16))
    case 'gmydeviceid':
      return unitOf(state)
    case 'gipnet':
      return [
        device.network_mode === 'manual' ? 1 : 0,
        device.ip,
        device.subnet_mask,
        device.gateway,
        0,
        device.mac_address,
      ].join(',')
    default:
      return undefined
  }
}

// --- System 20 PRO ----------------------------------------------------------------------------------------------------

const system20: SimulatedFamily = {
  linkId: '0001',
  deviceValue(command, state) {
    const { device } = state
    switch (command) {
      case 'gmymodel':
        return quote(device.model)
      case 'gmyid':
        return `${device.serial_number}`.slice(-8).padStart(8, '0')
      case 'gsys20version':
        return [device.firmware_version, '1.0.2', '1.0.1', '1.0.1', '1.0.0'].map(quote).join(',')
      default:
        return commonValue(command, state)
    }
  },
  channelValue(command, { transmitter }, last) {
    switch (command) {
      case 'gchmute':
        return '0'
      case 'gchvolume':
        return '20'
      case 'glevelbatttx':
        return [transmitter === null ? 0 : 1, Math.round((last?.battery ?? 0) / 25), 0].join(',')
      case 'gtxdeviceid':
        return last
          ? quote(
              last.name
                .replace(/[^a-z0-9]/gi, '')
                .slice(0, 2)
                .toUpperCase(),
            )
          : null
      case 'gtxmodel':
        return last ? quote('ATW-T1401') : null
      case 'gtxmicgain':
        return last ? '5' : null
      case 'gtxbattery':
        return last ? '1' : null
      case 'gtxmute':
        return last ? '0' : null
      default:
        return undefined
    }
  },
}

// --- ESW --------------------------------------------------------------------------------------------------------------

const rfLimits = [-90, -84, -78, -72, -66, -60, -54]
const audioLimits = [-50, -40, -30, -20, -12, -6, -1]

const esw: SimulatedFamily = {
  linkId: '0000',
  deviceValue(command, state) {
    const { device } = state
    switch (command) {
      case 'gmymodel':
        return `${quote(device.model)},1`
      case 'gmyversion':
        return [device.firmware_version, '1.1.0', '1.0.0', '1.0.4'].map(quote).join(',')
      case 'glocationname':
        return quote('Rack room')
      default:
        return commonValue(command, state)
    }
  },
  channelValue(command, { name, transmitter, rf_level, audio_level }, last) {
    const link = transmitter === null ? 0 : 1
    switch (command) {
      case 'gchname':
        return quote(name.slice(0, 16))
      case 'gchmute':
        return '0'
      case 'gchvolume':
        return '30'
      case 'glevelrf':
        return [link, link * countReached(rf_level ?? -120, rfLimits)].join(',')
      case 'glevelafrx':
        return [link, link * countReached(audio_level ?? -120, audioLimits)].join(',')
      case 'glevelbatttx':
        return [link, last?.battery ?? 0, toHoursAndMinutes(last?.minutes_left ?? 0), 0].join(',')
      case 'gstsmute':
        return '0,0'
      case 'gtxname':
        return last ? quote(`${last.name.slice(0, 15)}*`) : null
      case 'gtxkind':
        return last ? '1' : null
      case 'gtxmicgain':
        return last ? '5' : null
      default:
        return undefined
    }
  },
}

// --- Charger ----------------------------------------------------------------------------------------------------------

/** The pack of a channel of the show is in the port with its number. */
const charger: SimulatedFamily = {
  linkId: '0000',
  deviceValue: (command, state) => (command === 'gmyversion' ? undefined : esw.deviceValue(command, state)),
  channelValue(command, { transmitter }) {
    switch (command) {
      case 'glevelbatt':
        return (
          transmitter &&
          [1, transmitter.battery, 120, 97, toHoursAndMinutes(100 - transmitter.battery), 31, 0].join(',')
        )
      case 'gtxname':
        return transmitter && quote(transmitter.name.slice(0, 16))
      case 'gtxmodel':
        return transmitter && quote('ESW-T4101')
      default:
        return undefined
    }
  },
}

const families: Readonly<Record<string, SimulatedFamily>> = { system20, esw, charger }

/** Returns how many of the ascending limits a level reaches: the step of the scale. */
function countReached(level: number, limits: readonly number[]): number {
  return limits.filter((limit) => level >= limit).length
}

function toHoursAndMinutes(minutes: number): string {
  const whole = Math.min(Math.max(0, Math.round(minutes)), 99 * 60 + 59)
  return [Math.floor(whole / 60), whole % 60].map((part) => String(part).padStart(2, '0')).join('')
}

/** Text contains no quotation marks. */
function quote(text: string | null): string {
  return `"${(text ?? '').replaceAll('"', "'")}"`
}
