/** The names of the channels, groups and manufacturers that rules refer to. */

import type { NotificationChannelBody } from '../../src/contract/resources/notifications.ts'
import type { SiteBody } from '../../src/contract/resources/sites.ts'
import { localSite } from '../../src/domain/equipment/sites.ts'
import { allSites } from '../../src/domain/notifications/rule.ts'
import { nameOf } from '../admin/manufacturer-columns.tsx'
import { manufacturersPath } from '../admin/manufacturer-form.tsx'
import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import type { RuleNames } from './rule-sentence.ts'

export function useRuleNames(channels: readonly NotificationChannelBody[]): RuleNames {
  const groups = useWatchState((watchState) => watchState.groups)
  const manufacturers = useResource(manufacturersPath, 'list').body ?? []
  const sites = useResource('/api/sites/', 'list').body ?? []
  return {
    channel: (id) =>
      plainText(channels.find((channel) => channel.id === id)?.name ?? t('notifications.deletedChannel')),
    group: (id) => plainText(groups.find((group) => group.id === id)?.title ?? t('shows.removedGroup')),
    manufacturer: (code) =>
      nameOf(manufacturers.find((manufacturer) => manufacturer.code === code) ?? { name: '', code }),
    site: (code) => siteText(code, sites),
  }
}

/** Returns what a code in the `sites` of a rule stands for. */
export function siteText(code: string, sites: readonly Pick<SiteBody, 'code' | 'name'>[]): string {
  if (code === localSite) return t('live.toolbar.localSite')
  if (code === allSites) return t('notifications.rules.allSites')
  return plainText(sites.find((site) => site.code === code)?.name ?? code)
}
