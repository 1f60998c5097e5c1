/** A connected controller of a simulated receiver: handles its commands and sends it answers, meters and changes. */

import type { DeviceState } from '../../show/show.ts'
import { isSilenced, type Silence } from '../../show/silence.ts'
import {
  type ChannelOverrides,
  isMxw,
  type SimulatedFamily,
  type SimulatedValues,
  secondaryOf,
  toSample,
} from './values.ts'

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
  overridesOf(channel: number): ChannelOverrides
  /** True if the channel sends no meters. */
  isSilentChannel(channel: number): boolean
  recordCommand(command: string): void
  /** Starts or stops flashing the lights of a channel; null for the whole device. */
  flash(channel: number | null, isOn: boolean): void
  fault(): StringsFault | null
  silence(): Silence | null
  isUnresponsive(): boolean
}

const flashingFamilies: readonly SimulatedFamily[] = ['ulxd', 'ad', 'anx4', 'slxd', 'slxd+', 'mxw', 'mxwnext']
/** Families that make only the whole device flash. */
const flashingAsAWhole: readonly SimulatedFamily[] = ['slxd', 'slxd+', 'mxwnext']

const noise = ['\u0000\u00ff>>', '< REP >', '< SAMPLE 1 ALL >', '< REP 1 FREQUENCY abc >', '<<<', '< HELLO 1 2 3 >']

/** A client's connection to a device. */
export class Controller {
  readonly #device: SimulatedDevice
  readonly #write: (text: string) => void
  readonly #isOlderFamily: boolean
  /** The timers of channels whose meters are on; `SEC 1` is the secondary microphone of channel 1. */
  readonly #meters = new Map<string, NodeJS.Timeout>()
  readonly #delayed = new Set<NodeJS.Timeout>()
  #reported: ReturnType<SimulatedDevice['values']>
  #isClosed = false
  #noiseCount = 0

  constructor(device: SimulatedDevice, write: (text: string) => void) {
    this.#device = device
    this.#write = write
    this.#isOlderFamily = device.family === 'uhfr' || device.family === 'psm1000'
    this.#reported = device.values()
  }

  /** True if meters are on for at least one channel. */
  get isMetering(): boolean {
    return this.#meters.size > 0
  }

  receive(command: string): void {
    this.#device.recordCommand(command)
    const [verb, ...fields] = command.split(/\s+/)
    // `SEC 1 TX_STATUS` addresses the key `SEC TX_STATUS` of channel 1.
    const prefix = isMxw(this.#device.family) && /^(?:SEC|CH)$/.test(fields[0] ?? '') ? fields.shift() : undefined
    const hasChannel = /^\d+$/.test(fields[0] ?? '')
    const channel = hasChannel ? Number(fields.shift()) : null
    const [name = '', ...value] = fields
    const key = [prefix, name].filter(Boolean).join(' ')
    if (verb === 'METER' && channel !== null) this.#meter([channel], value[0] === 'STOP' ? 0 : Number(value[0]) * 30)
    else if (verb === 'GET' && channel === null) this.#get(fields.join(' '))
    else if (verb === 'SET' && key === 'FLASH') this.#flash(channel, value[0] === 'ON')
    else {
      const channels = channel === null ? null : this.#findChannels(channel, verb === 'GET')
      if (channels === null) this.#sendError()
      else if (verb === 'GET') this.#getOfChannels(channels, key, value[0])
      else if (verb === 'SET' && name === 'METER_RATE') this.#setMeterRate(channels, value[0] ?? '', prefix)
      else this.#sendError()
    }
  }

  /** Sends the changes since the last call. */
  reportChanges(): void {
    const previous = this.#reported
    const current = this.#device.values()
    this.#reported = current
    const changed = Object.entries(current.device).filter(([key, value]) => previous.device[key] !== value)
    const reports = changed.map(([key, value]) => this.#formatReport(key, value))
    for (const [channel, values] of current.channels) {
      for (const [key, value] of Object.entries(values)) {
        if (previous.channels.get(channel)?.[key] !== value) reports.push(this.#formatReport(key, value, channel))
      }
    }
    this.#send(...reports)
  }

  close(): void {
    this.#isClosed = true
    for (const timer of [...this.#meters.values(), ...this.#delayed]) clearTimeout(timer)
    this.#meters.clear()
  }

  #get(key: string): void {
    const value = this.#device.values().device[key]
    if (value === undefined) this.#sendError()
    else this.#send(this.#formatReport(key, value))
  }

  #getOfChannels(channels: readonly number[], key: string, index?: string): void {
    if (key === 'ALL' && this.#isOlderFamily) return
    const values = this.#device.values()
    const answers = channels.flatMap((channel) => {
      const entries = Object.entries(values.channels.get(channel) ?? {})
      const matches = (name: string) => {
        if (key === 'ALL') return !isMxw(this.#device.family)
        if (index === undefined) return name === key
        return index === '0' ? name.startsWith(`${key} `) : name === `${key} ${index}`
      }
      return entries.filter(([name]) => matches(name)).map(([name, value]) => this.#formatReport(name, value, channel))
    })
    if (answers.length === 0) this.#sendError()
    else this.#send(...answers)
  }

  /** Returns the channels that a number addresses. Null if the family does not support the number. */
  #findChannels(channel: number, isGet: boolean): readonly number[] | null {
    const all = this.#device.state().channels.map(({ channel }) => channel)
    if (channel !== 0) return all.includes(channel) ? [channel] : null
    const supportsZero =
      !this.#isOlderFamily && this.#device.family !== 'qlxd' && !(this.#device.family === 'slxd+' && isGet)
    return supportsZero ? all : null
  }

  #setMeterRate(channels: readonly number[], value: string, prefix?: string): void {
    this.#meter(channels, Number(value), prefix)
    const key = [prefix, 'METER_RATE'].filter(Boolean).join(' ')
    this.#send(...channels.map((channel) => this.#formatReport(key, value, channel)))
  }

  #flash(channel: number | null, isOn: boolean): void {
    const { family } = this.#device
    const canFlash = flashingFamilies.includes(family) && (channel === null || !flashingAsAWhole.includes(family))
    if (canFlash) {
      this.#device.flash(channel, isOn)
      this.#send(this.#formatReport('FLASH', isOn ? 'ON' : 'OFF', channel ?? undefined))
    } else this.#sendError()
  }

  #meter(channels: readonly number[], ms: number, prefix?: string): void {
    for (const channel of channels) {
      const target = [prefix, channel].filter(Boolean).join(' ')
      clearInterval(this.#meters.get(target))
      this.#meters.delete(target)
      if (ms < 90) continue
      const sample = () => (prefix === 'SEC' ? this.#sampleSecondary(channel) : this.#sample(channel))
      this.#meters.set(target, setInterval(sample, ms))
    }
  }

  #sample(number: number): void {
    const { family } = this.#device
    const channel = this.#device.state().channels.find((candidate) => candidate.channel === number)
    if (channel === undefined || this.#device.isSilentChannel(number)) return
    // MXW stops the meters of a microphone that is switched off.
    if (isMxw(family) && channel.transmitter === null) {
      this.#meter([number], 0)
      return
    }
    const value = toSample(family, channel, this.#device.overridesOf(number))
    if (family === 'psm1000') {
      this.#send(
        this.#formatReport('AUDIO_IN_LVL_L', value, number),
        this.#formatReport('AUDIO_IN_LVL_R', value, number),
      )
    } else this.#send(`SAMPLE ${number} ${isMxw(family) ? '' : 'ALL '}${value}`)
  }

  /** Sends the levels of a secondary microphone of MXW. */
  #sampleSecondary(number: number): void {
    if (secondaryOf(this.#device.overridesOf(number)) === null) this.#meter([number], 0, 'SEC')
    else this.#send(`SAMPLE SEC ${number} 060 070`)
  }

  #send(...all: string[]): void {
    const contents = all.filter((content) => !this.#isSilenced(content))
    const fault = this.#device.fault()
    if (this.#isClosed || this.#device.isUnresponsive() || fault === 'silent' || contents.length === 0) return
    const frames = fault === 'foreign' ? ['< REP HTTP 400 >'] : contents.map((text) => this.#envelope(text))
    if (fault === 'noise') frames.unshift(noise[this.#noiseCount++ % noise.length] ?? '')
    if (fault === 'late') this.#sendLater(frames.join(''))
    else this.#write(frames.join(''))
  }

  #isSilenced(content: string): boolean {
    const [, channel] = /^\w+ (?:(?:SEC|CH) )?(\d+)/.exec(content) ?? []
    const isLevel = /^SAMPLE | AUDIO_IN_LVL_/.test(content)
    return isSilenced(this.#device.silence(), { isLevel, channel: channel === undefined ? null : Number(channel) })
  }

  #sendLater(text: string): void {
    const timer = setTimeout(() => {
      this.#delayed.delete(timer)
      if (!this.#isClosed) this.#write(text)
    }, 1500)
    this.#delayed.add(timer)
  }

  /** Sends an error reply, except for QLX-D and the older families, whose documents do not mention one. */
  #sendError(): void {
    if (!this.#isOlderFamily && this.#device.family !== 'qlxd') this.#send('REP ERR')
  }

  #envelope(contents: string): string {
    if (this.#device.family === 'uhfr') return `* ${contents} *`
    return this.#device.family === 'psm1000' ? `< ${contents} >\r\n` : `< ${contents} >`
  }

  #formatReport(key: string, value: string, channel?: number): string {
    const unwrapped = this.#isOlderFamily ? value.replace(/^\{(.*?)\s*\}$/, '$1') : value
    const [, prefix, name] = /^(SEC|CH) (.*)$/.exec(key) ?? [undefined, undefined, key]
    const fields = [this.#isOlderFamily ? 'REPORT' : 'REP', prefix, channel, name, unwrapped]
    return fields.filter((field) => field !== undefined).join(' ')
  }
}
