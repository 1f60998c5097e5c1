/** Stores notification channels and rules. Every change of them increments the counter `notifications`. */

import type { Selectable } from 'kysely'
import { alertKinds, kindsOfVersion1 } from '../contract/alert-kinds.ts'
import { isSameJson } from '../domain/json.ts'
import type { NotificationChannel } from '../domain/notifications/channel.ts'
import { defaultRule, type NotificationRule } from '../domain/notifications/rule.ts'
import type { Unstored, Versioned } from '../domain/versions.ts'
import type { Reader, Tx } from './database.ts'
import type { NotificationChannelRow } from './schema/alerts.ts'
import type { Secrets } from './secrets.ts'
import { nextVersion, saveEdit } from './versions.ts'

/** The context of the encryption. */
const context = 'notification_channel'

export async function listNotificationChannels(reader: Reader, secrets: Secrets): Promise<NotificationChannel[]> {
  const rows = await reader.selectFrom('notification_channels').selectAll().orderBy('id').execute()
  return rows.map((row) => toChannel(row, secrets))
}

export interface SealedChannel extends Pick<NotificationChannel, 'id' | 'name' | 'type' | 'enabled'> {
  open(secrets: Secrets): NotificationChannel
}

export async function listSealedChannels(reader: Reader): Promise<SealedChannel[]> {
  const rows = await reader.selectFrom('notification_channels').selectAll().orderBy('id').execute()
  return rows.map((row) => {
    const { id, name, type, enabled } = row
    return { id, name, type, enabled: enabled === 1, open: (secrets) => toChannel(row, secrets) }
  })
}

export async function findNotificationChannel(
  reader: Reader,
  secrets: Secrets,
  id: number,
): Promise<NotificationChannel | undefined> {
  const row = await reader.selectFrom('notification_channels').selectAll().where('id', '=', id).executeTakeFirst()
  return row && toChannel(row, secrets)
}

export async function insertNotificationChannel(
  tx: Tx,
  secrets: Secrets,
  channel: Unstored<NotificationChannel>,
): Promise<NotificationChannel> {
  const version = await nextVersion(tx)
  const { id } = await tx.query
    .insertInto('notification_channels')
    .values({ ...toRow(channel, secrets), type: channel.type, version })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...channel, id, version }
}

/** Saves a notification channel, and returns its version. Secrets that could not be opened keep their stored values. */
export async function saveNotificationChannel(
  tx: Tx,
  secrets: Secrets,
  channel: Omit<NotificationChannel, 'version'>,
): Promise<number> {
  const stored = await findNotificationChannel(tx.query, secrets, channel.id)
  // The same secret is sealed differently each time.
  if (stored !== undefined && isSameJson({ ...stored, ...channel, version: stored.version }, stored))
    return stored.version
  const { secrets: sealed, signing_secret, previous_secret, ...open } = toRow(channel, secrets)
  const row = {
    ...open,
    ...(channel.secrets !== null && { secrets: sealed }),
    ...(channel.signing !== null && { signing_secret, previous_secret }),
  }
  return saveEdit(tx, 'notification_channels', channel.id, row)
}

export async function disableNotificationChannel(tx: Tx, id: number): Promise<void> {
  await tx.query.updateTable('notification_channels').set({ enabled: 0 }).where('id', '=', id).execute()
}

export async function deleteNotificationChannel(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.query.deleteFrom('notification_channels').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

function toRow({ name, enabled, without_names, config, ...channel }: Unstored<NotificationChannel>, secrets: Secrets) {
  const seal = (text: string | null) => (text === null ? null : secrets.seal(text, context))
  const hasSecrets = Object.keys(channel.secrets ?? {}).length > 0
  return {
    name,
    enabled: enabled ? (1 as const) : (0 as const),
    without_names: without_names ? (1 as const) : (0 as const),
    config: JSON.stringify(config),
    acknowledge_key: seal(channel.acknowledge_key),
    secrets: seal(hasSecrets ? JSON.stringify(channel.secrets) : null),
    signing_secret: seal(channel.signing?.secret ?? null),
    previous_secret: seal(channel.signing?.previous ?? null),
    previous_until: channel.signing?.previous_until ?? null,
  }
}

function toChannel(row: Selectable<NotificationChannelRow>, secrets: Secrets): NotificationChannel {
  const open = (sealed: string | null) => (sealed === null ? null : secrets.tryOpen(sealed, context))
  const { id, name, type, enabled, without_names, config, previous_until, version } = row
  const opened = open(row.secrets)
  const secret = open(row.signing_secret)
  return {
    id,
    name,
    type,
    enabled: enabled === 1,
    without_names: without_names === 1,
    acknowledge_key: open(row.acknowledge_key),
    config: JSON.parse(config),
    secrets: row.secrets === null ? {} : opened === null ? null : JSON.parse(opened),
    signing: secret === null ? null : { secret, previous: open(row.previous_secret), previous_until },
    version,
  }
}

export async function listNotificationRules(reader: Reader): Promise<NotificationRule[]> {
  const rows = await reader.selectFrom('notification_rules').selectAll().orderBy('id').execute()
  return rows.map(toRule)
}

export async function insertNotificationRule(tx: Tx, rule: Unstored<NotificationRule>): Promise<NotificationRule> {
  const version = await nextVersion(tx)
  const { id } = await tx.query
    .insertInto('notification_rules')
    .values({ ...toRuleRow(rule), version })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...rule, id, version }
}

export async function saveNotificationRule(
  tx: Tx,
  { id, version: _, ...rule }: Omit<NotificationRule, 'version'> & Partial<Versioned>,
): Promise<NotificationRule> {
  return { ...rule, id, version: await saveEdit(tx, 'notification_rules', id, toRuleRow(rule)) }
}

export async function deleteNotificationRule(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.query.deleteFrom('notification_rules').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Stores the kinds that exist, so that a later version excludes new ones from a rule for all kinds. */
function toRuleRow({ name, excluded_kinds, ...rule }: Unstored<NotificationRule>) {
  const known_kinds = alertKinds.filter((kind) => !excluded_kinds.includes(kind))
  return { name, rule: JSON.stringify({ ...rule, known_kinds }) }
}

/** Rules of earlier versions lack fields. */
function toRule({ rule: json, ...row }: { id: number; name: string; rule: string; version: number }): NotificationRule {
  const { known_kinds = kindsOfVersion1, ...rule } = { ...defaultRule, ...JSON.parse(json) }
  const excluded_kinds = rule.kinds.length > 0 ? [] : alertKinds.filter((kind) => !known_kinds.includes(kind))
  return { ...rule, excluded_kinds, ...row }
}
