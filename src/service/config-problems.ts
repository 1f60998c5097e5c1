/** Finds the problems of a configuration that its schema cannot express. Contacts nothing. */

import { existsSync } from 'node:fs'
import { type ConfigProblem, suggest, toConfigError } from '../config/config-error.ts'
import type { Config } from '../config.ts'
import { operations } from '../contract/operations.ts'
import { plugins } from '../manufacturers/index.ts'
import { findRecordError } from '../manufacturers/sources.ts'
import { BackupFolder } from '../storage/backup-folder.ts'
import { readCertificatePair } from '../storage/certificate.ts'
import { readInstallationId } from '../storage/meta.ts'
import { listSnapshots } from '../storage/snapshots.ts'
import { sqlitePath } from '../storage/sqlite-file.ts'
import { toRecord } from './configured-manufacturers.ts'

export async function findConfigProblems(config: Config): Promise<ConfigProblem[]> {
  return [
    ...findUnknownEndpoints(config),
    ...findManufacturerProblems(config),
    ...(await findCertificateProblems(config)),
    ...(await findBackupProblems(config)),
  ]
}

/** Throws a ConfigError if a rate limit names no operation of the API. */
export function requireKnownEndpoints(config: Config): void {
  const [first] = findUnknownEndpoints(config)
  if (first !== undefined) throw toConfigError(first)
}

function findUnknownEndpoints(config: Config): ConfigProblem[] {
  const known = Object.values(operations)
    .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
    .filter((endpoint) => endpoint.includes(' /api/'))
  const isKnown = (endpoint: string) => known.includes(endpoint) || known.includes(`${endpoint}/`)
  const unknown = Object.keys(config.rate_limit.overrides).filter((endpoint) => !isKnown(endpoint))
  return unknown.map((endpoint) => {
    const what = `expected an endpoint such as POST /api/discover/, not ${endpoint}`
    return toProblem(config, 'rate_limit.overrides', what, suggest(endpoint, known))
  })
}

function findManufacturerProblems(config: Config): ConfigProblem[] {
  const path = sqlitePath(config.database_url)
  const mayBeStored = path === null || existsSync(path)
  return config.manufacturers.flatMap((entry, index) => {
    const problems: ConfigProblem[] = []
    const settings = { ...entry.config }
    // A check ends at the first problem, so it is repeated without the invalid setting.
    for (;;) {
      const fault = findRecordError(toRecord({ ...entry, config: settings }))
      const [, key = '', what = ''] = /^([^:]+): (.*)$/s.exec(fault ?? '') ?? []
      const setting = /^config\.([^.]+)/.exec(key)?.[1] ?? ''
      const isMissing = key.startsWith('config.') && !(setting in settings)
      // The database may contain what the file omits.
      const isKnown = isMissing && (mayBeStored || setting in (entry.config ?? {}))
      if (fault === null || isKnown) return problems
      const codes = plugins.map(({ code }) => code)
      const suggestion = key === 'plugin' ? suggest(entry.plugin ?? entry.code, codes) : null
      problems.push(toProblem(config, `manufacturers.${index}.${key}`, what, suggestion))
      if (!(setting in settings)) return problems
      delete settings[setting]
    }
  })
}

async function findCertificateProblems(config: Config): Promise<ConfigProblem[]> {
  if (config.tls === null || config.tls === 'auto') return []
  try {
    await readCertificatePair(config.tls)
    return []
  } catch (error) {
    const { message, cause } = error as Error
    const [, key = 'tls', what = message] = /^(tls\.\w+): (.*)$/s.exec(message) ?? []
    return [{ ...toProblem(config, key, what), cause }]
  }
}

async function findBackupProblems(config: Config): Promise<ConfigProblem[]> {
  if (config.backup === null) return []
  const { folder, isDefaultFolder } = config.backup
  try {
    const backups = new BackupFolder(folder, isDefaultFolder)
    await backups.check(config.database_url)
    const installation = await findInstallation(config)
    if (installation !== null) await backups.list(installation)
    return []
  } catch (error) {
    return [{ ...toProblem(config, 'backup.folder', (error as Error).message), cause: error }]
  }
}

/** Returns the id of the installation; null if it cannot be known without the database server. */
async function findInstallation(config: Config): Promise<string | null> {
  const path = sqlitePath(config.database_url)
  if (path === null) return null
  if (existsSync(path)) return readInstallationId(path)
  // A new installation gets an id that no other one has.
  return (await listSnapshots(config)).length > 0 ? null : 'new'
}

function toProblem({ file }: Config, key: string, what: string, suggestion: string | null = null): ConfigProblem {
  return { file: file ?? 'configuration', line: null, column: null, key, what, suggestion }
}
