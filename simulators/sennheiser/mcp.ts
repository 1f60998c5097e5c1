/**
 * Simulates an ew G4 rack device on a real socket: an EM with one transmitter, or an SR. It follows TI 1254 v1.0: it
 * has the documented error messages, subscriptions end without a message, and level intervals are multiples of 100 ms.
 * It replies to port 53212, its own port number, instead of the source port of the request.
 */

import { isSilenced, type Silence } from '../show/silence.ts'
import { openSimulatedUdpSocket, type Peer, type SimulatedUdpSocket, type UdpSocketOptions } from './simulated-udp.ts'

/** Numbers are as in the protocol. */
export interface McpState {
  name: string
  frequencyKhz: number
  bank: number
  presetChannel: number
  firmware: string
  isMuted: boolean
  squelch: number
  afOut: number
  equalizer: number
  sensitivity: number
  mode: number
  /** RF at both antennas, in percent. */
  rf: readonly [number, number]
  af: number
  afPeak: number
  /** '0', '30', '70', '100', or '?' if no battery telegram is received. */
  battery: string
  hasPilot: boolean
  isTxMuted: boolean
  warnings: readonly string[]
}

export interface McpSimulatorOptions extends UdpSocketOptions {
  readonly kind?: 'EM' | 'SR'
  readonly state?: Partial<McpState>
  /** Sends replies to the source port of the request instead of the device's own port number. */
  readonly repliesToSource?: boolean
  /** Ends subscriptions of an EM early while its RF is muted, as some firmware does. */
  readonly endsSubscriptionsWhileMuted?: boolean
}

export interface McpSimulator {
  readonly url: string
  readonly udp: SimulatedUdpSocket
  readonly subscriptions: number
  readonly state: Readonly<McpState>
  /** Changes the state as if at the front panel. Subscribers receive configuration changes. */
  set(changes: Partial<McpState>): void
  setSilence(silence: Silence | null): void
  /** Sends this text unchanged to every subscriber. */
  send(text: string): void
  close(): Promise<void>
}

interface Subscription {
  readonly peer: Peer
  readonly endsAt: number
  /**
   * Bit mask of the events that trigger a notification:
   * - 1: the configuration changes (sends the changed attributes)
   * - 2: the warnings change (sends levels)
   * - 4: the pilot or the battery changes (sends levels; EM only)
   */
  readonly flags: number
  readonly cycle: NodeJS.Timeout | null
}

const maxDatagramChars = 1500
const defaultState: McpState = {
  name: 'EM300',
  frequencyKhz: 606_200,
  bank: 1,
  presetChannel: 3,
  firmware: '1.7.0',
  isMuted: false,
  squelch: 5,
  afOut: 0,
  equalizer: 0,
  sensitivity: -21,
  mode: 1,
  rf: [62, 55],
  af: 60,
  afPeak: 75,
  battery: '70',
  hasPilot: true,
  isTxMuted: false,
  warnings: [],
}

/** Configuration keywords per kind, in the order of a full configuration report. */
const configurationKeywords = {
  EM: ['Name', 'Frequency', 'Squelch', 'AfOut', 'Equalizer', 'Mute'],
  SR: ['Name', 'Frequency', 'Sensitivity', 'Equalizer', 'Mode', 'Mute'],
} as const

export async function startMcpSimulator(options: McpSimulatorOptions = {}): Promise<McpSimulator> {
  const udp = await openSimulatedUdpSocket(options, (text, from) => {
    const peer = { address: from.address, port: options.repliesToSource ? from.port : udp.port }
    const reply = device.reply(text, peer)
    device.sendTo(peer, reply)
  })
  const device = new SimulatedRackDevice(udp, options)
  return device
}

class SimulatedRackDevice implements McpSimulator {
  readonly udp: SimulatedUdpSocket
  readonly url: string
  readonly state: McpState
  readonly #kind: 'EM' | 'SR'
  readonly #endsSubscriptionsWhileMuted: boolean
  readonly #subscriptions = new Map<string, Subscription>()
  /** Number of configuration changes, modulo 1000. */
  #configIndex = 0
  #silence: Silence | null = null

  constructor(
    udp: SimulatedUdpSocket,
    { kind = 'EM', state, endsSubscriptionsWhileMuted = false }: McpSimulatorOptions,
  ) {
    this.udp = udp
    this.url = `mcp://${udp.host}:${udp.port}`
    this.state = { ...defaultState, ...state }
    this.#kind = kind
    this.#endsSubscriptionsWhileMuted = endsSubscriptionsWhileMuted
  }

  get subscriptions(): number {
    return [...this.#subscriptions.values()].filter((subscription) => !this.#isExpired(subscription)).length
  }

  set(changes: Partial<McpState>): void {
    this.#applyChange('', changes)
  }

  setSilence(silence: Silence | null): void {
    this.#silence = silence
  }

  send(text: string): void {
    for (const { peer } of this.#subscriptions.values()) this.udp.send(text, peer)
  }

  /** Sends the lines that are not silenced. */
  sendTo(peer: Peer, text: string): void {
    const lines = text.split('\r').filter((line) => line !== '')
    const sent = lines.filter((line) => {
      const isLevel = /^(?:RF\d?|A[Ff]) /.test(line)
      return !isSilenced(this.#silence, { isLevel, channel: isLevel ? 1 : null })
    })
    if (sent.length > 0) this.udp.send(sent.map((line) => `${line}\r`).join(''), peer)
  }

  async close(): Promise<void> {
    for (const { peer } of [...this.#subscriptions.values()]) this.#endSubscription(peer)
    await this.udp.close()
  }

  /** Returns the reply to a datagram, or an empty text. */
  reply(text: string, peer: Peer): string {
    if (text.length > maxDatagramChars) return ''
    if (!text.endsWith('\r')) return formatError(1050, text)
    const replies: string[] = []
    for (const line of text.split('\r').filter((candidate) => candidate !== '')) {
      const reply = this.#handleLine(line, peer)
      replies.push(reply)
      // Only the first error of a datagram is reported.
      if (/^\d{4}:/.test(reply)) break
    }
    return replies.join('')
  }

  #handleLine(line: string, peer: Peer): string {
    const [keyword = '', ...values] = line.trimEnd().split(' ')
    if (keyword === 'Push') return this.#subscribe(values, line, peer)
    if (keyword === 'Name' && values.length > 0) return this.#applyChange(line, { name: line.slice('Name '.length) })
    const keywords = [
      ...configurationKeywords[this.#kind],
      'FirmwareRevision',
      'BankList',
      'RfConfig',
    ] as readonly string[]
    if (!keywords.includes(keyword)) return formatError(1000, line)
    if (values.length === 0) return `${this.#formatAttribute(keyword)}\r`
    const setting = settings[keyword]
    if (setting === undefined) return formatError(1040, line)
    if (!values.every((value) => /^#?-?\d+$/.test(value))) return formatError(1010, line)
    if (values.length > setting.maxValues) return formatError(1040, line)
    const [first = '', ...others] = values
    if (first.startsWith('#') && setting.step === undefined) return formatError(1030, line)
    const requested = first.startsWith('#')
      ? Number(this.state[setting.field]) + Number(first.slice(1)) * (setting.step ?? 0)
      : Number(first)
    if (!setting.isAllowed(requested)) return formatError(1020, line)
    this.#applyChange(line, setting.apply(requested, others.map(Number)))
    return `${this.#formatAttribute(keyword)}\r`
  }

  #formatAttribute(keyword: string): string {
    switch (keyword) {
      case 'Name':
        return `Name ${this.state.name}`
      case 'Frequency':
        return `Frequency ${this.state.frequencyKhz} ${this.state.bank} ${this.state.presetChannel}`
      case 'FirmwareRevision':
        return `FirmwareRevision ${this.state.firmware}`
      case 'Mute':
        return `Mute ${Number(this.state.isMuted)}`
      case 'RfConfig':
        return 'RfConfig 606000 678000 25'
      case 'BankList':
        return `BankList 1 ${Array.from({ length: 32 }, (_, index) => (index < 4 ? 606_200 + index * 400 : 0)).join(' ')}`
      default: {
        const setting = settings[keyword]
        return `${keyword} ${setting === undefined ? '' : Number(this.state[setting.field])}`
      }
    }
  }

  #subscribe(values: readonly string[], line: string, peer: Peer): string {
    if (values.length !== 3) return formatError(1040, line)
    if (!values.every((value) => /^\d+$/.test(value))) return formatError(1010, line)
    const [timeoutS = 0, cycleMs = 0, flags = 0] = values.map(Number)
    const isAllowed =
      timeoutS <= 300 && cycleMs <= 60_000 && cycleMs % 100 === 0 && flags <= (this.#kind === 'EM' ? 7 : 3)
    if (!isAllowed) return formatError(1020, line)
    this.#endSubscription(peer)
    // The data precede the acknowledgement, which the protocol allows.
    if (flags !== 0) this.sendTo(peer, this.#allConfiguration())
    if (timeoutS === 0 && cycleMs > 0) this.sendTo(peer, this.#cycleText())
    if (timeoutS > 0) this.#startSubscription(peer, { timeoutS, cycleMs, flags })
    return `${line}\r`
  }

  #startSubscription(peer: Peer, requested: { timeoutS: number; cycleMs: number; flags: number }): void {
    const tick = () => {
      if (this.#isExpired(subscription)) this.#endSubscription(peer)
      else this.sendTo(peer, this.#cycleText())
    }
    const subscription: Subscription = {
      peer,
      endsAt: performance.now() + requested.timeoutS * 1000,
      flags: requested.flags,
      cycle: requested.cycleMs > 0 ? setInterval(tick, requested.cycleMs) : null,
    }
    this.#subscriptions.set(keyOf(peer), subscription)
  }

  #isExpired({ endsAt }: Subscription): boolean {
    return (
      performance.now() > endsAt ||
      (this.#endsSubscriptionsWhileMuted && (this.state.isTxMuted || this.state.rf[0] + this.state.rf[1] === 0))
    )
  }

  #endSubscription(peer: Peer): void {
    const subscription = this.#subscriptions.get(keyOf(peer))
    if (subscription?.cycle) clearInterval(subscription.cycle)
    this.#subscriptions.delete(keyOf(peer))
  }

  #applyChange(line: string, changed: Partial<McpState>): string {
    const previous = {
      configuration: this.#allConfiguration(),
      warnings: this.state.warnings.join(' '),
      transmitter: transmitterStateOf(this.state),
    }
    Object.assign(this.state, changed)
    const lines = configurationKeywords[this.#kind].map((keyword) => `${this.#formatAttribute(keyword)}\r`)
    const changedLines = lines.filter((changedLine) => !previous.configuration.includes(changedLine))
    if (changedLines.length > 0) {
      this.#configIndex = (this.#configIndex + 1) % 1000
      this.#notify(1, changedLines.join(''))
    }
    if (this.state.warnings.join(' ') !== previous.warnings) this.#notify(2, this.#cycleText())
    if (transmitterStateOf(this.state) !== previous.transmitter) this.#notify(4, this.#cycleText())
    return `${line}\r`
  }

  #notify(flag: number, text: string): void {
    for (const subscription of this.#subscriptions.values()) {
      if ((subscription.flags & flag) !== 0 && !this.#isExpired(subscription)) this.sendTo(subscription.peer, text)
    }
  }

  #allConfiguration(): string {
    return configurationKeywords[this.#kind].map((keyword) => `${this.#formatAttribute(keyword)}\r`).join('')
  }

  #cycleText(): string {
    const lines = this.#kind === 'EM' ? formatEmCycle(this.state) : formatSrCycle(this.state)
    return [...lines, `Config ${this.#configIndex}`].map((line) => `${line}\r`).join('')
  }
}

function formatEmCycle(state: McpState): string[] {
  const [first, second] = state.rf
  const isFirst = first >= second
  const mutes = (Number(state.isTxMuted) << 1) | (Number(state.isMuted) << 3)
  const bits = mutes === 0 ? 0 : mutes | 1
  return [
    `RF1 ${first} ${first} ${Number(isFirst)}`,
    `RF2 ${second} ${second} ${Number(!isFirst)}`,
    `States ${bits} ${Number(state.hasPilot)}`,
    `RF ${Math.max(first, second)} ${isFirst ? 1 : 2} ${Number(state.hasPilot)}`,
    `AF ${state.af} ${state.afPeak} ${bits}`,
    `Bat ${state.battery}`,
    `Msg ${state.warnings.join(' ') || 'OK'}`,
  ]
}

function formatSrCycle(state: McpState): string[] {
  return [
    `Af ${state.af} ${state.af} ${state.afPeak} ${state.afPeak}`,
    `States ${Number(state.isMuted)} ${Number(state.isMuted)}`,
    `Msg ${state.warnings.join(' ') || 'OK'}`,
  ]
}

/** A value that a command can set, with its range and step. */
interface Setting {
  readonly field: keyof McpState
  readonly maxValues: number
  /** Absent if relative values are not supported. */
  readonly step?: number
  isAllowed(value: number): boolean
  apply(value: number, others: readonly number[]): Partial<McpState>
}

const settings: Readonly<Record<string, Setting>> = {
  Frequency: {
    field: 'frequencyKhz',
    maxValues: 3,
    isAllowed: (kHz) => kHz >= 606_000 && kHz <= 678_000 && kHz % 25 === 0,
    apply: (frequencyKhz, [bank = 0, presetChannel = 0]) => ({ frequencyKhz, bank, presetChannel }),
  },
  Mute: { field: 'isMuted', maxValues: 1, isAllowed: isWithin(0, 1), apply: (value) => ({ isMuted: value === 1 }) },
  Squelch: {
    field: 'squelch',
    maxValues: 1,
    step: 2,
    isAllowed: (dB) => dB === 0 || (dB >= 5 && dB <= 25 && dB % 2 === 1),
    apply: (squelch) => ({ squelch }),
  },
  AfOut: {
    field: 'afOut',
    maxValues: 1,
    step: 3,
    isAllowed: (dB) => dB >= -24 && dB <= 24 && dB % 3 === 0,
    apply: (afOut) => ({ afOut }),
  },
  Equalizer: { field: 'equalizer', maxValues: 6, isAllowed: isWithin(0, 3), apply: (equalizer) => ({ equalizer }) },
  Sensitivity: {
    field: 'sensitivity',
    maxValues: 1,
    step: 3,
    isAllowed: (dB) => dB >= -42 && dB <= 0 && dB % 3 === 0,
    apply: (sensitivity) => ({ sensitivity }),
  },
  Mode: { field: 'mode', maxValues: 1, isAllowed: isWithin(0, 1), apply: (mode) => ({ mode }) },
}

function isWithin(min: number, max: number): (value: number) => boolean {
  return (value) => value >= min && value <= max
}

const errorTexts: Readonly<Record<number, string>> = {
  1000: 'Invalid command',
  1010: 'Invalid parameter',
  1020: 'Value out of range',
  1030: 'Relative parameters not supported',
  1040: 'Invalid numbers of parameter',
  1050: 'Incorrect termination (no CR)',
}

function formatError(code: number, line: string): string {
  return `${code}: ${errorTexts[code]} [ ${line} ] \r`
}

function transmitterStateOf({ battery, hasPilot }: McpState): string {
  return `${battery} ${hasPilot}`
}

function keyOf({ address, port }: Peer): string {
  return `${address}:${port}`
}
