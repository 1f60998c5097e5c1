/**
 * Derives the state of a channel card. The most urgent condition is displayed as the state, the others as flags.
 */

import { performerOf } from './assigned-performers.ts'
import { plainText } from './format.ts'
import {
  isClipping,
  isFailing,
  isFair,
  isWeak,
  type WatchedChannel,
  type WatchedReceiver,
  type WatchState,
} from './state.ts'

export type ChannelState =
  | 'good'
  | 'on' // TX on, battery unknown
  | 'replace'
  | 'low'
  | 'critical'
  | 'key_error' // encryption keys do not match: no audio
  | 'rf_weak'
  | 'clipping'
  | 'off'
  | 'off_recently'
  | 'receiver_lost'
  | 'stale'

type Overlay = 'receiver_lost' | 'stale'
type BatteryState = 'good' | 'on' | 'replace' | 'low' | 'critical'

/** Displayed only as a flag, never as the state. */
type ExtraFlag = 'rf_fair' | 'muted' | 'interference'

export type Flag = Exclude<ChannelState, 'stale' | 'good' | 'on'> | ExtraFlag

export interface ChannelFacts {
  readonly receiverId: number
  readonly channelId: number
  readonly slot: number
  /** A leading token of the name, such as H04. */
  readonly token: string | null
  /** The name of the performer, otherwise of the transmitter, otherwise of the channel. */
  readonly name: string | null
  readonly picture: string | null
  readonly state: ChannelState
  readonly flags: readonly Flag[]
  readonly needsAttention: boolean
  /** Sort key for "problems first"; smaller is more urgent. */
  readonly urgency: number
  /** Percent; the last known value when the transmitter is off. */
  readonly battery: number | null
  readonly isBatteryOld: boolean
  /**
   * Whether the values are current and a transmitter is present. If not, meters are drawn in the color of old values, and
   * the history records no levels.
   */
  readonly isLive: boolean
  /**
   * Browser time at which the receiver went offline if `state` is `receiver_lost`; otherwise the time since which the
   * values have been stale or the transmitter has been off. Null if none of these applies or the time is unknown.
   */
  readonly since: number | null
  /** Browser time of the last overload, until a user clears it. */
  readonly overloadAt: number | null
  readonly frequency: string | null
  readonly channel: number
  readonly receiverName: string
  readonly receiverModel: string | null
  readonly receiverIp: string | null
  readonly manufacturer: string
}

type Condition = Exclude<ChannelState, Overlay>

const recentlyMs = 30 * 60_000
const clippingHoldMs = 10_000
/** RF still counts as weak or fair for this long after it recovers, so that a level near a limit toggles no state. */
const weakHoldMs = 3_000
/** Values are stale after this time without a message, even if the socket is open. */
export const silentMs = 2_000
const silentPollingMs = 20_000

export function describeChannel(
  watchState: WatchState,
  receiver: WatchedReceiver,
  channel: WatchedChannel,
): ChannelFacts {
  const isAllStale = allStaleSince(watchState) !== null
  const staleSince = receiverStaleSince(watchState, receiver)
  const found = conditions(watchState, channel)
  const overlays: Overlay[] = [
    ...(staleSince !== null && (isAllStale || receiver.is_active) ? ['stale' as const] : []),
    ...(receiver.is_active ? [] : ['receiver_lost' as const]),
  ]
  const isHidden = overlays.length > 0
  const [state = 'on', ...flags] = [...overlays, ...found]
  const performer = performerOf(watchState, channel.id)
  const parsed = splitName(plainText(channel.transmitter?.name ?? channel.lastName ?? channel.name ?? ''))
  return {
    receiverId: receiver.id,
    channelId: channel.id,
    slot: channel.slot,
    token: parsed.token,
    name: performer === null ? parsed.name : plainText(performer.name),
    picture: performer?.picture ?? null,
    state,
    flags: [...flags.filter(isFlag), ...extraFlags(watchState, channel, found)],
    needsAttention: needsAttention(state, flags),
    // The order must not change when all values become stale.
    urgency: urgencyOf(isAllStale ? flags : [state, ...flags], needsAttention(state, flags)),
    battery: channel.transmitter === null ? channel.lastBattery : channel.transmitter.battery,
    isBatteryOld: isHidden || channel.transmitter === null,
    isLive: !isHidden && channel.transmitter !== null,
    since: state === 'receiver_lost' ? receiver.offlineSince : (staleSince ?? channel.offSince),
    overloadAt: channel.clippedAt,
    frequency: channel.transmitter?.frequency ?? channel.frequency,
    channel: channel.channel,
    receiverName: plainText(receiver.name),
    receiverModel: receiver.model,
    receiverIp: receiver.ip,
    manufacturer: receiver.manufacturer,
  }
}

/** Returns all conditions, in the order in which they take precedence as the displayed state. */
function conditions(watchState: WatchState, channel: WatchedChannel): Condition[] {
  const threshold = watchState.config.alert_battery_threshold
  const { transmitter, details } = channel
  if (transmitter === null) {
    const isRecent = channel.offSince !== null && watchState.now - channel.offSince < recentlyMs
    const warning = batteryState(channel.lastBattery, threshold)
    return [isRecent ? 'off_recently' : 'off', ...(warning === 'good' || warning === 'on' ? [] : [warning])]
  }
  const battery = batteryState(transmitter.battery, threshold)
  const weak = isWeak(channel) || isHeld(channel.weakAt, weakHoldMs, watchState.now)
  const clips = isClipping(channel) || isHeld(channel.clippedAt, clippingHoldMs, watchState.now)
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

function extraFlags(watchState: WatchState, channel: WatchedChannel, found: readonly Condition[]): ExtraFlag[] {
  const { transmitter, details } = channel
  if (transmitter === null) return []
  const isFairNow = isFair(channel) || isHeld(channel.fairAt, weakHoldMs, watchState.now)
  // There is no audio if either the receiver output or the transmitter is muted.
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

function isFlag(state: ChannelState): state is Exclude<Flag, ExtraFlag> {
  return state !== 'good' && state !== 'on' && state !== 'stale'
}

function isHeld(at: number | null, holdMs: number, now: number): boolean {
  return at !== null && now - at < holdMs
}

/** A transmitter that turns off shortly after a battery warning has probably run out of power. */
function needsAttention(state: ChannelState, flags: readonly ChannelState[]): boolean {
  if (state === 'off_recently') return flags.includes('critical') || flags.includes('low')
  return ['critical', 'key_error', 'low', 'rf_weak', 'clipping', 'receiver_lost', 'stale'].includes(state)
}

/** Returns the time since which all values are stale; null while they are current. */
export function allStaleSince(watchState: WatchState): number | null {
  if (watchState.receivedAt === null) return null
  const silence = watchState.now - watchState.receivedAt
  const limit = watchState.connection === 'polling' ? silentPollingMs : silentMs
  return !watchState.isFresh || silence >= limit ? watchState.receivedAt : null
}

/**
 * Returns the time since which the values of a receiver are stale; null while they are current. They are stale if all
 * values are, or if the manufacturer's system fails and no update of the receiver has arrived for `silentMs`.
 */
function receiverStaleSince(watchState: WatchState, receiver: WatchedReceiver): number | null {
  const all = allStaleSince(watchState)
  if (all !== null) return all
  if (!isFailing(watchState, receiver.manufacturer) || watchState.now - receiver.receivedAt < silentMs) return null
  return receiver.receivedAt
}

/** Splits `H04 Maria` into H04 and Maria. A token has a letter and a digit, and must be followed by a name. */
export function splitName(text: string): { token: string | null; name: string | null } {
  const whole = text.trim()
  if (whole === '') return { token: null, name: null }
  const found = /^([A-Za-z]{1,2}\d{1,3})[\s_.:–-]+(\S.*)$/su.exec(whole)
  return found === null ? { token: null, name: whole } : { token: found[1] ?? null, name: found[2] ?? whole }
}

/** Sort keys for "problems first". */
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
  // A stale channel keeps the urgency of its last state.
  return Math.min(urgency[first], first === 'stale' && second !== undefined ? urgency[second] : urgency.off)
}

export function byUrgency(a: ChannelFacts, b: ChannelFacts): number {
  return a.urgency - b.urgency || bySlot(a, b)
}

export function bySlot(a: ChannelFacts, b: ChannelFacts): number {
  return a.slot - b.slot || a.channelId - b.channelId
}
