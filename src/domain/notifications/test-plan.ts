/** For tests: a queue that follows the plan, and a clock. */

import { alertKindTable } from '../../contract/alert-kinds.ts'
import type { DeliveryStatus } from '../../contract/values.ts'
import { type AlertKind, noResponse } from '../alerts/alert.ts'
import { type NotifiableAlert, planNotifications, type QueuedDelivery, windowMs } from './plan.ts'
import { defaultRule, type NotificationRule } from './rule.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

export type Action = 'raise' | 'acknowledge' | 'snooze' | 'worsen' | 'clear' | 'silence' | 'inhibit' | 'show'

export const start = Date.parse('2026-11-23T19:00:00Z')

function testRule(values: Partial<NotificationRule> = {}): NotificationRule {
  return {
    id: 1,
    name: 'Critical alerts',
    notification_channel_ids: [1],
    ...defaultRule,
    version: 1,
    ...values,
  }
}

export class TestService {
  now = start
  rules: NotificationRule[]
  readonly enabledChannelIds = new Set([1, 2, 3])
  readonly deliveries: Mutable<QueuedDelivery>[] = []
  /** The outcome of attempts, by notification channel. */
  readonly results = new Map<number, DeliveryStatus>()
  readonly #alerts = new Map<number, Mutable<NotifiableAlert>>()
  #nextAt: number | null = null

  constructor(...rules: Partial<NotificationRule>[]) {
    this.rules = rules.map((rule, index) => testRule({ id: index + 1, ...rule }))
  }

  raise(id: number, kind: AlertKind = 'battery_low', values: Partial<NotifiableAlert> = {}): void {
    this.#alerts.set(id, {
      id,
      kind,
      severity: alertKindTable[kind].severity,
      manufacturer: 'shure',
      raised_at: this.now,
      cleared_at: null,
      ...noResponse,
      isSilenced: false,
      isInhibited: false,
      groupIds: [],
      showStartedAt: null,
      site: null,
      round: 0,
      ...values,
    })
    this.plan()
  }

  change(id: number, values: Partial<NotifiableAlert>): void {
    Object.assign(this.#get(id), values)
    this.plan()
  }

  acknowledge(id: number): void {
    this.change(id, { acknowledged_at: this.now })
  }

  snooze(id: number): void {
    this.change(id, { snoozed_until: 'cleared' })
  }

  /** Changes the kind, which ends acknowledgements and snoozes. */
  worsen(id: number, kind: AlertKind): void {
    this.change(id, { kind, severity: alertKindTable[kind].severity, acknowledged_at: null, snoozed_until: null })
  }

  clear(id: number): void {
    this.change(id, { cleared_at: this.now })
  }

  /** Responds to or clears one of the open alerts, or raises another one. */
  act(action: Action, index: number, kind: AlertKind): void {
    if (action === 'raise') this.raise(this.#alerts.size + 1, kind)
    const open = [...this.#alerts.values()].filter(({ cleared_at }) => cleared_at === null)
    const alert = open[index % open.length]
    if (alert === undefined || action === 'raise') return
    const { id, isSilenced, isInhibited, showStartedAt } = alert
    if (action === 'silence') this.change(id, { isSilenced: !isSilenced })
    else if (action === 'inhibit') this.change(id, { isInhibited: !isInhibited })
    else if (action === 'show') this.change(id, { showStartedAt: showStartedAt === null ? this.now : null })
    else if (action === 'worsen') this.worsen(id, 'battery_died')
    else this[action](id)
  }

  /** Lets time pass, in which the service sends and plans whenever something is due. */
  wait(seconds: number): void {
    const end = this.now + seconds * 1000
    for (let at = this.#nextTime(); at <= end; at = this.#nextTime()) {
      this.now = Math.max(this.now, at)
      this.#send()
      this.plan()
    }
    this.now = end
  }

  /** Lets time pass without a process. */
  stop(seconds: number): void {
    this.now += seconds * 1000
    this.#send()
    this.plan()
  }

  /** Fails if something is left to do. */
  plan(): void {
    const plan = this.#makePlan()
    for (const { alert_id, round } of plan.rounds) this.#get(alert_id).round = round
    for (const { delivery_id, alert_ids } of plan.withdraw) {
      const delivery = this.#delivery(delivery_id)
      const remaining = delivery.alerts.filter(({ id }) => !alert_ids.includes(id))
      if (remaining.length === 0) delivery.status = 'expired'
      else delivery.alerts = remaining
    }
    for (const { delivery_id, alerts } of plan.append) {
      const delivery = this.#delivery(delivery_id)
      const added = new Set(alerts.map(({ id }) => id))
      delivery.alerts = [...delivery.alerts.filter(({ id }) => !added.has(id)), ...alerts]
    }
    for (const created of plan.create) {
      const id = this.deliveries.length + 1
      this.deliveries.push({ id, ...created, status: 'pending', attempts: 0, created_at: this.now })
    }
    const { nextAt, ...rest } = this.#makePlan()
    if (Object.values(rest).some((list) => list.length > 0)) throw new Error(`Planned twice: ${JSON.stringify(rest)}`)
    if (nextAt !== null && nextAt <= this.now) throw new Error('The plan is late.')
    if (nextAt !== plan.nextAt)
      throw new Error(`The plan is due at ${plan.nextAt}, and once it was applied, at ${nextAt}.`)
    this.#nextAt = plan.nextAt
  }

  /** Returns the queued messages: seconds since the start, notification channel, type and alerts. */
  queued(): string[] {
    return this.deliveries.map(({ created_at, notification_channel_id: to, type, alerts, status }) => {
      const ids = alerts.map(({ id }) => id).join('+')
      return `${(created_at - start) / 1000} s to ${to}: ${type.slice(6)} ${ids}${status === 'expired' ? ' (expired)' : ''}`
    })
  }

  #makePlan() {
    const { now, rules, enabledChannelIds, deliveries } = this
    return planNotifications({ now, rules, enabledChannelIds, alerts: [...this.#alerts.values()], deliveries })
  }

  #nextTime(): number {
    const ends = this.deliveries.filter(({ status }) => status === 'pending').map((sent) => sent.created_at + windowMs)
    return Math.min(this.#nextAt ?? Number.POSITIVE_INFINITY, ...ends)
  }

  #send(): void {
    for (const delivery of this.deliveries) {
      if (delivery.status !== 'pending' || this.now < delivery.created_at + windowMs) continue
      delivery.status = this.results.get(delivery.notification_channel_id ?? 0) ?? 'sent'
      delivery.attempts++
    }
  }

  #delivery(id: number) {
    const delivery = this.deliveries.find((candidate) => candidate.id === id)
    if (delivery === undefined) throw new Error(`There is no delivery ${id}.`)
    return delivery
  }

  #get(id: number) {
    const alert = this.#alerts.get(id)
    if (alert === undefined) throw new Error(`There is no alert ${id}.`)
    return alert
  }
}

export function toSet({ deliveries }: TestService): string[] {
  const entries = deliveries.flatMap(({ rule_id, notification_channel_id, type, alerts }) =>
    alerts.map(({ id, round, kind }) => [rule_id, notification_channel_id, type, id, round, kind]),
  )
  return [...new Set(entries.map((entry) => entry.join(' ')))].sort()
}
