import type { ChannelBody } from '../../src/contract/channels.ts'
import type { ReceiverInData } from '../../src/contract/receivers.ts'
import type { SiteReference } from '../../src/contract/schema.ts'
import type { SlotColor } from '../../src/contract/values.ts'
import { HandledChannels } from '../../src/domain/alerts/handled.ts'
import { hasRow } from '../../src/domain/conditions/condition.ts'
import type { Encryption } from '../../src/domain/equipment/receiver.ts'
import { namesOfChannel, titleOf } from '../../src/domain/equipment/slot-record.ts'
import { unitTypeOf } from '../../src/domain/equipment/unit-type.ts'
import type { Forecast } from '../../src/domain/forecast/forecast.ts'
import {
  type BatteryLevel,
  batteryLevel,
  type Condition,
  type ConditionFlag,
  type ConditionState,
  compareConditions,
  type RfTone,
  rfTone,
  visibleFlags,
} from './conditions.ts'
import { plainText } from './format.ts'
import { recordOf, showable } from './slot-records.ts'
import type { WatchState } from './watch-state.ts'

export interface ChannelFacts {
  readonly receiverId: number
  readonly channelId: number
  readonly slot: number
  /** The performer, otherwise the label, otherwise what the equipment reports. */
  readonly title: string
  /** `H04` in the title `H04 Maria`, if the equipment reports it. */
  readonly token: string | null
  /** The title without the token. */
  readonly name: string
  /** The name of the transmitter, otherwise of the channel; null if it is the title. */
  readonly ownName: string | null
  readonly performer: string | null
  readonly picture: string | null
  readonly label: string | null
  readonly role: string | null
  readonly color: SlotColor | null
  readonly condition: Condition
  /** `stale` while this page has no current data. */
  readonly state: ConditionState
  readonly flags: readonly ConditionFlag[]
  readonly needsAttention: boolean
  /** Every cause is acknowledged, snoozed or silenced. */
  readonly isHandled: boolean
  /** Percent; the last known value when the transmitter is off. */
  readonly battery: number | null
  readonly batteryLevel: BatteryLevel
  readonly isBatteryOld: boolean
  readonly isBatteryEstimate: boolean
  /** The last known value when the transmitter is off. */
  readonly minutesLeft: number | null
  /** Null if `minutesLeft` is a last known value. */
  readonly forecast: Forecast | null
  /** Null while a transmitter is received, and if none is known. */
  readonly lastSeenAt: number | null
  readonly rfTone: RfTone
  readonly hasAntennas: boolean
  readonly hasQuality: boolean
  /** A pack of an intercom. */
  readonly isBeltpack: boolean
  /** False for a pack of an intercom that reports none. */
  readonly hasLevels: boolean
  /**
   * Values are current and a transmitter is present. Otherwise, meters have the colour of old values and the history
   * records no levels.
   */
  readonly isLive: boolean
  /**
   * When values were last received, or the transmitter turned off. Null while a transmitter is on and its values are
   * current.
   */
  readonly since: Beginning | null
  readonly frequency: string | null
  readonly channel: number
  readonly transmitterModel: string | null
  readonly receiverGain: number | null
  readonly transmitterGain: number | null
  readonly encryption: Encryption | null
  /** The name of who has set "Not now"; null while the sound may be played. */
  readonly notNowBy: string | null
  readonly receiverName: string
  readonly receiverModel: string | null
  readonly receiverIp: string | null
  readonly manufacturer: string
  /** Null for this installation. */
  readonly site: SiteReference | null
}

export interface Beginning {
  readonly at: number
  /** False if the state may have begun earlier. */
  readonly isKnown: boolean
}

/** All values are stale after this time without a message, even on an open socket. */
export const silentMs = 2_000
const silentPollingMs = 20_000

const idleStates: readonly ConditionState[] = ['stale', 'receiver_offline', 'charging', 'tx_off', 'battery_died']

export function describeChannel(watchState: WatchState, receiver: ReceiverInData, channel: ChannelBody): ChannelFacts {
  const { condition, transmitter, last_transmitter: last } = channel
  const allStale = allStaleSince(watchState)
  const state = allStale === null ? condition.state : 'stale'
  const flags = state === condition.state ? condition.flags : rowsOf(condition)
  const battery = (transmitter ?? last)?.battery ?? null
  const isBeltpack = unitTypeOf(receiver.device_type) === 'beltpack'
  const isOld = state === 'stale' || hasRow(condition, 'stale') || !receiver.is_active || transmitter === null
  return {
    receiverId: receiver.id,
    channelId: channel.id,
    slot: channel.slot,
    ...namesOf(watchState, receiver, channel),
    condition,
    state,
    flags: visibleFlags(state, flags),
    needsAttention: condition.attention,
    isHandled: handledChannels(watchState.alerts).has(receiver.manufacturer, receiver.id, channel.id, condition),
    battery,
    batteryLevel: batteryLevel(condition, battery),
    isBatteryOld: isOld,
    isBatteryEstimate: transmitter?.details?.battery_is_estimate === true,
    minutesLeft: transmitter === null ? (last?.minutes_left ?? null) : minutesLeftOf(transmitter),
    forecast: transmitter?.forecast ?? null,
    lastSeenAt: last === undefined ? null : Date.parse(last.last_seen),
    rfTone: rfTone(condition),
    hasQuality: channel.details?.quality !== undefined,
    isBeltpack,
    hasLevels: !isBeltpack || hasLevels(channel),
    hasAntennas: channel.details?.rf_a !== undefined || channel.details?.rf_b !== undefined,
    isLive: !isOld,
    since: sinceOf(channel, allStale),
    frequency: transmitter?.frequency ?? channel.frequency,
    channel: channel.channel,
    transmitterModel: transmitter?.details?.model ?? null,
    receiverGain: channel.details?.gain_db ?? null,
    transmitterGain: transmitter?.details?.gain_db ?? null,
    encryption: channel.details?.encryption ?? null,
    notNowBy: channel.not_now && plainText(channel.not_now.by),
    receiverName: plainText(receiver.name),
    receiverModel: receiver.model,
    receiverIp: receiver.ip,
    manufacturer: receiver.manufacturer,
    site: receiver.site,
  }
}

function hasLevels({ rf_level, audio_level, details }: ChannelBody): boolean {
  return rf_level !== null || audio_level !== null || details?.rf_percent !== undefined
}

type Names = 'title' | 'token' | 'name' | 'ownName' | 'performer' | 'picture' | 'label' | 'role' | 'color'

function namesOf(
  { slotRecords }: WatchState,
  receiver: ReceiverInData,
  channel: ChannelBody,
): Pick<ChannelFacts, Names> {
  const record = recordOf(slotRecords, { kind: 'channel', id: channel.id })
  // The record of a new channel may arrive later.
  const named = record ?? titleOf(namesOfChannel(receiver, channel))
  const title = plainText(named.title ?? '')
  const isReported = named.title_from === 'channel' || named.title_from === 'transmitter'
  const ownName = plainText((channel.transmitter ?? channel.last_transmitter)?.name ?? channel.name ?? '')
  const { label = null, role = null, color = null, performer } = record ?? {}
  return {
    title,
    ...(isReported ? splitName(title) : { token: null, name: title }),
    ownName: ownName === '' || ownName === title ? null : ownName,
    // The title of a performer at a site.
    performer: named.title_from === 'performer' ? title : null,
    picture: showable(performer?.picture ?? null),
    ...{ label, role, color },
  }
}

/** Values that were old before this page lost its data keep their age. */
function sinceOf(channel: ChannelBody, allStale: number | null): Beginning | null {
  const own = ownSince(channel)
  return allStale === null || (own !== null && own.at < allStale) ? own : { at: allStale, isKnown: true }
}

function ownSince({ condition, last_transmitter }: ChannelBody): Beginning | null {
  const { state, since_known, values_at } = condition
  const lastSeenAt = last_transmitter === undefined ? Number.POSITIVE_INFINITY : Date.parse(last_transmitter.last_seen)
  // Values of a transmitter that was already off are older than those of its receiver.
  if (values_at !== undefined) return { at: Math.min(Date.parse(values_at), lastSeenAt), isKnown: true }
  const since = beginningOf(condition)
  if (!idleStates.includes(state)) return null
  return since_known && Number.isFinite(lastSeenAt) ? { at: lastSeenAt, isKnown: true } : since
}

export function lastReceived(condition: Condition): Beginning {
  const { values_at } = condition
  return values_at === undefined ? beginningOf(condition) : { at: Date.parse(values_at), isKnown: true }
}

export function beginningOf({ since, since_known }: Condition): Beginning {
  return { at: Date.parse(since), isKnown: since_known }
}

/** Lists of alerts are replaced, never changed. */
const handledByAlerts = new WeakMap<WatchState['alerts'], HandledChannels>()

export function handledChannels(alerts: WatchState['alerts']): HandledChannels {
  const known = handledByAlerts.get(alerts) ?? new HandledChannels(alerts)
  handledByAlerts.set(alerts, known)
  return known
}

/** The minutes that the equipment reports are more exact than the rounded forecast. */
function minutesLeftOf({ details, forecast }: NonNullable<ChannelBody['transmitter']>): number | null {
  return details?.battery_minutes ?? forecast?.minutes_left ?? null
}

function rowsOf({ state, flags }: Condition): readonly ConditionFlag[] {
  return state === 'ok' || state === 'unmonitored' ? flags : [state, ...flags]
}

/** Null while values are current. In a replay, they are stale where nothing was recorded. */
export function allStaleSince(watchState: WatchState): number | null {
  if (watchState.receivedAt === null) return null
  if (watchState.connection === 'replay') return watchState.isFresh ? null : watchState.receivedAt
  const silence = watchState.now - watchState.receivedAt
  return !watchState.isFresh || silence >= silenceLimit(watchState) ? watchState.receivedAt : null
}

/** For this many ms after a message, values are current. */
export function silenceLimit({ connection }: WatchState): number {
  return connection === 'polling' ? silentPollingMs : silentMs
}

/** Splits `H04 Maria` into H04 and Maria. A token has a letter and a digit, and must be followed by a name. */
export function splitName(text: string): Pick<ChannelFacts, 'token' | 'name'> {
  const whole = text.trim()
  const found = /^([A-Za-z]{1,2}\d{1,3})[\s_.:–-]+(\S.*)$/su.exec(whole)
  return found === null ? { token: null, name: whole } : { token: found[1] ?? null, name: found[2] ?? whole }
}

/** For "problems first". The order does not change when all values become stale. */
export function bySeverity(a: ChannelFacts, b: ChannelFacts): number {
  return compareConditions(a.condition, b.condition) || bySlot(a, b)
}

export function bySlot(a: ChannelFacts, b: ChannelFacts): number {
  return a.slot - b.slot || a.channelId - b.channelId
}
