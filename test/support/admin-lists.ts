/** Reads lists as an administrator. */

import type { AuditBody } from '../../src/contract/access.ts'
import type { ConnectionBody } from '../../src/contract/connections.ts'
import type { ServiceHealth } from '../../src/domain/equipment/health.ts'
import type { TestApp } from './app.ts'
import { tokenHeaders } from './tokens.ts'

async function list(app: TestApp, path: string) {
  const { status, json } = await app.get(`/api/admin/${path}`, await tokenHeaders(app, 'admin'))
  if (status !== 200) throw new Error(`${path} responded with ${status}`)
  return json
}

/** Returns the audit log, newest first. */
export const auditOf = (app: TestApp, action = ''): Promise<readonly AuditBody[]> =>
  list(app, `audit/?action=${action}`)

/** Returns the records of the subscriptions. */
export const connectionsOf = (app: TestApp, manufacturer?: string): Promise<readonly ConnectionBody[]> =>
  list(app, `realtime-connections/${manufacturer === undefined ? '' : `?manufacturer=${manufacturer}`}`)

export async function healthOf(app: TestApp): Promise<ServiceHealth['manufacturers']> {
  return (await app.get('/api/health/')).json.manufacturers
}
