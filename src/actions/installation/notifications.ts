/** Notification channels and rules. */

import Type from 'typebox'
import { createSigningSecret } from '../../alerts/services/index.ts'
import {
  escalationSeconds,
  notificationChannelFields,
  notificationChannelType,
  notificationRuleFields,
} from '../../contract/notifications.ts'
import { type Body, boundedText, name, nullable } from '../../contract/schema.ts'
import { mask } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'
import { fullConfig, type NotificationChannel } from '../../domain/notifications/channel.ts'
import { defaultRule } from '../../domain/notifications/rule.ts'
import { isTimeZone } from '../../domain/settings.ts'
import type { Unstored } from '../../domain/versions.ts'
import type { Outbound } from '../../manufacturers/sources.ts'
import {
  insertNotificationChannel,
  insertNotificationRule,
  listSealedChannels,
  saveNotificationChannel,
  saveNotificationRule,
} from '../../storage/notifications.ts'
import { nextRevision } from '../../storage/revision.ts'
import { listGroups } from '../../storage/slots.ts'
import { acknowledgeKeyOf, validateConfig } from '../alerts/edit-notification-channels.ts'
import { defineSection, type ExportOptions, list, partial, record, sortByContent } from './entries.ts'
import type { Installation } from './export-installation.ts'
import { createPicker, type ImportContext, ImportError, type PlannedChannel } from './import-context.ts'

/** A notification channel is identified by its name and type. */
const NotificationChannelEntry = record(
  {
    name,
    type: notificationChannelType,
    ...partial(notificationChannelFields),
    /** Signs the messages of a webhook. Only present in an export with secrets. */
    secret: Type.Optional(boundedText(1, 255)),
  },
  'a notification channel with at least a name and a type',
)
type NotificationChannelEntry = Body<typeof NotificationChannelEntry>

export const notificationChannelSection = defineSection(
  list(NotificationChannelEntry, 'a list of notification channels'),
  exportChannels,
  importChannels,
)

const channelNames = Type.Array(name, { description: 'a list of names of notification channels' })
const escalation = 'a section of after_seconds and notification_channels'

/** A rule is identified by its name. */
const NotificationRuleEntry = record(
  {
    name,
    notification_channels: channelNames,
    ...notificationRuleFields,
    groups: list(name, 'a list of group titles'),
    escalate: Type.Optional(
      nullable(
        record({ after_seconds: escalationSeconds, notification_channels: channelNames }, escalation),
        escalation,
      ),
    ),
  },
  'a notification rule with at least a name and its notification channels',
)
type NotificationRuleEntry = Body<typeof NotificationRuleEntry>

export const notificationRuleSection = defineSection(
  list(NotificationRuleEntry, 'a list of notification rules'),
  exportRules,
  importRules,
)

function exportChannels(
  { notification_channels }: Installation,
  { withSecrets }: ExportOptions,
): NotificationChannelEntry[] {
  const entries = notification_channels.map((channel) => {
    const { name, type, enabled, without_names, acknowledge_key, config, secrets, signing } = channel
    const exported = Object.entries(secrets ?? {}).map(([field, value]) => [field, withSecrets ? value : mask])
    return {
      ...{ name, type, enabled },
      ...(without_names && { without_names }),
      ...(acknowledge_key !== null && { acknowledge_link: true }),
      config: { ...config, ...Object.fromEntries(exported) },
      ...(withSecrets && signing !== null && { secret: signing.secret }),
    }
  })
  return sortByContent(entries)
}

/** Rules whose groups were all removed are omitted, because without them they would apply to more alerts. */
function exportRules({ notification_rules, notification_channels, groups }: Installation): NotificationRuleEntry[] {
  const namesOf = (ids: readonly number[]) =>
    ids.flatMap((id) => notification_channels.find((channel) => channel.id === id)?.name ?? [])
  const entries = notification_rules.flatMap((rule): NotificationRuleEntry[] => {
    const {
      id: _,
      version: __,
      name,
      notification_channel_ids,
      kinds,
      excluded_kinds,
      group_ids,
      escalate,
      ...fields
    } = rule
    const titles = group_ids.flatMap((id) => groups.find((group) => group.id === id)?.title ?? [])
    if (group_ids.length > 0 && titles.length === 0) return []
    const escalated = escalate && {
      after_seconds: escalate.after_seconds,
      notification_channels: namesOf(escalate.notification_channel_ids),
    }
    return [
      {
        name,
        notification_channels: namesOf(notification_channel_ids),
        kinds,
        ...(excluded_kinds.length > 0 && { excluded_kinds }),
        ...fields,
        groups: titles,
        escalate: escalated,
      },
    ]
  })
  return sortByContent(entries)
}

/** Merges the entries into the stored notification channels, with the same validation as a REST request. */
export async function planNotificationChannels(
  entries: readonly NotificationChannelEntry[],
  channels: readonly NotificationChannel[],
  destinations: Outbound['destinations'],
): Promise<PlannedChannel[]> {
  const pick = createPicker(channels)
  const planned: PlannedChannel[] = []
  for (const [index, { name, type, config = {}, secret, ...entry }] of entries.entries()) {
    const stored = pick((channel) => channel.name === name && channel.type === type)
    try {
      const valid = await validateConfig(destinations, type, stored === undefined ? {} : fullConfig(stored), config)
      const signing = type === 'webhook' ? signingOf(stored, secret) : null
      const { enabled = true, without_names = false } = { ...stored, ...entry }
      const acknowledge_key = acknowledgeKeyOf(stored, entry.acknowledge_link)
      planned.push({ stored, channel: { name, type, enabled, without_names, acknowledge_key, ...valid, signing } })
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

/** Imports the merged entries. */
async function importChannels(work: ImportContext): Promise<void> {
  const { tx, secrets, planned } = work
  if (planned.notification_channels.length === 0) return
  await nextRevision(tx, 'notifications')
  for (const { stored, channel } of planned.notification_channels) {
    const before = stored === undefined ? undefined : withoutId(stored)
    if (!work.count('notification_channels', before, channel)) continue
    if (stored === undefined) await insertNotificationChannel(tx, secrets, channel)
    else await saveNotificationChannel(tx, secrets, { ...channel, id: stored.id })
  }
}

async function importRules(work: ImportContext, entries: readonly NotificationRuleEntry[] = []): Promise<void> {
  const { tx, before } = work
  if (entries.length === 0) return
  await nextRevision(tx, 'notifications')
  const pick = createPicker(before.notification_rules)
  const groups = await listGroups(tx.query)
  const channels = await listSealedChannels(tx.query)
  for (const [index, entry] of entries.entries()) {
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
    if (!work.count('notification_rules', stored && withoutId(stored), rule)) continue
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

function withoutId<Item extends { readonly id: number; readonly version: number }>({
  id: _,
  version: __,
  ...item
}: Item): Unstored<Item> {
  return item
}
