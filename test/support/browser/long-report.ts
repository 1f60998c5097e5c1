/** The report of an evening with 100 channels, as the service responds. */

import type { EventBody } from '../../../src/contract/history.ts'
import type { ReportedChannel, ShowReport } from '../../../src/contract/reports.ts'
import type { ShowBody } from '../../../src/contract/shows.ts'

const startedAt = Date.parse('2026-11-22T18:31:04.200Z')
export const at = (minutes: number) => new Date(startedAt + minutes * 60_000).toISOString()

export const endedShow: ShowBody = {
  ...{ id: 5, title: 'Cabaret, evening', state: 'ended', group_ids: [], notes: 'Understudy for Cliff' },
  ...{ starts_at: '2026-11-22T18:30:00.000Z', ends_at: '2026-11-22T21:30:00.000Z' },
  ...{ started_at: at(0), ended_at: at(191.4) },
  version: 1,
}

const marker: EventBody = {
  ...{ id: 1, time: at(0.4), until: null, kind: 'marker', severity: 'info', channel_id: null, receiver_id: null },
  ...{ manufacturer: null, text: 'Overture', data: {}, by: 'Kim', site: null },
}

/** A channel without any problem. */
function reportedChannel(id: number, fields: Partial<ReportedChannel> = {}): ReportedChannel {
  return {
    ...{ channel_id: id, slot: id, name: `H${String(id).padStart(2, '0')}`, performer: `Performer ${id}` },
    title: `Performer ${id}`,
    ...{
      pack: `H${String(id).padStart(2, '0')} Pack`,
      is_recorded: true,
      minutes_on: 191.4,
      battery_start: 98,
      battery_end: 41,
    },
    ...{ rf_lowest: -71, rf_p1: -66, dropouts: { count: 0, seconds: 0, longest_seconds: 0, times: [] } },
    ...{
      interference: 0,
      mutes: 0,
      mutes_on_purpose: 0,
      clipping: { count: 0, seconds: 0 },
      alerts: [],
      markers: [marker],
    },
    ...fields,
  }
}

const offline = {
  id: 9,
  kind: 'receiver_offline',
  raised_at: at(80),
  happened_at: at(80),
  acknowledged_at: null,
  seconds_to_acknowledge: null,
}

/** Channel 7 has dropouts and a dead battery, the receiver of 21 to 24 was offline, 60 was never on. */
export const longReport: ShowReport = {
  checks: [],
  ...{ show: endedShow, from: at(0), to: at(191.4), step_seconds: 1 },
  channels: Array.from({ length: 100 }, (_, index) => {
    const id = index + 1
    if (id === 7) {
      const acknowledged = { acknowledged_at: at(61), seconds_to_acknowledge: 48.2 }
      return reportedChannel(id, {
        ...{
          title: 'Ada',
          performer: 'Nora; Ada',
          pack: 'H07 Pack; Spare 2',
          battery_end: 88,
          rf_lowest: -104,
          rf_p1: -92,
          mutes: 2,
        },
        dropouts: {
          count: 41,
          seconds: 63.2,
          longest_seconds: 8.1,
          times: Array.from({ length: 41 }, (_, n) => at(9 + n)),
        },
        alerts: [{ id: 3, kind: 'battery_died', raised_at: at(58), happened_at: at(60.2), ...acknowledged }],
        markers: [marker, { ...marker, id: 2, time: at(62), channel_id: 7, text: 'Pack swapped in the wings' }],
      })
    }
    if (id >= 21 && id <= 24) return reportedChannel(id, { alerts: [offline] })
    if (id === 33) return reportedChannel(id, { interference: 3, clipping: { count: 12, seconds: 20.5 } })
    if (id === 60) {
      return reportedChannel(id, {
        ...{ minutes_on: 0, battery_start: null, battery_end: null, rf_lowest: null, rf_p1: null, performer: null },
        title: 'H60',
      })
    }
    return reportedChannel(id)
  }),
}
