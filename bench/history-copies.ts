/**
 * Fills a history with many days in a short time. A few hours are encoded once. Their chunks do not contain the time,
 * and are written repeatedly with different starts.
 */

import { join } from 'node:path'
import type { RecordedSeconds } from '../src/domain/history/columns.ts'
import { encodeSteps } from '../src/domain/history/step-format.ts'
import { createSteps, foldSteps, type MutableSteps, mergeSteps } from '../src/domain/history/steps.ts'
import { HistoryStore } from '../src/history/levels/history-store.ts'
import { SqliteTables } from '../src/history/levels/sqlite-tables.ts'
import { type Chunk, groupOf, groupsOf, type HistoryTables } from '../src/history/levels/tables.ts'
import { createTempFolder, withCleanup } from './harness.ts'
import { channelIds, daySeconds, hourSeconds, start } from './history-levels.ts'

/** Tiers whose chunks are at most an hour long, and tiers whose chunks are a day long. */
const hourTiers = [1, 10, 60] as const
const dayTiers = [600, 3600] as const

/** Chunks by tier; their starts are relative to the start of the hour or day. */
type Chunks<Tier extends number> = ReadonlyMap<Tier, readonly Chunk[]>

export interface Templates {
  readonly hours: readonly Chunks<(typeof hourTiers)[number]>[]
  /** One day per hour. Each begins with another hour. */
  readonly days: readonly Chunks<(typeof dayTiers)[number]>[]
}

export async function encodeTemplates(hours: readonly RecordedSeconds[]): Promise<Templates> {
  const encoded: Templates['hours'][number][] = []
  for (const hour of hours) encoded.push(await encodeHour(hour))
  const folded = dayTiers.map((tier) => [tier, hours.map((hour) => foldSteps(hour, 1, tier))] as const)
  return {
    hours: encoded,
    days: hours.map(
      (_, first) => new Map(folded.map(([tier, steps]) => [tier, encodeDay(tier, steps, first)] as const)),
    ),
  }
}

/** Stores the hour as the service does, and reads its chunks. */
function encodeHour(hour: RecordedSeconds): Promise<Templates['hours'][number]> {
  return withCleanup(async (atEnd) => {
    const tables = await SqliteTables.open(join(await createTempFolder(atEnd), 'history.db'), () => {})
    atEnd(() => tables.close())
    await new HistoryStore(tables).importSeconds(hour)
    const chunks = new Map<(typeof hourTiers)[number], readonly Chunk[]>()
    for (const tier of hourTiers) {
      const found = await tables.readChunks(tier, { from: start, to: start + hourSeconds }, null)
      chunks.set(
        tier,
        found.map((chunk) => ({ ...chunk, start: chunk.start - start })),
      )
    }
    return chunks
  })
}

/** Encodes a day that repeats these hours, beginning with the one at `first`. */
function encodeDay(tier: (typeof dayTiers)[number], hours: readonly MutableSteps[], first: number): readonly Chunk[] {
  return groupsOf(channelIds).map((group) => {
    const ids = channelIds.filter((id) => groupOf(id) === group)
    const day = createSteps(0, daySeconds / tier, ids)
    for (let index = 0; index < 24; index++) {
      const hour = hours[(first + index) % hours.length]
      if (hour !== undefined) mergeSteps(day, { ...hour, from: index * hourSeconds }, tier)
    }
    return { start: 0, group, data: encodeSteps(day) }
  })
}

/** Writes whole days of chunks. */
export async function writeDays(tables: HistoryTables, templates: Templates, days: number): Promise<void> {
  for (let day = 0; day < days; day++) {
    const from = start + day * daySeconds
    for (let hour = 0; hour < 24; hour++)
      await writeCopies(tables, templates.hours[(day + hour) % templates.hours.length], from + hour * hourSeconds)
    await writeCopies(tables, templates.days[day % templates.days.length], from)
  }
}

async function writeCopies<Tier extends 1 | 10 | 60 | 600 | 3600>(
  tables: HistoryTables,
  template: Chunks<Tier> | undefined,
  from: number,
): Promise<void> {
  await tables.transaction(async () => {
    for (const [tier, chunks] of template ?? [])
      await tables.writeChunks(
        tier,
        chunks.map((chunk) => ({ ...chunk, start: from + chunk.start })),
      )
  })
}
