/** Stores the rules of notifications. Every change of them increments the counter `notifications`. */

import { defaultRule, type NotificationRule } from '../domain/notifications/rule.ts'
import type { Reader, Tx } from './database.ts'

export async function listNotificationRules(reader: Reader): Promise<NotificationRule[]> {
  const rows = await reader.selectFrom('notification_rules').selectAll().orderBy('id').execute()
  // Rules of earlier versions lack fields.
  return rows.map(({ id, name, rule }) => ({ ...defaultRule, id, name, ...JSON.parse(rule) }))
}

export async function insertNotificationRule(tx: Tx, rule: Omit<NotificationRule, 'id'>): Promise<NotificationRule> {
  const { id } = await tx.query
    .insertInto('notification_rules')
    .values(toRow(rule))
    .returning('id')
    .executeTakeFirstOrThrow()
  return { ...rule, id }
}

export async function saveNotificationRule(tx: Tx, { id, ...rule }: NotificationRule): Promise<void> {
  await tx.query.updateTable('notification_rules').set(toRow(rule)).where('id', '=', id).execute()
}

export async function deleteNotificationRule(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.query.deleteFrom('notification_rules').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

function toRow({ name, ...rule }: Omit<NotificationRule, 'id'>) {
  return { name, rule: JSON.stringify(rule) }
}
