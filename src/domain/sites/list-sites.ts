/** Summarizes the equipment of every followed installation. */

import type { SiteBody } from '../../contract/sites.ts'
import type { Alert } from '../alerts/alert.ts'
import type { ManufacturerHealth } from '../equipment/health.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { toTimestamp } from '../timestamp.ts'
import { type SiteAnnouncements, toAnnouncedSites } from './announced-sites.ts'

/** A record that follows another installation. */
export interface SiteRecord {
  readonly code: string
  readonly name: string
  readonly url: string
  readonly latencyMs: number | null
  /** When it last sent something, in epoch ms. */
  readonly lastSeen: number | null
  readonly announcements: SiteAnnouncements
}

export interface SitesFacts {
  readonly records: readonly SiteRecord[]
  readonly health: readonly Pick<ManufacturerHealth, 'code' | 'status'>[]
  readonly receivers: readonly Receiver[]
  readonly alerts: readonly Pick<Alert, 'receiver_id' | 'state'>[]
}

type Counts = Pick<SiteBody, 'problems' | 'open_alerts' | 'receivers' | 'channels'>

/** Lists the sites of all records, and those that they follow, by code. */
export function listSites({ records, health, receivers, alerts }: SitesFacts): readonly SiteBody[] {
  const sites = new Map<string, { name: string; record: string; shows: SiteBody['shows']; counts: Counts }>()
  const siteOf = (code: string, name: string, record: string, shows: SiteBody['shows'] = null) => {
    const known = sites.get(code)
    if (known !== undefined) return known
    const added = { name, record, shows, counts: { problems: 0, open_alerts: 0, receivers: 0, channels: 0 } }
    sites.set(code, added)
    return added
  }
  for (const record of records) {
    const announced = toAnnouncedSites(record, record.announcements)
    for (const { code, name, shows } of announced) siteOf(code, name, record.code, shows)
  }
  const siteOfReceiver = new Map<number, string>()
  for (const { id, origin, channels } of receivers) {
    if (origin === undefined) continue
    const site = siteOf(origin.site.code, origin.site.name, origin.record)
    siteOfReceiver.set(id, origin.site.code)
    const problems = channels.filter(({ condition }) => condition.attention).length
    site.counts = {
      ...site.counts,
      problems: site.counts.problems + problems,
      receivers: site.counts.receivers + 1,
      channels: site.counts.channels + channels.length,
    }
  }
  for (const { receiver_id, state } of alerts) {
    const site = sites.get(siteOfReceiver.get(receiver_id ?? 0) ?? '')
    const isOpen = state === 'raised' || state === 'snoozed'
    if (site !== undefined && isOpen) site.counts = { ...site.counts, open_alerts: site.counts.open_alerts + 1 }
  }
  const recordOf = new Map(records.map((record) => [record.code, record]))
  const statusOf = new Map(health.map(({ code, status }) => [code, status]))
  return [...sites]
    .map(([code, { name, record: recordCode, shows, counts }]): SiteBody => {
      const record = recordOf.get(recordCode)
      const isDirect = code === recordCode
      return {
        code,
        name,
        url: isDirect ? (record?.url ?? null) : null,
        via: isDirect ? null : code.slice(0, code.lastIndexOf('/')),
        status: statusOf.get(recordCode) ?? 'unknown',
        ...counts,
        shows,
        latency_ms: isDirect ? (record?.latencyMs ?? null) : null,
        last_seen: record?.lastSeen == null ? null : toTimestamp(record.lastSeen),
      }
    })
    .sort((a, b) => (a.code < b.code ? -1 : 1))
}
