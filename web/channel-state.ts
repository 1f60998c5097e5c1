/** What a channel's card says. One state wins the frame; the others stay readable as marks. */

import { plainText } from './format.ts'
import {
  type House,
  isClipping,
  isFair,
  isWeak,
  type WatchedChannel,
  type WatchedReceiver,
  wearerKey,
} from './state.ts'

export type ChannelState =
  | 'good'
  | 'on' // heard, battery unknown
  | 'replace'
  | 'low'
  | 'critical'
  | 'key_error' // the encryption keys at both ends do not match: nothing is heard
  | 'rf_weak'
  | 'clipping'
  | 'off'
  | 'off_recently'
  | 'receiver_lost'
  | 'stale'

type Veil = 'receiver_lost' | 'stale'
type BatteryState = 'good' | 'on' | 'replace' | 'low' | 'critical'

/** Worth a mark, never a frame. */
type Aside = 'rf_fair' | 'muted' | 'interference'

export type Mark = Exclude<ChannelState, 'stale' | 'good' | 'on'> | Aside

export interface ChannelFacts {
  readonly receiverId: number
  readonly channelId: number
  readonly slot: number
  /** A leading token of the name, such as H04. */
  readonly token: string | null
  /** Of whoever wears it, else of the transmitter, else of the channel. */
  readonly name: string | null
  readonly picture: string | null
  readonly state: ChannelState
  readonly marks: readonly Mark[]
  readonly needsHand: boolean
  /** Place in "problems first": the smaller, the sooner. */
  readonly urgency: number
  /** Whole percent; the last known one when the transmitter is not heard. */
  readonly battery: number | null
  readonly isBatteryOld: boolean
  /** Meters may move. */
  readonly isLive: boolean
  /** Browser time from which what is shown is old, or the transmitter gone; null where that is unknown or not so. */
  readonly since: number | null
  /** Browser time of an overload that nobody has cleared. */
  readonly overloadAt: number | null
  readonly frequency: string | null
  readonly channel: number
  readonly receiverName: string
  readonly receiverModel: string | null
  readonly receiverIp: string | null
  readonly manufacturer: string
}

type Condition = Exclude<ChannelState, Veil>

const recentlyMs = 30 * 60_000
const clippingHoldMs = 10_000
/** A level that trembles about a limit must not make frame and marks flicker. */
const weakHoldMs = 3_000
/** Without a frame for so long, what is shown is old, whatever the link believes. */
const silentMs = 3_500
const silentReadingMs = 20_000

export function describeChannel(runtime: House, receiver: WatchedReceiver, channel: WatchedChannel): ChannelFacts {
  const isHouseStale = houseStaleSince(runtime) !== null
  const staleSince = receiverStaleSince(runtime, receiver)
  const found = conditions(runtime, channel)
  const veils: Veil[] = [
    ...(staleSince !== null && (isHouseStale || receiver.is_active) ? ['stale' as const] : []),
    ...(receiver.is_active ? [] : ['receiver_lost' as const]),
  ]
  const isHidden = veils.length > 0
  const [state = 'on', ...marks] = [...veils, ...found]
  const wearer = runtime.wearers.get(wearerKey(receiver.id, channel.channel))
  const told = splitName(plainText(channel.transmitter?.name ?? channel.lastName ?? channel.name ?? ''))
  return {
    receiverId: receiver.id,
    channelId: channel.id,
    slot: channel.slot,
    token: told.token,
    name: wearer === undefined ? told.name : plainText(wearer.name),
    picture: wearer?.picture ?? null,
    state,
    marks: [...marks.filter(isMark), ...asides(runtime, channel, found)],
    needsHand: needsHand(state, marks),
    // When all is old, the order stays as it was.
    urgency: urgencyOf(isHouseStale ? marks : [state, ...marks], needsHand(state, marks)),
    battery: channel.transmitter === null ? channel.lastBattery : channel.transmitter.battery,
    isBatteryOld: isHidden || channel.transmitter === null,
    isLive: !isHidden && channel.transmitter !== null,
    since: state === 'receiver_lost' ? lastSeenAt(runtime, receiver) : (staleSince ?? channel.leftAt),
    overloadAt: channel.clippedAt,
    frequency: channel.transmitter?.frequency ?? channel.frequency,
    channel: channel.channel,
    receiverName: plainText(receiver.name),
    receiverModel: receiver.model,
    receiverIp: receiver.ip,
    manufacturer: receiver.manufacturer,
  }
}

/** All that is so, the loudest first. */
function conditions(runtime: House, channel: WatchedChannel): Condition[] {
  const threshold = runtime.config.alert_battery_threshold
  const { transmitter, details } = channel
  if (transmitter === null) {
    const isRecent = channel.leftAt !== null && runtime.now - channel.leftAt < recentlyMs
    const warning = batteryState(channel.lastBattery, threshold)
    return [isRecent ? 'off_recently' : 'off', ...(warning === 'good' || warning === 'on' ? [] : [warning])]
  }
  const battery = batteryState(transmitter.battery, threshold)
  const weak = isWeak(channel) || isHeld(channel.weakAt, weakHoldMs, runtime.now)
  const clips = isClipping(channel) || isHeld(channel.clippedAt, clippingHoldMs, runtime.now)
  const isUrgent = battery === 'critical' || battery === 'low'
  return [
    ...(battery === 'critical' ? [battery] : []),
    ...(details?.encryption === 'error' ? ['key_error' as const] : []),
    ...(battery === 'low' ? [battery] : []),
    ...(weak ? ['rf_weak' as const] : []),
    ...(clips ? ['clipping' as const] : []),
    ...(isUrgent ? [] : [battery]),
  ]
}

function asides(runtime: House, channel: WatchedChannel, found: readonly Condition[]): Aside[] {
  const { transmitter, details } = channel
  if (transmitter === null) return []
  const isFairNow = isFair(channel) || isHeld(channel.fairAt, weakHoldMs, runtime.now)
  // The receiver's output or the transmitter itself: nothing is heard either way.
  const isMuted = details?.muted === true || transmitter.details?.muted === true
  return [
    ...(isFairNow && !found.includes('rf_weak') ? ['rf_fair' as const] : []),
    ...(isMuted ? ['muted' as const] : []),
    ...(details?.interference === true ? ['interference' as const] : []),
  ]
}

export function batteryState(percent: number | null, threshold: number): BatteryState {
  if (percent === null) return 'on'
  if (percent <= 10) return 'critical'
  if (percent <= threshold) return 'low'
  return percent <= 50 ? 'replace' : 'good'
}

function isMark(state: ChannelState): state is Exclude<Mark, Aside> {
  return state !== 'good' && state !== 'on' && state !== 'stale'
}

function isHeld(at: number | null, holdMs: number, now: number): boolean {
  return at !== null && now - at < holdMs
}

/** Gone shortly after a battery warning is more likely dead than switched off. */
function needsHand(state: ChannelState, marks: readonly ChannelState[]): boolean {
  if (state === 'off_recently') return marks.includes('critical') || marks.includes('low')
  return ['critical', 'key_error', 'low', 'rf_weak', 'clipping', 'receiver_lost', 'stale'].includes(state)
}

/** From when everything on display is old; null while it is not. */
export function houseStaleSince(runtime: House): number | null {
  if (runtime.heardAt === null) return null
  const silence = runtime.now - runtime.heardAt
  const limit = runtime.client === 'reading' ? silentReadingMs : silentMs
  return !runtime.isFresh || silence > limit ? runtime.heardAt : null
}

/** The house's, or the receiver's own where its manufacturer's system fails and it has not spoken since. */
function receiverStaleSince(runtime: House, receiver: WatchedReceiver): number | null {
  const all = houseStaleSince(runtime)
  if (all !== null) return all
  const upstream = runtime.health?.manufacturers.find((one) => one.code === receiver.manufacturer)
  const fails = upstream !== undefined && (upstream.status === 'unhealthy' || upstream.consecutive_failures > 0)
  if (!fails || runtime.now - receiver.heardAt < silentMs) return null
  return Math.max(receiver.heardAt, lastSeenAt(runtime, receiver) ?? 0)
}

/** The server's time of the last sign of life, on this browser's clock. */
function lastSeenAt(runtime: House, receiver: WatchedReceiver): number | null {
  const seen = Date.parse(receiver.last_seen)
  return Number.isNaN(seen) ? null : seen - runtime.clockAheadMs
}

/** `H04 Maria` -> H04, Maria. The token needs a letter and a digit, and something must be left over. */
export function splitName(text: string): { token: string | null; name: string | null } {
  const whole = text.trim()
  if (whole === '') return { token: null, name: null }
  const found = /^([A-Za-z]{1,2}\d{1,3})[\s_.:–-]+(\S.*)$/su.exec(whole)
  return found === null ? { token: null, name: whole } : { token: found[1] ?? null, name: found[2] ?? whole }
}

/** The order of "problems first". */
const urgency: Record<ChannelState, number> = {
  critical: 0,
  receiver_lost: 1,
  key_error: 2,
  low: 3,
  rf_weak: 4,
  clipping: 5,
  stale: 6,
  replace: 7,
  off_recently: 8,
  good: 9,
  on: 9,
  off: 10,
}

function urgencyOf(states: readonly ChannelState[], isUrgent: boolean): number {
  const [first = 'on', second] = states
  if (first === 'off_recently' && isUrgent) return urgency.low
  // A veil does not change what was wrong beneath it.
  return Math.min(urgency[first], first === 'stale' && second !== undefined ? urgency[second] : urgency.off)
}

export function byUrgency(a: ChannelFacts, b: ChannelFacts): number {
  return a.urgency - b.urgency || bySlot(a, b)
}

export function bySlot(a: ChannelFacts, b: ChannelFacts): number {
  return a.slot - b.slot || a.channelId - b.channelId
}
