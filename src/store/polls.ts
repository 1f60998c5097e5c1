/**
 * Polls that somebody asks for of whoever polls the source: a number that the asker raises, the number that was answered
 * last, and what came of it.
 */

import { sql } from 'kysely'
import type { Reader, Tx } from './database.ts'

/** The number to wait for. */
export async function requestPoll(tx: Tx, source: string): Promise<number> {
  const { asked } = await tx.query
    .insertInto('polls')
    .values({ source, asked: 1, answered: 0, outcome: null })
    .onConflict((conflict) => conflict.column('source').doUpdateSet({ asked: sql<number>`polls.asked + 1` }))
    .returning('asked')
    .executeTakeFirstOrThrow()
  return asked
}

export async function listRequestedPolls(reader: Reader): Promise<{ source: string; asked: number }[]> {
  return reader
    .selectFrom('polls')
    .select(['source', 'asked'])
    .where((eb) => eb('asked', '>', eb.ref('answered')))
    .orderBy('source')
    .execute()
}

/** Answers every poll asked for up to that number. */
export async function answerPoll(tx: Tx, source: string, asked: number, outcome: unknown): Promise<void> {
  await tx.query
    .updateTable('polls')
    .set({ answered: asked, outcome: JSON.stringify(outcome) })
    .where('source', '=', source)
    .where('answered', '<', asked)
    .execute()
}

/** What came of it; undefined while it is not answered. */
export async function findPollOutcome(reader: Reader, source: string, asked: number): Promise<unknown> {
  const row = await reader
    .selectFrom('polls')
    .select('outcome')
    .where('source', '=', source)
    .where('answered', '>=', asked)
    .executeTakeFirst()
  return row === undefined ? undefined : JSON.parse(row.outcome ?? 'null')
}
