/** Sources, their connections, and the state that monitoring processes share. */

import type { Generated } from 'kysely'
import type { Transport } from '../../domain/equipment/connection.ts'

export interface MonitoringTables {
  sources: SourceRow
  receiver_sources: ReceiverSourceRow
  connections: ConnectionRow
  site_connections: SiteConnectionRow
  channel_conditions: ChannelConditionRow
  leases: LeaseRow
  polls: PollRow
}

export interface SourceRow {
  source: string
  manufacturer: string
  consecutive_failures: number
  error: string | null
  hold_until: number
  last_success_at: number | null
  overruns: number
  warning: string | null
  /** JSON; null when no device has errors. */
  device_errors: string | null
  silent_since: number | null
}

export interface ReceiverSourceRow {
  receiver_id: number
  source: string
}

export interface ConnectionRow {
  receiver: number
  manufacturer: string
  source: string | null
  status: 'connecting' | 'connected' | 'disconnected' | 'error' | 'stopped'
  transport: Transport
  connected_at: number | null
  disconnected_at: number | null
  last_message_at: number | null
  error_message: string | null
  error_count: number
  reconnect_attempts: number
  revision: number
}

export interface SiteConnectionRow extends Omit<ConnectionRow, 'receiver' | 'source'> {
  id: Generated<number>
  source: string
}

interface ChannelConditionRow {
  channel_id: number
  /** JSON: see `domain/conditions/memory.ts`. */
  memory: string
  revision: number
}

interface LeaseRow {
  source: string
  /** Null after the lease was released; the row stays, so that the epoch keeps increasing. */
  owner: string | null
  epoch: number
  expires_at: number
}

interface PollRow {
  source: string
  asked: number
  answered: number
  /** JSON. */
  outcome: string | null
}
