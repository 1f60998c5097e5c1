/**
 * Decides when alerts are raised and cleared. Pure functions: they take the open alerts and the current state, and
 * return the changes.
 * An alert is about one subject (a channel's battery, a receiver, a source); a subject has at most one open alert.
 */

import type { AlertMessage } from '../../contract/messages.ts'
import type { AlertBody } from '../../contract/resources/alerts.ts'
import type { AlertKind, AlertState, Fault, Severity } from '../../contract/values.ts'
import { toTimestamp } from '../api.ts'
import type { Unit } from '../equipment/hardware.ts'
import { addressOf } from '../equipment/health.ts'
import type { Receiver, Transmitter } from '../equipment/receiver.ts'

export type { AlertKind, AlertState } from '../../contract/values.ts'

/** A condition that raises an alert. */
export interface AlertCause {
  readonly subject: string
  readonly kind: AlertKind
  readonly severity: Severity
  readonly message: string
  readonly manufacturer: string
  readonly receiver_id: number | null
  readonly channel_id: number | null
}

export interface Alert extends AlertCause {
  readonly id: number
  readonly state: AlertState
  readonly raised_at: number
  readonly cleared_at: number | null
}

export type AlertChange =
  | { readonly type: 'raise'; readonly cause: AlertCause }
  /** The alert stays open and becomes more severe. */
  | { readonly type: 'worsen'; readonly alert: Alert; readonly cause: AlertCause }
  /** `message` describes the recovery. */
  | { readonly type: 'clear'; readonly alert: Alert; readonly message: string }

/** Finds the open alert about a subject. */
export type OpenAlerts = (subject: string) => Alert | undefined

const criticalBattery = 10
/** Hysteresis: an alert is cleared this far above the threshold, so that a fluctuating reading raises it only once. */
const batteryHysteresis = 5
/** Number of consecutive failed polling cycles that raises an alert. */
const failureThreshold = 3
/** How long a subscription must be down before an alert is raised. */
const subscriptionLostAfterMs = 60_000

function batterySubject(channelId: number): string {
  return `battery:${channelId}`
}

function receiverSubject(receiverId: number): string {
  return `receiver:${receiverId}`
}

export function upstreamSubject(source: string): string {
  return `upstream:${source}`
}

export function subscriptionSubject(source: string): string {
  return `link:${source}`
}

/**
 * Whether the change from `before` to `after` can raise or clear alerts. It must be cheap, because it is called for
 * every changed level.
 */
export function canChangeAlerts(before: Receiver | undefined, after: Receiver): boolean {
  if (before === undefined || before.is_active !== after.is_active) return true
  if (before.channels === after.channels) return false
  if (before.channels.length !== after.channels.length) return true
  for (const [index, channel] of after.channels.entries()) {
    const previous = before.channels[index]
    if (previous !== channel && hasBatteryChanged(previous?.transmitter, channel.transmitter)) return true
  }
  return false
}

function hasBatteryChanged(before: Transmitter | null | undefined, after: Transmitter | null): boolean {
  return before?.battery !== after?.battery || before?.details?.battery_low !== after?.details?.battery_low
}

/**
 * Evaluates the receiver's availability and its batteries. If `threshold` is null, batteries are not evaluated: another
 * process monitors the receiver and evaluates them.
 */
export function evaluateReceiver(receiver: Receiver, threshold: number | null, open: OpenAlerts): AlertChange[] {
  const changes: AlertChange[] = []
  evaluateAvailability(receiver, open, changes)
  if (threshold !== null) evaluateBatteries(receiver, threshold, open, changes)
  return changes
}

function evaluateBatteries(receiver: Receiver, threshold: number, open: OpenAlerts, changes: AlertChange[]): void {
  for (const channel of receiver.channels) {
    const battery = channel.transmitter?.battery ?? null
    const isReportedLow = channel.transmitter?.details?.battery_low ?? null
    // While the level is unknown, an open alert stays open.
    if (battery === null && isReportedLow === null) continue
    const alert = open(batterySubject(channel.id))
    const name = channel.transmitter?.name ?? channel.name ?? `${receiver.name}, channel ${channel.channel}`
    const message = `${name}: battery ${battery === null ? (isReportedLow ? 'low' : 'no longer low') : `at ${battery}%`}`
    if (isReportedLow !== true && (battery === null || isAboveHysteresis(battery, threshold))) {
      if (alert !== undefined) changes.push({ type: 'clear', alert, message })
      continue
    }
    const severity = battery !== null && battery <= criticalBattery ? 'critical' : 'warning'
    const cause: AlertCause = {
      subject: batterySubject(channel.id),
      kind: 'battery_low',
      severity,
      message,
      manufacturer: receiver.manufacturer,
      receiver_id: receiver.id,
      channel_id: channel.id,
    }
    if (alert === undefined) {
      if (isReportedLow || (battery ?? threshold) <= threshold) changes.push({ type: 'raise', cause })
    } else if (severity === 'critical' && alert.severity !== 'critical') changes.push({ type: 'worsen', alert, cause })
  }
}

/**
 * Whether the battery is far enough above the threshold to clear the alert. A full battery always counts as far
 * enough, unless the threshold itself is 100%.
 */
function isAboveHysteresis(battery: number, threshold: number): boolean {
  return battery > threshold && battery >= Math.min(100, threshold + batteryHysteresis)
}

function evaluateAvailability(receiver: Receiver, open: OpenAlerts, changes: AlertChange[]): void {
  const { id, name, manufacturer, is_active } = receiver
  const alert = open(receiverSubject(id))
  if (is_active) {
    if (alert !== undefined) changes.push({ type: 'clear', alert, message: `${name} is online again` })
  } else if (alert === undefined) {
    const identity = { subject: receiverSubject(id), manufacturer, receiver_id: id, channel_id: null }
    const cause = {
      ...identity,
      kind: 'receiver_offline',
      severity: 'critical',
      message: `${name} is offline`,
    } as const
    changes.push({ type: 'raise', cause })
  }
}

/**
 * Evaluates the packs in a charger. `open` contains all open `charger_fault` alerts about the charger. There is one
 * alert per pack and fault, but only one for storage mode, which applies to the whole charger.
 */
export function evaluateCharger(charger: Receiver, packs: readonly Unit[], open: readonly Alert[]): AlertChange[] {
  const causes = new Map<string, AlertCause>()
  for (const pack of packs) {
    const cause = toChargerCause(charger, pack)
    if (cause !== null) causes.set(cause.subject, cause)
  }
  const cleared = open.filter(({ subject }) => !causes.has(subject))
  const raised = [...causes.values()].filter(({ subject }) => !open.some((alert) => alert.subject === subject))
  return [
    ...cleared.map((alert): AlertChange => ({ type: 'clear', alert, message: `Resolved: ${alert.message}` })),
    ...raised.map((cause): AlertChange => ({ type: 'raise', cause })),
  ]
}

function toChargerCause(charger: Receiver, { id, name, is_online, details }: Unit): AlertCause | null {
  const fault = details?.fault ?? null
  if (!is_online || fault === null) return null
  const isStorage = fault === 'storage_mode'
  return {
    subject: isStorage ? `charger:${charger.id}:storage` : `pack:${id}:${fault}`,
    kind: 'charger_fault',
    severity: 'warning',
    message: `${isStorage ? charger.name : (name ?? charger.name)}: ${faultTexts[fault]}`,
    manufacturer: charger.manufacturer,
    receiver_id: charger.id,
    channel_id: null,
  }
}

const faultTexts: Readonly<Record<Fault, string>> = {
  self_test_failed: 'self-test failed',
  battery_error: 'battery error',
  unknown_module: 'unknown charging module',
  unrecognized_battery: 'battery not recognized',
  recovery_failed: 'deep discharge recovery failed',
  charge_failed: 'charging failed',
  check_battery: 'check the battery',
  check_charger: 'check the charger',
  communication_failure: 'no communication with the battery',
  too_hot: 'the battery is too hot to charge',
  too_cold: 'the battery is too cold to charge',
  storage_mode: 'storage mode is on (batteries are charged to only 40%)',
}

/** The part of a source's status that matters for alerts. */
export interface SourceFailures {
  readonly manufacturer: string
  readonly source: string
  /** Consecutive cycles without a success: failed ones, and those that ended with a Retry-After response. */
  readonly unsuccessful_cycles: number
  readonly error: string | null
}

export function evaluateSource(status: SourceFailures, open: OpenAlerts): AlertChange[] {
  const { manufacturer, source, unsuccessful_cycles: failures, error } = status
  const alert = open(upstreamSubject(source))
  const address = addressOf(source, manufacturer)
  if (failures === 0) {
    if (alert === undefined) return []
    return [{ type: 'clear', alert, message: `${manufacturer} responds again (${address})` }]
  }
  if (alert !== undefined || failures < failureThreshold) return []
  const reason = error === null ? '' : `: ${error}`
  const cause: AlertCause = {
    subject: upstreamSubject(source),
    kind: 'upstream_failing',
    severity: 'critical',
    message: `${manufacturer} failed ${failures} times in a row (${address})${reason}`,
    manufacturer,
    receiver_id: null,
    channel_id: null,
  }
  return [{ type: 'raise', cause }]
}

/** The state of a source's real-time subscription. */
export interface SubscriptionStatus {
  readonly manufacturer: string
  readonly source: string
  /** False while a user has stopped the subscription; this raises no alert. */
  readonly isEnabled: boolean
  /**
   * When the subscription went down, on the same monotonic clock as `now` of `evaluateSubscription`; null while it is
   * up.
   */
  readonly downSince: number | null
}

export function evaluateSubscription(status: SubscriptionStatus, open: OpenAlerts, now: number): AlertChange[] {
  const { manufacturer, source, isEnabled, downSince } = status
  const alert = open(subscriptionSubject(source))
  const address = addressOf(source, manufacturer)
  if (!isEnabled || downSince === null) {
    const state = isEnabled ? 'is connected again' : 'was stopped by a user'
    return alert === undefined
      ? []
      : [{ type: 'clear', alert, message: `The subscription to ${manufacturer} ${state} (${address})` }]
  }
  if (alert !== undefined || now - downSince < subscriptionLostAfterMs) return []
  return [{ type: 'raise', cause: subscriptionLost(manufacturer, source) }]
}

export function subscriptionLost(manufacturer: string, source: string): AlertCause {
  return {
    subject: subscriptionSubject(source),
    kind: 'link_lost',
    severity: 'warning',
    message: `The subscription to ${manufacturer} was lost (${addressOf(source, manufacturer)})`,
    manufacturer,
    receiver_id: null,
    channel_id: null,
  }
}

export function toAlertMessage(alert: Alert): AlertMessage {
  const { id, kind, state, severity, message, manufacturer, channel_id } = alert
  return { type: 'alert', manufacturer, id, kind, state, severity, message, channel_id }
}

export function toAlertBody(alert: Alert, now: number): AlertBody {
  const { type: _, ...message } = toAlertMessage(alert)
  const { receiver_id, raised_at, cleared_at } = alert
  return {
    ...message,
    receiver_id,
    raised_at: toTimestamp(Math.min(raised_at, now)),
    cleared_at: cleared_at === null ? null : toTimestamp(Math.min(cleared_at, now)),
  }
}
