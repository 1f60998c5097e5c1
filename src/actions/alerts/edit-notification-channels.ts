/** Adds, changes, removes and tests notification channels. */

import { isDeepStrictEqual } from 'node:util'
import { createAcknowledgeKey } from '../../alerts/acknowledge-links.ts'
import { disableGone } from '../../alerts/gone-channel.ts'
import { createMessageId } from '../../alerts/notification-queue.ts'
import {
  createSigningSecret,
  findBlockedHost,
  listSecrets,
  listSecretUses,
  notificationServices,
} from '../../alerts/services/index.ts'
import { sendMessage } from '../../alerts/services/send-message.ts'
import type { NotificationChannelType } from '../../contract/notification-services.ts'
import type { NotificationTestBody } from '../../contract/notifications.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { refuseMovedSecrets } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  type ChannelConfig,
  fullConfig,
  mergeConfig,
  type NotificationChannel,
  rotationMs,
  splitConfig,
} from '../../domain/notifications/channel.ts'
import { withoutChannel } from '../../domain/notifications/rule.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import { now } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { countDeliveryChange, detachChannel, insertTest } from '../../storage/notification-deliveries.ts'
import {
  deleteNotificationChannel,
  findNotificationChannel,
  insertNotificationChannel,
  listNotificationRules,
  saveNotificationChannel,
  saveNotificationRule,
} from '../../storage/notifications.ts'
import type { Secrets } from '../../storage/secrets.ts'
import { editRecords } from '../edit-records.ts'
import { withSecretErrors } from '../sources/secret-errors.ts'

interface NewChannel {
  readonly name: string
  readonly type: NotificationChannelType
  readonly config: ChannelConfig
  readonly enabled?: boolean
  readonly without_names?: boolean
  readonly acknowledge_link?: boolean
}

export type ChannelChange = Partial<Omit<NewChannel, 'type'>>

export async function addNotificationChannel(
  service: Service,
  actor: Actor,
  { name, type, config, enabled = true, without_names = false, acknowledge_link = false }: NewChannel,
): Promise<NotificationChannel> {
  const valid = await validateConfig(service.outbound.destinations, type, {}, config)
  const signing = type === 'webhook' ? { secret: createSigningSecret(), previous: null, previous_until: null } : null
  return editRecords(service, 'notifications', async (tx) => {
    const acknowledge_key = acknowledgeKeyOf(undefined, acknowledge_link)
    const channel = { name, type, enabled, without_names, acknowledge_key, ...valid, signing }
    const added = await insertNotificationChannel(tx, service.secrets, channel)
    await audit(tx, actor, 'notification_channel.create', added.id, { name, type })
    return added
  })
}

export async function changeNotificationChannel(
  service: Service,
  actor: Actor,
  id: number,
  { config, acknowledge_link, ...change }: ChannelChange,
  requireVersion: RequireVersion<NotificationChannel>,
): Promise<NotificationChannel> {
  const before = await getNotificationChannel(service, id)
  const valid =
    config === undefined
      ? {}
      : await validateConfig(service.outbound.destinations, before.type, fullConfig(before), config)
  const after = { ...before, ...change, acknowledge_key: acknowledgeKeyOf(before, acknowledge_link), ...valid }
  return editRecords(service, 'notifications', async (tx) => {
    // Resolving host names takes time, so the stored channel may have changed since it was read.
    const stored = await findNotificationChannel(tx.query, service.secrets, id)
    if (stored === undefined) throw unknown(id)
    requireVersion(stored, `notification channel ${id}`)
    if (!isDeepStrictEqual(stored, before)) {
      throw new RequestError('concurrent_change', { subject: `notification channel ${id}` })
    }
    const version = await saveNotificationChannel(tx, service.secrets, after)
    await audit(tx, actor, 'notification_channel.change', id, { changed: listChanged(before, after) })
    return { ...after, version }
  })
}

/** Removes a notification channel, also from all rules. */
export async function removeNotificationChannel(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<NotificationChannel>,
): Promise<void> {
  await editRecords(service, 'notifications', async (tx) => {
    const channel = await findNotificationChannel(tx.query, service.secrets, id)
    if (channel === undefined) throw unknown(id)
    requireVersion(channel, `notification channel ${id}`)
    await deleteNotificationChannel(tx, id)
    await detachChannel(tx, id, 'The notification channel was removed.')
    for (const rule of await listNotificationRules(tx.query)) {
      const changed = withoutChannel(rule, id)
      if (changed !== rule) await saveNotificationRule(tx, changed)
    }
    await audit(tx, actor, 'notification_channel.delete', id, { name: channel.name })
  })
}

/** Creates a new secret for a webhook. The previous one also signs for 24 hours. */
export async function rotateNotificationSecret(
  service: Service,
  actor: Actor,
  id: number,
): Promise<{ readonly secret: string; readonly previous_until: number }> {
  const secret = createSigningSecret()
  const previous_until = now() + rotationMs
  await editRecords(service, 'notifications', async (tx) => {
    const channel = await findNotificationChannel(tx.query, service.secrets, id)
    if (channel === undefined) throw unknown(id)
    if (channel.type !== 'webhook') {
      throw new RequestError('wrong_state', { subject: 'Only messages of webhooks are signed with a secret.' })
    }
    const signing = { secret, previous: channel.signing?.secret ?? null, previous_until }
    await saveNotificationChannel(tx, service.secrets, { ...channel, signing })
    await audit(tx, actor, 'notification_channel.rotate', id, { name: channel.name })
  })
  return { secret, previous_until }
}

/** Sends a test message once, even if the notification channel is disabled. */
export async function testNotificationChannel(
  service: Service,
  actor: Actor,
  id: number,
): Promise<NotificationTestBody> {
  const { isDisabled, ...body } = await sendTest(service, service.outbound.destinations, actor, id)
  if (isDisabled) await service.reload()
  service.notifications.tested(id, body.ok)
  return body
}

interface Sender {
  readonly db: Database
  readonly secrets: Secrets
  readonly publicUrl: string | null
  readonly signal: AbortSignal
  readonly log: Log
}

/** As `testNotificationChannel`, without a running service. `isDisabled`: the address is gone, so the channel was disabled. */
export async function sendTest(
  { db, secrets, publicUrl, signal, log }: Sender,
  destinations: Outbound['destinations'],
  actor: Actor,
  id: number,
): Promise<NotificationTestBody & { readonly isDisabled: boolean }> {
  const channel = await getNotificationChannel({ db, secrets }, id)
  const created_at = now()
  const startedAt = performance.now()
  const message = { id: createMessageId(), type: 'test', created_at, alerts: [], more: 0 } as const
  const result = await sendMessage(channel, message, { destinations, publicUrl, signal, now })
  const { status, response, error, isGone } = result
  const ok = result.outcome === 'sent'
  const isDisabled = isGone && channel.enabled
  await db.transaction(async (tx) => {
    if (isDisabled) await disableGone(tx, channel, log)
    const delivery = { message_id: message.id, notification_channel_id: id, created_at, last_error: error }
    await insertTest(tx, { ...delivery, status: ok ? 'sent' : 'failed', ended_at: now() })
    await countDeliveryChange(tx)
    await audit(tx, actor, 'notification_channel.test', id, { name: channel.name, ok, status })
  })
  return { ok, status, response, error, duration_ms: Math.round(performance.now() - startedAt), isDisabled }
}

async function getNotificationChannel(
  { db, secrets }: { readonly db: Database; readonly secrets: Secrets },
  id: number,
): Promise<NotificationChannel> {
  const channel = await findNotificationChannel(db.read, secrets, id)
  if (channel === undefined) throw unknown(id)
  return channel
}

/** Links stay valid while they are switched on. Switching them off and on again creates another key. */
export function acknowledgeKeyOf(
  stored: NotificationChannel | undefined,
  isLinked: boolean | undefined,
): string | null {
  const known = stored?.acknowledge_key ?? null
  if (isLinked === undefined) return known
  return isLinked ? (known ?? createAcknowledgeKey()) : null
}

/** Applies a change to a configuration. Throws a RequestError that names the invalid field. */
export async function validateConfig(
  destinations: Outbound['destinations'],
  type: NotificationChannelType,
  stored: ChannelConfig,
  change: ChannelConfig,
): Promise<Pick<NotificationChannel, 'config' | 'secrets'>> {
  const service = notificationServices[type]
  const parsed = service.parse(withSecretErrors('config.', () => mergeConfig(stored, change, service.secrets)))
  const [before, after] = [listSecretUses(service, stored), listSecretUses(service, parsed)]
  withSecretErrors('config.', () => refuseMovedSecrets({ before, after, entered: listSecrets(service, change) }))
  const host = await findBlockedHost(service, parsed, destinations)
  if (host !== null) {
    const reason = 'it is a link-local, metadata, multicast or unspecified address, or an address of this service'
    throw new RequestError('bad_request', { details: `config: nothing is sent to ${host}, because ${reason}` })
  }
  return splitConfig(parsed, service.secrets)
}

/** Lists the changed fields for the audit log, without their values. */
function listChanged(before: NotificationChannel, after: NotificationChannel): string[] {
  const [old, current] = [fullConfig(before), fullConfig(after)]
  const fields = [...new Set([...Object.keys(old), ...Object.keys(current)])]
  return [
    ...(before.name === after.name ? [] : ['name']),
    ...(before.enabled === after.enabled ? [] : ['enabled']),
    ...(before.without_names === after.without_names ? [] : ['without_names']),
    ...(before.acknowledge_key === after.acknowledge_key ? [] : ['acknowledge_link']),
    ...fields.filter((field) => !isDeepStrictEqual(old[field], current[field])).map((field) => `config.${field}`),
  ]
}

function unknown(id: number): RequestError {
  return new RequestError('not_found', { subject: `notification channel ${id}` })
}

function audit(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  id: number,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(tx, { actor, action, target: `notification channel ${id}`, result: 'ok', details })
}
