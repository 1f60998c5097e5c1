/** REST bodies about manufacturers: what is stored of them, what can speak to them, what they answered just now. */

import type { Transport } from './connection.ts'
import type { ManufacturerHealth } from './health.ts'

/** An item of `GET /api/admin/manufacturers/`. */
export interface ManufacturerBody
  extends Pick<ManufacturerHealth, 'code' | 'status' | 'error' | 'sources' | 'device_errors' | 'more'> {
  readonly name: string
  readonly plugin: string
  readonly api_enabled: boolean
  /** Secrets are masks; null for those that cannot be read any more. */
  readonly config: Readonly<Record<string, unknown>>
  readonly secrets_unreadable: boolean
}

/** An item of `GET /api/admin/plugins/`. */
export interface PluginBody {
  readonly code: string
  readonly name: string
  /** How changes arrive by themselves; null where it can only be polled. */
  readonly transport: Transport | null
  /** Its systems keep a list of addresses to search. */
  readonly has_discovery_list: boolean
}

export interface SourceTest {
  readonly base_url: string
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** A sentence for the person who can mend it; null when healthy. */
  readonly error: string | null
  /** How many devices it lists; null where it did not say. */
  readonly devices: number | null
}

/** `POST /api/admin/manufacturers/test` and `POST /api/admin/manufacturers/{code}/test`. */
export interface ConnectionTest {
  /** `unconfigured`: it names no address. */
  readonly status: SourceTest['status'] | 'unconfigured'
  readonly sources: readonly SourceTest[]
}
