/**
 * Applies the notification rules to alerts. The plan depends only on the alerts and the queued deliveries, so that a
 * restarted process continues where it stopped and queues nothing twice.
 *
 * Alerts are planned in the transaction that changes them. All alerts are planned again at `nextAt`, after changes of
 * silences, shows, groups, rules or notification channels, and after a message about a cleared alert was sent.
 */

import { type DeliveryStatus, type NotificationType, severities } from '../../contract/values.ts'
import type { Alert } from '../alerts/alert.ts'
import { isWorse } from '../alerts/compare-causes.ts'
import { localSite } from '../equipment/sites.ts'
import { allSites, type NotificationRule } from './rule.ts'
import { scheduleBegan, scheduleBegins } from './schedule.ts'

/** A message waits this long for more alerts, counted from its first alert. */
export const windowMs = 2000

/** The end of an alert is sent up to this long after it, because the message about the alert may have been retried. */
export const clearedNewsMs = 5 * 60_000

type AlertFields =
  | 'id'
  | 'kind'
  | 'severity'
  | 'manufacturer'
  | 'site'
  | 'raised_at'
  | 'cleared_at'
  | 'acknowledged_at'
  | 'snoozed_until'

/** An alert that is open, or was cleared less than `clearedNewsMs` ago. */
export interface NotifiableAlert extends Pick<Alert, AlertFields> {
  /** Independent of its state. */
  readonly isSilenced: boolean
  /** True if a more general problem, such as an offline receiver, includes it. */
  readonly isInhibited: boolean
  readonly groupIds: readonly number[]
  /** The start of the last running show that has a channel of the alert. */
  readonly showStartedAt: number | null
  /**
   * Stored with the alert. Starts at 0; each round starts a new series of messages. Odd while the alert is acknowledged,
   * snoozed or silenced.
   */
  readonly round: number
}

export interface QueuedAlert extends Pick<Alert, 'id' | 'kind' | 'severity'> {
  readonly round: number
}

export interface QueuedDelivery {
  /** Later deliveries have greater ids. */
  readonly id: number
  readonly rule_id: number | null
  readonly notification_channel_id: number | null
  readonly type: NotificationType
  readonly alerts: readonly QueuedAlert[]
  readonly status: DeliveryStatus
  readonly attempts: number
  /** Epoch milliseconds. */
  readonly created_at: number
}

export interface PlanInput {
  /** Epoch milliseconds. */
  readonly now: number
  readonly rules: readonly NotificationRule[]
  readonly enabledChannelIds: ReadonlySet<number>
  readonly alerts: readonly NotifiableAlert[]
  readonly deliveries: readonly QueuedDelivery[]
}

export interface NewDelivery {
  readonly rule_id: number
  readonly notification_channel_id: number
  readonly type: NotificationType
  readonly alerts: readonly QueuedAlert[]
}

export interface NotificationPlan {
  /** Deliveries to queue now; they are sent `windowMs` later. */
  readonly create: readonly NewDelivery[]
  /** Alerts to add to queued deliveries. They replace alerts with the same id. */
  readonly append: readonly { readonly delivery_id: number; readonly alerts: readonly QueuedAlert[] }[]
  /** Alerts that are now acknowledged, snoozed or silenced, to remove from pending deliveries. A delivery without alerts is not sent. */
  readonly withdraw: readonly { readonly delivery_id: number; readonly alert_ids: readonly number[] }[]
  readonly rounds: readonly { readonly alert_id: number; readonly round: number }[]
  /** The next time (epoch ms) at which something is due without another change; null: none. */
  readonly nextAt: number | null
}

interface Message {
  readonly channelId: number
  readonly type: NotificationType
}

interface EarlierMessage extends Message {
  readonly alert: QueuedAlert
  readonly isSent: boolean
  readonly created_at: number
}

interface DueMessage extends Message {
  readonly at: number
}

export function planNotifications(input: PlanInput): NotificationPlan {
  const steps = planInSteps(input)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** In short steps, between which the event loop can run. */
export function* planInSteps(input: PlanInput): Generator<void, NotificationPlan> {
  const { now, rules, enabledChannelIds, alerts, deliveries } = input
  const outbox = new Outbox(now, deliveries)
  const earlier = yield* indexMessages(deliveries)
  const rounds: { alert_id: number; round: number }[] = []
  let nextAt = Number.POSITIVE_INFINITY
  const current = alerts.map((alert) => {
    const round = nextRound(alert)
    if (round !== alert.round) rounds.push({ alert_id: alert.id, round })
    return { ...alert, round }
  })
  for (const rule of rules) {
    const applied = { ...rule, channelIds: enabledOf(rule.notification_channel_ids, enabledChannelIds) }
    const escalatedTo = enabledOf(rule.escalate?.notification_channel_ids ?? [], enabledChannelIds)
    const hours = typeof rule.when === 'object' ? hoursOf(rule.when, now) : null
    for (const alert of current) {
      yield
      if (isAttended(alert)) continue
      if (alert.cleared_at === null && !isMatch(rule, alert)) continue
      const began = hours === null ? beganFor(rule, alert, now) : hours.began
      if (began === null) {
        if (hours?.begins != null && alert.cleared_at === null) nextAt = Math.min(nextAt, hours.begins)
        continue
      }
      const messages = (earlier.get(rule.id)?.get(alert.id) ?? []).filter(
        (message) => message.alert.round === alert.round && message.created_at >= began,
      )
      const context = { rule: applied, escalatedTo, alert, messages, now }
      const due = [...listDue(context)]
      const queued = due
        .filter(({ at, channelId }) => at <= now && enabledChannelIds.has(channelId))
        .map((message) => outbox.add(rule.id, message, alert))
      const later = queued.length === 0 ? due : listDue({ ...context, messages: [...messages, ...queued] })
      for (const { at } of later) if (at > now) nextAt = Math.min(nextAt, at)
    }
  }
  return {
    create: outbox.created(),
    append: outbox.appended(),
    withdraw: listWithdrawn(current, deliveries),
    rounds,
    nextAt: nextAt === Number.POSITIVE_INFINITY ? null : nextAt,
  }
}

interface DueContext {
  readonly rule: NotificationRule & { readonly channelIds: readonly number[] }
  readonly escalatedTo: readonly number[]
  readonly alert: NotifiableAlert
  /** Messages that the rule queued for the alert, in this round and since the rule's hours or the show began. */
  readonly messages: readonly EarlierMessage[]
  readonly now: number
}

function* listDue(context: DueContext): Generator<DueMessage> {
  const { alert, messages, rule, now } = context
  if (alert.cleared_at !== null) {
    if (!rule.send_cleared || now - alert.cleared_at > clearedNewsMs) return
    const reached = new Set(messages.filter(({ isSent }) => isSent).map(({ channelId }) => channelId))
    for (const { channelId, type } of messages) if (type === 'alert.cleared') reached.delete(channelId)
    for (const channelId of reached) yield { channelId, type: 'alert.cleared', at: alert.cleared_at }
    return
  }
  const raisedAt = later(alert.raised_at, rule.delay_seconds * 1000, now)
  if (!alert.isInhibited) yield* listRaised(context, raisedAt)
  yield* listEscalated(context, raisedAt)
}

function* listRaised({ rule, alert, messages, now }: DueContext, raisedAt: number): Generator<DueMessage> {
  for (const channelId of rule.channelIds) {
    const last = messages.findLast((message) => message.channelId === channelId && message.type !== 'alert.escalated')
    if (last === undefined) yield { channelId, type: 'alert.raised', at: raisedAt }
    else if (isWorse(alert, last.alert)) yield { channelId, type: 'alert.raised', at: now }
    else if (rule.repeat_minutes > 0) {
      yield { channelId, type: 'alert.repeated', at: later(last.created_at, rule.repeat_minutes * 60_000, now) }
    }
  }
}

/**
 * If the rule has no channels for the first message, the escalation delay starts when that message would have been due.
 */
function* listEscalated(context: DueContext, raisedAt: number): Generator<DueMessage> {
  const { rule, escalatedTo, messages, now } = context
  if (rule.escalate === null) return
  // The escalation never precedes the first message, which waits for more alerts.
  const pauseMs = Math.max(rule.escalate.after_seconds * 1000, windowMs)
  const first = messages.find(({ type }) => type === 'alert.raised')
  if (first === undefined && rule.channelIds.length > 0) return
  const at = first === undefined ? raisedAt + pauseMs : later(first.created_at, pauseMs, now)
  for (const channelId of escalatedTo) {
    if (messages.some((message) => message.type === 'alert.escalated' && message.channelId === channelId)) continue
    yield { channelId, type: 'alert.escalated', at }
  }
}

/** A pause that began in the future is over: the clock was set back. */
function later(start: number, pauseMs: number, now: number): number {
  return start > now ? now : start + pauseMs
}

function enabledOf(ids: readonly number[], enabled: ReadonlySet<number>): readonly number[] {
  return [...new Set(ids)].filter((id) => enabled.has(id))
}

function hoursOf(schedule: Exclude<NotificationRule['when'], string>, now: number) {
  const began = scheduleBegan(schedule, now)
  return { began, begins: began === null ? scheduleBegins(schedule, now) : null }
}

function beganFor({ when }: NotificationRule, { showStartedAt }: NotifiableAlert, now: number): number | null {
  if (when !== 'during_shows') return Number.NEGATIVE_INFINITY
  // The clock was set back if the show starts in the future.
  return showStartedAt !== null && showStartedAt > now ? Number.NEGATIVE_INFINITY : showStartedAt
}

/**
 * An alert about a receiver belongs to the groups of all of its channels. Alerts about sources and about the service
 * itself belong to no group.
 */
function isMatch(rule: NotificationRule, alert: NotifiableAlert): boolean {
  const { kinds, excluded_kinds, min_severity, group_ids, manufacturers } = rule
  if (!isOfSites(rule, alert.site?.code ?? localSite)) return false
  if (kinds.length > 0 ? !kinds.includes(alert.kind) : excluded_kinds.includes(alert.kind)) return false
  if (severities.indexOf(alert.severity) < severities.indexOf(min_severity)) return false
  if (group_ids.length > 0 && !group_ids.some((id) => alert.groupIds.includes(id))) return false
  return manufacturers.length === 0 || (alert.manufacturer !== null && manufacturers.includes(alert.manufacturer))
}

/** Without sites, a rule applies only to this installation. */
function isOfSites({ sites }: NotificationRule, site: string): boolean {
  return sites.length === 0 ? site === localSite : sites.includes(allSites) || sites.includes(site)
}

/** If cleared: it was until then. */
function isAttended({ acknowledged_at, snoozed_until, isSilenced }: NotifiableAlert): boolean {
  return acknowledged_at !== null || snoozed_until !== null || isSilenced
}

function nextRound(alert: NotifiableAlert): number {
  const { cleared_at, round } = alert
  return cleared_at === null && isAttended(alert) !== (round % 2 === 1) ? round + 1 : round
}

/** Oldest first. */
function* indexMessages(
  deliveries: readonly QueuedDelivery[],
): Generator<void, Map<number, Map<number, EarlierMessage[]>>> {
  const byRule = new Map<number, Map<number, EarlierMessage[]>>()
  for (const delivery of deliveries.toSorted((a, b) => a.id - b.id)) {
    yield
    const { rule_id, notification_channel_id: channelId, type, created_at, status } = delivery
    if (rule_id === null || channelId === null) continue
    const byAlert = byRule.get(rule_id) ?? new Map<number, EarlierMessage[]>()
    byRule.set(rule_id, byAlert)
    for (const alert of delivery.alerts) {
      const message = { channelId, type, alert, created_at, isSent: status === 'sent' }
      const messages = byAlert.get(alert.id)
      if (messages === undefined) byAlert.set(alert.id, [message])
      else messages.push(message)
    }
  }
  return byRule
}

function listWithdrawn(alerts: readonly NotifiableAlert[], deliveries: readonly QueuedDelivery[]) {
  const attended = new Set(alerts.filter(isAttended).map(({ id }) => id))
  return deliveries.flatMap(({ id: delivery_id, type, status, alerts }) => {
    if (status !== 'pending' || type === 'alert.cleared') return []
    const alert_ids = alerts.map(({ id }) => id).filter((id) => attended.has(id))
    return alert_ids.length === 0 ? [] : [{ delivery_id, alert_ids }]
  })
}

/** Collects messages: adds them to deliveries whose window is not over, and makes one new delivery of the others. */
class Outbox {
  readonly #now: number
  /** By rule, notification channel and type. */
  readonly #open = new Map<string, QueuedDelivery>()
  readonly #appended = new Map<number, QueuedAlert[]>()
  readonly #created = new Map<string, NewDelivery & { readonly alerts: QueuedAlert[] }>()

  constructor(now: number, deliveries: readonly QueuedDelivery[]) {
    this.#now = now
    for (const delivery of deliveries) {
      const { rule_id, notification_channel_id, type, status, attempts, created_at } = delivery
      if (status !== 'pending' || attempts > 0 || Math.abs(now - created_at) >= windowMs) continue
      this.#open.set(`${rule_id} ${notification_channel_id} ${type}`, delivery)
    }
  }

  add(rule_id: number, message: Message, { id, kind, severity, round }: NotifiableAlert): EarlierMessage {
    const { channelId, type } = message
    const key = `${rule_id} ${channelId} ${type}`
    const alert = { id, kind, severity, round }
    const open = this.#open.get(key)
    const queued = open === undefined ? this.#created.get(key)?.alerts : this.#appended.get(open.id)
    if (queued !== undefined) queued.push(alert)
    else if (open !== undefined) this.#appended.set(open.id, [alert])
    else this.#created.set(key, { rule_id, notification_channel_id: channelId, type, alerts: [alert] })
    return { channelId, type, alert, isSent: false, created_at: open?.created_at ?? this.#now }
  }

  created(): readonly NewDelivery[] {
    return [...this.#created.values()]
  }

  appended(): NotificationPlan['append'] {
    return [...this.#appended].map(([delivery_id, alerts]) => ({ delivery_id, alerts }))
  }
}
