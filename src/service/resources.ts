/** Opens the resources of the subsystems: the database, secrets, configured manufacturers and Redis. */

import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import { now } from '../platform/clock.ts'
import type { Database } from '../storage/database.ts'
import { getInstallationId } from '../storage/meta.ts'
import { migrationNames } from '../storage/migrations/index.ts'
import { openRedis, type Redis } from '../storage/redis.ts'
import { openSecrets, type Secrets } from '../storage/secrets.ts'
import { openRepairedStore } from '../storage/store-maintenance.ts'
import { ConfiguredManufacturers } from './configured-manufacturers.ts'
import type { ServiceOptions } from './options.ts'

export interface Resources {
  readonly db: Database
  readonly secrets: Secrets
  readonly configured: ConfiguredManufacturers
  /** Shared by all processes of one installation; null without Redis. */
  readonly redis: Redis | null
  /** Id of the installation. */
  readonly installation: string
}

/** Throws a ConfigError, or the database error if the database cannot be opened. */
export async function openResources(config: Config, options: ServiceOptions): Promise<Resources> {
  const { log, onAudit, isReadOnly = false, failsOnDamage: isStrict = false } = options
  const secrets = await openSecrets(config.data_dir, config.secret_key)
  if (secrets.warning !== null) log.warn(secrets.warning)
  const { db, migrations } = await openRepairedStore(config, { log, now, isReadOnly, isStrict, onAudit })
  try {
    const configured = new ConfiguredManufacturers(db, secrets, options)
    await configured.update(config)
    // Logged only after the configuration was validated, so that a configuration error is the only output.
    if (migrations.length === migrationNames.length) log.info('created the database')
    else for (const name of migrations) log.info({ migration: name }, 'applied a database migration')
    // A database that is only read may not have an id yet.
    const installation = isReadOnly ? '' : String(await getInstallationId(db))
    const redis = isReadOnly ? null : await connectRedis(config, installation, log)
    return { db, secrets, configured, redis, installation }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Creates the Redis connection, without waiting until it is established; null if Redis is not configured. */
function connectRedis({ redis_url }: Config, installation: string, log: FastifyBaseLogger): Promise<Redis> | null {
  if (redis_url === null) return null
  return openRedis({
    url: redis_url,
    prefix: `micwatch:${installation}`,
    onChange(isUp) {
      if (isUp) log.info('Redis is reachable')
      else
        log.warn(
          'Redis does not respond; until it does, request limits apply per process, and levels reach other processes through the database',
        )
    },
  })
}
