/**
 * An ew G4 rack device on a real socket: an EM with one transmitter, or an SR. Its manners are those of TI 1254 v1.0: the
 * error table, subscriptions that end in silence, levels in steps of 100 ms, and answers to port 53212, its own,
 * whatever port the asker has.
 */

import {
  type DatagramOptions,
  openSimulatedDatagrams,
  type Peer,
  type SimulatedDatagrams,
} from '../simulated-datagrams.ts'

/** What can be seen and turned on the device; numbers as on the wire. */
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
  /** '0' '30' '70' '100', or '?' where no telegram comes. */
  battery: string
  hasPilot: boolean
  isTxMuted: boolean
  warnings: readonly string[]
}

export interface McpSimulatorOptions extends DatagramOptions {
  readonly kind?: 'EM' | 'SR'
  readonly state?: Partial<McpState>
  /** Answers go to the port that was asked from, rather than to the one of the same number as its own. */
  readonly answersToSource?: boolean
  /** Ends subscriptions of an EM early while its RF is muted, as some firmware does. */
  readonly dropsWhileMuted?: boolean
}

export interface McpSimulator {
  readonly url: string
  readonly datagrams: SimulatedDatagrams
  readonly subscriptions: number
  readonly state: Readonly<McpState>
  /** Changes as by hand at the device: what is configuration is told to those who subscribed to it. */
  set(change: Partial<McpState>): void
  /** Sends this to everybody who subscribed, as it is. */
  say(text: string): void
  close(): Promise<void>
}

interface Subscription {
  readonly peer: Peer
  readonly endsAt: number
  /** 1: configuration on change; 2: levels when warnings change; 4: when pilot or battery do. */
  readonly flags: number
  readonly cycle: NodeJS.Timeout | null
}

const longestLine = 1500
const atStart: McpState = {
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

/** Keyword -> the fields it tells, per kind, in the order in which all of them are told at once. */
const configurationOf = {
  EM: ['Name', 'Frequency', 'Squelch', 'AfOut', 'Equalizer', 'Mute'],
  SR: ['Name', 'Frequency', 'Sensitivity', 'Equalizer', 'Mode', 'Mute'],
} as const

export async function startMcpSimulator(options: McpSimulatorOptions = {}): Promise<McpSimulator> {
  const { kind = 'EM', answersToSource = false, dropsWhileMuted = false } = options
  const state: McpState = { ...atStart, ...options.state }
  const subscriptions = new Map<string, Subscription>()
  let configIndex = 0

  const datagrams = await openSimulatedDatagrams(options, (text, from) => {
    const peer = { address: from.address, port: answersToSource ? from.port : datagrams.port }
    const answer = answerDatagram(text, peer)
    if (answer !== '') datagrams.say(answer, peer)
  })

  function answerDatagram(text: string, peer: Peer): string {
    if (text.length > longestLine) return ''
    if (!text.endsWith('\r')) return refuse(1050, text)
    const answers: string[] = []
    for (const line of text.split('\r').filter((one) => one !== '')) {
      const answer = answerLine(line, peer)
      answers.push(answer)
      // Only the first error of a datagram is reported.
      if (/^\d{4}:/.test(answer)) break
    }
    return answers.join('')
  }

  function answerLine(line: string, peer: Peer): string {
    const [keyword = '', ...values] = line.trimEnd().split(' ')
    if (keyword === 'Push') return subscribe(values, line, peer)
    if (keyword === 'Name' && values.length > 0) return change(line, { name: line.slice('Name '.length) })
    const known = [...configurationOf[kind], 'FirmwareRevision', 'BankList', 'RfConfig'] as readonly string[]
    if (!known.includes(keyword)) return refuse(1000, line)
    if (values.length === 0) return `${tell(keyword)}\r`
    const setting = settings[keyword]
    if (setting === undefined) return refuse(1040, line)
    if (!values.every((value) => /^#?-?\d+$/.test(value))) return refuse(1010, line)
    if (values.length > setting.most) return refuse(1040, line)
    const [first = '', ...others] = values
    if (first.startsWith('#') && setting.step === undefined) return refuse(1030, line)
    const asked = first.startsWith('#')
      ? Number(state[setting.field]) + Number(first.slice(1)) * (setting.step ?? 0)
      : Number(first)
    if (!setting.takes(asked)) return refuse(1020, line)
    change(line, setting.apply(asked, others.map(Number)))
    return `${tell(keyword)}\r`
  }

  function tell(keyword: string): string {
    switch (keyword) {
      case 'Name':
        return `Name ${state.name}`
      case 'Frequency':
        return `Frequency ${state.frequencyKhz} ${state.bank} ${state.presetChannel}`
      case 'FirmwareRevision':
        return `FirmwareRevision ${state.firmware}`
      case 'Mute':
        return `Mute ${Number(state.isMuted)}`
      case 'RfConfig':
        return 'RfConfig 606000 678000 25'
      case 'BankList':
        return `BankList 1 ${Array.from({ length: 32 }, (_, at) => (at < 4 ? 606_200 + at * 400 : 0)).join(' ')}`
      default: {
        const setting = settings[keyword]
        return `${keyword} ${setting === undefined ? '' : Number(state[setting.field])}`
      }
    }
  }

  function subscribe(values: readonly string[], line: string, peer: Peer): string {
    if (values.length !== 3) return refuse(1040, line)
    if (!values.every((value) => /^\d+$/.test(value))) return refuse(1010, line)
    const [timeoutS = 0, cycleMs = 0, flags = 0] = values.map(Number)
    const isAllowed = timeoutS <= 300 && cycleMs <= 60_000 && cycleMs % 100 === 0 && flags <= (kind === 'EM' ? 7 : 3)
    if (!isAllowed) return refuse(1020, line)
    end(peer)
    // What was asked for once comes before the acknowledgement, which is allowed.
    if (flags !== 0) datagrams.say(allConfiguration(), peer)
    if (timeoutS === 0 && cycleMs > 0) datagrams.say(cycleText(), peer)
    if (timeoutS > 0) begin(peer, { timeoutS, cycleMs, flags })
    return `${line}\r`
  }

  function begin(peer: Peer, asked: { timeoutS: number; cycleMs: number; flags: number }): void {
    const tick = () => {
      if (isOver(subscription)) end(peer)
      else datagrams.say(cycleText(), peer)
    }
    const subscription: Subscription = {
      peer,
      endsAt: performance.now() + asked.timeoutS * 1000,
      flags: asked.flags,
      cycle: asked.cycleMs > 0 ? setInterval(tick, asked.cycleMs) : null,
    }
    subscriptions.set(keyOf(peer), subscription)
  }

  function isOver({ endsAt }: Subscription): boolean {
    return performance.now() > endsAt || (dropsWhileMuted && (state.isTxMuted || state.rf[0] + state.rf[1] === 0))
  }

  function end(peer: Peer): void {
    const subscription = subscriptions.get(keyOf(peer))
    if (subscription?.cycle) clearInterval(subscription.cycle)
    subscriptions.delete(keyOf(peer))
  }

  function change(line: string, changed: Partial<McpState>): string {
    const before = { configuration: allConfiguration(), warnings: state.warnings.join(' '), sender: senderOf(state) }
    Object.assign(state, changed)
    const lines = configurationOf[kind].map((keyword) => `${tell(keyword)}\r`)
    const changedLines = lines.filter((one) => !before.configuration.includes(one))
    if (changedLines.length > 0) {
      configIndex = (configIndex + 1) % 1000
      notify(1, changedLines.join(''))
    }
    if (state.warnings.join(' ') !== before.warnings) notify(2, cycleText())
    if (senderOf(state) !== before.sender) notify(4, cycleText())
    return `${line}\r`
  }

  function notify(flag: number, text: string): void {
    for (const subscription of subscriptions.values()) {
      if ((subscription.flags & flag) !== 0 && !isOver(subscription)) datagrams.say(text, subscription.peer)
    }
  }

  function allConfiguration(): string {
    return configurationOf[kind].map((keyword) => `${tell(keyword)}\r`).join('')
  }

  function cycleText(): string {
    const lines = kind === 'EM' ? cycleOfEm(state) : cycleOfSr(state)
    return [...lines, `Config ${configIndex}`].map((line) => `${line}\r`).join('')
  }

  return {
    url: `mcp://${datagrams.host}:${datagrams.port}`,
    datagrams,
    get subscriptions() {
      return [...subscriptions.values()].filter((one) => !isOver(one)).length
    },
    state,
    set: (changed) => void change('', changed),
    say(text) {
      for (const { peer } of subscriptions.values()) datagrams.say(text, peer)
    },
    async close() {
      for (const { peer } of [...subscriptions.values()]) end(peer)
      await datagrams.close()
    },
  }
}

function cycleOfEm(state: McpState): string[] {
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

function cycleOfSr(state: McpState): string[] {
  return [
    `Af ${state.af} ${state.af} ${state.afPeak} ${state.afPeak}`,
    `States ${Number(state.isMuted)} ${Number(state.isMuted)}`,
    `Msg ${state.warnings.join(' ') || 'OK'}`,
  ]
}

/** What a command may set, and in what steps. */
interface Setting {
  readonly field: keyof McpState
  readonly most: number
  /** Absent: no relative values. */
  readonly step?: number
  takes(value: number): boolean
  apply(value: number, others: readonly number[]): Partial<McpState>
}

const settings: Readonly<Record<string, Setting>> = {
  Frequency: {
    field: 'frequencyKhz',
    most: 3,
    takes: (kHz) => kHz >= 606_000 && kHz <= 678_000 && kHz % 25 === 0,
    apply: (frequencyKhz, [bank = 0, presetChannel = 0]) => ({ frequencyKhz, bank, presetChannel }),
  },
  Mute: { field: 'isMuted', most: 1, takes: isWithin(0, 1), apply: (value) => ({ isMuted: value === 1 }) },
  Squelch: {
    field: 'squelch',
    most: 1,
    step: 2,
    takes: (dB) => dB === 0 || (dB >= 5 && dB <= 25 && dB % 2 === 1),
    apply: (squelch) => ({ squelch }),
  },
  AfOut: {
    field: 'afOut',
    most: 1,
    step: 3,
    takes: (dB) => dB >= -24 && dB <= 24 && dB % 3 === 0,
    apply: (afOut) => ({ afOut }),
  },
  Equalizer: { field: 'equalizer', most: 6, takes: isWithin(0, 3), apply: (equalizer) => ({ equalizer }) },
  Sensitivity: {
    field: 'sensitivity',
    most: 1,
    step: 3,
    takes: (dB) => dB >= -42 && dB <= 0 && dB % 3 === 0,
    apply: (sensitivity) => ({ sensitivity }),
  },
  Mode: { field: 'mode', most: 1, takes: isWithin(0, 1), apply: (mode) => ({ mode }) },
}

function isWithin(min: number, max: number): (value: number) => boolean {
  return (value) => value >= min && value <= max
}

const refusals: Readonly<Record<number, string>> = {
  1000: 'Invalid command',
  1010: 'Invalid parameter',
  1020: 'Value out of range',
  1030: 'Relative parameters not supported',
  1040: 'Invalid numbers of parameter',
  1050: 'Incorrect termination (no CR)',
}

function refuse(code: number, line: string): string {
  return `${code}: ${refusals[code]} [ ${line} ] \r`
}

function senderOf({ battery, hasPilot }: McpState): string {
  return `${battery} ${hasPilot}`
}

function keyOf({ address, port }: Peer): string {
  return `${address}:${port}`
}
