/**
 * What raises an alert and what clears it. Pure: what is open and what is true go in, what has to change comes out.
 * An alert is about one subject (a channel's battery, a receiver, a source); a subject has at most one open alert.
 */

import { toTimestamp } from './api.ts'
import type { Fault } from './details.ts'
import type { Unit } from './hardware.ts'
import { addressOf } from './health.ts'
import type { AlertMessage, Severity } from './messages.ts'
import type { Receiver, Transmitter } from './receiver.ts'

export const alertKinds = ['battery_low', 'receiver_offline', 'upstream_failing', 'link_lost', 'charger_fault'] as const
export type AlertKind = (typeof alertKinds)[number]

export const alertStates = ['raised', 'cleared'] as const
export type AlertState = (typeof alertStates)[number]

/** Something that deserves an alert. */
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
  /** The same alert, more severe. */
  | { readonly type: 'worsen'; readonly alert: Alert; readonly cause: AlertCause }
  /** `message` says what is well again. */
  | { readonly type: 'clear'; readonly alert: Alert; readonly message: string }

/** The open alert about a subject. */
export type OpenAlerts = (subject: string) => Alert | undefined

const criticalBattery = 10
/** So far above the threshold a battery has to be before its alert is cleared: a reading that wavers says it once. */
const batteryMargin = 5
/** A source that failed so many cycles in a row deserves an alert. */
const failureThreshold = 3
/** So long a link has to be down. */
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

/** Whether the step from `before` to `after` can change anything about alerts. Called for every level that changes. */
export function canChangeAlerts(before: Receiver | undefined, after: Receiver): boolean {
  if (before === undefined || before.is_active !== after.is_active) return true
  if (before.channels === after.channels) return false
  if (before.channels.length !== after.channels.length) return true
  for (const [at, channel] of after.channels.entries()) {
    const earlier = before.channels[at]
    if (earlier !== channel && hasBatteryChanged(earlier?.transmitter, channel.transmitter)) return true
  }
  return false
}

function hasBatteryChanged(before: Transmitter | null | undefined, after: Transmitter | null): boolean {
  return before?.battery !== after?.battery || before?.details?.battery_low !== after?.details?.battery_low
}

/** `threshold: null`: its batteries are judged by somebody who knows them better. */
export function evaluateReceiver(receiver: Receiver, threshold: number | null, open: OpenAlerts): AlertChange[] {
  const changes: AlertChange[] = []
  evaluateAvailability(receiver, open, changes)
  if (threshold !== null) evaluateBatteries(receiver, threshold, open, changes)
  return changes
}

function evaluateBatteries(receiver: Receiver, threshold: number, open: OpenAlerts, changes: AlertChange[]): void {
  for (const channel of receiver.channels) {
    const battery = channel.transmitter?.battery ?? null
    const isWarned = channel.transmitter?.details?.battery_low ?? null
    // Unknown is neither good nor bad: what was said stands until the battery is heard of again.
    if (battery === null && isWarned === null) continue
    const alert = open(batterySubject(channel.id))
    const name = channel.transmitter?.name ?? channel.name ?? `${receiver.name}, channel ${channel.channel}`
    const message = `Battery of ${name} is ${battery === null ? (isWarned ? 'low' : 'no longer low') : `at ${battery} %`}`
    if (isWarned !== true && (battery === null || isWellCharged(battery, threshold))) {
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
      if (isWarned || (battery ?? threshold) <= threshold) changes.push({ type: 'raise', cause })
    } else if (severity === 'critical' && alert.severity !== 'critical') changes.push({ type: 'worsen', alert, cause })
  }
}

/** A full battery is well charged whatever the threshold, unless the threshold says that even full is low. */
function isWellCharged(battery: number, threshold: number): boolean {
  return battery > threshold && battery >= Math.min(100, threshold + batteryMargin)
}

function evaluateAvailability(receiver: Receiver, open: OpenAlerts, changes: AlertChange[]): void {
  const { id, name, manufacturer, is_active } = receiver
  const alert = open(receiverSubject(id))
  if (is_active) {
    if (alert !== undefined) changes.push({ type: 'clear', alert, message: `${name} is back` })
  } else if (alert === undefined) {
    const about = { subject: receiverSubject(id), manufacturer, receiver_id: id, channel_id: null }
    const cause = { ...about, kind: 'receiver_offline', severity: 'critical', message: `${name} is offline` } as const
    changes.push({ type: 'raise', cause })
  }
}

/**
 * The packs in a charger. `open`: all open alerts of this kind about it. An alert is about one pack and one reason; that the
 * charger is in storage mode is said once, not for each pack.
 */
export function evaluateCharger(charger: Receiver, packs: readonly Unit[], open: readonly Alert[]): AlertChange[] {
  const findings = new Map<string, AlertCause>()
  for (const pack of packs) {
    const finding = toChargerCause(charger, pack)
    if (finding !== null) findings.set(finding.subject, finding)
  }
  const cleared = open.filter(({ subject }) => !findings.has(subject))
  const raised = [...findings.values()].filter(({ subject }) => !open.some((alert) => alert.subject === subject))
  return [
    ...cleared.map((alert): AlertChange => ({ type: 'clear', alert, message: `No longer the case: ${alert.message}` })),
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
  storage_mode: 'storage mode is on, batteries are charged to 40% only',
}

/** How a source fares, as far as it matters here. */
export interface SourceFailures {
  readonly manufacturer: string
  readonly source: string
  /** Cycles in a row without a success: those that failed, and those that the source answered by asking for a pause. */
  readonly unsuccessful_cycles: number
  readonly error: string | null
}

export function evaluateSource(fares: SourceFailures, open: OpenAlerts): AlertChange[] {
  const { manufacturer, source, unsuccessful_cycles: failures, error } = fares
  const alert = open(upstreamSubject(source))
  const address = addressOf(source, manufacturer)
  if (failures === 0) {
    if (alert === undefined) return []
    return [{ type: 'clear', alert, message: `${manufacturer} answers again (${address})` }]
  }
  if (alert !== undefined || failures < failureThreshold) return []
  const why = error === null ? '' : `: ${error}`
  const cause: AlertCause = {
    subject: upstreamSubject(source),
    kind: 'upstream_failing',
    severity: 'critical',
    message: `${manufacturer} failed ${failures} times in a row (${address})${why}`,
    manufacturer,
    receiver_id: null,
    channel_id: null,
  }
  return [{ type: 'raise', cause }]
}

/** A source's real-time link. */
export interface SubscriptionStatus {
  readonly manufacturer: string
  readonly source: string
  /** Nobody wants it at the moment; that is no trouble. */
  readonly isWanted: boolean
  /** On the clock of `judgeLink`'s `now`, which nobody should be able to set; null while it is up. */
  readonly downSince: number | null
}

export function evaluateSubscription(link: SubscriptionStatus, open: OpenAlerts, now: number): AlertChange[] {
  const { manufacturer, source, isWanted, downSince } = link
  const alert = open(subscriptionSubject(source))
  const address = addressOf(source, manufacturer)
  if (!isWanted || downSince === null) {
    const how = isWanted ? 'is back' : 'is stopped on purpose'
    return alert === undefined
      ? []
      : [{ type: 'clear', alert, message: `The real-time link of ${manufacturer} ${how} (${address})` }]
  }
  if (alert !== undefined || now - downSince < subscriptionLostAfterMs) return []
  return [{ type: 'raise', cause: subscriptionLost(manufacturer, source) }]
}

export function subscriptionLost(manufacturer: string, source: string): AlertCause {
  return {
    subject: subscriptionSubject(source),
    kind: 'link_lost',
    severity: 'warning',
    message: `The real-time link of ${manufacturer} is lost (${addressOf(source, manufacturer)})`,
    manufacturer,
    receiver_id: null,
    channel_id: null,
  }
}

/** `GET /api/alerts/`. */
export interface AlertBody extends Omit<AlertMessage, 'type'> {
  readonly receiver_id: number | null
  readonly raised_at: string
  readonly cleared_at: string | null
}

export function toAlertMessage(alert: Alert): AlertMessage {
  const { id, kind, state, severity, message, manufacturer, channel_id } = alert
  return { type: 'alert', manufacturer, id, kind, state, severity, message, channel_id }
}

export function toAlertBody(alert: Alert, now: number): AlertBody {
  const { type: _, ...told } = toAlertMessage(alert)
  const { receiver_id, raised_at, cleared_at } = alert
  return {
    ...told,
    receiver_id,
    raised_at: toTimestamp(Math.min(raised_at, now)),
    cleared_at: cleared_at === null ? null : toTimestamp(Math.min(cleared_at, now)),
  }
}
