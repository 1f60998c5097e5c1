/** REST bodies for manufacturers, plugins and connection tests. */

import type { Transport } from './equipment/connection.ts'
import type { ManufacturerHealth } from './equipment/health.ts'

/** An item of `GET /api/admin/manufacturers/`. */
export interface ManufacturerBody
  extends Pick<ManufacturerHealth, 'code' | 'status' | 'error' | 'sources' | 'device_errors' | 'more'> {
  readonly name: string
  readonly plugin: string
  readonly api_enabled: boolean
  /** Secrets are masked; those that can no longer be decrypted are null. */
  readonly config: Readonly<Record<string, unknown>>
  readonly secrets_unreadable: boolean
}

/** An item of `GET /api/admin/plugins/`. */
export interface PluginBody {
  readonly code: string
  readonly name: string
  /** The transport of real-time updates; null if the plugin only polls. */
  readonly transport: Transport | null
  /** Whether the systems have a list of addresses that they search for devices. */
  readonly has_discovery_list: boolean
}

export interface SourceTest {
  readonly base_url: string
  readonly status: 'healthy' | 'degraded' | 'unhealthy'
  /** A message for the person who can fix the problem; null if healthy. */
  readonly error: string | null
  /** The number of listed devices; null if unknown. */
  readonly devices: number | null
}

/** `POST /api/admin/manufacturers/test` and `POST /api/admin/manufacturers/{code}/test`. */
export interface ConnectionTest {
  /** `unconfigured`: the configuration contains no address. */
  readonly status: SourceTest['status'] | 'unconfigured'
  readonly sources: readonly SourceTest[]
}
