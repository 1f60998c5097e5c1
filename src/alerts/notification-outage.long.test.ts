/** An hour of alerts beside services that hang, respond with errors and refuse connections, on simulated time. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { onTestEnd } from '../../test/support/cleanup.ts'
import { startNotifications } from '../../test/support/notifications/notification-kit.ts'
import { type ReceivedWebhook, startWebhookReceiver } from '../../test/support/notifications/webhook-receiver.ts'

type Kit = Awaited<ReturnType<typeof startNotifications>>

const hourMs = 3_600_000
const stepMs = 1_000
/** Twenty alerts every twelve seconds are 100 a minute. */
const burstMs = 12_000
const alertsPerBurst = 20
const bursts = hourMs / burstMs
const windowMs = 2_000
const timeoutMs = 10_000
const expiryMs = 120_000

/** The ids of the notification channels. */
const [working, hanging, failing, refusing] = [1, 2, 3, 4] as const

/** Stops the timers and clocks of this process. Those of sockets run on. */
function stopClocks(now: number): void {
  vi.useFakeTimers({ now, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  onTestEnd(() => vi.useRealTimers())
}

/** Returns the message that the hanging service received last, if its try has not ended. */
function messageBeingTried(received: readonly ReceivedWebhook[], now: number): string | null {
  const last = received.at(-1)
  return last === undefined || last.at <= now - timeoutMs ? null : String(last.headers['webhook-id'])
}

function listPending({ db }: Kit) {
  return db.read.selectFrom('notification_deliveries').selectAll().where('status', '=', 'pending').execute()
}

/** Waits until the sender has nothing to do before time passes. Returns how many messages are pending then. */
async function untilIdle(kit: Kit, receivedByHanging: readonly ReceivedWebhook[]): Promise<number> {
  for (;;) {
    const { now } = kit.clock
    const trying = messageBeingTried(receivedByHanging, now)
    const pending = await listPending(kit)
    const isIdle = pending.every(({ message_id, notification_channel_id: channel, next_attempt_at, created_at }) => {
      if (message_id === trying) return true
      if (created_at <= now - expiryMs) return false
      const isDue = next_attempt_at !== null && next_attempt_at <= now
      return !isDue || (channel === hanging && trying !== null)
    })
    if (isIdle) return pending.length
    for (let turn = 0; turn < 10; turn++) await nextTurn()
  }
}

/** Clears the open alerts and raises others. The clock does not run meanwhile. */
async function replaceAlerts({ alerts, raise }: Kit, burst: number): Promise<void> {
  await alerts.write(alerts.list().map((alert) => ({ type: 'clear', alert, message: '' })))
  await raise(...Array.from({ length: alertsPerBurst }, (_, index) => `${burst} ${index}`))
}

/** Returns when each try of a message arrived, in ms after its first try, oldest message first. */
function listTries(received: readonly ReceivedWebhook[]): readonly (readonly number[])[] {
  const times = new Map<string, number[]>()
  for (const { headers, at } of received) {
    const id = String(headers['webhook-id'])
    times.set(id, [...(times.get(id) ?? []), at])
  }
  return [...times.values()].map((all) => all.map((at) => at - (all[0] ?? at)))
}

// Conformance: C-14.4, C-14.7, C-14.18.
it('stores and delivers an hour of alerts without delay while other services hang, fail and refuse connections', async () => {
  const startedAt = 1_800_000_000_000
  stopClocks(startedAt)
  const accepted = await startWebhookReceiver()
  const ignored = await startWebhookReceiver([], 'hang')
  const failed = await startWebhookReceiver([], 503)
  const kit = await startNotifications([accepted.url, ignored.url, failed.url, 'http://127.0.0.1:9/'])
  let mostPending = 0
  for (let at = 0; at < hourMs; at += stepMs) {
    // If an alert waited for a service, this would never return.
    if (at % burstMs === 0) await replaceAlerts(kit, at / burstMs)
    mostPending = Math.max(mostPending, await untilIdle(kit, ignored.received))
    kit.advance(stepMs)
    vi.advanceTimersByTime(stepMs)
  }

  const delivered = accepted.received.map(({ at, body }) => [at - startedAt, body.data.alerts.length])
  expect(delivered).toEqual(Array.from({ length: bursts }, (_, burst) => [burst * burstMs + windowMs, alertsPerBurst]))
  expect(kit.published.filter(({ state }) => state === 'raised')).toHaveLength(bursts * alertsPerBurst)

  const stored = await kit.db.read.selectFrom('notification_deliveries').selectAll().execute()
  expect(stored).toHaveLength(4 * bursts)
  const listEnded = (channelId: number) =>
    stored.filter(
      ({ notification_channel_id: id, created_at }) => id === channelId && created_at < kit.clock.now - 2 * expiryMs,
    )
  expect(new Set(listEnded(working).map(({ status }) => status))).toEqual(new Set(['sent']))
  const endsOf = (channelId: number) =>
    new Set(listEnded(channelId).map(({ status, attempts, last_error }) => `${status} ${attempts} ${last_error}`))
  const [failure] = endsOf(failing)
  expect(failure).toMatch(/^expired 6 .* responded with status 503/)
  expect(endsOf(failing).size).toBe(1)
  const [refusal] = endsOf(refusing)
  expect(refusal).toMatch(/^expired 6 .*refused/)
  expect(endsOf(refusing).size).toBe(1)
  const tries = listTries(failed.received).slice(0, listEnded(failing).length)
  expect(new Set(tries.map(String))).toEqual(new Set(['0,1000,6000,21000,51000,111000']))

  // The hanging service has at most eight requests at a time, each for ten seconds.
  const pauses = ignored.received.slice(8).map(({ at }, index) => at - (ignored.received[index]?.at ?? 0))
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(timeoutMs)
  for (const { status, attempts, last_error } of listEnded(hanging)) {
    expect(status).toBe('expired')
    expect(last_error).toMatch(attempts === 0 ? /^It was not tried in time: / : /^No response from .* within 10 s\.$/)
  }

  // What is queued is limited by the expiry, and the log by the number of services.
  expect(mostPending).toBeLessThanOrEqual(4 * (expiryMs / burstMs + 1))
  expect(kit.log.filter(({ message }) => message === 'a notification could not be delivered')).toHaveLength(3)
  expect(kit.problem).toBe('Notifications could not be delivered to: Webhook 2, Webhook 3, Webhook 4.')
}, 600_000)
