/** The handover to the next shift: open alerts, and events and changes since the last handover. */

import type { HandoverBody, HandoverContents } from '../../contract/handovers.ts'
import type { EventKind } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { type Alert, toAlertBody } from '../../domain/alerts/alert.ts'
import { toSilenceBody } from '../../domain/alerts/silences.ts'
import { toCheckStates } from '../../domain/checks.ts'
import { RequestError } from '../../domain/errors.ts'
import { toEventBody } from '../../domain/events/event.ts'
import {
  bySeverity,
  newestFirst,
  readItems,
  toChange,
  toDeath,
  toFailedCheck,
  toHandover,
  toHandoverEvent,
  toTuned,
} from '../../domain/reports/handover.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { listDeaths } from '../../storage/alerts.ts'
import { writeAudit } from '../../storage/audit.ts'
import { listChanges } from '../../storage/changes.ts'
import { listEvents } from '../../storage/events.ts'
import {
  type ClosedPeriod,
  findHandover,
  findLastHandover,
  insertHandover,
  listHandovers,
} from '../../storage/handovers.ts'
import { listChecks } from '../../storage/shows.ts'
import { listBatteries } from './list-batteries.ts'

const firstPeriodMs = 12 * 3_600_000

/** Without `since`, the period since the last handover. */
export async function readHandover(service: Service, since?: number): Promise<HandoverBody> {
  const until = now()
  if (since !== undefined && since > until) {
    throw new RequestError('bad_request', { details: 'since: expected a time in the past' })
  }
  const from = since ?? (await findStart(service, until))
  const notes = (await listHandovers(service.db.read, from)).flatMap(toNotes)
  return { ...(await readContents(service, from, until)), notes }
}

async function findStart({ db }: Service, until: number): Promise<number> {
  return (await findLastHandover(db.read))?.until ?? until - firstPeriodMs
}

/** Closes the period since the last handover. */
export async function closeHandover(service: Service, actor: Actor, note: string): Promise<ClosedHandover> {
  const { db } = service
  for (;;) {
    const time = now()
    const since = await findStart(service, time)
    // The clock may have been set back.
    const until = Math.max(time, since + 1)
    const contents = await readContents(service, since, until)
    const period = { since, until, by: actor.name, note }
    const id = await db.transaction(async (tx) => {
      const stored = await insertHandover(tx, period, contents)
      if (stored === undefined) return undefined
      await writeAudit(tx, { actor, action: 'handover.close', target: `handover ${stored}`, result: 'ok' })
      return stored
    })
    if (id !== undefined) return toClosed({ ...period, id, contents })
  }
}

export async function getHandover({ db }: Service, id: number): Promise<ClosedHandover> {
  const found = await findHandover(db.read, id)
  if (found === undefined) throw new RequestError('not_found', { subject: `handover ${id}` })
  return toClosed(found)
}

type ClosedHandover = HandoverBody & { readonly id: number; readonly by: string }

function toClosed({ contents, ...period }: ClosedPeriod & { readonly contents: HandoverContents }): ClosedHandover {
  return { id: period.id, by: period.by, ...contents, notes: toNotes(period) }
}

export function toSummary(period: ClosedPeriod) {
  const { id, since, until, by } = period
  return { id, by, since: toTimestamp(since), until: toTimestamp(until), notes: toNotes(period) }
}

function toNotes({ until, by, note }: ClosedPeriod): HandoverBody['notes'] {
  return note === '' ? [] : [{ at: toTimestamp(until), by, note }]
}

async function readContents(service: Service, since: number, until: number): Promise<HandoverContents> {
  const { alerts, lists, db, slotRecords } = service
  const open = alerts.list().toSorted(bySeverity)
  const listOpen = (isWanted: (alert: Alert) => boolean) =>
    open
      .filter(isWanted)
      .slice(0, readItems)
      .map((alert) => toAlertBody(alert, { now: until, ...alerts.context.marksOf(alert) }))
  const range = { from: since, to: until }
  const listKinds = (kinds: readonly EventKind[]) => listEvents(db.read, { ...range, kinds }, { limit: readItems })
  const events = await listKinds(['rf_dropout', 'receiver_offline', 'source_failing'])
  const deaths = await listDeaths(db.read, range, readItems)
  const changes = await listChanges(db.read, { ...range, limit: readItems })
  const tuned = await listKinds(['frequency_changed'])
  const presentTitle = (slot: number) => slotRecords.find(slot)?.title ?? null
  return toHandover(since, until, {
    open_alerts: listOpen(({ state }) => state === 'raised'),
    acknowledged: listOpen(({ state }) => state !== 'raised'),
    silences: lists.current.silences.filter((silence) => silence.until > until).map(toSilenceBody),
    failed_checks: await listFailedChecks(service, since),
    will_not_last: listBatteries(service).changes.filter(({ reason }) => reason !== 'unknown'),
    markers: (await listKinds(['marker'])).map(toEventBody),
    events: newestFirst([...events.map(toHandoverEvent), ...deaths.map(toDeath)]),
    changes: newestFirst([...changes.map((change) => toChange(change, presentTitle)), ...tuned.map(toTuned)]),
  })
}

async function listFailedChecks({ db, lists }: Service, since: number): Promise<HandoverBody['failed_checks']> {
  const shows = lists.current.shows.filter(({ ended_at }) => ended_at === null || ended_at >= since)
  const failed = await Promise.all(
    shows.map(async (show) => {
      const states = toCheckStates(await listChecks(db.read, show.id))
      return [...states.values()].flatMap(({ last }) => (last?.result === 'fail' ? toFailedCheck(show, last) : []))
    }),
  )
  return failed.flat().sort((a, b) => (a.slot ?? 0) - (b.slot ?? 0))
}
