/** Classes of audit records. Each has its own bound, so that weak clients cannot displace records of administrators. */

import type { AuditClass } from '../../contract/values.ts'
import type { AuditEntry } from './access.ts'

/** How many records of each class are kept, and for how long. */
export const auditLimits = { ageMs: 90 * 24 * 3_600_000, rows: 100_000 } as const

/** Repetitions of a minor action within this time are counted in one record. */
export const auditMergeMs = 10 * 60_000

/**
 * - `administration`: what administrators and the service itself do.
 * - `operation`: what operators do.
 * - `minor`: what viewers, kiosks, clients without credentials and OSC do, and markers of operators.
 */
export function auditClassOf({ actor, action }: Pick<AuditEntry, 'actor' | 'action'>): AuditClass {
  if (actor.role === 'admin') return 'administration'
  const isMinor = actor.role === 'viewer' || actor.kind === 'osc' || action.startsWith('marker.')
  return isMinor ? 'minor' : 'operation'
}
