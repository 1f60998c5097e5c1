/** The slots of channels and placeholders on the wall. */

import { sql } from 'kysely'
import { describeHolder, type PlannedMove, type SlotHolder } from '../domain/equipment/slots.ts'
import type { Reader, Tx } from './database.ts'
import { countPlaceholderChange } from './placeholders.ts'
import { executeForRows, inChunks } from './rows.ts'

/** Moves channels to other slots, all at once, and marks their receivers as changed. The channels may swap slots. */
export async function placeChannels(tx: Tx, revision: number, moves: readonly SlotOf[]): Promise<void> {
  await setSlots(tx, 'channels', moves)
  await inChunks(moves, async (chunk) => {
    const ids = chunk.map(({ id }) => id)
    await tx.query
      .updateTable('receivers')
      .set({ revision })
      .where('id', 'in', (eb) => eb.selectFrom('channels').select('receiver_id').where('id', 'in', ids))
      .execute()
  })
}

interface SlotOf {
  readonly id: number
  readonly slot: number
}

export async function placeHolders(tx: Tx, revision: number, moves: readonly PlannedMove[]): Promise<void> {
  const movesOf = (kind: SlotHolder['kind']) =>
    moves.filter(({ holder }) => holder.kind === kind).map(({ holder, slot }) => ({ id: holder.id, slot }))
  await placeChannels(tx, revision, movesOf('channel'))
  await countPlaceholderChange(tx)
  await setSlots(tx, 'placeholders', movesOf('placeholder'))
}

/** Finds a target slot whose holder is not moved; null if there is none. */
export async function findOccupiedSlot(reader: Reader, moves: readonly PlannedMove[]): Promise<number | null> {
  const slots = new Set(moves.map(({ slot }) => slot))
  const moved = new Set(moves.map(({ holder }) => describeHolder(holder)))
  for (const [kind, table] of [
    ['channel', 'channels'],
    ['placeholder', 'placeholders'],
  ] as const) {
    const rows = await reader.selectFrom(table).select(['id', 'slot']).execute()
    const found = rows.find(({ id, slot }) => slots.has(slot) && !moved.has(describeHolder({ kind, id })))
    if (found !== undefined) return found.slot
  }
  return null
}

/** Gives every row a temporary negative slot first, so that no two rows ever have the same slot. */
async function setSlots(tx: Tx, table: 'channels' | 'placeholders', moves: readonly SlotOf[]): Promise<void> {
  const parked = moves.map(({ id }) => ({ id, slot: -id }))
  for (const rows of [parked, moves]) {
    await inChunks(rows, async (chunk) => {
      await executeForRows<unknown, 'id' | 'slot'>(
        tx,
        { id: 'bigint', slot: 'bigint' },
        chunk.map(({ id, slot }) => ({ id, slot })),
        (input) =>
          sql`update ${sql.table(table)} set slot = input.slot from ${input} where ${sql.table(table)}.id = input.id`,
      )
    })
  }
}

/** Returns the lowest slots that have neither a channel nor a placeholder, starting with 1. */
export async function nextSlots(tx: Tx, count: number): Promise<number[]> {
  const placeholders = await tx.query.selectFrom('placeholders').select('slot').execute()
  const skipped = new Set(placeholders.map(({ slot }) => slot))
  const free: number[] = []
  const { taken: usedCount, highest } = await tx.query
    .selectFrom('channels')
    .select((eb) => [eb.fn.countAll<number>().as('taken'), eb.fn.max('slot').as('highest')])
    .executeTakeFirstOrThrow()
  let next = 1
  const takeNext = () => {
    if (!skipped.has(next)) free.push(next)
    next += 1
  }
  if (usedCount === (highest ?? 0)) next += usedCount
  else {
    for await (const slot of usedSlots(tx.query)) {
      while (next < slot && free.length < count) takeNext()
      if (free.length === count) break
      next = slot + 1
    }
  }
  while (free.length < count) takeNext()
  return free
}

async function* usedSlots(reader: Reader): AsyncGenerator<number> {
  for (let after = 0, size = 2_000; ; ) {
    const page = await reader
      .selectFrom('channels')
      .select('slot')
      .where('slot', '>', after)
      .orderBy('slot')
      .limit(size)
      .execute()
    for (const { slot } of page) yield slot
    if (page.length < size) return
    after = page.at(-1)?.slot ?? after
  }
}

export async function listChannelSlots(reader: Reader): Promise<readonly SlotOf[]> {
  return reader.selectFrom('channels').select(['id', 'slot']).orderBy('id').execute()
}
