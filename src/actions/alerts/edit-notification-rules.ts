/** Adds, changes and removes the rules of notifications. */

import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { localSite, recordOfSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { allSites, defaultRule, type NotificationRule } from '../../domain/notifications/rule.ts'
import { isTimeZone } from '../../domain/settings.ts'
import type { RequireVersion, Unstored } from '../../domain/versions.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Reader, Tx } from '../../storage/database.ts'
import { detachRule } from '../../storage/notification-deliveries.ts'
import {
  deleteNotificationRule,
  insertNotificationRule,
  listNotificationRules,
  listSealedChannels,
  saveNotificationRule,
} from '../../storage/notifications.ts'
import { listGroups } from '../../storage/slots.ts'
import { editRecords } from '../edit-records.ts'

type RuleFields = Unstored<NotificationRule>

export function addNotificationRule(
  service: Service,
  actor: Actor,
  fields: Partial<RuleFields> & Pick<RuleFields, 'name' | 'notification_channel_ids'>,
): Promise<NotificationRule> {
  const rule = { ...defaultRule, ...fields }
  return editRecords(service, 'notifications', async (tx) => {
    await requireKnown(service, tx.query, rule)
    const added = await insertNotificationRule(tx, rule)
    await audit(tx, actor, 'notification_rule.create', added.id, { name: rule.name })
    return added
  })
}

export function changeNotificationRule(
  service: Service,
  actor: Actor,
  id: number,
  change: Partial<RuleFields>,
  requireVersion: RequireVersion<NotificationRule>,
): Promise<NotificationRule> {
  return editRecords(service, 'notifications', async (tx) => {
    const before = await ruleOf(tx.query, id)
    requireVersion(before, `notification rule ${id}`)
    const after = { ...before, ...change }
    await requireKnown(service, tx.query, after, before)
    await audit(tx, actor, 'notification_rule.change', id, { name: after.name, fields: Object.keys(change) })
    return saveNotificationRule(tx, after)
  })
}

export async function removeNotificationRule(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<NotificationRule>,
): Promise<void> {
  await editRecords(service, 'notifications', async (tx) => {
    const rule = await ruleOf(tx.query, id)
    requireVersion(rule, `notification rule ${id}`)
    await deleteNotificationRule(tx, id)
    await detachRule(tx, id, 'The rule was removed.')
    await audit(tx, actor, 'notification_rule.delete', id, { name: rule.name })
  })
}

async function ruleOf(reader: Reader, id: number): Promise<NotificationRule> {
  const rule = (await listNotificationRules(reader)).find((candidate) => candidate.id === id)
  if (rule === undefined) throw new RequestError('not_found', { subject: `notification rule ${id}` })
  return rule
}

/** Throws a RequestError if the rule names something that does not exist, unless it was named `before`. */
async function requireKnown(
  service: Service,
  reader: Reader,
  { notification_channel_ids, escalate, group_ids, manufacturers, sites, when }: RuleFields,
  before?: RuleFields,
): Promise<void> {
  const channelIds = (await listSealedChannels(reader)).map(({ id }) => id)
  const groupIds = [...(await listGroups(reader)).map(({ id }) => id), ...(before?.group_ids ?? [])]
  const escalatedTo = escalate?.notification_channel_ids ?? []
  const unknownChannel = (ids: readonly number[]) => ids.find((id) => !channelIds.includes(id))
  reject('notification_channel_ids', 'notification channel', unknownChannel(notification_channel_ids))
  reject('escalate.notification_channel_ids', 'notification channel', unknownChannel(escalatedTo))
  const unknownGroup = group_ids.find((id) => !groupIds.includes(id))
  reject('group_ids', 'group', unknownGroup)
  const isKnown = (code: string) => service.hasManufacturer(code) || before?.manufacturers.includes(code) === true
  const unknownManufacturer = manufacturers.find((code) => !isKnown(code))
  reject('manufacturers', 'manufacturer', unknownManufacturer)
  const isSite = (code: string) =>
    code === localSite || code === allSites || service.hasManufacturer(recordOfSite(code))
  const unknownSite = sites.find((code) => !isSite(code) && before?.sites.includes(code) !== true)
  reject('sites', 'site', unknownSite)
  if (typeof when === 'object' && !isTimeZone(when.time_zone)) {
    throw new RequestError('bad_request', { details: 'when.time_zone: expected a time zone such as Europe/Berlin' })
  }
}

function reject(field: string, what: string, unknown: number | string | undefined): void {
  if (unknown === undefined) return
  throw new RequestError('bad_request', { details: `${field}: there is no ${what} ${unknown}` })
}

function audit(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  id: number,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(tx, { actor, action, target: `notification rule ${id}`, result: 'ok', details })
}
