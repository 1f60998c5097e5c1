/** One connected controller of a simulated receiver: handles its commands and sends it answers, meters and changes. */

import type { DeviceState } from '../../show/show.ts'
import { type SimulatedFamily, type SimulatedValues, toSample } from './values.ts'

/** A simulated malfunction. */
export type StringsFault =
  /** Accepts connections but does not answer, like an SLX-D with Controller Access disabled. */
  | 'silent'
  /** Answers after a second and a half. */
  | 'late'
  /** Sends noise and malformed frames between valid ones. */
  | 'noise'
  /** Answers every command with an unknown property, like a device that is not a receiver. */
  | 'foreign'

export interface SimulatedDevice {
  readonly family: SimulatedFamily
  state(): DeviceState
  values(): SimulatedValues
  /** Whether the channel sends no meters. */
  isSilentChannel(channel: number): boolean
  recordCommand(command: string): void
  fault(): StringsFault | null
  isUnresponsive(): boolean
}

export interface Controller {
  /** Whether meters are on for at least one channel. */
  readonly isMetering: boolean
  receive(command: string): void
  /** Sends the changes since the last call. */
  reportChanges(): void
  close(): void
}

const noise = ['\u0000\u00ff>>', '< REP >', '< SAMPLE 1 ALL >', '< REP 1 FREQUENCY abc >', '<<<', '< HELLO 1 2 3 >']

export function createController(device: SimulatedDevice, write: (text: string) => void): Controller {
  const { family } = device
  const isOlderFamily = family === 'uhfr' || family === 'psm1000'
  const meters = new Map<number, NodeJS.Timeout>()
  const delayed = new Set<NodeJS.Timeout>()
  let reported = device.values()
  let isClosed = false
  let noiseCount = 0

  function send(...contents: string[]): void {
    const fault = device.fault()
    if (isClosed || device.isUnresponsive() || fault === 'silent' || contents.length === 0) return
    const frames = fault === 'foreign' ? ['< REP HTTP 400 >'] : contents.map(envelope)
    if (fault === 'noise') frames.unshift(noise[noiseCount++ % noise.length] ?? '')
    if (fault === 'late') sendLater(frames.join(''))
    else write(frames.join(''))
  }

  function sendLater(text: string): void {
    const timer = setTimeout(() => {
      delayed.delete(timer)
      if (!isClosed) write(text)
    }, 1500)
    delayed.add(timer)
  }

  function envelope(contents: string): string {
    if (family === 'uhfr') return `* ${contents} *`
    return family === 'psm1000' ? `< ${contents} >\r\n` : `< ${contents} >`
  }

  const formatReport = (key: string, value: string, channel?: number) => {
    const unwrapped = isOlderFamily ? value.replace(/^\{(.*?)\s*\}$/, '$1') : value
    return [isOlderFamily ? 'REPORT' : 'REP', channel, key, unwrapped].filter((field) => field !== undefined).join(' ')
  }

  /** Sends an error reply, except for QLX-D and the older families, whose documents do not mention one. */
  const sendError = () => {
    if (!isOlderFamily && family !== 'qlxd') send('REP ERR')
  }

  function receive(command: string): void {
    device.recordCommand(command)
    const [verb, ...fields] = command.split(/\s+/)
    const hasChannel = /^\d+$/.test(fields[0] ?? '')
    const channel = hasChannel ? Number(fields.shift()) : null
    const [key = '', ...value] = fields
    if (verb === 'METER' && channel !== null) meter([channel], value[0] === 'STOP' ? 0 : Number(value[0]) * 30)
    else if (verb === 'GET' && channel === null) get(fields.join(' '))
    else {
      const channels = channel === null ? null : findChannels(channel, verb === 'GET')
      if (channels === null) sendError()
      else if (verb === 'GET') getOfChannels(channels, key, value[0])
      else if (verb === 'SET' && key === 'METER_RATE') setMeterRate(channels, value[0] ?? '')
      else sendError()
    }
  }

  /** Returns the channels that a number addresses. Null if the family does not support the number. */
  function findChannels(channel: number, isGet: boolean): readonly number[] | null {
    const all = device.state().channels.map(({ channel }) => channel)
    if (channel !== 0) return all.includes(channel) ? [channel] : null
    const supportsZero = !isOlderFamily && family !== 'qlxd' && !(family === 'slxd+' && isGet)
    return supportsZero ? all : null
  }

  function get(key: string): void {
    const value = device.values().device[key]
    if (value === undefined) sendError()
    else send(formatReport(key, value))
  }

  function getOfChannels(channels: readonly number[], key: string, index?: string): void {
    if (key === 'ALL' && isOlderFamily) return
    const values = device.values()
    const answers = channels.flatMap((channel) => {
      const entries = Object.entries(values.channels.get(channel) ?? {})
      const matches = (name: string) => {
        if (key === 'ALL') return family === 'slxd+' || !name.startsWith('SLOT_')
        return index === '0' ? name.startsWith(`${key} `) : name === [key, index].filter(Boolean).join(' ')
      }
      return entries.filter(([name]) => matches(name)).map(([name, value]) => formatReport(name, value, channel))
    })
    if (answers.length === 0) sendError()
    else send(...answers)
  }

  function setMeterRate(channels: readonly number[], value: string): void {
    meter(channels, Number(value))
    send(...channels.map((channel) => formatReport('METER_RATE', value, channel)))
  }

  function meter(channels: readonly number[], ms: number): void {
    for (const channel of channels) {
      clearInterval(meters.get(channel))
      meters.delete(channel)
      if (ms >= 90)
        meters.set(
          channel,
          setInterval(() => sample(channel), ms),
        )
    }
  }

  function sample(number: number): void {
    const channel = device.state().channels.find((candidate) => candidate.channel === number)
    if (channel === undefined || device.isSilentChannel(number)) return
    const value = toSample(family, channel)
    if (family === 'psm1000') {
      send(formatReport('AUDIO_IN_LVL_L', value, number), formatReport('AUDIO_IN_LVL_R', value, number))
    } else send(`SAMPLE ${number} ALL ${value}`)
  }

  function reportChanges(): void {
    const previous = reported
    const current = device.values()
    reported = current
    const changed = Object.entries(current.device).filter(([key, value]) => previous.device[key] !== value)
    const reports = changed.map(([key, value]) => formatReport(key, value))
    for (const [channel, values] of current.channels) {
      for (const [key, value] of Object.entries(values)) {
        if (previous.channels.get(channel)?.[key] !== value) reports.push(formatReport(key, value, channel))
      }
    }
    send(...reports)
  }

  return {
    get isMetering() {
      return meters.size > 0
    },
    receive,
    reportChanges,
    close() {
      isClosed = true
      for (const timer of [...meters.values(), ...delayed]) clearTimeout(timer)
      meters.clear()
    },
  }
}
