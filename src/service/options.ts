import type { FastifyBaseLogger } from 'fastify'
import type { ManufacturerEntry } from '../config/file-schema.ts'
import type { AuditRecord } from '../domain/access/access.ts'
import type { CachedResponses } from '../platform/cache.ts'

export interface ServiceOptions {
  readonly log: FastifyBaseLogger
  readonly pid: number
  /** Overrides every other polling interval. */
  readonly intervalSeconds?: number | undefined
  /** Overrides the configuration's DEFAULT_POLLING_INTERVAL. */
  readonly defaultIntervalSeconds?: number
  /** Manufacturers in addition to those in the configuration. */
  readonly manufacturers?: readonly ManufacturerEntry[]
  /** Returns how many log lines were lost. */
  droppedLines?(): number
  /** Returns the latest lines of the log, the oldest first. */
  recentLog?(): readonly string[]
  /** If true, nothing is written to the database. */
  readonly isReadOnly?: boolean
  /** If false, levels are not recorded, whatever `HISTORY` says. */
  readonly isRecording?: boolean
  /** Called for every audit record. */
  readonly onAudit?: ((record: AuditRecord) => void) | undefined
  /** Returns problems to be listed in the health, one sentence each. */
  listProblems?(): readonly string[]
  /** If true, a damaged database is an error; otherwise a snapshot is restored. */
  readonly failsOnDamage?: boolean
  /** The response cache; the service drops entries from it when data changes. */
  readonly cache?: CachedResponses
}
