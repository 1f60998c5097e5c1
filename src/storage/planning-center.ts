/** The token of Planning Center, and its service types with their slots and last plans. */

import { type PositionSlots, planningCenterUrl, type ServicePlan } from '../domain/imports/planning-center.ts'
import type { Reader, Tx } from './database.ts'
import type { Secrets } from './secrets.ts'

export interface StoredPlan extends ServicePlan {
  /** The addresses of the photos on this service, by their addresses at Planning Center. */
  readonly pictures: Readonly<Record<string, string>>
}

export interface StoredServiceType {
  readonly service_type: string
  readonly name: string
  /** The slots of the last import. */
  readonly positions: PositionSlots
  readonly plan: StoredPlan | null
  readonly loaded_at: number | null
}

const tokenId = 1
/** The context of the encryption. */
const tokenContext = 'planning_center'

export interface StoredToken {
  readonly token: string
  /** The address for which it was entered: scheme, host and port. */
  readonly origin: string
}

/** Returns the token; null if none is stored, or if it was sealed with another key. */
export async function findToken(reader: Reader, secrets: Secrets): Promise<StoredToken | null> {
  const row = await reader.selectFrom('planning_center_token').select('sealed').executeTakeFirst()
  const opened = row === undefined ? null : secrets.tryOpen(row.sealed, tokenContext)
  if (opened === null) return null
  // Earlier versions stored the token alone.
  const [token = '', origin = planningCenterUrl] = opened.split(' ')
  return { token, origin }
}

export async function saveToken(tx: Tx, secrets: Secrets, { token, origin }: StoredToken): Promise<void> {
  const sealed = secrets.seal(`${token} ${origin}`, tokenContext)
  await tx.query
    .insertInto('planning_center_token')
    .values({ id: tokenId, sealed })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ sealed }))
    .execute()
}

export async function deleteToken(tx: Tx): Promise<boolean> {
  const { numDeletedRows } = await tx.query.deleteFrom('planning_center_token').executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function findStoredServiceType(reader: Reader, id: string): Promise<StoredServiceType | undefined> {
  return (await listStoredServiceTypes(reader)).find(({ service_type }) => service_type === id)
}

export async function listStoredServiceTypes(reader: Reader): Promise<StoredServiceType[]> {
  const rows = await reader.selectFrom('planning_center_services').selectAll().orderBy('service_type').execute()
  return rows.map(({ positions, plan, ...row }) => ({
    ...row,
    positions: JSON.parse(positions),
    plan: plan === null ? null : JSON.parse(plan),
  }))
}

export async function saveServiceType(tx: Tx, { service_type, ...values }: StoredServiceType): Promise<void> {
  const row = {
    ...values,
    positions: JSON.stringify(values.positions),
    plan: values.plan === null ? null : JSON.stringify(values.plan),
  }
  await tx.query
    .insertInto('planning_center_services')
    .values({ service_type, ...row })
    .onConflict((conflict) => conflict.column('service_type').doUpdateSet(row))
    .execute()
}
