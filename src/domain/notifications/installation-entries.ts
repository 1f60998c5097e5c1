/** Notification channels and rules in the file of an installation, which refers to other records by name. */

import type { Group } from '../../contract/groups.ts'
import type { NotificationChannelType } from '../../contract/values.ts'
import { mask } from '../access/secrets.ts'
import type { ChannelConfig, NotificationChannel } from './channel.ts'
import type { NotificationRule } from './rule.ts'

/** A notification channel is identified by its name and type. */
export interface NotificationChannelEntry {
  readonly name: string
  readonly type: NotificationChannelType
  readonly enabled?: boolean
  readonly config?: ChannelConfig
  /** Signs the messages of a webhook. Only present in an export with secrets. */
  readonly secret?: string
}

type SharedFields = Omit<NotificationRule, 'id' | 'name' | 'notification_channel_ids' | 'group_ids' | 'escalate'>

/** A rule is identified by its name. */
export interface NotificationRuleEntry extends Partial<SharedFields> {
  readonly name: string
  /** The names of notification channels. */
  readonly notification_channels: readonly string[]
  /** The titles of groups. */
  readonly groups?: readonly string[]
  readonly escalate?: {
    readonly after_seconds: number
    readonly notification_channels: readonly string[]
  } | null
}

interface Records {
  readonly notification_channels: readonly NotificationChannel[]
  readonly notification_rules: readonly NotificationRule[]
  readonly groups: readonly Pick<Group, 'id' | 'title'>[]
}

export function toChannelEntries(
  { notification_channels }: Pick<Records, 'notification_channels'>,
  withSecrets: boolean,
): NotificationChannelEntry[] {
  return notification_channels.map(({ name, type, enabled, config, secrets, signing }) => {
    const exported = Object.entries(secrets ?? {}).map(([field, value]) => [field, withSecrets ? value : mask])
    return {
      ...{ name, type, enabled, config: { ...config, ...Object.fromEntries(exported) } },
      ...(withSecrets && signing !== null && { secret: signing.secret }),
    }
  })
}

/** Rules whose groups were all removed are left out, because without them they would apply to more alerts. */
export function toRuleEntries({ notification_rules, notification_channels, groups }: Records): NotificationRuleEntry[] {
  const namesOf = (ids: readonly number[]) =>
    ids.flatMap((id) => notification_channels.find((channel) => channel.id === id)?.name ?? [])
  return notification_rules.flatMap((rule): NotificationRuleEntry[] => {
    const { id: _, name, notification_channel_ids, group_ids, escalate, ...fields } = rule
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
        ...fields,
        groups: titles,
        escalate: escalated,
      },
    ]
  })
}
