/** Adds, changes and removes manufacturers while the service runs. */

import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { isSecretName, listSecrets, refuseMovedSecrets, unmaskSecrets } from '../../domain/access/secrets.ts'
import { RequestError } from '../../domain/errors.ts'
import { findLoop } from '../../domain/sites/sites.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { followsSites, getPlugin } from '../../manufacturers/index.ts'
import {
  findConfigError,
  listSecretUses,
  type MonitoredSource,
  type Outbound,
  openSources,
} from '../../manufacturers/sources.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import type { Tx } from '../../storage/database.ts'
import { nextRevision } from '../../storage/revision.ts'
import type { Config } from '../../storage/secrets.ts'
import {
  deleteManufacturer,
  findManufacturer,
  hasReceivers,
  listManufacturers,
  type StoredManufacturer,
  saveManufacturer,
} from '../../storage/settings.ts'
import { editRecords } from '../edit-records.ts'
import { withSecretErrors } from './secret-errors.ts'

export interface ManufacturerChange {
  readonly name?: string
  readonly plugin?: string
  readonly api_enabled?: boolean
  /** Merged into the stored configuration key by key. Null removes a key; `********` keeps the stored secret. */
  readonly config?: Config
}

export type NamedChange = ManufacturerChange & { readonly code: string }

export function listAll({ db, secrets }: Service): Promise<StoredManufacturer[]> {
  return listManufacturers(db.read, secrets)
}

/**
 * Stores a new manufacturer. Throws a RequestError when the code is already in use, the configuration is invalid, or this
 * installation would follow itself.
 */
export async function addManufacturer(
  service: Service,
  actor: Actor,
  change: NamedChange,
): Promise<StoredManufacturer> {
  const { code } = change
  const record = await mergeManufacturer(service.outbound.destinations, change, undefined)
  await refuseLoop(service, record)
  await service.db.transaction(async (tx) => {
    if ((await findManufacturer(tx.query, service.secrets, code)) !== undefined) {
      throw new RequestError('taken', {
        subject: `manufacturer ${code}`,
        details: 'code: expected a code that is not in use',
      })
    }
    await saveManufacturer(tx, service.secrets, record)
    const { name, plugin, config } = record
    await audit(tx, actor, 'manufacturer.create', code, { name, plugin, keys: Object.keys(config) })
  })
  await service.reload()
  return getManufacturer(service, code)
}

/**
 * Stores a change. Throws a RequestError when the manufacturer does not exist, the changed configuration is invalid, or
 * this installation would follow itself.
 */
export async function changeManufacturer(
  service: Service,
  actor: Actor,
  code: string,
  change: ManufacturerChange,
  requireVersion: RequireVersion<StoredManufacturer>,
): Promise<StoredManufacturer> {
  const before = await getManufacturer(service, code)
  const after = await mergeManufacturer(service.outbound.destinations, { code, ...change }, before)
  if (after.plugin !== before.plugin || !isDeepStrictEqual(after.config, before.config))
    await refuseLoop(service, after)
  await editRecords(service, 'versions', async (tx) => {
    // Resolving host names takes time, so the stored record may have changed since it was read.
    const stored = await findManufacturer(tx.query, service.secrets, code)
    if (stored === undefined) throw unknown(code)
    requireVersion(stored, `manufacturer ${code}`)
    if (!isDeepStrictEqual(stored, before))
      throw new RequestError('concurrent_change', { subject: `manufacturer ${code}` })
    await saveManufacturer(tx, service.secrets, after)
    await audit(tx, actor, 'manufacturer.change', code, differences(before, after))
  })
  return getManufacturer(service, code)
}

/**
 * Removes a manufacturer. Throws a RequestError while it has receivers, so that removing it never deletes receiver
 * data.
 */
export async function removeManufacturer(
  service: Service,
  actor: Actor,
  code: string,
  requireVersion: RequireVersion<StoredManufacturer>,
): Promise<void> {
  await service.db.transaction(async (tx) => {
    // Prevents polling from storing receivers of this manufacturer at the same time.
    const revision = await nextRevision(tx)
    const stored = await findManufacturer(tx.query, service.secrets, code)
    if (stored === undefined) throw unknown(code)
    requireVersion(stored, `manufacturer ${code}`)
    if (await hasReceivers(tx.query, code)) {
      const details = 'It still has receivers: remove them first, or disable it instead.'
      throw new RequestError('in_use', { subject: `Manufacturer ${code}`, details })
    }
    await deleteManufacturer(tx, code, revision)
    await audit(tx, actor, 'manufacturer.delete', code, {})
  })
  await service.reload()
}

/** Reads a stored manufacturer. Throws a RequestError when it does not exist. */
export async function getManufacturer({ db, secrets }: Service, code: string): Promise<StoredManufacturer> {
  const record = await findManufacturer(db.read, secrets, code)
  if (record === undefined) throw unknown(code)
  return record
}

function unknown(code: string): RequestError {
  return new RequestError('not_found', { subject: `manufacturer ${code}` })
}

/**
 * Applies a change to the stored record and returns the result. Throws a RequestError whose details begin with the
 * invalid key.
 */
export async function mergeManufacturer(
  destinations: Outbound['destinations'],
  { code, ...change }: NamedChange,
  stored: StoredManufacturer | undefined,
): Promise<StoredManufacturer> {
  const plugin = change.plugin ?? stored?.plugin ?? code
  const before = stored ?? {
    code,
    name: '',
    plugin,
    api_enabled: true,
    config: {},
    secretsUnreadable: false,
    version: 0,
  }
  const after = { ...before, ...change, config: mergeConfig(before, change) }
  const fault = await findConfigError(after, destinations)
  if (fault !== null) throw new RequestError('bad_request', { details: fault })
  return after.name === '' ? { ...after, name: getPlugin(plugin).name } : after
}

/** An installation that does not respond within this time is accepted. A loop is then an error of the source. */
const loopLimitMs = 3000

/** Throws a RequestError if the other installation is this one or follows it. */
async function refuseLoop(service: Service, record: StoredManufacturer): Promise<void> {
  if (!followsSites(record.plugin)) return
  const sources = openSources(record, service.outbound)
  try {
    const loops = await Promise.all(sources.map((source) => findLoopOf(source, service.installation)))
    const loop = loops.find((found) => found !== null)
    if (loop !== undefined) throw new RequestError('wrong_state', { subject: loop })
  } finally {
    await Promise.all(sources.map(({ client }) => client.close()))
  }
}

async function findLoopOf({ adapter, client }: MonitoredSource, own: string): Promise<string | null> {
  try {
    const path = await adapter.readInstallation?.(client, AbortSignal.timeout(loopLimitMs))
    return path ? findLoop(new URL(client.settings.baseUrl).host, path, own) : null
  } catch {
    // Unreachable, or not a Micwatch: the source reports the error.
    return null
  }
}

type Configured = Pick<StoredManufacturer, 'plugin' | 'config'>

/** Merges a change into the stored configuration. Throws a RequestError that names a secret which must be entered. */
export function mergeConfig(stored: Configured, { plugin = stored.plugin, config: change = {} }: Partial<Configured>) {
  return withSecretErrors('config.', () => {
    const config: Record<string, unknown> = { ...stored.config, ...(unmaskSecrets(change, stored.config) as Config) }
    for (const [key, value] of Object.entries(change)) if (value === null) delete config[key]
    const [before, after] = [listSecretUses(stored), listSecretUses({ plugin, config })]
    refuseMovedSecrets({ before, after, entered: listSecrets(change) })
    return config
  })
}

/** Lists the changes for the audit log. Secrets are listed by name only. */
function differences(before: StoredManufacturer, after: StoredManufacturer): Record<string, unknown> {
  const changes: Record<string, unknown> = {}
  for (const field of ['name', 'plugin', 'api_enabled'] as const) {
    if (before[field] !== after[field]) changes[field] = { before: before[field], after: after[field] }
  }
  for (const key of new Set([...Object.keys(before.config), ...Object.keys(after.config)])) {
    const [old, now] = [before.config[key], after.config[key]]
    if (isDeepStrictEqual(old, now)) continue
    // The entries of a device list may contain passwords.
    const isOpen = !isSecretName(key) && typeof old !== 'object' && typeof now !== 'object'
    changes[`config.${key}`] = isOpen ? { before: old ?? null, after: now ?? null } : 'changed'
  }
  return changes
}

function audit(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  code: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(tx, { actor, action, target: `manufacturer ${code}`, result: 'ok', details })
}
