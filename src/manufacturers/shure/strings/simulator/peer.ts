/** One controller at a simulated receiver: what it asked for, and what it is told because of that. */

import type { DeviceState } from '../../../../simulation/show.ts'
import { type SimulatedFamily, sampleOf, type Told } from './words.ts'

/** What may be wrong with it. */
export type StringsFault =
  /** Takes connections and says nothing, as an SLX-D does whose controller access is not allowed. */
  | 'silent'
  /** Answers, a second and a half late. */
  | 'late'
  /** Noise and broken frames between the true ones. */
  | 'noise'
  /** Something that is no receiver: answers everything with words of its own. */
  | 'foreign'

export interface PeerDevice {
  readonly family: SimulatedFamily
  state(): DeviceState
  words(): Told
  /** A channel that meters nothing. */
  isQuiet(channel: number): boolean
  note(command: string): void
  fault(): StringsFault | null
  isDead(): boolean
}

export interface Peer {
  /** Meters are on for at least one channel. */
  readonly isMetering: boolean
  hear(command: string): void
  /** Tells what has changed since the last time. */
  beat(): void
  close(): void
}

const noise = ['\u0000\u00ff>>', '< REP >', '< SAMPLE 1 ALL >', '< REP 1 FREQUENCY abc >', '<<<', '< HELLO 1 2 3 >']

export function createPeer(device: PeerDevice, write: (text: string) => void): Peer {
  const { family } = device
  const isOld = family === 'uhfr' || family === 'psm1000'
  const meters = new Map<number, NodeJS.Timeout>()
  const waiting = new Set<NodeJS.Timeout>()
  let told = device.words()
  let isClosed = false
  let said = 0

  function say(...inner: string[]): void {
    const fault = device.fault()
    if (isClosed || device.isDead() || fault === 'silent' || inner.length === 0) return
    const frames = fault === 'foreign' ? ['< REP HTTP 400 >'] : inner.map(envelope)
    if (fault === 'noise') frames.unshift(noise[said++ % noise.length] ?? '')
    if (fault === 'late') sayLater(frames.join(''))
    else write(frames.join(''))
  }

  function sayLater(text: string): void {
    const timer = setTimeout(() => {
      waiting.delete(timer)
      if (!isClosed) write(text)
    }, 1500)
    waiting.add(timer)
  }

  function envelope(inner: string): string {
    if (family === 'uhfr') return `* ${inner} *`
    return family === 'psm1000' ? `< ${inner} >\r\n` : `< ${inner} >`
  }

  const report = (key: string, value: string, channel?: number) => {
    const bare = isOld ? value.replace(/^\{(.*?)\s*\}$/, '$1') : value
    return [isOld ? 'REPORT' : 'REP', channel, key, bare].filter((word) => word !== undefined).join(' ')
  }

  /** QLX-D's paper knows no error reply, nor do the older families. */
  const refuse = () => {
    if (!isOld && family !== 'qlxd') say('REP ERR')
  }

  function hear(command: string): void {
    device.note(command)
    const [verb, ...words] = command.split(/\s+/)
    const numbered = /^\d+$/.test(words[0] ?? '')
    const channel = numbered ? Number(words.shift()) : null
    const [key = '', ...value] = words
    if (verb === 'METER' && channel !== null) meter([channel], value[0] === 'STOP' ? 0 : Number(value[0]) * 30)
    else if (verb === 'GET' && channel === null) get(words.join(' '))
    else {
      const channels = channel === null ? null : addressed(channel, verb === 'GET')
      if (channels === null) refuse()
      else if (verb === 'GET') getOfChannels(channels, key, value[0])
      else if (verb === 'SET' && key === 'METER_RATE') setMeterRate(channels, value[0] ?? '')
      else refuse()
    }
  }

  /** The channels a number stands for; null where the family does not know it. */
  function addressed(channel: number, isGet: boolean): readonly number[] | null {
    const all = device.state().channels.map((one) => one.channel)
    if (channel !== 0) return all.includes(channel) ? [channel] : null
    const knowsZero = !isOld && family !== 'qlxd' && !(family === 'slxd+' && isGet)
    return knowsZero ? all : null
  }

  function get(key: string): void {
    const value = device.words().device[key]
    if (value === undefined) refuse()
    else say(report(key, value))
  }

  function getOfChannels(channels: readonly number[], key: string, index?: string): void {
    if (key === 'ALL' && isOld) return
    const words = device.words()
    const answers = channels.flatMap((channel) => {
      const own = Object.entries(words.channels.get(channel) ?? {})
      const isAsked = (name: string) => {
        if (key === 'ALL') return family === 'slxd+' || !name.startsWith('SLOT_')
        return index === '0' ? name.startsWith(`${key} `) : name === [key, index].filter(Boolean).join(' ')
      }
      return own.filter(([name]) => isAsked(name)).map(([name, value]) => report(name, value, channel))
    })
    if (answers.length === 0) refuse()
    else say(...answers)
  }

  function setMeterRate(channels: readonly number[], value: string): void {
    meter(channels, Number(value))
    say(...channels.map((channel) => report('METER_RATE', value, channel)))
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
    const channel = device.state().channels.find((one) => one.channel === number)
    if (channel === undefined || device.isQuiet(number)) return
    const value = sampleOf(family, channel)
    if (family === 'psm1000') {
      say(report('AUDIO_IN_LVL_L', value, number), report('AUDIO_IN_LVL_R', value, number))
    } else say(`SAMPLE ${number} ALL ${value}`)
  }

  function beat(): void {
    const before = told
    const now = device.words()
    told = now
    const changed = Object.entries(now.device).filter(([key, value]) => before.device[key] !== value)
    const reports = changed.map(([key, value]) => report(key, value))
    for (const [channel, words] of now.channels) {
      for (const [key, value] of Object.entries(words)) {
        if (before.channels.get(channel)?.[key] !== value) reports.push(report(key, value, channel))
      }
    }
    say(...reports)
  }

  return {
    get isMetering() {
      return meters.size > 0
    },
    hear,
    beat,
    close() {
      isClosed = true
      for (const timer of [...meters.values(), ...waiting]) clearTimeout(timer)
      meters.clear()
    },
  }
}
