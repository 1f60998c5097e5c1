/** Whom we listen to, and how: added, changed and removed while the service runs. */

import { isDeepStrictEqual } from 'node:util'
import { getPlugin } from '../manufacturers/index.ts'
import { findConfigError, type MonitoredSource, type SourceDeps } from '../manufacturers/sources.ts'
import type { Actor } from '../model/access.ts'
import { RequestError } from '../model/errors.ts'
import { isSecretName, MaskError, unmaskSecrets } from '../model/secrets.ts'
import { writeAudit } from '../store/audit.ts'
import type { Database, Tx } from '../store/database.ts'
import { nextRevision } from '../store/revision.ts'
import type { Config, Secrets } from '../store/secrets.ts'
import {
  deleteManufacturer,
  findManufacturer,
  hasReceivers,
  listManufacturers,
  type StoredManufacturer,
  saveManufacturer,
} from '../store/settings.ts'

export interface ManufacturerDeps extends SourceDeps {
  readonly db: Database
  readonly secrets: Secrets
  /** Those that are listened to at the moment. */
  sources(): readonly MonitoredSource[]
  /** Takes what was stored over at once: sources start, stop and start anew. */
  reload(): Promise<void>
}

export interface ManufacturerChange {
  readonly name?: string
  readonly plugin?: string
  readonly api_enabled?: boolean
  /** Laid over what is stored, key by key; null takes a key away, a mask keeps a secret. */
  readonly config?: Config
}

export type NamedChange = ManufacturerChange & { readonly code: string }

export function listAll({ db, secrets }: ManufacturerDeps): Promise<StoredManufacturer[]> {
  return listManufacturers(db.read, secrets)
}

/** Throws a Refusal when the code is taken or the configuration cannot be used. */
export async function addManufacturer(
  deps: ManufacturerDeps,
  actor: Actor,
  given: NamedChange,
): Promise<StoredManufacturer> {
  const { code } = given
  const record = await mergeManufacturer(deps, given, undefined)
  await deps.db.transaction(async (tx) => {
    if ((await findManufacturer(tx.query, deps.secrets, code)) !== undefined) {
      throw new RequestError('taken', {
        about: `manufacturer ${code}`,
        details: 'code: expected one that is not taken',
      })
    }
    await saveManufacturer(tx, deps.secrets, record)
    const { name, plugin, config } = record
    await audit(tx, actor, 'manufacturer.create', code, { name, plugin, keys: Object.keys(config) })
  })
  await deps.reload()
  return record
}

/** Throws a Refusal when there is none with this code, or when it could not be used any more. */
export async function changeManufacturer(
  deps: ManufacturerDeps,
  actor: Actor,
  code: string,
  change: ManufacturerChange,
): Promise<StoredManufacturer> {
  const before = await existing(deps, code)
  const after = await mergeManufacturer(deps, { code, ...change }, before)
  await deps.db.transaction(async (tx) => {
    // Names were resolved meanwhile, and that takes its time.
    const stored = await findManufacturer(tx.query, deps.secrets, code)
    if (!isDeepStrictEqual(stored, before))
      throw new RequestError('concurrent_change', { about: `manufacturer ${code}` })
    await saveManufacturer(tx, deps.secrets, after)
    await audit(tx, actor, 'manufacturer.change', code, differences(before, after))
  })
  await deps.reload()
  return existing(deps, code)
}

/** Throws a Refusal while it has receivers: nothing that was heard is forgotten on the way. */
export async function removeManufacturer(deps: ManufacturerDeps, actor: Actor, code: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    // Keeps polling from storing receivers of it at the same time.
    await nextRevision(tx)
    if ((await findManufacturer(tx.query, deps.secrets, code)) === undefined) throw unknown(code)
    if (await hasReceivers(tx.query, code)) {
      const details = 'It still has receivers: remove them first, or disable it instead.'
      throw new RequestError('in_use', { about: `Manufacturer ${code}`, details })
    }
    await deleteManufacturer(tx, code)
    await audit(tx, actor, 'manufacturer.delete', code, {})
  })
  await deps.reload()
}

/** Throws a Refusal when there is none with this code. */
export async function existing({ db, secrets }: ManufacturerDeps, code: string): Promise<StoredManufacturer> {
  const record = await findManufacturer(db.read, secrets, code)
  if (record === undefined) throw unknown(code)
  return record
}

function unknown(code: string): RequestError {
  return new RequestError('not_found', { about: `manufacturer ${code}` })
}

/** The record as it will be. Throws a Refusal whose details begin with the key that is wrong. */
export async function mergeManufacturer(
  { destinations }: Pick<SourceDeps, 'destinations'>,
  { code, ...change }: NamedChange,
  stored: StoredManufacturer | undefined,
): Promise<StoredManufacturer> {
  const plugin = change.plugin ?? stored?.plugin ?? code
  const before = stored ?? { code, name: '', plugin, api_enabled: true, config: {}, secretsUnreadable: false }
  const after = { ...before, ...change, config: mergeConfig(before.config, change.config ?? {}) }
  const fault = await findConfigError(after, destinations)
  if (fault !== null) throw new RequestError('bad_request', { details: fault })
  return after.name === '' ? { ...after, name: getPlugin(plugin).name } : after
}

/** `given` laid over `stored`, as a change says. Throws a Refusal naming a mask that stands for nothing. */
export function mergeConfig(stored: Config, given: Config): Config {
  let opened: Config
  try {
    opened = unmaskSecrets(given, stored) as Config
  } catch (error) {
    if (error instanceof MaskError) throw new RequestError('bad_request', { details: `config.${error.message}` })
    throw error
  }
  const merged: Record<string, unknown> = { ...stored, ...opened }
  for (const [key, value] of Object.entries(given)) if (value === null) delete merged[key]
  return merged
}

/** What changed, for the log: secrets by name alone. */
function differences(before: StoredManufacturer, after: StoredManufacturer): Record<string, unknown> {
  const told: Record<string, unknown> = {}
  for (const field of ['name', 'plugin', 'api_enabled'] as const) {
    if (before[field] !== after[field]) told[field] = { before: before[field], after: after[field] }
  }
  for (const key of new Set([...Object.keys(before.config), ...Object.keys(after.config)])) {
    const [old, now] = [before.config[key], after.config[key]]
    if (isDeepStrictEqual(old, now)) continue
    // A list of devices may hold passwords of its own.
    const isOpen = !isSecretName(key) && typeof old !== 'object' && typeof now !== 'object'
    told[`config.${key}`] = isOpen ? { before: old ?? null, after: now ?? null } : 'changed'
  }
  return told
}

function audit(
  tx: Tx,
  actor: Actor,
  action: string,
  code: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return writeAudit(tx, { actor, action, target: `manufacturer ${code}`, result: 'ok', details })
}
