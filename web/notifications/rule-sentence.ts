import type { NotificationChannelBody } from '../../src/contract/notifications.ts'
import type { SiteBody } from '../../src/contract/sites.ts'
import { weekdays } from '../../src/contract/values.ts'
import { localSite } from '../../src/domain/equipment/sites.ts'
import { allSites } from '../../src/domain/notifications/rule.ts'
import { useWatchState } from '../app/context.ts'
import {
  formatClock,
  formatDuration,
  formatList,
  formatShortDuration,
  formatWeekday,
  plainText,
} from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useResource } from '../app/resource.ts'
import { alertKindTitle } from '../parts/alerts/alert-text.ts'
import { displayName, manufacturersPath } from '../parts/equipment/manufacturer-names.tsx'
import { passesMidnight, type RuleValues, type Schedule } from './rule-values.ts'

export interface RuleNames {
  notifier(id: number): string
  group(id: number): string
  manufacturer(code: string): string
  site(code: string): string
}

/** More kinds are counted instead of listed. */
const maxListedKinds = 3

/** For example "Critical alerts of group Act 1, during shows, to RF crew; also when cleared". */
export function ruleSentence(rule: RuleValues, names: RuleNames): string {
  const { when, repeat_minutes: repeat, escalate } = rule
  const toNames = (ids: readonly number[]) => (ids.length === 0 ? null : formatList(ids.map(names.notifier)))
  const notifiers = toNames(rule.notification_channel_ids)
  const first = [
    whichAlerts(rule, names),
    when === 'always' ? null : when === 'during_shows' ? t('notifications.sentence.duringShows') : scheduleText(when),
    notifiers === null ? t('notifications.sentence.toNothing') : t('notifications.sentence.to', { names: notifiers }),
  ]
  const further = [
    repeat > 0 ? t('notifications.sentence.repeat', { time: durationText(repeat * 60) }) : null,
    escalate === null
      ? null
      : t('notifications.sentence.escalate', {
          time: durationText(escalate.after_seconds),
          names: toNames(escalate.notification_channel_ids) ?? t('notifications.sentence.nothing'),
        }),
    rule.send_cleared ? t('notifications.sentence.cleared') : null,
  ]
  return join('; ', [join(', ', first), ...further])
}

function whichAlerts(
  { min_severity, kinds, excluded_kinds, group_ids, manufacturers, sites, delay_seconds }: RuleValues,
  names: RuleNames,
) {
  const isEverySeverity = min_severity === 'info' && kinds.length > 0
  const alerts = t(`notifications.sentence.severities.${isEverySeverity ? 'any' : min_severity}`)
  const list = (of: readonly string[]) =>
    of.length > maxListedKinds
      ? t('notifications.sentence.kindCount', { count: of.length })
      : of.map((kind) => alertKindTitle(kind)).join(', ')
  return join(' ', [
    kinds.length > 0
      ? t('notifications.sentence.ofKinds', { alerts, kinds: list(kinds) })
      : excluded_kinds.length > 0
        ? t('notifications.sentence.exceptKinds', { alerts, kinds: list(excluded_kinds) })
        : alerts,
    group_ids.length === 0
      ? null
      : t('notifications.sentence.ofGroups', {
          count: group_ids.length,
          names: formatList(group_ids.map(names.group)),
        }),
    manufacturers.length === 0
      ? null
      : t('notifications.sentence.from', { names: formatList(manufacturers.map(names.manufacturer)) }),
    sites.length === 0 ? null : t('notifications.sentence.at', { names: formatList(sites.map(names.site)) }),
    delay_seconds > 0 ? t('notifications.sentence.lasting', { time: durationText(delay_seconds) }) : null,
  ])
}

function scheduleText(schedule: Schedule): string {
  const { from, to, time_zone: zone } = schedule
  const values = { days: daysText(schedule.days), from: clockText(from), to: clockText(to), zone }
  return passesMidnight(schedule)
    ? t('notifications.sentence.scheduleOvernight', values)
    : t('notifications.sentence.schedule', values)
}

/** Three or more days in a row become a range: "Mon–Fri, Sun". */
function daysText(days: Schedule['days']): string {
  if (days.length === weekdays.length) return t('notifications.sentence.everyDay')
  const runs: number[][] = []
  for (const [index, day] of weekdays.entries()) {
    if (!days.includes(day)) continue
    const run = runs.at(-1)
    if (run?.at(-1) === index - 1) run.push(index)
    else runs.push([index])
  }
  const texts = runs.flatMap((run) => {
    const names = run.map(formatWeekday)
    return names.length < 3 ? names : [`${names[0]}–${names.at(-1)}`]
  })
  return texts.join(', ')
}

function clockText(time: string): string {
  const [hours = Number.NaN, minutes = Number.NaN] = time.split(':').map(Number)
  return Number.isNaN(hours + minutes) ? time : formatClock(new Date(2026, 0, 5, hours, minutes).getTime())
}

/** Whole minutes without seconds. While a form is filled in, the number may be missing. */
function durationText(seconds: number): string {
  if (Number.isNaN(seconds)) return t('parts.unknown')
  return seconds % 60 === 0 ? formatShortDuration(seconds * 1_000) : formatDuration(seconds * 1_000)
}

function join(separator: string, parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(separator)
}

export function useRuleNames(notifiers: readonly NotificationChannelBody[]): RuleNames {
  const groups = useWatchState((watchState) => watchState.groups)
  const manufacturers = useResource(manufacturersPath, 'list').body ?? []
  const sites = useResource('/api/sites/', 'list').body ?? []
  return {
    notifier: (id) =>
      plainText(notifiers.find((notifier) => notifier.id === id)?.name ?? t('notifications.deletedChannel')),
    group: (id) => plainText(groups.find((group) => group.id === id)?.title ?? t('parts.removedGroup')),
    manufacturer: (code) =>
      displayName(manufacturers.find((manufacturer) => manufacturer.code === code) ?? { name: '', code }),
    site: (code) => siteText(code, sites),
  }
}

export function siteText(code: string, sites: readonly SiteBody[]): string {
  if (code === localSite) return t('live.toolbar.localSite')
  if (code === allSites) return t('notifications.rules.allSites')
  return plainText(sites.find((site) => site.code === code)?.name ?? code)
}
