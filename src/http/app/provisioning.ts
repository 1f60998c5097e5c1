/** Reads the file in `provisioning`, and applies it when the service starts. */

import { existsSync } from 'node:fs'
import { ImportError } from '../../actions/installation/import-context.ts'
import { findProvisioningFaults, ProvisioningFile, provision } from '../../actions/installation/provisioning.ts'
import { type ConfigProblem, findSchemaErrors, toConfigError } from '../../config/config-error.ts'
import { readTextFile, YamlText } from '../../config/text-file.ts'
import { type Config, ConfigError } from '../../config.ts'
import type { Service } from '../../service.ts'
import { sqlitePath } from '../../storage/sqlite-file.ts'

type ProvisioningPaths = Pick<Config, 'provisioning' | 'database_url'>

interface Provisioning {
  readonly path: string
  readonly contents: ProvisioningFile
}

/** Returns null without a file. Throws a ConfigError about its first problem. */
export function loadProvisioning(config: ProvisioningPaths): Provisioning | null {
  const path = config.provisioning
  if (path === null) return null
  const { contents, problems } = readProvisioning(path, isNew(config))
  const [first] = problems
  if (first !== undefined) throw toConfigError(first)
  return { path, contents }
}

export function findProvisioningProblems(config: ProvisioningPaths): readonly ConfigProblem[] {
  return config.provisioning === null ? [] : readProvisioning(config.provisioning, isNew(config)).problems
}

/** True if nothing can be stored yet. */
function isNew({ database_url }: ProvisioningPaths): boolean {
  const path = sqlitePath(database_url)
  return path !== null && !existsSync(path)
}

function readProvisioning(
  path: string,
  isNew: boolean,
): {
  readonly contents: ProvisioningFile
  readonly problems: readonly ConfigProblem[]
} {
  const empty = { file: path, line: null, column: null, key: null, suggestion: null }
  try {
    const yaml = new YamlText(readTextFile(path))
    const syntaxErrors = yaml.errors.map(({ what, position }) => ({ ...empty, what, ...position }))
    if (syntaxErrors.length > 0) return { contents: {}, problems: syntaxErrors }
    const contents = (yaml.values ?? {}) as ProvisioningFile
    const schemaErrors = findSchemaErrors(ProvisioningFile, contents)
    const invalid = new Set(schemaErrors.map(({ path: [section] }) => section))
    const valid = Object.fromEntries(Object.entries(contents).filter(([section]) => !invalid.has(section)))
    const areNamesKnown = isNew && !invalid.has('notification_channels') && !invalid.has('groups')
    const faults = invalid.has(undefined) ? [] : findProvisioningFaults(valid, areNamesKnown)
    const problems = [
      ...schemaErrors.map(({ path: keys, problem: what, suggestion }) => ({ keys, what, suggestion })),
      ...faults.map(({ path: keys, what }) => ({ keys, what, suggestion: null })),
    ].map(
      ({ keys, what, suggestion }): ConfigProblem => ({
        ...empty,
        ...yaml.locate(keys),
        key: keys.length === 0 ? null : keys.join('.'),
        what,
        suggestion,
      }),
    )
    return { contents, problems }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { contents: {}, problems: [{ ...empty, file: null, what: error.message, cause: error.cause }] }
  }
}

/** Throws a ConfigError about a value that does not fit what is stored. The service starts without a writable database. */
export async function applyProvisioning(service: Service, { path, contents }: Provisioning): Promise<void> {
  try {
    await provision(service, contents, path)
  } catch (error) {
    if (error instanceof ImportError) throw new ConfigError(`${path}: ${error.message}`, { cause: error })
    service.log.error({ file: path, error: String(error) }, 'the provisioning file could not be applied')
  }
}
