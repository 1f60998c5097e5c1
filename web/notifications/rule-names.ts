/** The names of the channels, groups and manufacturers that rules refer to. */

import type { NotificationChannelBody } from '../../src/contract/resources/notifications.ts'
import { nameOf } from '../admin/manufacturer-columns.tsx'
import { manufacturersPath } from '../admin/manufacturer-form.tsx'
import { useWatchState } from '../context.ts'
import { plainText } from '../format.ts'
import { t } from '../i18n.ts'
import { useResource } from '../resource.ts'
import type { RuleNames } from './rule-sentence.ts'

export function useRuleNames(channels: readonly NotificationChannelBody[]): RuleNames {
  const groups = useWatchState((watchState) => watchState.groups)
  const manufacturers = useResource(manufacturersPath, 'list').body ?? []
  return {
    channel: (id) =>
      plainText(channels.find((channel) => channel.id === id)?.name ?? t('notifications.deletedChannel')),
    group: (id) => plainText(groups.find((group) => group.id === id)?.title ?? t('shows.removedGroup')),
    manufacturer: (code) =>
      nameOf(manufacturers.find((manufacturer) => manufacturer.code === code) ?? { name: '', code }),
  }
}
