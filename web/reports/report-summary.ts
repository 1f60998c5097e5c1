import type { EventBody } from '../../src/contract/history.ts'
import type { ReportedAlert, ReportedChannel } from '../../src/contract/reports.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { slotTitle } from '../app/slot-records.ts'

export interface ReportSummary {
  readonly dropouts: { readonly count: number; readonly seconds: number }
  readonly longest: ReportedChannel | null
  readonly interference: CountOfChannels
  readonly clipping: CountOfChannels
  /** The most frequent kind first. */
  readonly alertKinds: readonly AlertsOfKind[]
  readonly unacknowledged: number
  readonly neverOn: readonly ReportedChannel[]
  readonly notRecorded: readonly ReportedChannel[]
}

interface CountOfChannels {
  readonly count: number
  readonly channels: readonly ReportedChannel[]
}

interface AlertsOfKind extends CountOfChannels {
  readonly kind: string
}

export function summarizeReport(channels: readonly ReportedChannel[]): ReportSummary {
  const withDropouts = channels.filter(({ dropouts }) => dropouts.count > 0)
  const sum = (read: (channel: ReportedChannel) => number) =>
    channels.reduce((total, channel) => total + read(channel), 0)
  const countOf = (read: (channel: ReportedChannel) => number): CountOfChannels => ({
    count: sum(read),
    channels: channels.filter((channel) => read(channel) > 0),
  })
  const alerts = listAlerts(channels)
  const kinds = [...new Set(alerts.map(({ kind }) => kind))]
  return {
    dropouts: {
      count: sum(({ dropouts }) => dropouts.count),
      seconds: Math.round(sum(({ dropouts }) => dropouts.seconds) * 10) / 10,
    },
    longest: withDropouts.toSorted((a, b) => b.dropouts.longest_seconds - a.dropouts.longest_seconds)[0] ?? null,
    interference: countOf(({ interference }) => interference),
    clipping: countOf(({ clipping }) => clipping.count),
    alertKinds: kinds
      .map((kind): AlertsOfKind => {
        const ofKind = alerts.filter((alert) => alert.kind === kind)
        return { kind, count: ofKind.length, channels: [...new Set(ofKind.flatMap((alert) => alert.channels))] }
      })
      .sort((a, b) => b.count - a.count),
    unacknowledged: alerts.filter(({ acknowledged_at }) => acknowledged_at === null).length,
    neverOn: channels.filter(({ is_recorded, minutes_on }) => is_recorded && minutes_on === 0),
    notRecorded: channels.filter(({ is_recorded }) => !is_recorded),
  }
}

/** True if all counts are zero. */
export function isQuiet({ dropouts, interference, clipping, alertKinds }: ReportSummary): boolean {
  return dropouts.count + interference.count + clipping.count + alertKinds.length === 0
}

/** With all channels that it concerns. */
export interface AlertOfChannels extends ReportedAlert {
  readonly channels: readonly ReportedChannel[]
}

/** Oldest first. An alert of a receiver is one alert of several channels. */
export function listAlerts(channels: readonly ReportedChannel[]): readonly AlertOfChannels[] {
  const byId = new Map<number, ReportedAlert & { readonly channels: ReportedChannel[] }>()
  for (const channel of channels) {
    for (const alert of channel.alerts) {
      const known = byId.get(alert.id)
      if (known === undefined) byId.set(alert.id, { ...alert, channels: [channel] })
      else known.channels.push(channel)
    }
  }
  return [...byId.values()].sort((a, b) => Date.parse(a.happened_at) - Date.parse(b.happened_at) || a.id - b.id)
}

export function listMarkers(channels: readonly ReportedChannel[]): readonly EventBody[] {
  const byId = new Map(channels.flatMap(({ markers }) => markers.map((marker) => [marker.id, marker])))
  return [...byId.values()].sort((a, b) => Date.parse(a.time) - Date.parse(b.time) || a.id - b.id)
}

export function channelText(channel: Pick<ReportedChannel, 'slot' | 'title'>): string {
  const name = nameOf(channel)
  return channel.slot === null ? name : slotTitle({ slot: channel.slot, title: name })
}

export function nameOf({ title }: Pick<ReportedChannel, 'title'>): string {
  return plainText(title ?? t('card.noName'))
}
