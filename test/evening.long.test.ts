/**
 * An evening with real protocols, the program and an operator's token. Compares what the service recorded with what the
 * simulated packs and the operator did.
 */

import { beforeAll, describe, expect, it } from 'vitest'
import type { AlertBody } from '../src/contract/alerts.ts'
import type { ChannelCheckBody } from '../src/contract/checks.ts'
import type { EventBody, HistoryLevelsBody } from '../src/contract/history.ts'
import type { ShowReport } from '../src/contract/reports.ts'
import { openShared } from './support/cleanup.ts'
import {
  type Evening,
  openVenue,
  performerName,
  playEvening,
  showNames,
  type Venue,
} from './support/evening/evening.ts'
import {
  expectEvents,
  expectReport,
  expectSecondsOf,
  expectTime,
  toleranceOf,
} from './support/evening/expect-ledger.ts'

describe('an evening', () => {
  let venue: Venue
  let evening: Evening
  let toleranceMs: number

  beforeAll(() =>
    openShared(async () => {
      venue = await openVenue()
      evening = await playEvening(venue)
      toleranceMs = toleranceOf(evening)
    }),
  )

  const idOf = (name: string) => venue.channelIds.get(name) ?? 0
  const get = async <Body>(path: string) => {
    const { status, json } = await venue.operator.get(path)
    expect([path, status]).toEqual([path, 200])
    return json as Body
  }
  const toText = (time: number) => new Date(time).toISOString()

  // Conformance: C-13.60.
  it('has exactly the events of the packs, each at its time', async () => {
    const { results } = await get<{ results: EventBody[] }>('/api/events/?limit=1000')
    for (const pack of venue.packs.values()) {
      const events = results.filter(({ channel_id }) => channel_id === idOf(pack.name))
      expectEvents(pack, events, evening.whole, toleranceMs)
    }
    const ofKind = (kind: string) => results.filter((event) => event.kind === kind).toReversed()
    expect(ofKind('marker')).toEqual(evening.markers)
    expect([...ofKind('show_started'), ...ofKind('show_ended')].map(({ time, by }) => [time, by])).toEqual([
      [evening.show.started_at, 'front of house'],
      [evening.show.ended_at, 'front of house'],
    ])
    expect(ofKind('battery_changed').map(({ channel_id, data }) => [channel_id, data.from, data.to])).toEqual([
      [idOf('Nora'), 8, 96],
    ])
    expect(ofKind('recording_gap')).toEqual([])
  })

  // Conformance: C-13.61.
  it('is recorded second by second as the packs played it', async () => {
    const ids = [...venue.packs.keys()].map(idOf)
    const { from, to } = evening.whole
    const query = `channels=${ids}&from=${toText(from + 1000)}&to=${toText(to - 2500)}`
    const levels = await get<HistoryLevelsBody>(`/api/history/levels/?${query}`)
    const compared = [...venue.packs.values()].map((pack, index) =>
      expectSecondsOf(pack, levels, levels.channels[index] as never, toleranceMs),
    )
    expect(Math.min(...compared)).toBeGreaterThan(25)
  })

  // Conformance: C-13.62.
  it('has the alerts, and who acknowledged them', async () => {
    const alerts = await get<AlertBody[]>('/api/alerts/')
    const names = [...venue.channelIds].map(([name, id]) => [id, name] as const)
    const nameOf = new Map(names)
    expect(
      alerts.map(({ channel_id, kind, state }) => `${nameOf.get(channel_id ?? 0)} ${kind} ${state}`).sort(),
    ).toEqual([
      'Ben interference cleared',
      'Mia encryption_error cleared',
      'Nora battery_died cleared',
      'Solo rf_weak cleared',
    ])
    for (const [name, acknowledged] of evening.acknowledgements) {
      const alert = alerts.find(({ id }) => id === acknowledged.id)
      const { acknowledged_by, acknowledged_at, note } = acknowledged
      expect(alert).toMatchObject({ acknowledged_by, acknowledged_at, note, channel_id: idOf(name) })
      expect([acknowledged_by, note]).toEqual(['front of house', 'On it'])
    }
    const raised = (name: string) => alerts.find(({ channel_id }) => channel_id === idOf(name))?.raised_at ?? null
    const began = (name: string, isTrue: Parameters<typeof ledgerOf.beginnings>[1]) => {
      return venue.packs.get(name)?.ledger.beginnings(evening.range, isTrue)[0] ?? 0
    }
    const ledgerOf = venue.packs.get('Nora')?.ledger as NonNullable<ReturnType<typeof venue.packs.get>>['ledger']
    expectTime(
      'Nora',
      raised('Nora'),
      began('Nora', ({ battery }) => battery <= 20),
      toleranceMs,
    )
    expectTime(
      'Mia',
      raised('Mia'),
      began('Mia', ({ hasEncryptionError }) => hasEncryptionError),
      toleranceMs,
    )
    // Interference is raised after 5 s, and weak RF, which is a condition after 1 s, 5 s later.
    expectTime('Ben', raised('Ben'), 5000 + began('Ben', ({ hasInterference }) => hasInterference), toleranceMs)
    expectTime('Solo', raised('Solo'), 6000 + began('Solo', ({ rf }) => rf < -85), toleranceMs)
  })

  // Conformance: C-13.63.
  it('has a report of the show, and of nothing outside it', async () => {
    const report = await get<ShowReport>(`/api/shows/${evening.show.id}/report/`)
    expect(report).toMatchObject({ show: evening.show, from: evening.show.started_at, to: evening.show.ended_at })
    expect(report.channels.map(({ name }) => name).sort()).toEqual([...showNames].sort())
    const alerts = await get<AlertBody[]>('/api/alerts/')
    const markers = evening.markers.filter(({ text }) => ['Quick change', 'Intermission'].includes(text))
    for (const reported of report.channels) {
      const pack = venue.packs.get(reported.name ?? '')
      if (pack === undefined) throw new Error(`There is no pack of ${reported.name}.`)
      expectReport(pack, reported, evening.range, toleranceMs)
      const isOwn = ({ channel_id }: { channel_id: number | null }) => channel_id === reported.channel_id
      expect(reported.alerts).toEqual(
        alerts.filter(isOwn).map(({ id, kind, raised_at, acknowledged_at, data }) => {
          const happened_at = data.died_at ?? data.lost_at ?? raised_at
          const ms = Date.parse(acknowledged_at ?? '') - Date.parse(happened_at)
          const seconds_to_acknowledge = acknowledged_at === null ? null : Math.round(ms / 100) / 10
          return { id, kind, raised_at, happened_at, acknowledged_at, seconds_to_acknowledge }
        }),
      )
      const all = markers.filter((marker) => marker.channel_id === null || isOwn(marker))
      expect(reported.markers).toEqual(all.toSorted((a, b) => a.time.localeCompare(b.time)))
    }
    expect(report.channels.find(({ name }) => name === 'Ada')).toMatchObject({ performer: performerName, pack: 'Ada' })
    const early = evening.earlyReport
    expect([early?.show.state, early?.from]).toEqual(['running', report.from])
    const ofPaul = ({ channels }: ShowReport) => channels.find(({ name }) => name === 'Paul')?.dropouts
    expect(early && ofPaul(early)).toEqual(ofPaul(report))
  })

  // Conformance: C-13.64.
  it('has the same report as CSV', async () => {
    const path = `/api/shows/${evening.show.id}/report`
    const { channels } = await get<ShowReport>(`${path}/`)
    const { bytes } = await venue.operator.get(`${path}.csv`)
    const [heading = [], ...lines] = parseCsv(bytes.toString())
    const rows = lines.map((cells) => Object.fromEntries(cells.map((cell, index) => [heading[index], cell])))
    const toCell = (value: unknown) => String(value ?? '')
    expect(rows.map(({ markers: _, alerts: __, ...row }) => row)).toEqual(
      channels.map(({ dropouts, clipping, title, is_recorded: _, alerts: __, markers: ___, ...channel }) => ({
        ...Object.fromEntries(Object.entries(channel).map(([name, value]) => [name, toCell(value)])),
        // The slot has its own column.
        name: toCell(title),
        dropouts: toCell(dropouts.count),
        dropout_seconds: toCell(dropouts.seconds),
        longest_dropout_seconds: toCell(dropouts.longest_seconds),
        dropout_times: dropouts.times.join('; '),
        clipping: toCell(clipping.count),
        clipping_seconds: toCell(clipping.seconds),
      })),
    )
    for (const [index, { alerts, markers }] of channels.entries()) {
      for (const { kind, happened_at } of alerts) expect(rows[index]?.alerts).toContain(`${happened_at} ${kind}`)
      for (const { text, time } of markers) expect(rows[index]?.markers).toContain(`${time} ${text}`)
    }
  })

  // Conformance: C-13.65.
  it('had a line check that agrees with the packs until then', async () => {
    const stage = new Map(evening.lineCheck.map((check) => [check.channel_id, check]))
    expect(stage.size).toBe(showNames.length)
    for (const name of showNames) {
      const { sees, began_at, last } = stage.get(idOf(name)) as ChannelCheckBody
      expect([name, last, began_at !== null]).toEqual([name, null, name === 'Paul'])
      const seen = { transmitter_on: true, battery: 80, lasts: true, frequency_planned: null }
      expect(sees).toMatchObject({ ...seen, audio_heard: true })
    }
    expect(stage.get(idOf('Paul'))?.sees).toMatchObject({ rf_lowest: -93, dropouts: 1 })
    const after = await get<ChannelCheckBody[]>(`/api/shows/${evening.show.id}/checks/`)
    const results = after.flatMap(({ channel_id, last }) =>
      last === null ? [] : [[channel_id, last.result, last.note]],
    )
    expect(results).toEqual([
      [idOf('Paul'), 'pass', null],
      [idOf('Mia'), 'fail', 'Crackles'],
    ])
  })
})

/** Parses lines of a CSV file (RFC 4180). */
function parseCsv(text: string): string[][] {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\r\n')
    .slice(0, -1)
  const cell = /(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g
  return lines.map((line) =>
    [...line.matchAll(cell)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''),
  )
}
