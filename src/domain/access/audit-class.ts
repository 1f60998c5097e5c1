/**
 * Each class of audit records has its own limit, so that clients with few rights cannot displace records of
 * administrators.
 */

import type { AuditClass } from '../../contract/values.ts'
import type { AuditEntry } from './access.ts'

export const auditLimits = { ageMs: 90 * 24 * 3_600_000, rows: 100_000 } as const

/** Repetitions of a minor action within this time share one record. */
export const auditMergeMs = 10 * 60_000

/**
 * - `administration`: administrators and the service itself.
 * - `operation`: operators.
 * - `minor`: viewers, kiosks, clients without credentials, OSC, and operators' markers.
 */
export function auditClassOf({ actor, action }: Pick<AuditEntry, 'actor' | 'action'>): AuditClass {
  if (actor.role === 'admin') return 'administration'
  const isMinor = actor.role === 'viewer' || actor.kind === 'osc' || action.startsWith('marker.')
  return isMinor ? 'minor' : 'operation'
}
