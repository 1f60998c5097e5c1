/** Frequency plans. Every transaction that changes them increments their counter (see `revision.ts`). */

import { type Selectable, sql } from 'kysely'
import type { FrequencyPlan, NewPlan } from '../domain/frequencies/stored-plan.ts'
import type { Reader, Tx } from './database.ts'
import type { FrequencyPlanRow } from './schema/equipment.ts'
import { nextVersion, saveEdit } from './versions.ts'

export async function listPlans(reader: Reader): Promise<FrequencyPlan[]> {
  return (await selectPlans(reader).orderBy('id').execute()).map(toPlan)
}

export async function findPlan(reader: Reader, id: number): Promise<FrequencyPlan | undefined> {
  const row = await selectPlans(reader).where('id', '=', id).executeTakeFirst()
  return row && toPlan(row)
}

/** Returns the plan in force: the one last used. */
export async function findActivePlan(reader: Reader): Promise<FrequencyPlan | null> {
  const used = selectPlans(reader).where('used_at', 'is not', null)
  const row = await used.orderBy('used_at', 'desc').orderBy('id', 'desc').limit(1).executeTakeFirst()
  return row === undefined ? null : toPlan(row)
}

export async function countPlans(reader: Reader): Promise<number> {
  const { count } = await reader
    .selectFrom('frequency_plans')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function insertPlan(tx: Tx, plan: NewPlan): Promise<FrequencyPlan> {
  const { id } = await tx.query
    .insertInto('frequency_plans')
    .values({ ...toRow(plan), created_at: plan.created_at, used_at: plan.used_at, version: await nextVersion(tx) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return toPlan(await selectPlans(tx.query).where('id', '=', id).executeTakeFirstOrThrow())
}

export async function savePlan(tx: Tx, plan: FrequencyPlan): Promise<FrequencyPlan> {
  return { ...plan, version: await saveEdit(tx, 'frequency_plans', plan.id, toRow(plan)) }
}

export async function deletePlan(tx: Tx, id: number): Promise<void> {
  await tx.query.deleteFrom('frequency_plans').where('id', '=', id).execute()
}

/** Returns the ids of the plans that were used last. There are several only after an undo has restored one. */
export async function listUsedPlans(reader: Reader): Promise<number[]> {
  const rows = await reader.selectFrom('frequency_plans').select('id').where('used_at', 'is not', null).execute()
  return rows.map(({ id }) => id)
}

/** Keeps the versions: nobody has edited a plan. */
export async function savePlanInForce(tx: Tx, id: number, used_at: number): Promise<void> {
  await tx.query.updateTable('frequency_plans').set({ used_at: null }).where('used_at', 'is not', null).execute()
  await tx.query.updateTable('frequency_plans').set({ used_at }).where('id', '=', id).execute()
}

const lastUsedAt = sql<number | null>`(select max(used_at) from frequency_plans)`.as('last_used_at')

function selectPlans(reader: Reader) {
  return reader.selectFrom('frequency_plans').selectAll().select(lastUsedAt)
}

type PlanRow = Selectable<FrequencyPlanRow> & { readonly last_used_at: number | null }

function toPlan({ last_used_at, actor, carriers, spares, options, conflicts, ...row }: PlanRow): FrequencyPlan {
  return {
    ...row,
    carriers: JSON.parse(carriers),
    spares: JSON.parse(spares),
    settings: JSON.parse(options),
    conflicts: JSON.parse(conflicts),
    created_by: actor,
    isActive: row.used_at !== null && row.used_at === Number(last_used_at),
  }
}

function toRow({ title, show_id, region, conflict_count, ...plan }: NewPlan) {
  return {
    ...{ title, show_id, region, conflict_count, actor: plan.created_by },
    carriers: JSON.stringify(plan.carriers),
    spares: JSON.stringify(plan.spares),
    options: JSON.stringify(plan.settings),
    conflicts: JSON.stringify(plan.conflicts),
  }
}
