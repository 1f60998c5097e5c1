/** Imports the notification channels and rules in a file. */

import { createSigningSecret } from '../../alerts/services/index.ts'
import { RequestError } from '../../domain/errors.ts'
import type { InstallationFile } from '../../domain/installation-file.ts'
import { fullConfig, type NotificationChannel } from '../../domain/notifications/channel.ts'
import type { NotificationRuleEntry } from '../../domain/notifications/installation-entries.ts'
import { defaultRule } from '../../domain/notifications/rule.ts'
import { isTimeZone } from '../../domain/settings.ts'
import type { SourceDeps } from '../../manufacturers/sources.ts'
import { listGroups } from '../../storage/groups.ts'
import {
  insertNotificationChannel,
  listSealedChannels,
  saveNotificationChannel,
} from '../../storage/notification-channels.ts'
import { insertNotificationRule, saveNotificationRule } from '../../storage/notification-rules.ts'
import { nextRevision } from '../../storage/revision.ts'
import { validateConfig } from '../alerts/edit-notification-channels.ts'
import { createPicker, type ImportContext, ImportError } from './import-context.ts'

export interface PlannedChannel {
  readonly stored: NotificationChannel | undefined
  readonly channel: Omit<NotificationChannel, 'id'>
}

/** Merges the notification channels in the file into the stored ones, with the same validation as a REST request. */
export async function planNotificationChannels(
  file: InstallationFile,
  channels: readonly NotificationChannel[],
  deps: Pick<SourceDeps, 'destinations'>,
): Promise<PlannedChannel[]> {
  const pick = createPicker(channels)
  const planned: PlannedChannel[] = []
  for (const [index, { name, type, enabled, config = {}, secret }] of (file.notification_channels ?? []).entries()) {
    const stored = pick((channel) => channel.name === name && channel.type === type)
    try {
      const valid = await validateConfig(deps, type, stored === undefined ? {} : fullConfig(stored), config)
      const signing = type === 'webhook' ? signingOf(stored, secret) : null
      planned.push({ stored, channel: { name, type, enabled: enabled ?? stored?.enabled ?? true, ...valid, signing } })
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      throw new ImportError(`notification_channels.${index}`, error.details ?? error.message)
    }
  }
  return planned
}

function signingOf(
  stored: NotificationChannel | undefined,
  secret: string | undefined,
): NotificationChannel['signing'] {
  if (secret !== undefined && !/^whsec_[\w+/-]{32,88}=*$/.test(secret)) {
    throw new RequestError('bad_request', { details: 'secret: expected whsec_ and at least 24 bytes in base64' })
  }
  const known = stored?.signing ?? null
  if (known !== null && (secret === undefined || secret === known.secret)) return known
  return { secret: secret ?? createSigningSecret(), previous: null, previous_until: null }
}

export async function putNotifications(work: ImportContext, planned: readonly PlannedChannel[]): Promise<void> {
  const { tx, secrets, count, file } = work
  if (planned.length + (file.notification_rules ?? []).length === 0) return
  await nextRevision(tx, 'notifications')
  for (const { stored, channel } of planned) {
    const before = stored === undefined ? undefined : withoutId(stored)
    if (!count('notification_channels', before, channel)) continue
    if (stored === undefined) await insertNotificationChannel(tx, secrets, channel)
    else await saveNotificationChannel(tx, secrets, { ...channel, id: stored.id })
  }
  await putRules(work)
}

async function putRules({ tx, file, before, count }: ImportContext): Promise<void> {
  const pick = createPicker(before.notification_rules)
  const groups = await listGroups(tx.query)
  const channels = await listSealedChannels(tx.query)
  for (const [index, entry] of (file.notification_rules ?? []).entries()) {
    const path = `notification_rules.${index}`
    const { notification_channels, groups: titles, escalate, ...fields } = entry
    requireTimeZone(entry, path)
    const channelIds = (names: readonly string[], field: string) =>
      names.map((name) => idOf(channels, (channel) => channel.name === name, [`${path}.${field}`, 'name', name]))
    const groupIds = titles?.map((title) =>
      idOf(groups, (group) => group.title === title, [`${path}.groups`, 'title', title]),
    )
    const stored = pick(({ name }) => name === entry.name)
    const escalated = escalate && {
      after_seconds: escalate.after_seconds,
      notification_channel_ids: channelIds(escalate.notification_channels, 'escalate.notification_channels'),
    }
    const rule = {
      ...defaultRule,
      ...(stored && withoutId(stored)),
      ...fields,
      notification_channel_ids: channelIds(notification_channels, 'notification_channels'),
      ...(groupIds !== undefined && { group_ids: groupIds }),
      ...(escalated !== undefined && { escalate: escalated }),
    }
    if (!count('notification_rules', stored && withoutId(stored), rule)) continue
    if (stored === undefined) await insertNotificationRule(tx, rule)
    else await saveNotificationRule(tx, { ...rule, id: stored.id })
  }
}

function idOf<Item extends { readonly id: number }>(
  items: readonly Item[],
  matches: (item: Item) => boolean,
  [path, property, value]: readonly [string, string, string],
): number {
  const found = items.find(matches)
  if (found === undefined) throw new ImportError(path, `expected a known ${property}; ${value} does not exist`)
  return found.id
}

function requireTimeZone({ when }: NotificationRuleEntry, path: string): void {
  if (typeof when !== 'object' || isTimeZone(when.time_zone)) return
  throw new ImportError(`${path}.when.time_zone`, 'expected a time zone such as Europe/Berlin')
}

function withoutId<Item extends { readonly id: number }>({ id: _, ...item }: Item): Omit<Item, 'id'> {
  return item
}
